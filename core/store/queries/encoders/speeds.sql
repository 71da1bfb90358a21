-- How fast each model was, by the revision of its weights and by device: all texts that were encoded, and the seconds
-- that this took. `place` is 1 on the device that encoded most texts: its speed is the model's.
SELECT encoder, revision, device, sum(texts)::BIGINT AS texts, sum(seconds) AS seconds,
       row_number() OVER (PARTITION BY encoder, revision ORDER BY sum(texts) DESC, device) AS place
FROM embedding
WHERE seconds > 0
GROUP BY encoder, revision, device
