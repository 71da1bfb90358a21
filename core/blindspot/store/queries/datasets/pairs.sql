-- The texts of each pair of a pair set.
SELECT pair.query_no, pair.match_no
FROM dataset_pair AS pair
JOIN dataset USING (dataset_seq)
WHERE dataset.dataset_digest = $dataset_digest
ORDER BY pair.item_no
