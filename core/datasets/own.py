"""A user's own positive pairs (``file:PATH``): how each column of the file is read, and the pairs."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, TypeVar

from core.errors import InputError
from core.texts import twin_key

PREFIX = "file:"
MAX_BYTES = 256 * 2**20  # of the file, and of what Parquet unpacks to
MAX_ROWS = 200_000  # each is ranked among all: more takes hours
MIN_ROWS = 2
MAX_COLUMNS = 1_000
ROWS_PER_BATCH = 1_024
EXAMPLES = 3

# Names that mean (query, mate), compared by letters and digits only: "Sentence 1" is sentence1. The first pair wins.
KNOWN_NAMES = (
    ("query", "mate"),
    ("query", "positive"),
    ("anchor", "positive"),
    ("text1", "text2"),
    ("sentence1", "sentence2"),
    ("sent1", "sent2"),
    ("word1", "word2"),
    ("question1", "question2"),
    ("texta", "textb"),
    ("sentencea", "sentenceb"),
    ("a", "b"),
    ("source", "target"),
)
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


class ColumnUse(StrEnum):
    """What a column is read as."""

    QUERY = "query"
    MATE = "mate"
    UNUSED = "not used"


@dataclass(frozen=True)
class ColumnReading:
    """How one column is read, for people to confirm.

    Attributes:
        why: "by its name", "first text column", "second text column", "as asked", or "".
        examples: its first cells, as text.
    """

    name: str
    kind: ColumnKind
    use: ColumnUse
    why: str
    examples: tuple[str, ...]


@dataclass(frozen=True)
class OwnPairs:
    """A file that was read.

    Attributes:
        path: absolute.
        separator: between the cells of a .csv or .tsv; "" elsewhere.
        sha256: of the file's bytes.
        columns: all of them, in the file's order.
        pairs: (query, mate), in the file's order; texts are kept to the letter, pairs that repeat too.
    """

    path: Path
    format: FileFormat
    separator: str
    sha256: str
    columns: tuple[ColumnReading, ...]
    pairs: tuple[tuple[str, str], ...]

    @property
    def reference(self) -> str:
        return f"{PREFIX}{self.path}"

    @property
    def query(self) -> ColumnReading:
        return next(c for c in self.columns if c.use is ColumnUse.QUERY)

    @property
    def mate(self) -> ColumnReading:
        return next(c for c in self.columns if c.use is ColumnUse.MATE)

    @cached_property
    def distinct_texts(self) -> int:
        return len({text for pair in self.pairs for text in pair})

    @cached_property
    def self_pairs(self) -> int:
        """Pairs of a text with itself."""
        return sum(query == mate for query, mate in self.pairs)

    @cached_property
    def duplicate_pairs(self) -> int:
        """Pairs that stand in the file before; they count again in every mean."""
        return len(self.pairs) - len(set(self.pairs))

    def as_manifest(self) -> dict[str, Any]:
        """How the file was read, without its texts, for a run's manifest."""
        return {
            "query": self.query.name,
            "mate": self.mate.name,
            "why": [self.query.why, self.mate.why],
            "format": self.format.value,
            "separator": self.separator,
            "rows": len(self.pairs),
            "duplicate_pairs": self.duplicate_pairs,
            "self_pairs": self.self_pairs,
        }

    @property
    def summary(self) -> str:
        """One line for people."""
        columns = " and ".join(f"{c.use} is column '{c.name}' ({c.why})" for c in (self.query, self.mate))
        return (
            f"{self.path.name}: {columns}; {len(self.pairs):,} pairs, {self.distinct_texts:,} texts, "
            f"repeated pairs: {self.duplicate_pairs:,}, pairs of a text with itself: {self.self_pairs:,}"
        )


@dataclass(frozen=True)
class _Table:
    """What the formats have in common: named columns of equal length. ``where`` names row ``i`` of the file."""

    names: tuple[str, ...]
    kinds: tuple[ColumnKind, ...]
    cells: tuple[Sequence[Any], ...]
    places: Sequence[int]
    row_word: str
    separator: str = ""

    def where(self, row: int) -> str:
        return f"{self.row_word} {self.places[row]}"


