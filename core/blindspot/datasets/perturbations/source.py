"""Texts to make rewrites from: a user's own file of one text per line, or a column of a table."""

from __future__ import annotations

import json
from pathlib import Path

from blindspot.datasets.user_data.columns import is_blank
from blindspot.errors import InputError, unknown
from blindspot.files import tables
from blindspot.files.tables import MAX_CELL, ColumnKind, FileTable, is_unicode
from blindspot.files.writing import read_limited

ENDINGS = (".txt", ".csv", ".tsv", ".jsonl", ".parquet")
MAX_BYTES = 64 * 2**20
MAX_TEXTS = 20_000  # each is read by every rule: more takes minutes
NAMES = ("text", "texts", "sentence", "sentences", "original", "query", "question", "document", "title")


def read(path: Path, column: str | None = None) -> tuple[str, ...]:
    """The distinct texts of a file.

    Raises:
        InputError: as ``parse``; or the file is missing, too large, or has another ending.
    """
    _check_ending(path)
    return parse(path, read_limited(path, MAX_BYTES), column)


def parse(path: Path, data: bytes, column: str | None = None, most: int = MAX_TEXTS) -> tuple[str, ...]:
    """The distinct texts in a file's bytes, in their order, without white space around them.

    Args:
        path: for its ending and for errors. A .txt has one text per line.
        column: of a table; by default one named ``text`` or alike, or the only column of texts.
        most: the largest number of texts.

    Raises:
        InputError: another ending, no text, too many, not UTF-8, or a column that is missing or unclear.
    """
    _check_ending(path)
    if path.suffix.lower() == ".txt":
        if column is not None:
            raise InputError(f"{path} has no columns", expected="no column for a .txt, whose lines are the texts")
        cells: list[object] = [*tables.whole_text(path, data).splitlines()]
    else:
        cells = _cells(path, data, column)
    texts = dict.fromkeys(cell.strip() for cell in cells if isinstance(cell, str) and not is_blank(cell))
    if not texts:
        raise InputError(f"{path} has no text", expected="a text per line or row")
    if len(texts) > most:
        raise InputError(f"{path} has {len(texts):,} texts", expected=f"at most {most:,}", remedy="take a part of it")
    if longest := next((text for text in texts if len(text) > MAX_CELL), ""):
        raise InputError(f"{path}: a text of {len(longest):,} characters", expected=f"at most {MAX_CELL:,}")
    if not all(map(is_unicode, texts)):
        raise InputError(f"{path}: a text with half of a surrogate pair", expected="texts of whole characters")
    return tuple(texts)


def _check_ending(path: Path) -> None:
    if path.suffix.lower() not in ENDINGS:
        raise InputError(f"cannot tell the format of {path}", expected=f"a name that ends in {', '.join(ENDINGS)}")


def _cells(path: Path, data: bytes, column: str | None) -> list[object]:
    if (alone := _only_column(path, data)) is not None:
        name, cells = alone
        if column is not None and column != name:
            raise unknown("column", column, [name])
        return cells
    table = tables.tabulate(path, data)
    number = _column(table) if column is None else _named(table, column)
    return list(table.cells[number])


def _only_column(path: Path, data: bytes) -> tuple[str, list[object]] | None:
    """Name and cells of a table of one column, which other datasets' readers refuse; None for other tables."""
    if path.suffix.lower() == ".parquet":
        return _only_parquet_column(path, data)
    lines = data.splitlines()
    if path.suffix.lower() == ".jsonl" and lines:
        try:
            rows = [json.loads(line) for line in lines if line.strip()]
        except ValueError:
            return None  # its reader says what is wrong
        names = {name for row in rows if isinstance(row, dict) for name in row}
        if len(names) == 1 and all(isinstance(row, dict) for row in rows):
            (name,) = names
            return name, [row.get(name) for row in rows]
    if path.suffix.lower() in {".csv", ".tsv"} and lines and not any(mark in lines[0] for mark in (b",", b";", b"\t")):
        text = tables.whole_text(path, data)
        rows_of = [
            cells
            for _, cells in tables.csv_rows(path, text.splitlines(keepends=True), "\t", _QUOTES[path.suffix.lower()])
        ]
        if all(len(cells) == 1 for cells in rows_of):
            return rows_of[0][0], [cells[0] for cells in rows_of[1:]]
    return None


def _only_parquet_column(path: Path, data: bytes) -> tuple[str, list[object]] | None:
    import pyarrow as pa
    from pyarrow import parquet

    if not data:
        return None  # its reader says so
    with tables.parquet_errors(path):
        schema = parquet.ParquetFile(pa.BufferReader(data)).schema_arrow
        if len(schema) != 1:
            return None
        (name,) = schema.names
        if not tables.is_text(schema.field(0).type):
            raise InputError(f"{path} has one column, '{name[:40]}', without texts", expected="a column of texts")
        cells = [batch.column(0).to_pylist() for batch in tables.parquet_batches(data, str(path), [name], MAX_BYTES)]
    return name, [cell for some in cells for cell in some]


_QUOTES = {".csv": 0, ".tsv": 3}  # csv.QUOTE_MINIMAL, csv.QUOTE_NONE


def _named(table: FileTable, column: str) -> int:
    if column not in table.names:
        raise unknown("column", column, table.names)
    return table.number(column)


def _column(table: FileTable) -> int:
    lower = [name.strip().casefold() for name in table.names]
    of_text = [n for n, kind in enumerate(table.kinds) if kind is ColumnKind.TEXT]
    if column := next((lower.index(name) for name in NAMES if name in lower and lower.index(name) in of_text), None):
        return column
    column = next((n for n in of_text if lower[n] in NAMES), of_text[0] if len(of_text) == 1 else None)
    if column is None:
        raise InputError(
            f"{table.path} does not say which column has the texts: {table.shown_names}",
            expected="a column 'text'",
            remedy="name it with --column",
        )
    return column
