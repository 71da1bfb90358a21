-- The cost of encoding belongs to the runs that use the embeddings; without such a run it is useless.
DELETE FROM embedding
WHERE encoder = $encoder
  AND embedding_digest NOT IN (SELECT embedding_digest FROM run WHERE embedding_digest IS NOT NULL)
