"""Looking at a store without changing anything: no file is made, no schema brought up to date."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import duckdb

from core.errors import BlindspotError, StoreBusy
from core.store.db import _HELD, CONFINED, Database, _first_line, _holder, migrations
from core.store.records import RunRecord, record_of

RETRY_SECONDS = 0.05
# Columns of ``record_of`` that come from other tables, or that a store of an older schema lacks.
_MAY_LACK = (
    "names scores embedding_digest support support_digest own_support "
    "dimension parameters memory_bytes texts seconds device"
).split()


@dataclass(frozen=True)
class StoreFacts:
    """What is in a store.

    Attributes:
        schema_version: how many migrations it has seen.
        newest_version: how many there are.
        runs: newest first, without their metrics.
        references: encoders that were added by reference and not removed.
        rows: in all tables.
    """

    schema_version: int
    newest_version: int
    runs: tuple[RunRecord, ...]
    references: tuple[str, ...]
    rows: int


def inspect(database: Database, patience: float) -> StoreFacts | None:
    """Read all of a store once; None where there is none.

    Args:
        patience: seconds to wait for a process that holds it.

    Raises:
        StoreBusy: another process held it for longer.
        BlindspotError: it is damaged, no store, or a newer Blindspot wrote it.
    """
    if not database.path.exists():
        return None
    try:
        with _read_only(database, patience) as connection:
            return _facts(connection, database)
    except duckdb.Error as error:
        raise BlindspotError(
            f"the store {database.path} cannot be read: {_first_line(error)}",
            remedy="check its permissions; if it is damaged, move it away: what it holds can be computed again, "
            "quickly where the embeddings are still in the cache",
        ) from error


def schema_version(database: Database, patience: float) -> int:
    """The schema version of a store that can be read now; 0 where there is none yet. Nothing else is read.

    Raises:
        StoreBusy: another process held it for more than ``patience`` seconds.
        BlindspotError: it is damaged, no store, or a newer Blindspot wrote it.
    """
    if not database.path.exists():
        return 0
    try:
        with _read_only(database, patience) as connection:
            return _version(connection, database, {row[0] for row in connection.execute("SHOW TABLES").fetchall()})
    except duckdb.Error as error:
        raise BlindspotError(
            f"the store {database.path} cannot be read: {_first_line(error)}", remedy="python -m core doctor says more"
        ) from error


def check_opens(database: Database) -> None:
    """Open a store as it is opened for work, and let go of it at once; none yet is as good.

    Raises:
        StoreBusy: another process held it for longer than ``database`` waits.
        BlindspotError: it is damaged, no store, or a newer Blindspot wrote it.
    """
    if database.path.exists():
        with database.cursor() as cursor:
            cursor.execute("SELECT 1").fetchall()
        database.close()


@contextmanager
def _read_only(database: Database, patience: float) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection that cannot write; where this process has the file open for writing, a cursor of that."""
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
            if not _HELD.search(str(error)):
                raise
            if time.monotonic() > deadline:
                raise StoreBusy(
                    f"the store {database.path} is held by {_holder(error)} for more than {patience:g} seconds",
                    remedy="close that program, or wait for it, then try again",
                ) from error
            time.sleep(RETRY_SECONDS)
            continue
        with connection:
            yield connection
        return


def _facts(connection: duckdb.DuckDBPyConnection, database: Database) -> StoreFacts:
    tables = {row[0] for row in connection.execute("SHOW TABLES").fetchall()}
    version = _version(connection, database, tables)
    runs: list[RunRecord] = []
    if "run" in tables:
        found = connection.sql("SELECT * FROM run ORDER BY started_at DESC, run_seq DESC").to_arrow_table()
        runs = [record_of(dict.fromkeys(_MAY_LACK) | row) for row in found.to_pylist()]
    references: list[str] = []
    if "encoder_reference" in tables:
        sql = "SELECT reference FROM encoder_reference WHERE NOT is_removed ORDER BY reference"
        references = [row[0] for row in connection.execute(sql).fetchall()]
    # Reading every column is what finds a damaged block: DuckDB compares the checksums of what it reads.
    counts = [_read_all(connection, table) for table in sorted(tables)]
    return StoreFacts(version, len(migrations()), tuple(runs), tuple(references), sum(counts))


def _version(connection: duckdb.DuckDBPyConnection, database: Database, tables: set[str]) -> int:
    version = 0
    if "schema_migration" in tables:
        rows = connection.execute("SELECT coalesce(max(version), 0) FROM schema_migration").fetchall()
        version = int(rows[0][0])
    if version > len(migrations()):
        raise BlindspotError(
            f"the store {database.path} has schema version {version}",
            expected=f"at most {len(migrations())}",
            remedy="a newer Blindspot wrote it: update this one, or set BLINDSPOT_CACHE to another folder",
        )
    return version


def _read_all(connection: duckdb.DuckDBPyConnection, table: str) -> int:
    quoted = '"' + table.replace('"', '""') + '"'
    return int(connection.execute(f"SELECT count(*), max(hash(COLUMNS(*))) FROM {quoted}").fetchall()[0][0])
