"""Inspection of a store that changes nothing: no file is made, no schema migrated."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import duckdb

from blindspot.errors import BlindspotError, StoreBusy
from blindspot.store.db import CONFINED, HELD, Database, first_line, holder, migrations, tables_of, version_of
from blindspot.store.records import RunRecord, record_of

RETRY_SECONDS = 0.05
# Columns of ``record_of`` from other tables, which are not read here.
_FROM_OTHERS = "names scores dimension parameters memory_bytes texts seconds device".split()


@dataclass(frozen=True)
class StoreFacts:
    """A store's contents: runs (newest first, without their metrics), encoders by reference, rows in all tables."""

    schema_version: int
    newest_version: int
    runs: tuple[RunRecord, ...]
    references: tuple[str, ...]
    rows: int


def inspect(database: Database, patience: float) -> StoreFacts | None:
    """Read all of a store once; None if there is none. Raises the same errors as ``schema_version``."""
    if not database.path.exists():
        return None
    damaged = (
        "check its permissions; if it is damaged, move it away: what is in it can be computed again, "
        "quickly where the embeddings are still in the cache"
    )
    with _read_only(database, patience, damaged) as connection:
        return _facts(connection, database)


def schema_version(database: Database, patience: float) -> int:
    """The schema version of a store; 0 if there is none. Nothing else is read.

    Raises:
        StoreBusy: another process held it for more than ``patience`` seconds.
        BlindspotError: it is damaged, no store, or a newer Blindspot wrote it.
    """
    if not database.path.exists():
        return 0
    with _read_only(database, patience, "blindspot doctor says more") as connection:
        return version_of(connection, database.path)


def check_opens(database: Database) -> None:
    """Open a store, if there is one, as this process may, and close it. Raises the errors of ``schema_version``."""
    if database.path.exists():
        with database.cursor() as cursor:
            cursor.execute("SELECT 1").fetchall()
        database.close()


@contextmanager
def _read_only(database: Database, patience: float, remedy: str) -> Iterator[duckdb.DuckDBPyConnection]:
    """``_connected``, but an error of DuckDB, also inside the block, becomes a ``BlindspotError`` with this remedy."""
    try:
        with _connected(database, patience) as connection:
            yield connection
    except duckdb.Error as error:
        raise BlindspotError(f"the store {database.path} cannot be read: {first_line(error)}", remedy=remedy) from error


@contextmanager
def _connected(database: Database, patience: float) -> Iterator[duckdb.DuckDBPyConnection]:
    """A read-only connection; if this process has the file open for writing, a cursor of that connection."""
    deadline = time.monotonic() + patience
    database.close()
    while True:
        try:
            connection = duckdb.connect(str(database.path), read_only=True, config=CONFINED)
        except duckdb.ConnectionException:  # DuckDB opens a file in one way per process
            with database.cursor() as cursor:
                yield cursor
            return
        except duckdb.IOException as error:
            if not HELD.search(str(error)):
                raise
            if time.monotonic() > deadline:
                raise StoreBusy(
                    f"the store {database.path} is held by {holder(error)} for more than {patience:g} seconds",
                    remedy="close that program, or wait for it, then try again",
                ) from error
            time.sleep(RETRY_SECONDS)
            continue
        with connection:
            yield connection
        return


def _facts(connection: duckdb.DuckDBPyConnection, database: Database) -> StoreFacts:
    tables = tables_of(connection)
    version = version_of(connection, database.path)
    runs: list[RunRecord] = []
    if "run" in tables:
        rows = connection.sql("SELECT * FROM run ORDER BY started_at DESC, run_seq DESC").to_arrow_table()
        runs = [record_of(dict.fromkeys(_FROM_OTHERS) | row) for row in rows.to_pylist()]
    references: list[str] = []
    if "encoder_reference" in tables:
        sql = "SELECT reference FROM encoder_reference WHERE NOT is_removed ORDER BY reference"
        references = [row[0] for row in connection.execute(sql).fetchall()]
    # Every column is read to find damaged blocks: DuckDB compares the checksums of what it reads.
    counts = [_read_all(connection, table) for table in sorted(tables)]
    return StoreFacts(version, len(migrations()), tuple(runs), tuple(references), sum(counts))


def _read_all(connection: duckdb.DuckDBPyConnection, table: str) -> int:
    quoted = '"' + table.replace('"', '""') + '"'
    return int(connection.execute(f"SELECT count(*), max(hash(COLUMNS(*))) FROM {quoted}").fetchall()[0][0])
