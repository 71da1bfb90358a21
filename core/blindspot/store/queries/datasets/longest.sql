-- The longest texts of a dataset, by their numbers; among equals the first.
SELECT text.text_no, text.text
FROM dataset_text AS text
JOIN dataset USING (dataset_seq)
WHERE dataset.dataset_digest = $dataset_digest
ORDER BY length(text.text) DESC, text.text_no
LIMIT $most
