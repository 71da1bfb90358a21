-- What encoding cost belongs to the runs that stand on it; without such a run it is of no use.
DELETE FROM embedding
WHERE encoder = $encoder
  AND embedding_digest NOT IN (SELECT embedding_digest FROM run WHERE embedding_digest IS NOT NULL)
