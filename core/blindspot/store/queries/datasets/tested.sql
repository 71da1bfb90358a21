-- Datasets with a finished run, in order of first appearance.
SELECT dataset
FROM run
WHERE status = 'done'
GROUP BY dataset
ORDER BY min(run_seq)
