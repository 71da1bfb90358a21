-- The revision of the model of each finished run: that of its embeddings, or of a file of rankings or a fusion, which have
-- none. Other queries have this for {revisions}.
SELECT run.run_seq, run.encoder, embedding.revision
FROM run JOIN embedding USING (embedding_digest)
WHERE run.status = 'done'
UNION ALL
SELECT run_seq, encoder, manifest ->> '$.encoder.revision'
FROM run
WHERE status = 'done' AND (starts_with(encoder, 'run:') OR starts_with(encoder, 'fuse:'))
