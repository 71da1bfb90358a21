-- Every word of some runs over one set of categories, and each of its classes: a row per run, word and class.
-- {table} is the diagnostic's own table.
SELECT run.run_id, result.* EXCLUDE (run_seq), member.class, word.text AS word
FROM {table} AS result
JOIN run USING (run_seq)
JOIN dataset USING (dataset_digest)
JOIN dataset_category AS member ON member.dataset_seq = dataset.dataset_seq AND member.item_no = result.item_no
JOIN dataset_text AS word ON word.dataset_seq = dataset.dataset_seq AND word.text_no = result.item_no
WHERE run.run_id IN (SELECT unnest($run_ids::VARCHAR[]))
ORDER BY result.item_no, run.run_id, member.class
