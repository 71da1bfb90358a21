-- Runs, newest first; a parameter that is NULL does not filter.
SELECT run.*,
       map_from_entries(coalesce(scores.entries, [])) AS metrics,
       embedding.dimension, embedding.parameters, embedding.memory_bytes,
       embedding.texts, embedding.seconds, embedding.device
FROM run
LEFT JOIN (
    SELECT run_seq, list({'k': name, 'v': value} ORDER BY name) AS entries FROM metric GROUP BY run_seq
) AS scores USING (run_seq)
LEFT JOIN embedding USING (embedding_digest)
WHERE ($run_id IS NULL OR run_id = $run_id)
  AND ($diagnostic IS NULL OR diagnostic = $diagnostic)
  AND ($dataset IS NULL OR dataset = $dataset)
  AND ($status IS NULL OR status = $status)
ORDER BY started_at DESC, run_seq DESC
