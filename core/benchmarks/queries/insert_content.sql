-- {table} is one of those with the content of datasets.
INSERT INTO {table}
SELECT source.* REPLACE (copied_dataset.dataset_seq AS dataset_seq)
FROM copied_dataset JOIN {table} AS source ON source.dataset_seq = copied_dataset.source_seq
ORDER BY copied_dataset.dataset_seq, source.rowid
