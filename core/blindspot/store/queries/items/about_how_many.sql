-- About how many rows the tables of results have, as DuckDB notes it.
SELECT coalesce(sum(estimated_size), 0)::BIGINT
FROM duckdb_tables()
WHERE table_name LIKE 'result\_%' ESCAPE '\'
