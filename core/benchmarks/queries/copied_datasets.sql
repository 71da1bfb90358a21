-- The datasets of the copies, with numbers of their own.
CREATE TEMP TABLE copied_dataset AS
SELECT nextval('dataset_seq') AS dataset_seq, *
FROM (
    SELECT DISTINCT source.dataset_seq AS source_seq, copied.dataset, copied.dataset_digest, source.kind
    FROM copied JOIN run ON run.run_seq = copied.source_seq
    JOIN dataset AS source ON source.dataset_digest = run.dataset_digest
    WHERE copied.dataset_digest <> source.dataset_digest
)
