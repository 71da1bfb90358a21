-- Nobody computes this run any more; what another process took over meanwhile stays its own.
UPDATE run SET process_id = 0
WHERE run_seq = $run_seq AND process_id = $process_id AND status = 'running'
