-- The per-item rows of some runs, without texts. {table} is the diagnostic's own table.
SELECT run.run_id, result.* EXCLUDE (run_seq)
FROM {table} AS result
JOIN run USING (run_seq)
WHERE run.run_id IN (SELECT unnest($run_ids::VARCHAR[]))
ORDER BY run.run_id, result.item_no, result.rowid
