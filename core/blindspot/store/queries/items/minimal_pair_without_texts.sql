-- The per-item rows of some runs over minimal pairs, with the numbers of their texts: which originals share one.
-- {table} is the diagnostic's own table.
SELECT run.run_id, result.item_no, pair.original_no, pair.rewrite_no, result.* EXCLUDE (run_seq, item_no)
FROM {table} AS result
JOIN run USING (run_seq)
JOIN dataset USING (dataset_digest)
JOIN dataset_minimal_pair AS pair
  ON pair.dataset_seq = dataset.dataset_seq AND pair.item_no = result.item_no AND pair.subset = result.subset
WHERE run.run_id IN (SELECT unnest($run_ids::VARCHAR[]))
ORDER BY run.run_id, result.item_no, result.rowid
