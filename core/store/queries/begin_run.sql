INSERT INTO run (run_id, diagnostic, diagnostic_version, encoder, transform, dataset, dataset_digest,
                 params, status, process_id, started_at, embedding_digest)
VALUES ($run_id, $diagnostic, $diagnostic_version, $encoder, $transform, $dataset, $dataset_digest,
        $params, 'running', $process_id, $started_at, $embedding_digest)
ON CONFLICT (run_id) DO UPDATE SET process_id = excluded.process_id, started_at = excluded.started_at
RETURNING run_seq
