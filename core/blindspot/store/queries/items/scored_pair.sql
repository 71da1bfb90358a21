-- Every scored pair of some runs over one dataset: a row per run and pair. {table} is the diagnostic's own table.
WITH asked_text AS ( -- of these runs' datasets alone: a join with all texts took ten times as long in a store of many
    SELECT *
    FROM dataset_text
    WHERE dataset_seq IN (
        SELECT dataset_seq FROM dataset JOIN run USING (dataset_digest)
        WHERE run_id IN (SELECT unnest($run_ids::VARCHAR[]))
    )
)
SELECT run.run_id, result.* EXCLUDE (run_seq), pair.set_name, pair.gold, pair.first_no, pair.second_no,
       first.text AS first, second.text AS second
FROM {table} AS result
JOIN run USING (run_seq)
JOIN dataset USING (dataset_digest)
JOIN dataset_scored_pair AS pair ON pair.dataset_seq = dataset.dataset_seq AND pair.item_no = result.item_no
JOIN asked_text AS first ON first.dataset_seq = dataset.dataset_seq AND first.text_no = pair.first_no
JOIN asked_text AS second ON second.dataset_seq = dataset.dataset_seq AND second.text_no = pair.second_no
WHERE run.run_id IN (SELECT unnest($run_ids::VARCHAR[]))
ORDER BY result.item_no, run.run_id
