UPDATE run
SET status = 'done', finished_at = $finished_at, coverage = $coverage, timings = $timings, manifest = $manifest
WHERE run_seq = $run_seq
