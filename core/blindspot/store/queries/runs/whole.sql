-- A finished run, but for its scores and rows.
SELECT run_seq, run_id, diagnostic, diagnostic_version, encoder, transform, dataset, dataset_digest, params,
       embedding_digest, support, support_digest, own_support,
       started_at, finished_at, coverage, timings, manifest
FROM run
WHERE run_id = $run_id AND status = 'done'
