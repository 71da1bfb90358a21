-- A finished run, but for its scores and rows.
SELECT run_seq, run_id, diagnostic, diagnostic_version, encoder, transform, dataset, dataset_digest, params,
       coalesce(embedding_digest, '') AS embedding_digest, coalesce(support, '[]') AS support,
       coalesce(support_digest, '') AS support_digest, coalesce(own_support, true) AS own_support,
       started_at, finished_at, coverage, timings, manifest
FROM run
WHERE run_id = $run_id AND status = 'done'
