-- The texts of a dataset, in the order of their numbers.
SELECT text.text
FROM dataset_text AS text
JOIN dataset USING (dataset_seq)
WHERE dataset.dataset_digest = $dataset_digest
ORDER BY text.text_no
