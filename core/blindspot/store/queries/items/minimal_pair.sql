-- Every minimal pair of some runs over one dataset: a row per original, run and subset, the subsets in the dataset's
-- order. {table} is the diagnostic's own table.
WITH asked_text AS ( -- of these runs' datasets alone: a join with all texts took ten times as long in a store of many
    SELECT *
    FROM dataset_text
    WHERE dataset_seq IN (
        SELECT dataset_seq FROM dataset JOIN run USING (dataset_digest)
        WHERE run_id IN (SELECT unnest($run_ids::VARCHAR[]))
    )
)
SELECT run.run_id, result.item_no, pair.original_no, pair.rewrite_no,
       original.text AS original, rewrite.text AS rewrite, result.* EXCLUDE (run_seq, item_no)
FROM {table} AS result
JOIN run USING (run_seq)
JOIN dataset USING (dataset_digest)
JOIN dataset_minimal_pair AS pair
  ON pair.dataset_seq = dataset.dataset_seq AND pair.item_no = result.item_no AND pair.subset = result.subset
JOIN asked_text AS original ON original.dataset_seq = dataset.dataset_seq AND original.text_no = pair.original_no
JOIN asked_text AS rewrite ON rewrite.dataset_seq = dataset.dataset_seq AND rewrite.text_no = pair.rewrite_no
WHERE run.run_id IN (SELECT unnest($run_ids::VARCHAR[]))
ORDER BY result.item_no, run.run_id, result.rowid
