-- A run that was begun here and finished elsewhere; who still computes it here finds it done.
UPDATE run
SET status = 'done', process_id = 0, started_at = $started_at, finished_at = $finished_at, coverage = $coverage,
    timings = $timings, manifest = $manifest
WHERE run_id = $run_id AND status = 'running'
RETURNING run_seq
