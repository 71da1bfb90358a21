-- How fast each model was, by the revision of its weights and by device: all texts that were encoded, and the seconds
-- that this took, and when the last of it was. `place` is 1 on the device that encoded most texts: its speed is the model's.
SELECT encoder, revision, device, sum(texts)::BIGINT AS texts, sum(seconds) AS seconds,
       max(began) AS measured_at,
       row_number() OVER (PARTITION BY encoder, revision ORDER BY sum(texts) DESC, device) AS place
FROM embedding
LEFT JOIN (SELECT embedding_digest, min(started_at) AS began FROM run GROUP BY embedding_digest) USING (embedding_digest)
WHERE seconds > 0
GROUP BY encoder, revision, device
