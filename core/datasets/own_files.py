"""The files that hold a user's texts (CSV, TSV, JSONL, Parquet), each read into named columns of equal length."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar

from core.datasets import minimal_pairs
from core.errors import InputError

MAX_BYTES = 256 * 2**20  # of the file, and of what Parquet unpacks to
MAX_ROWS = 200_000  # each is ranked among all: more takes hours
MAX_COLUMNS = 1_000
ROWS_PER_BATCH = 1_024
_SEPARATORS = (",", ";", "\t")  # of a .csv; the first that splits its header
_T = TypeVar("_T")


class FileFormat(StrEnum):
    """Told by the file's ending."""

    CSV = "csv"
    TSV = "tsv"
    JSONL = "jsonl"
    PARQUET = "parquet"


class ColumnKind(StrEnum):
    """What a column holds. Text columns have some cell that is text and, where all is text, no number."""

    TEXT = "text"
    NUMBER = "numbers"
    EMPTY = "nothing"
    OTHER = "something else"


@dataclass(frozen=True)
class FileTable:
    """What the formats have in common: named columns of equal length. ``where`` names row ``i`` of the file."""

    names: tuple[str, ...]
    kinds: tuple[ColumnKind, ...]
    cells: tuple[Sequence[Any], ...]
    places: Sequence[int]
    row_word: str
    separator: str = ""

    def where(self, row: int) -> str:
        return f"{self.row_word} {self.places[row]}"


def format_of(path: Path) -> FileFormat:
    """The format that a file's ending tells.

    Raises:
        InputError: it tells none.
    """
    ending = path.suffix.lower().removeprefix(".")
    if ending not in list(FileFormat):
        endings = ", ".join(f".{f}" for f in FileFormat)
        raise InputError(f"cannot tell the format of {path}", expected=f"a name that ends in {endings}")
    return FileFormat(ending)


def read_bytes(path: Path) -> bytes:
    """The bytes of a file whose name and size are right.

    Raises:
        InputError: its ending tells no format, or there is no such file, or it cannot be read, or is too large.
    """
    format_of(path)
    try:
        if path.is_dir():
            raise InputError(f"{path} is a folder", expected="a file of texts")
        if not path.is_file():
            raise InputError(f"there is no file {path}", remedy="check the path")
        _check_size(path, path.stat().st_size)
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}", remedy="check its permissions") from error


def tabulate(path: Path, data: bytes, header: bool = True) -> FileTable:
    """The columns in a file's bytes.

    Args:
        path: for its ending, which tells the format, and for errors. In a .csv double quotes hold cells together;
            in a .tsv they are part of the text.
        header: whether the first row of a .csv or .tsv names the columns; else they are "column 1", "column 2", ...

    Raises:
        InputError: what is wrong with the file, in one line.
    """
    file_format = format_of(path)
    _check_size(path, len(data))
    if not data.strip():
        raise InputError(f"{path} is empty", expected="a header and rows of texts")
    if file_format is FileFormat.PARQUET:
        return _parquet(path, data)
    text = _text(path, data)
    return _jsonl(path, text) if file_format is FileFormat.JSONL else _separated(path, text, file_format, header)


# --- the formats


def _text(path: Path, data: bytes) -> str:
    mark = b"\xef\xbb\xbf"
    start = len(mark) if data.startswith(mark) else 0
    try:
        text = data[start:].decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path} is not UTF-8 (byte {start + error.start})", expected="a UTF-8 text file", remedy="save it as UTF-8"
        ) from error
    if "\0" in text:
        raise InputError(f"{path} holds a zero byte (byte {data.index(0)})", expected="a UTF-8 text file")
    if not text.strip():
        raise InputError(f"{path} is empty", expected="a header and rows of texts")
    return text


