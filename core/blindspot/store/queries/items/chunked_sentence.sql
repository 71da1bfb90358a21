-- Every tested sentence of some runs over one set of chunked sentences: a row per run and sentence. {table} is the
-- diagnostic's own table.
SELECT run.run_id, result.* EXCLUDE (run_seq), chunked.sentence, chunked.tags, chunked.split
FROM {table} AS result
JOIN run USING (run_seq)
JOIN dataset USING (dataset_digest)
JOIN dataset_chunked_sentence AS chunked
  ON chunked.dataset_seq = dataset.dataset_seq AND chunked.item_no = result.item_no
WHERE run.run_id IN (SELECT unnest($run_ids::VARCHAR[]))
ORDER BY result.item_no, run.run_id
