-- Copies of some finished runs: by models that never were, with post-processing, on datasets that never were; without
-- their scores and rows. $run_ids names the runs; of every run there are $models x $transforms x $datasets copies, in the
-- order in which a sweep stores them.
CREATE TEMP TABLE copied AS
SELECT nextval('run_seq') AS run_seq, *
FROM (
    SELECT source.run_seq AS source_seq,
           'hf:benchmark/model-' || model AS encoder,
           CASE step WHEN 0 THEN 'none' ELSE 'abtt:' || step END AS transform,
           CASE part WHEN 0 THEN source.dataset
                     ELSE 'file:/benchmark/' || source.diagnostic || '-' || part || '.tsv' END AS dataset,
           CASE part WHEN 0 THEN source.dataset_digest
                     ELSE sha256(source.diagnostic || part) END AS dataset_digest,
           md5(concat_ws('/', source.run_id, model, step, part))[:16] AS run_id,
           md5(concat_ws('/', source.embedding_digest, model, part)) AS embedding_digest
    FROM run AS source,
         generate_series(1, $models) AS models (model),
         generate_series(0, $transforms - 1) AS transforms (step),
         generate_series(0, $datasets - 1) AS datasets (part)
    WHERE source.run_id IN (SELECT unnest($run_ids::VARCHAR[]))
    ORDER BY part, model, step, source.run_seq
)
