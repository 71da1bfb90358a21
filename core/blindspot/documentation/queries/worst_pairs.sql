-- The pairs that models rank worst, with their texts
SELECT run.encoder, run.transform, 1 + pair.greater AS rank, query.text AS query, match.text AS match
FROM run
JOIN {evalrank} AS pair USING (run_seq)
JOIN dataset USING (dataset, dataset_digest)
JOIN dataset_pair ON dataset_pair.dataset_seq = dataset.dataset_seq AND dataset_pair.item_no = pair.item_no
JOIN dataset_text AS query ON query.dataset_seq = dataset.dataset_seq AND query.text_no = dataset_pair.query_no
JOIN dataset_text AS match ON match.dataset_seq = dataset.dataset_seq AND match.text_no = dataset_pair.match_no
ORDER BY rank DESC
LIMIT 20;
