-- Finished runs of weights that their model no longer has, which is those that its newest run had; `reference` tells
-- such a version apart, as in `blindspot.references.version_of`. Other queries have this for {older}. Few models ever change, and
-- the table of embeddings, a small one, says which: without any, this costs next to nothing.
SELECT run.run_seq, run.encoder || '@version-' || left(embedding.revision, 8) AS reference
FROM run JOIN embedding USING (embedding_digest)
WHERE run.status = 'done'
  AND run.encoder IN (SELECT encoder FROM embedding GROUP BY encoder HAVING min(revision) <> max(revision))
QUALIFY embedding.revision <> first_value(embedding.revision) OVER (PARTITION BY run.encoder ORDER BY run.run_seq DESC)