def _separated(path: Path, text: str, file_format: FileFormat, has_header: bool) -> FileTable:
    separators = ("\t",) if file_format is FileFormat.TSV else _SEPARATORS
    quoting = csv.QUOTE_NONE if file_format is FileFormat.TSV else csv.QUOTE_MINIMAL
    headers = {separator: _header(path, text, separator, quoting) for separator in separators}
    separator = next((s for s, header in headers.items() if len(header) > 1), separators[0])
    header = headers[separator]
    if not header:  # no separator makes sense of it: say what is wrong with the first
        next(_rows(path, text, separator, quoting))
    if len(header) == 1:
        between = "a tab" if file_format is FileFormat.TSV else "a comma"
        raise InputError(
            f"{path} has one column, '{header[0][:40]}'", expected=f"two columns of text with {between} between"
        )
    names = _numbered(header) if has_header else tuple(f"column {number}" for number in range(1, len(header) + 1))
    _check_names(path, names)
    first = int(has_header)
    rows: list[list[str]] = []
    places: list[int] = []
    for number, cells in _bounded(path, _rows(path, text, separator, quoting), header_rows=first):
        if len(cells) != len(header):
            raise InputError(
                f"{path}, line {number}: {len(cells)} cell(s)", expected=f"{len(header)}, as in the first line"
            )
        rows.append(cells)
        places.append(number)
    if len(rows) == first:
        raise InputError(f"{path} has a header and no rows", expected="rows of texts")
    columns = tuple(zip(*rows[first:], strict=True))
    return FileTable(names, tuple(_kind(c) for c in columns), columns, places[first:], "line", separator)


def _numbered(header: Sequence[str]) -> tuple[str, ...]:
    """A header in which a second "Negation" got a number: HEROS' own has two columns of that name, and that alone may
    stand there twice."""
    names: list[str] = []
    for name in header:
        before = header[: len(names)].count(name)
        repeats = before and minimal_pairs.NEGATION in minimal_pairs.places([name])
        names.append(f"{name} ({before + 1})" if repeats else name)
    return tuple(names)


def _header(path: Path, text: str, separator: str, quoting: int) -> list[str]:
    """The first row; nothing where its quotes do not fit the separator."""
    try:
        return next(_rows(path, text, separator, quoting))[1]
    except InputError:
        return []


def _rows(path: Path, text: str, separator: str, quoting: int) -> Iterator[tuple[int, list[str]]]:
    """Rows that are not empty, with the number of the line on which each begins, from 1."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, quoting=quoting, strict=True)  # type: ignore[arg-type]  # an int of the csv module
    begins = 1
    try:
        for cells in reader:
            if cells:
                yield begins, cells
            begins = reader.line_num + 1
    except csv.Error as error:
        raise InputError(
            f"{path}, the row that begins in line {begins}: {error}",
            expected='cells that hold a separator, a quote or a line end in double quotes, quotes in them doubled ("")',
        ) from error


def _jsonl(path: Path, text: str) -> FileTable:
    objects: list[dict[str, Any]] = []
    places: list[int] = []
    lines = ((n, line) for n, line in enumerate(text.split("\n"), 1) if line.strip())
    for number, line in _bounded(path, lines):
        try:
            value = json.loads(line, object_pairs_hook=_object)
        except (ValueError, RecursionError) as error:  # ValueError: also a number of thousands of digits
            why = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
            raise InputError(
                f"{path}, line {number}: broken JSON ({why})", expected="one JSON object per line"
            ) from error
        if not isinstance(value, dict):
            raise InputError(f"{path}, line {number}: not a JSON object", expected='{"query": "...", "mate": "..."}')
        objects.append(value)
        places.append(number)
    names = tuple(dict.fromkeys(name for value in objects for name in value))
    if len(names) < 2:
        raise InputError(
            f"{path} has {len(names)} column(s): {', '.join(names)}", expected="two named texts in every object"
        )
    _check_names(path, names)
    columns = tuple([value.get(name) for value in objects] for name in names)
    return FileTable(names, tuple(_kind(c) for c in columns), columns, places, "line")


def _object(members: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object; the json module alone would drop the first of two members of a name."""
    out = dict(members)
    if len(out) < len(members):
        twice = Counter(name for name, _ in members).most_common(1)[0][0]
        raise ValueError(f"'{twice}' is there twice")
    return out


