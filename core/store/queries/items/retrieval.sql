-- Every query of some runs over one retrieval dataset: a row per run and query. {table} is the diagnostic's own table.
SELECT run.run_id, result.* EXCLUDE (run_seq), query.query_id, query.query_no, text.text AS query
FROM {table} AS result
JOIN run USING (run_seq)
JOIN dataset USING (dataset_digest)
JOIN dataset_retrieval AS query ON query.dataset_seq = dataset.dataset_seq AND query.item_no = result.item_no
JOIN dataset_text AS text ON text.dataset_seq = dataset.dataset_seq AND text.text_no = query.query_no
WHERE run.run_id IN (SELECT unnest($run_ids::VARCHAR[]))
ORDER BY result.item_no, run.run_id
