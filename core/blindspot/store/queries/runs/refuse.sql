-- A run whose input was refused; what another process took over meanwhile stays its own.
DELETE FROM run
WHERE run_seq = $run_seq AND process_id = $process_id AND status = 'running'