def _parquet(path: Path, data: bytes) -> FileTable:
    import pyarrow as pa
    from pyarrow import parquet

    broken = (pa.ArrowException, OSError, UnicodeDecodeError)
    try:
        file = parquet.ParquetFile(pa.BufferReader(data))
        schema, footer = file.schema_arrow, file.metadata
    except broken as error:
        raise InputError(f"{path} is no Parquet file, or a broken one: {error}", remedy="write it again") from error
    names = tuple(schema.names)
    if len(names) < 2:
        raise InputError(f"{path} has {len(names)} column(s): {', '.join(names)}", expected="two columns of text")
    _check_names(path, names)
    if len(set(names)) < len(names):
        raise InputError(f"{path} has several columns without a name", expected="columns of different names")
    if footer.num_rows == 0:
        raise InputError(f"{path} has columns and no rows", expected="rows of texts")
    _check_rows(path, footer.num_rows)
    plain = [field.name for field in schema if not pa.types.is_nested(field.type)]  # lists may be whole embeddings
    batches: list[Any] = []
    try:
        # Batch by batch, since a dictionary makes gigabytes of a file of kilobytes.
        for batch in file.iter_batches(batch_size=ROWS_PER_BATCH, columns=plain):
            batch.validate(full=True)
            batches.append(batch)
            if (unpacked := sum(b.nbytes for b in batches)) > MAX_BYTES:
                raise InputError(
                    f"{path} unpacks to more than {unpacked:,} bytes",
                    expected=f"at most {MAX_BYTES:,}",
                    remedy="take a sample, or keep the columns of text only",
                )
        table = pa.Table.from_batches(batches)
        columns = tuple(
            table.column(field.name).to_pylist() if field.name in plain else [field.type] * footer.num_rows
            for field in schema
        )
    except broken as error:
        raise InputError(f"{path} is a broken Parquet file: {error}", remedy="write it again") from error
    kinds = tuple(_arrow_kind(field.type, cells) for field, cells in zip(schema, columns, strict=True))
    return FileTable(names, kinds, columns, range(1, footer.num_rows + 1), "row")


def _arrow_kind(kind: Any, cells: Sequence[Any]) -> ColumnKind:
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return ColumnKind.NUMBER
    if pa.types.is_null(kind):
        return ColumnKind.EMPTY
    is_text = pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    return _kind(cells) if is_text else ColumnKind.OTHER


# --- what cells are


def _kind(cells: Sequence[Any]) -> ColumnKind:
    """What cells without a declared type are; a column of text with a cell of another type counts as text."""
    present = [cell for cell in cells if cell is not None and cell != ""]
    if not present:
        return ColumnKind.EMPTY
    if all(isinstance(cell, int | float) for cell in present):
        return ColumnKind.NUMBER
    if not any(isinstance(cell, str) for cell in present):
        return ColumnKind.OTHER
    return ColumnKind.NUMBER if all(isinstance(c, str) and _is_number(c) for c in present) else ColumnKind.TEXT


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


# --- limits


def _check_size(path: Path, size: int) -> None:
    if size > MAX_BYTES:
        raise InputError(f"{path} has {size:,} bytes", expected=f"at most {MAX_BYTES:,}", remedy="take a sample")


def _check_names(path: Path, names: Sequence[str]) -> None:
    if len(names) > MAX_COLUMNS:
        raise InputError(f"{path} has {len(names):,} columns", expected=f"at most {MAX_COLUMNS:,}")
    twice = [name for name, count in Counter(names).items() if name and count > 1]
    if twice:
        raise InputError(f"{path} has two columns '{twice[0]}'", expected="columns of different names")


def _check_rows(path: Path, rows: int, more: str = "") -> None:
    if rows > MAX_ROWS:
        raise InputError(
            f"{path} has {more}{rows:,} rows", expected=f"at most {MAX_ROWS:,}", remedy="take a sample of them"
        )


def _bounded(path: Path, rows: Iterator[_T], header_rows: int = 0) -> Iterator[_T]:
    """``rows``, as long as there are not too many."""
    for count, row in enumerate(rows, 1 - header_rows):
        if count > MAX_ROWS:
            _check_rows(path, count, more="at least ")
        yield row
