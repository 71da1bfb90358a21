-- Finished runs of weights that their model no longer has, which is those that its newest run had; `reference` tells
-- such a version apart, as in `blindspot.references.version_of`. Other queries have this for {older}. Few models ever change, and
-- the table of embeddings, a small one, says which: without any, this costs next to nothing.
SELECT run_seq, encoder || '@version-' || left(revision, 8) AS reference
FROM ({revisions}) AS revisions
WHERE encoder IN (SELECT encoder FROM embedding GROUP BY encoder HAVING min(revision) <> max(revision))
   OR starts_with(encoder, 'run:')
   OR starts_with(encoder, 'fuse:')
QUALIFY revision <> first_value(revision) OVER (PARTITION BY encoder ORDER BY run_seq DESC)
