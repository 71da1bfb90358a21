"""Removal of a dataset from the store: its runs with their rows, and its texts."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import duckdb

from blindspot.names import Kind
from blindspot.store.db import Database, query

log = logging.getLogger(__name__)
NOISE_BYTES = 128  # per row written over free space
MORE_BLOCKS = 8  # written besides the free ones: writing frees some
_AMONG_NUMBERS = "IN (SELECT unnest(?::INTEGER[]))"
_AMONG_TEXTS = "IN (SELECT unnest(?::VARCHAR[]))"
_DATASET_SEQS = f"SELECT dataset_seq FROM dataset WHERE dataset_digest {_AMONG_TEXTS}"


@dataclass(frozen=True)
class StoredContent:
    """The part of the store that belongs to one dataset only.

    Attributes:
        contents: digests of its contents: a file may have changed between runs.
        runs: their ``run_seq``.
        rows: per-item rows of these runs.
        texts: how many.
        embeddings: digests of the embeddings that only these runs use.
        shared_with: other names of the same content, which keep its runs and texts.
    """

    contents: tuple[str, ...] = ()
    runs: tuple[int, ...] = ()
    rows: int = 0
    texts: int = 0
    embeddings: frozenset[str] = frozenset()
    shared_with: tuple[str, ...] = ()


def content_of(dataset: str, database: Database) -> StoredContent:
    """The data that ``purge`` would delete."""
    if not database.path.exists():
        return StoredContent()
    with database.cursor() as cursor:
        return _content_of(dataset, cursor)


def purge(dataset: str, database: Database) -> StoredContent:
    """Delete a dataset's runs, their rows and scores, and its texts, in one transaction. Returns what was deleted.

    Content that has another name stays with its runs, under that name.
    """
    if not database.path.exists():
        return StoredContent()
    with database.transaction() as cursor:
        content = _content_of(dataset, cursor)
        for digest, others in _names(dataset, cursor):
            if others:
                _hand_over(dataset, others[0], digest, cursor)
        runs = list(content.runs)
        sets = _first_column(_DATASET_SEQS, list(content.contents), cursor)
        digests = _first_column(f"SELECT DISTINCT support_digest FROM run WHERE run_seq {_AMONG_NUMBERS}", runs, cursor)
        for table in _tables_with("run_seq", "run", cursor):
            cursor.execute(f'DELETE FROM "{table}" WHERE run_seq {_AMONG_NUMBERS}', [runs])
        for table in _tables_with("dataset_seq", "dataset", cursor):
            _rewrite_without(table, f"dataset_seq {_AMONG_NUMBERS}", sets, cursor)
        _rewrite_without("own_column", f"dataset {_AMONG_TEXTS}", [dataset], cursor)
        cursor.execute(f"DELETE FROM run WHERE run_seq {_AMONG_NUMBERS}", [runs])
        cursor.execute(f"DELETE FROM dataset WHERE dataset_seq {_AMONG_NUMBERS}", [sets])
        cursor.execute("DELETE FROM dataset_alias WHERE dataset = ?", [dataset])
        cursor.execute("DELETE FROM display_name WHERE kind = ? AND reference = ?", [Kind.DATASET.value, dataset])
        cursor.execute(f"DELETE FROM embedding WHERE embedding_digest {_AMONG_TEXTS}", [sorted(content.embeddings)])
        cursor.execute(
            f"DELETE FROM support WHERE support_digest {_AMONG_TEXTS} "
            "AND support_digest NOT IN (SELECT support_digest FROM run WHERE support_digest IS NOT NULL)",
            [digests],
        )
    if content.contents:
        _overwrite_free_space(database)
    return content


def _rewrite_without(table: str, chosen: str, sets: Sequence[Any], cursor: duckdb.DuckDBPyConnection) -> None:
    """Delete the chosen rows and rewrite the rest: DuckDB keeps a deleted row while a row near it lives."""
    if not _count(f'SELECT count(*) FROM "{table}" WHERE {chosen}', sets, cursor):
        return
    cursor.execute(f'CREATE TEMP TABLE others AS SELECT * FROM "{table}" WHERE NOT {chosen}', [sets])
    cursor.execute(f'DELETE FROM "{table}"')
    cursor.execute(f'INSERT INTO "{table}" SELECT * FROM others')
    cursor.execute("DROP TABLE others")


def _overwrite_free_space(database: Database) -> None:
    """Overwrite the free blocks of the file, in which deleted texts could still be read."""
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
        except duckdb.TransactionException as error:  # another process is writing
            cursor.execute("DROP TABLE IF EXISTS free_space")
            log.warning("deleted texts remain in the free space of %s until it is reused: %s", database.path, error)


def _names(dataset: str, cursor: duckdb.DuckDBPyConnection) -> list[tuple[str, Sequence[str]]]:
    """The other names of each content of a dataset."""
    rows = cursor.execute(query("datasets/contents"), {"dataset": dataset}).fetchall()
    return [(digest, others or ()) for digest, others in rows]


def _content_of(dataset: str, cursor: duckdb.DuckDBPyConnection) -> StoredContent:
    names = _names(dataset, cursor)
    only_here = [digest for digest, others in names if not others]
    runs = _first_column(
        f"SELECT run_seq FROM run WHERE dataset_digest {_AMONG_TEXTS} ORDER BY run_seq", only_here, cursor
    )
    rows = sum(
        _count(f'SELECT count(*) FROM "{table}" WHERE run_seq {_AMONG_NUMBERS}', runs, cursor)
        for table in _tables_with("run_seq", "run", cursor)
        if table != "metric"
    )
    sets = _first_column(_DATASET_SEQS, only_here, cursor)
    texts = _count(f"SELECT count(*) FROM dataset_text WHERE dataset_seq {_AMONG_NUMBERS}", sets, cursor)
    embeddings = _first_column(
        "SELECT embedding_digest FROM run WHERE embedding_digest IS NOT NULL GROUP BY embedding_digest "
        "HAVING bool_and(list_contains(?::INTEGER[], run_seq))",
        runs,
        cursor,
    )
    shared = sorted({name for _, others in names for name in others})
    return StoredContent(tuple(only_here), tuple(runs), rows, texts, frozenset(embeddings), tuple(shared))


def _hand_over(dataset: str, other: str, digest: str, cursor: duckdb.DuckDBPyConnection) -> None:
    """Rename a dataset's runs and texts to another name of the same content."""
    for table in ("run", "dataset"):
        cursor.execute(
            f"UPDATE {table} SET dataset = ? WHERE dataset = ? AND dataset_digest = ?", [other, dataset, digest]
        )
    cursor.execute("DELETE FROM dataset_alias WHERE dataset = ? AND dataset_digest = ?", [other, digest])


def _tables_with(column: str, but: str, cursor: duckdb.DuckDBPyConnection) -> list[str]:
    """Tables with rows that belong to a run, or to a dataset, also tables of other versions."""
    sql = "SELECT table_name FROM information_schema.columns WHERE column_name = ? AND table_name <> ? ORDER BY 1"
    return [row[0] for row in cursor.execute(sql, [column, but]).fetchall()]


def _first_column(sql: str, values: Sequence[Any], cursor: duckdb.DuckDBPyConnection) -> list[Any]:
    return [row[0] for row in cursor.execute(sql, [values]).fetchall()]


def _count(sql: str, numbers: Sequence[Any], cursor: duckdb.DuckDBPyConnection) -> int:
    return int(_first_column(sql, numbers, cursor)[0])
