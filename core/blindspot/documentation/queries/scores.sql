-- MRR of every finished run of EvalRank, best first
SELECT run.encoder, run.transform, run.dataset, metric.value AS mrr
FROM run JOIN metric USING (run_seq)
WHERE run.diagnostic = 'evalrank' AND run.status = 'done' AND metric.name = 'mrr'
ORDER BY mrr DESC;
