-- Every question of some runs over one set of analogies: a row per run and question. {table} is the diagnostic's own table.
WITH asked_text AS ( -- of these runs' datasets alone: a join with all texts took ten times as long in a store of many
    SELECT *
    FROM dataset_text
    WHERE dataset_seq IN (
        SELECT dataset_seq FROM dataset JOIN run USING (dataset_digest)
        WHERE run_id IN (SELECT unnest($run_ids::VARCHAR[]))
    )
)
SELECT run.run_id, result.* EXCLUDE (run_seq), question.section,
       a.text AS a, b.text AS b, c.text AS c, d.text AS d
FROM {table} AS result
JOIN run USING (run_seq)
JOIN dataset USING (dataset_digest)
JOIN dataset_analogy AS question
  ON question.dataset_seq = dataset.dataset_seq AND question.item_no = result.item_no
JOIN asked_text AS a ON a.dataset_seq = dataset.dataset_seq AND a.text_no = question.a_no
JOIN asked_text AS b ON b.dataset_seq = dataset.dataset_seq AND b.text_no = question.b_no
JOIN asked_text AS c ON c.dataset_seq = dataset.dataset_seq AND c.text_no = question.c_no
JOIN asked_text AS d ON d.dataset_seq = dataset.dataset_seq AND d.text_no = question.d_no
WHERE run.run_id IN (SELECT unnest($run_ids::VARCHAR[]))
ORDER BY result.item_no, run.run_id
