-- Every query of some runs over one retrieval dataset: a row per run and query. {table} is the diagnostic's own table.
WITH asked_text AS ( -- of these runs' datasets alone: a join with all texts took ten times as long in a store of many
    SELECT *
    FROM dataset_text
    WHERE dataset_seq IN (
        SELECT dataset_seq FROM dataset JOIN run USING (dataset_digest)
        WHERE run_id IN (SELECT unnest($run_ids::VARCHAR[]))
    )
)
SELECT run.run_id, result.* EXCLUDE (run_seq), query.query_id, query.query_no, text.text AS query
FROM {table} AS result
JOIN run USING (run_seq)
JOIN dataset USING (dataset_digest)
JOIN dataset_retrieval AS query ON query.dataset_seq = dataset.dataset_seq AND query.item_no = result.item_no
JOIN asked_text AS text ON text.dataset_seq = dataset.dataset_seq AND text.text_no = query.query_no
WHERE run.run_id IN (SELECT unnest($run_ids::VARCHAR[]))
ORDER BY result.item_no, run.run_id
