"""Schema of the store as a reader of the file sees it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import duckdb

from core.store import db


def tables(example: str = "") -> Mapping[str, Sequence[tuple[str, str]]]:
    """Name and type of every column, by table, in a new store; raises ``duckdb.Error`` if ``example`` does not run."""
    with duckdb.connect() as connection:
        for migration in db.migrations():
            connection.execute(migration.sql)
        if example:
            connection.execute(example)
        names = [str(name) for (name,) in connection.execute("SHOW TABLES").fetchall()]
        return {
            name: [(str(row[0]), str(row[1])) for row in connection.execute(f'DESCRIBE "{name}"').fetchall()]
            for name in names
        }
