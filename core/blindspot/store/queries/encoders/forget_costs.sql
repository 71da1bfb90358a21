-- Costs of embeddings that are not on disk and that no run uses.
DELETE FROM embedding
WHERE embedding_digest IN (SELECT unnest($digests::VARCHAR[]))
  AND embedding_digest NOT IN (SELECT embedding_digest FROM run WHERE embedding_digest IS NOT NULL)
RETURNING embedding_digest
