-- Per model outside of the catalog the revision of its newest finished run, and when that began.
SELECT encoder, arg_max(revisions.revision, run_seq), max(run.started_at)
FROM ({revisions}) AS revisions JOIN run USING (run_seq, encoder)
WHERE contains(encoder, ':')
GROUP BY encoder
ORDER BY encoder
