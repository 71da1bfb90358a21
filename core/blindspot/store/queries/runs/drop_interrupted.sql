-- A run that nobody computes any more; one that somebody took over meanwhile was begun anew, and stays.
DELETE FROM run
WHERE run_seq = $run_seq AND status = 'running' AND started_at = $started_at
RETURNING run_seq
