INSERT INTO embedding BY NAME
SELECT DISTINCT ON (copied.embedding_digest)
       source.* REPLACE (copied.embedding_digest AS embedding_digest, copied.encoder AS encoder)
FROM copied
JOIN run ON run.run_seq = copied.source_seq
JOIN embedding AS source ON source.embedding_digest = run.embedding_digest
