-- Versions of the models whose weights or files changed: reference, number by first run, and when that was.
WITH told AS (
    SELECT revisions.encoder, coalesce(older.reference, revisions.encoder) AS reference, run_seq, run.started_at
    FROM ({revisions}) AS revisions JOIN run USING (run_seq) LEFT JOIN ({older}) AS older USING (run_seq)
    WHERE revisions.encoder IN (SELECT encoder FROM embedding GROUP BY encoder HAVING min(revision) <> max(revision))
       OR starts_with(revisions.encoder, 'run:')
       OR starts_with(revisions.encoder, 'fuse:')
), versions AS (
    SELECT encoder, reference, min(run_seq) AS place, min(started_at) AS began
    FROM told
    GROUP BY encoder, reference
)
SELECT reference, row_number() OVER (PARTITION BY encoder ORDER BY place), began
FROM versions
QUALIFY count(*) OVER (PARTITION BY encoder) > 1
ORDER BY place
