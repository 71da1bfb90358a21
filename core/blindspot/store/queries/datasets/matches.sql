-- All matches of a query in a dataset.
SELECT pair.match_no
FROM dataset_pair AS pair
JOIN dataset USING (dataset_seq)
WHERE dataset.dataset_digest = $dataset_digest AND pair.query_no = $query_no
