-- The items that a run ranked, one bit per item of its dataset.
SELECT items, ranked FROM support WHERE support_digest = $support_digest
