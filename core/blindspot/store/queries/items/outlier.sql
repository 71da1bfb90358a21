-- Every case of some runs over one set of groups with outliers: a row per run and case, with the words of its group.
-- {table} is the diagnostic's own table.
WITH asked AS (
    SELECT DISTINCT dataset.dataset_seq
    FROM run JOIN dataset USING (dataset_digest)
    WHERE run.run_id IN (SELECT unnest($run_ids::VARCHAR[]))
),
asked_text AS ( -- of these runs' datasets alone: a join with all texts took ten times as long in a store of many
    SELECT * FROM dataset_text WHERE dataset_seq IN (SELECT dataset_seq FROM asked)
),
word AS (
    SELECT member.dataset_seq, member.item_no, any_value(member.group_name) AS group_name,
           max(text.text) FILTER (member.place = 0) AS outlier,
           string_agg(text.text, '; ' ORDER BY member.place) FILTER (member.place > 0) AS words
    FROM dataset_outlier AS member
    JOIN asked USING (dataset_seq)
    JOIN asked_text AS text ON text.dataset_seq = member.dataset_seq AND text.text_no = member.word_no
    GROUP BY member.dataset_seq, member.item_no
)
SELECT run.run_id, result.* EXCLUDE (run_seq), word.group_name, word.outlier, word.words
FROM {table} AS result
JOIN run USING (run_seq)
JOIN dataset USING (dataset_digest)
JOIN word ON word.dataset_seq = dataset.dataset_seq AND word.item_no = result.item_no
WHERE run.run_id IN (SELECT unnest($run_ids::VARCHAR[]))
ORDER BY result.item_no, run.run_id
