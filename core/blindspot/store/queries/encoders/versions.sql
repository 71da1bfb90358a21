-- Versions of the encoders whose weights changed: reference, number by first run, and when that was.
WITH told AS (
    SELECT run.encoder, coalesce(older.reference, run.encoder) AS reference, run.run_seq, run.started_at
    FROM run LEFT JOIN ({older}) AS older ON older.run_seq = run.run_seq
    WHERE run.status = 'done'
      AND run.encoder IN (SELECT encoder FROM embedding GROUP BY encoder HAVING min(revision) <> max(revision))
      AND run.embedding_digest IN (SELECT embedding_digest FROM embedding)
), versions AS (
    SELECT encoder, reference, min(run_seq) AS place, min(started_at) AS began
    FROM told
    GROUP BY encoder, reference
)
SELECT reference, row_number() OVER (PARTITION BY encoder ORDER BY place), began
FROM versions
QUALIFY count(*) OVER (PARTITION BY encoder) > 1
ORDER BY place
