-- Which of some runs have per-item rows. {table} is the diagnostic's own table.
SELECT run_id
FROM run
WHERE run_id IN (SELECT unnest($run_ids::VARCHAR[]))
  AND EXISTS (SELECT 1 FROM {table} AS result WHERE result.run_seq = run.run_seq)
