-- Variants that have a finished run, in order of first appearance.
SELECT encoder, transform
FROM run
WHERE status = 'done'
GROUP BY encoder, transform
ORDER BY min(run_seq)
