INSERT INTO run (run_id, diagnostic, diagnostic_version, encoder, transform, dataset, dataset_digest,
                 params, status, process_id, started_at, embedding_digest, support, support_digest, own_support)
VALUES ($run_id, $diagnostic, $diagnostic_version, $encoder, $transform, $dataset, $dataset_digest,
        $params, 'running', $process_id, $started_at, $embedding_digest, $support, $support_digest, $own_support)
ON CONFLICT (run_id) DO UPDATE SET
    process_id = CASE run.status WHEN 'done' THEN run.process_id ELSE excluded.process_id END,
    started_at = CASE run.status WHEN 'done' THEN run.started_at ELSE excluded.started_at END
RETURNING run_seq
