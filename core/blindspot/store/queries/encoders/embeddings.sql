-- What encoding cost, also where the matrix is no longer on disk.
SELECT embedding_digest, encoder, revision, dimension, texts, seconds, device
FROM embedding
ORDER BY embedding_digest
