-- The own columns of a dataset's content, in the file's order.
SELECT name, labels, codes
FROM own_column
WHERE dataset = $dataset AND dataset_digest = $dataset_digest
ORDER BY column_no
