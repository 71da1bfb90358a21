-- Every tested example of some runs over one set of labeled texts: a row per run and example; second is null where an
-- example is one text. {table} is the diagnostic's own table.
WITH asked_text AS ( -- of these runs' datasets alone: a join with all texts took ten times as long in a store of many
    SELECT *
    FROM dataset_text
    WHERE dataset_seq IN (
        SELECT dataset_seq FROM dataset JOIN run USING (dataset_digest)
        WHERE run_id IN (SELECT unnest($run_ids::VARCHAR[]))
    )
)
SELECT run.run_id, result.* EXCLUDE (run_seq), example.label, example.split, example.first_no, example.second_no,
       first.text AS first, second.text AS second
FROM {table} AS result
JOIN run USING (run_seq)
JOIN dataset USING (dataset_digest)
JOIN dataset_labeled_text AS example
  ON example.dataset_seq = dataset.dataset_seq AND example.item_no = result.item_no
JOIN asked_text AS first ON first.dataset_seq = dataset.dataset_seq AND first.text_no = example.first_no
LEFT JOIN asked_text AS second ON second.dataset_seq = dataset.dataset_seq AND second.text_no = example.second_no
WHERE run.run_id IN (SELECT unnest($run_ids::VARCHAR[]))
ORDER BY result.item_no, run.run_id
