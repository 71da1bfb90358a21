-- Runs, newest first; a parameter that is NULL does not filter. $current keeps those over the newest content of their
-- dataset: a user's file may have changed, and its old pairs with it. $metrics names the scores that are wanted.
WITH newest AS (
    SELECT diagnostic, dataset, arg_max(dataset_digest, run_seq) AS dataset_digest
    FROM run
    WHERE status = 'done'
    GROUP BY diagnostic, dataset
), told AS (
    SELECT run_seq, run_id, diagnostic, diagnostic_version, coalesce(older.reference, run.encoder) AS encoder, transform,
           dataset, dataset_digest, params, status, started_at
    FROM run LEFT JOIN ({older}) AS older USING (run_seq)
), chosen AS (
    SELECT run_seq, encoder, count(*) OVER () AS total -- not the manifests of all runs
    FROM told
    WHERE ($run_id IS NULL OR starts_with(run_id, $run_id))
      AND ($diagnostic IS NULL OR diagnostic = $diagnostic)
      AND ($version IS NULL OR diagnostic_version = $version)
      AND ($encoder IS NULL OR encoder = $encoder)
      AND ($variants IS NULL OR list_contains($variants, encoder || '~' || transform))
      AND ($dataset IS NULL
           OR dataset = $dataset
           OR dataset_digest IN (SELECT dataset_digest FROM dataset_alias WHERE dataset = $dataset))
      AND ($params IS NULL OR params = $params)
      AND ($run_seqs IS NULL OR list_contains($run_seqs, run_seq))
      AND ($status IS NULL OR status = $status)
      AND (NOT $current OR (diagnostic, dataset, dataset_digest) IN (SELECT * FROM newest))
    ORDER BY started_at DESC, run_seq DESC
    LIMIT $limit OFFSET $skip
), scores AS (
    SELECT run_seq, list(name ORDER BY name) AS names, list(value ORDER BY name) AS scores
    FROM metric
    WHERE run_seq IN (SELECT run_seq FROM chosen) AND ($metrics IS NULL OR list_contains($metrics, name))
    GROUP BY run_seq
)
SELECT run.* REPLACE (chosen.encoder AS encoder), chosen.total, scores.names, scores.scores,
       embedding.dimension, embedding.parameters, embedding.memory_bytes,
       embedding.encoder AS encoded_by, embedding.revision
FROM chosen
JOIN run USING (run_seq)
LEFT JOIN scores USING (run_seq)
LEFT JOIN embedding USING (embedding_digest)
ORDER BY run.started_at DESC, run_seq DESC
