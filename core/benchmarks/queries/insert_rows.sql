-- {table} is a diagnostic's own table.
INSERT INTO {table}
SELECT source.* REPLACE (copied.run_seq AS run_seq)
FROM copied JOIN {table} AS source ON source.run_seq = copied.source_seq
ORDER BY copied.run_seq, source.rowid
