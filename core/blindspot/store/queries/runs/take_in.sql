-- A run that was finished elsewhere; nothing where this store has begun or finished it.
INSERT INTO run (run_id, diagnostic, diagnostic_version, encoder, transform, dataset, dataset_digest,
                 params, status, process_id, started_at, embedding_digest, support, support_digest, own_support,
                 finished_at, coverage, timings, manifest)
VALUES ($run_id, $diagnostic, $diagnostic_version, $encoder, $transform, $dataset, $dataset_digest,
        $params, 'done', 0, $started_at, $embedding_digest, $support, $support_digest, $own_support,
        $finished_at, $coverage, $timings, $manifest)
ON CONFLICT (run_id) DO NOTHING
RETURNING run_seq
