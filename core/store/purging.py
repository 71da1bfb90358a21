"""Taking a dataset out of the store: its runs with their rows, and its texts. Other datasets keep all they have."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass

import duckdb

from core.store.db import Database, query

log = logging.getLogger(__name__)
NOISE_BYTES = 128  # in a row of what free space is filled with
MORE_BLOCKS = 8  # than are free: some are freed by writing


@dataclass(frozen=True)
class StoredContent:
    """What the store has of a dataset and of nothing else.

    Attributes:
        contents: digests of what its name stood for: a file may have been changed between runs.
        runs: numbers of the runs on it.
        rows: of these runs, one per pair, text or word that they looked at.
        texts: of its own.
        embeddings: digests of the embeddings that only these runs stand on.
        shared_with: other names of the same content; where there are some, runs and texts are theirs and stay.
    """

    contents: tuple[str, ...] = ()
    runs: tuple[int, ...] = ()
    rows: int = 0
    texts: int = 0
    embeddings: frozenset[str] = frozenset()
    shared_with: tuple[str, ...] = ()


def content_of(dataset: str, database: Database) -> StoredContent:
    """What ``purge`` would take away now."""
    if not database.path.exists():
        return StoredContent()
    with database.cursor() as cursor:
        return _content_of(dataset, cursor)


def purge(dataset: str, database: Database) -> StoredContent:
    """Delete a dataset's runs, their rows and scores, and its texts, in one transaction. What was deleted.

    Content that is known under another name stays, and so do the runs on it, from now on under that name.
    """
    if not database.path.exists():
        return StoredContent()
    with database.transaction() as cursor:
        found = _content_of(dataset, cursor)
        for digest, others in _names(dataset, cursor):
            if others:
                _hand_over(dataset, others[0], digest, cursor)
        runs, contents = list(found.runs), list(found.contents)
        sets = [row[0] for row in cursor.execute(_DATASET_SEQS, [contents]).fetchall()]
        for table in _tables_with("run_seq", "run", cursor):
            cursor.execute(f'DELETE FROM "{table}" WHERE run_seq IN (SELECT unnest(?::INTEGER[]))', [runs])
        for table in _tables_with("dataset_seq", "dataset", cursor):
            _rewrite_without(table, sets, cursor)
        supports = cursor.execute(_SUPPORTS, [runs]).fetchall()
        cursor.execute("DELETE FROM run WHERE run_seq IN (SELECT unnest(?::INTEGER[]))", [runs])
        cursor.execute("DELETE FROM dataset WHERE dataset_seq IN (SELECT unnest(?::INTEGER[]))", [sets])
        cursor.execute("DELETE FROM dataset_alias WHERE dataset = ?", [dataset])
        cursor.execute(
            "DELETE FROM embedding WHERE embedding_digest IN (SELECT unnest(?::VARCHAR[]))", [sorted(found.embeddings)]
        )
        cursor.execute(
            "DELETE FROM support WHERE support_digest IN (SELECT unnest(?::VARCHAR[])) "
            "AND support_digest NOT IN (SELECT support_digest FROM run WHERE support_digest IS NOT NULL)",
            [[row[0] for row in supports]],
        )
    if contents:
        _overwrite_free_space(database)
    return found


def _rewrite_without(table: str, sets: list[int], cursor: duckdb.DuckDBPyConnection) -> None:
    """Delete the rows of some datasets; the others are written anew, since rows that are only marked as deleted stand
    in the file for as long as one of the rows beside them lives."""
    chosen = "dataset_seq IN (SELECT unnest(?::INTEGER[]))"
    if not _count(f'SELECT count(*) FROM "{table}" WHERE {chosen}', sets, cursor):
        return
    cursor.execute(f'CREATE TEMP TABLE others AS SELECT * FROM "{table}" WHERE NOT {chosen}', [sets])
    cursor.execute(f'DELETE FROM "{table}"')
    cursor.execute(f'INSERT INTO "{table}" SELECT * FROM others')
    cursor.execute("DROP TABLE others")


def _overwrite_free_space(database: Database) -> None:
    """Fill the blocks of the file that are free now: what was deleted could be read in them until others need them."""
    with database.cursor() as cursor:
        try:
            cursor.execute("CHECKPOINT")
            free, size = cursor.execute("SELECT free_blocks, block_size FROM pragma_database_size()").fetchall()[0]
            noise = "||".join(["md5(random()::VARCHAR)"] * (NOISE_BYTES // 32))
            rows = (free + MORE_BLOCKS) * size // NOISE_BYTES
            cursor.execute(f"CREATE TABLE free_space AS SELECT {noise} AS noise FROM range(?)", [rows])
            cursor.execute("CHECKPOINT")
            cursor.execute("DROP TABLE free_space")
            cursor.execute("CHECKPOINT")
        except duckdb.TransactionException as error:  # somebody else writes just now
            cursor.execute("DROP TABLE IF EXISTS free_space")
            log.warning("what was deleted stands in the free space of %s until it is used: %s", database.path, error)


_DATASET_SEQS = "SELECT dataset_seq FROM dataset WHERE dataset_digest IN (SELECT unnest(?::VARCHAR[]))"
_SUPPORTS = (
    "SELECT DISTINCT support_digest FROM run WHERE run_seq IN (SELECT unnest(?::INTEGER[])) "
    "AND support_digest IS NOT NULL"
)


def _names(dataset: str, cursor: duckdb.DuckDBPyConnection) -> list[tuple[str, Sequence[str]]]:
    """Per content of a dataset its other names."""
    rows = cursor.execute(query("datasets/contents"), {"dataset": dataset}).fetchall()
    return [(digest, others or ()) for digest, others in rows]


def _content_of(dataset: str, cursor: duckdb.DuckDBPyConnection) -> StoredContent:
    names = _names(dataset, cursor)
    own = [digest for digest, others in names if not others]
    runs = [
        row[0]
        for row in cursor.execute(
            "SELECT run_seq FROM run WHERE dataset_digest IN (SELECT unnest(?::VARCHAR[])) ORDER BY run_seq", [own]
        ).fetchall()
    ]
    rows = sum(
        _count(f'SELECT count(*) FROM "{table}" WHERE run_seq IN (SELECT unnest(?::INTEGER[]))', runs, cursor)
        for table in _tables_with("run_seq", "run", cursor)
        if table != "metric"
    )
    sets = [row[0] for row in cursor.execute(_DATASET_SEQS, [own]).fetchall()]
    texts = _count("SELECT count(*) FROM dataset_text WHERE dataset_seq IN (SELECT unnest(?::INTEGER[]))", sets, cursor)
    embeddings = cursor.execute(
        "SELECT embedding_digest FROM run WHERE embedding_digest IS NOT NULL GROUP BY embedding_digest "
        "HAVING bool_and(list_contains(?::INTEGER[], run_seq))",
        [runs],
    ).fetchall()
    shared = dict.fromkeys(name for _, others in names for name in others)
    return StoredContent(
        tuple(own), tuple(runs), rows, texts, frozenset(row[0] for row in embeddings), tuple(sorted(shared))
    )


def _hand_over(dataset: str, other: str, digest: str, cursor: duckdb.DuckDBPyConnection) -> None:
    """Let another name of the same content have what stands under a dataset's."""
    for table in ("run", "dataset"):
        cursor.execute(
            f"UPDATE {table} SET dataset = ? WHERE dataset = ? AND dataset_digest = ?", [other, dataset, digest]
        )
    cursor.execute("DELETE FROM dataset_alias WHERE dataset = ? AND dataset_digest = ?", [other, digest])


def _tables_with(column: str, but: str, cursor: duckdb.DuckDBPyConnection) -> list[str]:
    """Tables whose rows belong to a run, or to a dataset; those of diagnostics of other versions among them."""
    rows = cursor.execute(
        "SELECT table_name FROM information_schema.columns WHERE column_name = ? AND table_name <> ? ORDER BY 1",
        [column, but],
    ).fetchall()
    return [row[0] for row in rows]


def _count(sql: str, numbers: list[int], cursor: duckdb.DuckDBPyConnection) -> int:
    rows = cursor.execute(sql, [numbers]).fetchall()
    return int(rows[0][0])
