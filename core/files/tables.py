"""The files that hold a user's texts (CSV, TSV, JSONL, Parquet), each read into named columns of equal length."""

from __future__ import annotations

import codecs
import csv
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar

from core.errors import InputError
from core.files.parquet import batches
from core.files.writing import read_limited, require_regular

MAX_BYTES = 256 * 2**20  # of the file, and of what Parquet unpacks to
MAX_ROWS = 200_000  # each is ranked among all: more takes hours
MAX_COLUMNS = 1_000
MAX_NAME = 1_000  # characters of a column's name
MAX_CELL = 100_000  # characters of a text that is used: forty pages
MAX_LINE = 8 * 2**20  # characters: of the header, and of an object of JSON, which takes a hundred times as much memory
ROWS_PER_BATCH = 1_024
MOST_SEPARATORS = 100 * MAX_COLUMNS  # in a line: each may make a cell
_SEPARATORS = (",", ";", "\t")  # of a .csv; the first that splits its header
_T = TypeVar("_T")
MAY_REPEAT = ("negation", "negations")  # the published HEROS file has two columns of that name


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
    _check_size(path, require_regular(path))
    return read_limited(path, MAX_BYTES)


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
    others = {codecs.BOM_UTF16_LE: "UTF-16", codecs.BOM_UTF16_BE: "UTF-16", b"PK\x03\x04": "a zip archive"}
    if other := next((what for head, what in others.items() if data.startswith(head)), ""):
        raise InputError(f"{path} is {other}", expected="a UTF-8 text file", remedy="save it as UTF-8")
    start = len(codecs.BOM_UTF8) if data.startswith(codecs.BOM_UTF8) else 0
    try:
        text = data[start:].decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path} is not UTF-8 (byte {start + error.start})", expected="a UTF-8 text file", remedy="save it as UTF-8"
        ) from error
    text = text.lstrip("\ufeff")  # some programs put one mark before another
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
    _check_columns(path, len(header))
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
    """A header in which a second "Negation" got a number; other names that occur twice are refused later."""
    names: list[str] = []
    for name in header:
        before = header[: len(names)].count(name)
        repeats = before and "".join(filter(str.isalpha, name.casefold())) in MAY_REPEAT
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
    lines = _short_lines(path, text, separator)
    reader = csv.reader(lines, delimiter=separator, quoting=quoting, strict=True)  # type: ignore[arg-type]  # an int of the csv module
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


def _short_lines(path: Path, text: str, separator: str) -> Iterator[str]:
    """The lines of a text, as the csv module wants them; one with so many separators that its cells alone would fill
    the memory is refused before they are made."""
    for number, line in enumerate(_lines(text), 1):
        if len(line) > MOST_SEPARATORS and (cells := line.count(separator) + 1) > MOST_SEPARATORS:
            what = f"{cells:,} columns" if number == 1 else f"{cells:,} cells in line {number}"
            raise InputError(f"{path} has {what}", expected=f"at most {MAX_COLUMNS:,}")
        yield line


def _lines(text: str) -> Iterator[str]:
    """As ``io.StringIO(text, newline="")`` gives them, which would take four times the text's memory."""
    start = feed = carriage = 0
    while start < len(text):
        if 0 <= feed < start or not start:
            feed = text.find("\n", start)
        if 0 <= carriage < start or not start:
            carriage = text.find("\r", start)
        ends = [place for place in (feed, carriage) if place >= 0]
        end = min(ends, default=len(text) - 1)
        if end == carriage and feed == carriage + 1:
            end = feed
        yield text[start : end + 1]
        start = end + 1


def _jsonl(path: Path, text: str) -> FileTable:
    objects: list[dict[str, Any]] = []
    names: dict[str, None] = {}
    places: list[int] = []
    lines = ((n, line) for n, line in enumerate(text.split("\n"), 1) if line.strip())
    for number, line in _bounded(path, lines):
        if len(line) > MAX_LINE:
            raise InputError(f"{path}, line {number}: {len(line):,} characters", expected=f"at most {MAX_LINE:,}")
        try:
            value = json.loads(line, object_pairs_hook=_object)
        except (ValueError, RecursionError) as error:  # ValueError: also a number of thousands of digits
            why = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
            raise InputError(
                f"{path}, line {number}: broken JSON ({why})", expected="one JSON object per line"
            ) from error
        if not isinstance(value, dict):
            raise InputError(f"{path}, line {number}: not a JSON object", expected='{"query": "...", "mate": "..."}')
        names.update(dict.fromkeys(value))
        _check_columns(path, len(names))
        objects.append({name: _plain(cell) for name, cell in value.items()})
        places.append(number)
    if len(names) < 2:
        raise InputError(
            f"{path} has {len(names)} column(s): {', '.join(names)}", expected="two named texts in every object"
        )
    _check_names(path, tuple(names))
    columns = tuple([value.get(name) for value in objects] for name in names)
    return FileTable(tuple(names), tuple(_kind(c) for c in columns), columns, places, "line")


@dataclass(frozen=True)
class _Nested:
    """A list or an object in a cell: never read, so all that is kept is how it begins."""

    begins: str

    def __str__(self) -> str:
        return self.begins


def _plain(cell: object) -> object:
    return _Nested(str(cell)[:60]) if isinstance(cell, list | dict) else cell


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
    try:
        table = pa.Table.from_batches(batches(data, str(path), plain, ROWS_PER_BATCH, MAX_BYTES))
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


def _check_columns(path: Path, count: int) -> None:
    if count > MAX_COLUMNS:
        raise InputError(f"{path} has {count:,} columns", expected=f"at most {MAX_COLUMNS:,}")


def _check_names(path: Path, names: Sequence[str]) -> None:
    _check_columns(path, len(names))
    if long := next((name for name in names if len(name) > MAX_NAME), ""):
        raise InputError(
            f"{path}: the name of a column has {len(long):,} characters: {long[:40]!r}...",
            expected=f"at most {MAX_NAME:,}",
        )
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
