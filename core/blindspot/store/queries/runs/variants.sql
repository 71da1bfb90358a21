-- Variants that have a finished run, in order of first appearance.
SELECT coalesce(older.reference, run.encoder) AS variant, transform
FROM run LEFT JOIN ({older}) AS older USING (run_seq)
WHERE status = 'done'
GROUP BY variant, transform
ORDER BY min(run_seq)