@dataclass(frozen=True)
class OwnTable:
    """A file whose columns are known and whose pairs are not yet."""

    path: Path
    format: FileFormat
    sha256: str
    table: _Table

    @property
    def names(self) -> tuple[str, ...]:
        return self.table.names

    @property
    def separator(self) -> str:
        """Between the cells of a .csv or .tsv; "" elsewhere."""
        return self.table.separator

    def readings(self, columns: tuple[str, str] | None = None) -> tuple[ColumnReading, ...]:
        """How every column is read.

        Args:
            columns: the names of the query's and the mate's column, where they are known; guessed if left out.

        Raises:
            InputError: no such columns, or nothing to guess by.
        """
        return _readings(self.path, self.table, columns)

    def pairs(self, columns: tuple[str, str] | None = None) -> OwnPairs:
        """The pairs in two columns.

        Args:
            columns: as in ``readings``.

        Raises:
            InputError: as ``readings``; or a row that has no two texts, which is named; or too few rows.
        """
        readings = self.readings(columns)
        use = {reading.use: number for number, reading in enumerate(readings)}
        queries, mates = (_texts(self.path, self.table, use[u]) for u in (ColumnUse.QUERY, ColumnUse.MATE))
        if len(queries) < MIN_ROWS:
            raise InputError(f"{self.path} has {len(queries)} pair", expected=f"at least {MIN_ROWS} pairs")
        return OwnPairs(
            path=self.path,
            format=self.format,
            separator=self.table.separator,
            sha256=self.sha256,
            columns=readings,
            pairs=tuple(zip(queries, mates, strict=True)),
        )


def is_own(reference: str) -> bool:
    """Whether a dataset reference names a user's file."""
    return reference.startswith(PREFIX)


def path_of(reference: str) -> Path:
    """The absolute path of a ``file:`` reference; the file need not exist.

    Raises:
        InputError: there is no path, or none that a system could have.
    """
    name = reference.removeprefix(PREFIX)
    if not name.strip():
        raise InputError(f"'{reference}' names no file", expected=f"{PREFIX}PATH, for example {PREFIX}pairs.csv")
    try:
        return Path(name).expanduser().resolve()
    except (OSError, ValueError, RuntimeError) as error:  # a zero character, a circle of links, no such user
        raise InputError(f"'{reference}' is no path: {error}", expected=f"{PREFIX}PATH of a file") from error


def read(path: Path, columns: tuple[str, str] | None = None) -> OwnPairs:
    """The pairs of a file, and how its columns were read.

    Args:
        path: absolute; see ``tabulate``.
        columns: the names of the query's and the mate's column, where they are known; guessed if left out.

    Raises:
        InputError: what is wrong with the file, in one line.
    """
    _format(path)
    try:
        if path.is_dir():
            raise InputError(f"{path} is a folder", expected="a file of pairs")
        if not path.is_file():
            raise InputError(f"there is no file {path}", remedy="check the path")
        _check_size(path, path.stat().st_size)
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}", remedy="check its permissions") from error
    return parse(path, data, columns)


def parse(path: Path, data: bytes, columns: tuple[str, str] | None = None, header: bool = True) -> OwnPairs:
    """The pairs in a file's bytes: ``tabulate``, then ``OwnTable.pairs``."""
    return tabulate(path, data, header).pairs(columns)


def tabulate(path: Path, data: bytes, header: bool = True) -> OwnTable:
    """The columns in a file's bytes.

    Args:
        path: for its ending, which tells the format, and for errors. In a .csv double quotes hold cells together;
            in a .tsv they are part of the text.
        header: whether the first row of a .csv or .tsv names the columns; else they are "column 1", "column 2", ...

    Raises:
        InputError: what is wrong with the file, in one line.
    """
    file_format = _format(path)
    _check_size(path, len(data))
    if not data.strip():
        raise InputError(f"{path} is empty", expected="a header and a pair of texts per row")
    if file_format is FileFormat.PARQUET:
        table = _parquet(path, data)
    else:
        text = _text(path, data)
        table = _jsonl(path, text) if file_format is FileFormat.JSONL else _separated(path, text, file_format, header)
    return OwnTable(path, file_format, hashlib.sha256(data).hexdigest(), table)


def find(reference: str) -> OwnPairs:
    """The pairs that a ``file:`` reference names; read once for as long as the file stays as it is.

    Raises:
        InputError: as ``path_of`` and ``read``.
    """
    path = path_of(reference)
    try:
        stat = path.stat()
    except (OSError, ValueError):
        return read(path)  # says what is wrong
    return _read_once(path, (stat.st_ino, stat.st_size, stat.st_mtime_ns))


@lru_cache(maxsize=2)
def _read_once(path: Path, _state: tuple[int, int, int]) -> OwnPairs:
    return read(path)


# --- which column is which


