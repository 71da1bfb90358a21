INSERT INTO run BY NAME
SELECT source.* REPLACE (
           copied.run_seq AS run_seq, copied.run_id AS run_id, copied.encoder AS encoder,
           copied.transform AS transform, copied.dataset AS dataset, copied.dataset_digest AS dataset_digest,
           copied.embedding_digest AS embedding_digest,
           replace(source.manifest, source.run_id, copied.run_id) AS manifest,
           source.started_at + to_seconds(copied.run_seq) AS started_at,
           source.finished_at + to_seconds(copied.run_seq) AS finished_at
       )
FROM copied JOIN run AS source ON source.run_seq = copied.source_seq
ORDER BY copied.run_seq
