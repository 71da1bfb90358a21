-- What the embeddings of a run cost, and those of a fusion's models.
SELECT embedding_digest, encoder, revision, dimension, parameters, memory_bytes, texts, seconds, device
FROM embedding
WHERE embedding_digest IN (SELECT unnest($digests::VARCHAR[]))
ORDER BY embedding_digest