def _readings(path: Path, table: _Table, asked: tuple[str, str] | None) -> tuple[ColumnReading, ...]:
    query, mate, reasons = _asked(path, table, asked) if asked else _guess(path, table)
    uses = {query: (ColumnUse.QUERY, reasons[0]), mate: (ColumnUse.MATE, reasons[1])}
    return tuple(
        ColumnReading(
            name=name,
            kind=table.kinds[number],
            use=uses.get(number, (ColumnUse.UNUSED, ""))[0],
            why=uses.get(number, (ColumnUse.UNUSED, ""))[1],
            examples=tuple("" if cell is None else str(cell) for cell in table.cells[number][:EXAMPLES]),
        )
        for number, name in enumerate(table.names)
    )


def _asked(path: Path, table: _Table, asked: tuple[str, str]) -> tuple[int, int, tuple[str, str]]:
    if missing := [name for name in asked if name not in table.names]:
        raise InputError(f"{path} has no column '{missing[0]}'", expected=f"one of {', '.join(table.names)}")
    if asked[0] == asked[1]:
        raise InputError(f"column '{asked[0]}' cannot be both query and mate", expected="two columns")
    return table.names.index(asked[0]), table.names.index(asked[1]), ("as asked", "as asked")


def _guess(path: Path, table: _Table) -> tuple[int, int, tuple[str, str]]:
    keys = [twin_key(name) for name in table.names]
    for query, mate in KNOWN_NAMES:
        if keys.count(query) == keys.count(mate) == 1:
            return keys.index(query), keys.index(mate), ("by its name", "by its name")
    texts = [number for number, kind in enumerate(table.kinds) if kind is ColumnKind.TEXT]
    if len(texts) < 2:
        found = ", ".join(f"'{name[:40]}' ({kind})" for name, kind in zip(table.names, table.kinds, strict=True))
        raise InputError(
            f"{path} has no two columns of text: {found}",
            expected="the texts of a pair in two columns, best named query and mate",
        )
    return texts[0], texts[1], ("first text column", "second text column")


def _texts(path: Path, table: _Table, column: int) -> list[str]:
    """The cells of a column that is used, all of them texts."""
    out = []
    for row, cell in enumerate(table.cells[column]):
        place = f"{path}, {table.where(row)}, column '{table.names[column]}'"
        if cell is None or (isinstance(cell, str) and not cell.strip()):
            raise InputError(f"{place}: nothing there", expected="a text", remedy="fill it in or remove the row")
        if not isinstance(cell, str):
            shown = str(cell)
            shown = shown if len(shown) <= 40 else f"{shown[:40]}..."
            raise InputError(f"{place}: {shown} is not text", expected="a text")
        if not _is_unicode(cell):
            raise InputError(f"{place}: half of a surrogate pair", expected="a text of whole characters")
        out.append(cell)
    return out


def _is_unicode(cell: str) -> bool:
    try:
        cell.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


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


# --- the formats


def _format(path: Path) -> FileFormat:
    ending = path.suffix.lower().removeprefix(".")
    if ending not in list(FileFormat):
        endings = ", ".join(f".{f}" for f in FileFormat)
        raise InputError(f"cannot tell the format of {path}", expected=f"a name that ends in {endings}")
    return FileFormat(ending)


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
        raise InputError(f"{path} is empty", expected="a header and a pair of texts per row")
    return text


def _separated(path: Path, text: str, file_format: FileFormat, has_header: bool) -> _Table:
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
    names = tuple(header) if has_header else tuple(f"column {number}" for number in range(1, len(header) + 1))
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
        raise InputError(f"{path} has a header and no rows", expected="a pair of texts per row")
    columns = tuple(zip(*rows[first:], strict=True))
    return _Table(names, tuple(_kind(c) for c in columns), columns, places[first:], "line", separator)


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


def _jsonl(path: Path, text: str) -> _Table:
    objects: list[dict[str, Any]] = []
    places: list[int] = []
    lines = ((n, line) for n, line in enumerate(text.split("\n"), 1) if line.strip())
    for number, line in _bounded(path, lines):
        try:
            value = json.loads(line)
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
    return _Table(names, tuple(_kind(c) for c in columns), columns, places, "line")


def _parquet(path: Path, data: bytes) -> _Table:
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
        raise InputError(f"{path} has columns and no rows", expected="a pair of texts per row")
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
                    remedy="take a sample, or keep the two columns of text only",
                )
        table = pa.Table.from_batches(batches)
        columns = tuple(
            table.column(field.name).to_pylist() if field.name in plain else [field.type] * footer.num_rows
            for field in schema
        )
    except broken as error:
        raise InputError(f"{path} is a broken Parquet file: {error}", remedy="write it again") from error
    kinds = tuple(_arrow_kind(field.type, cells) for field, cells in zip(schema, columns, strict=True))
    return _Table(names, kinds, columns, range(1, footer.num_rows + 1), "row")


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
