-- Every word of some runs over one set of categories, and each of its classes: a row per run, word and class.
-- {table} is the diagnostic's own table.
WITH asked_text AS ( -- of these runs' datasets alone: a join with all texts took ten times as long in a store of many
    SELECT *
    FROM dataset_text
    WHERE dataset_seq IN (
        SELECT dataset_seq FROM dataset JOIN run USING (dataset_digest)
        WHERE run_id IN (SELECT unnest($run_ids::VARCHAR[]))
    )
)
SELECT run.run_id, result.* EXCLUDE (run_seq), member.class, word.text AS word
FROM {table} AS result
JOIN run USING (run_seq)
JOIN dataset USING (dataset_digest)
JOIN dataset_category AS member ON member.dataset_seq = dataset.dataset_seq AND member.item_no = result.item_no
JOIN asked_text AS word ON word.dataset_seq = dataset.dataset_seq AND word.text_no = result.item_no
WHERE run.run_id IN (SELECT unnest($run_ids::VARCHAR[]))
ORDER BY result.item_no, run.run_id, member.class
