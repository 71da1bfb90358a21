-- Every pair of some runs over one dataset: a row per run and pair. {table} is the diagnostic's own table, {ranks} the
-- ranks of one that counts items above the match and tied with it.
WITH asked_text AS ( -- of these runs' datasets alone: a join with all texts took ten times as long in a store of many
    SELECT *
    FROM dataset_text
    WHERE dataset_seq IN (
        SELECT dataset_seq FROM dataset JOIN run USING (dataset_digest)
        WHERE run_id IN (SELECT unnest($run_ids::VARCHAR[]))
    )
)
SELECT run.run_id, result.* EXCLUDE (run_seq),
       {ranks}
       pair.query_no, pair.match_no, query.text AS query, match.text AS match
FROM {table} AS result
JOIN run USING (run_seq)
JOIN dataset USING (dataset_digest)
JOIN dataset_pair AS pair ON pair.dataset_seq = dataset.dataset_seq AND pair.item_no = result.item_no
JOIN asked_text AS query ON query.dataset_seq = dataset.dataset_seq AND query.text_no = pair.query_no
JOIN asked_text AS match ON match.dataset_seq = dataset.dataset_seq AND match.text_no = pair.match_no
WHERE run.run_id IN (SELECT unnest($run_ids::VARCHAR[]))
ORDER BY result.item_no, run.run_id
