-- Per dataset the best finished runs that can be compared, and how many variants there are: over the newest content,
-- on the items that most variants were run on (among equals the newest), of each variant the newest run.
-- $variants names those that are wanted, all where it is NULL. "Best" is by $headline,
-- the highest first, or the lowest where $sign is -1.
WITH fitting AS (
    SELECT run_seq, dataset, dataset_digest, coalesce(older.reference, run.encoder) || '~' || transform AS variant,
           support_digest
    FROM run LEFT JOIN ({older}) AS older USING (run_seq)
    WHERE status = 'done' AND diagnostic = $diagnostic AND diagnostic_version = $version AND params = $params
), newest_content AS (
    SELECT dataset, arg_max(dataset_digest, run_seq) AS dataset_digest
    FROM run
    WHERE status = 'done' AND diagnostic = $diagnostic
    GROUP BY dataset
), wanted AS (
    SELECT *
    FROM fitting
    SEMI JOIN newest_content USING (dataset, dataset_digest)
    WHERE $variants IS NULL OR list_contains($variants, variant)
), widest AS (
    SELECT dataset, support_digest
    FROM wanted
    GROUP BY dataset, support_digest
    QUALIFY row_number() OVER (PARTITION BY dataset ORDER BY count(DISTINCT variant) DESC, max(run_seq) DESC) = 1
), newest AS (
    SELECT dataset, max(run_seq) AS run_seq
    FROM wanted
    SEMI JOIN widest USING (dataset, support_digest)
    GROUP BY dataset, variant
)
SELECT newest.run_seq,
       count(*) OVER (PARTITION BY newest.dataset) AS variants,
       max(newest.run_seq) OVER (PARTITION BY newest.dataset) AS last_run
FROM newest
LEFT JOIN metric ON metric.run_seq = newest.run_seq AND metric.name = $headline
QUALIFY row_number() OVER (PARTITION BY newest.dataset ORDER BY $sign * metric.value DESC NULLS LAST, newest.run_seq) <= $top
ORDER BY last_run DESC, newest.dataset, $sign * metric.value DESC NULLS LAST, newest.run_seq
