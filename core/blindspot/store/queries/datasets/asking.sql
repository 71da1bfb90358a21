-- Items of a dataset that ask for others: queries of pairs, originals of minimal pairs.
SELECT asking.item_no
FROM (
    SELECT dataset_seq, query_no AS item_no
    FROM dataset_pair
    UNION
    SELECT dataset_seq, original_no AS item_no
    FROM dataset_minimal_pair
) AS asking
JOIN dataset USING (dataset_seq)
WHERE dataset.dataset_digest = $dataset_digest
ORDER BY asking.item_no
