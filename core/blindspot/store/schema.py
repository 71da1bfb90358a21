"""Tables of the store: the tables of results, and all tables as a reader of the file sees them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import duckdb
import pyarrow as pa

from blindspot.diagnostic import Diagnostic
from blindspot.store import db

_SQL_TYPES = {pa.int32(): "INTEGER", pa.int64(): "BIGINT", pa.float64(): "DOUBLE", pa.string(): "VARCHAR"}


def result_table(entry: Diagnostic) -> str:
    """SQL that creates the table of a diagnostic's rows per item, unless it exists."""
    columns = ", ".join(f"{c.name} {_SQL_TYPES[c.type]} NOT NULL" for c in entry.columns)
    return f"CREATE TABLE IF NOT EXISTS {entry.table} (run_seq INTEGER NOT NULL, item_no INTEGER NOT NULL, {columns})"


def tables(entries: Iterable[Diagnostic], examples: Iterable[str]) -> Mapping[str, Sequence[tuple[str, str]]]:
    """Name and type of every column, by table, in a new store with results of all diagnostics.

    Raises:
        duckdb.Error: one of the example queries does not run.
    """
    with duckdb.connect() as connection:
        for migration in db.migrations():
            connection.execute(migration.sql)
        for entry in entries:
            connection.execute(result_table(entry))
        for example in examples:
            connection.execute(example)
        names = [str(name) for (name,) in connection.execute("SHOW TABLES").fetchall()]
        return {
            name: [(str(row[0]), str(row[1])) for row in connection.execute(f'DESCRIBE "{name}"').fetchall()]
            for name in names
        }
