-- The texts of a dataset, by their numbers.
SELECT text.text_no, text.text
FROM dataset_text AS text
JOIN dataset USING (dataset_seq)
WHERE dataset.dataset_digest = $dataset_digest
  AND text.text_no IN (SELECT unnest($numbers::INTEGER[]))
