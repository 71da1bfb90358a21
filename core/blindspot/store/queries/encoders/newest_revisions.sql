-- Per model with a path the revision of its newest finished run, and when that began.
SELECT run.encoder, arg_max(embedding.revision, run.run_seq), max(run.started_at)
FROM run JOIN embedding USING (embedding_digest)
WHERE run.status = 'done' AND contains(run.encoder, ':')
GROUP BY run.encoder
ORDER BY run.encoder
