"""Files with a user's texts (CSV, TSV, JSONL, Parquet), read into named columns of equal length.

Errors are an ``InputError`` of one line with the file and, if known, the row. CSV and JSON are parsed by hand: no
library reports the line of an open quote or of a repeated name, and sniffing separators fails too often.
"""

from __future__ import annotations

import ast
import codecs
import csv
import hashlib
import io
import json
import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from blindspot.errors import InputError
from blindspot.files import no_rows
from blindspot.files.parquet_footer import column_chunks
from blindspot.files.writing import LFS_POINTER, read_limited, require_regular
from blindspot.texts import column_key

if TYPE_CHECKING:
    import pyarrow as pa

MAX_BYTES = 256 * 2**20  # of the file, and of Parquet's unpacked content
MAX_ROWS = 200_000  # each is ranked among all, so more would take hours
MAX_COLUMNS = 1_000
MAX_NAME = 1_000  # characters of a column's name
MAX_CELL = 100_000  # characters of a text: forty pages
MAX_LINE = 8 * 2**20  # characters: of the header, and of an object of JSON, which takes a hundred times as much memory
ROWS_PER_BATCH = 1_024
MOST_SEPARATORS = 100 * MAX_COLUMNS  # in a line: each may make a cell
_SEPARATORS = (",", ";", "\t")  # of a .csv; the first one that splits its header counts
_T = TypeVar("_T")
MAY_REPEAT = ("negation", "negations")  # the published HEROS file has two columns of that name


class FileFormat(StrEnum):
    """Format of a file, given by its ending."""

    CSV = "csv"
    TSV = "tsv"
    JSONL = "jsonl"
    JSON = "json"
    PARQUET = "parquet"


TEXT_FILE = "txt"  # with tabs between its columns
ENDINGS = (*(f.value for f in FileFormat), TEXT_FILE)


_OTHER_ENDINGS = {
    ("xlsx", "xls", "xlsm", "ods", "numbers"): "save the sheet as .csv in UTF-8",
    ("gz", "bz2", "xz", "zip", "zst", "7z", "tar"): "unpack it",
    ("ndjson", "jsonlines"): "name it .jsonl",
    ("arrow", "feather", "pkl", "pickle", "h5", "hdf5", "db", "sqlite"): "save the table as .parquet or .csv",
}


class ColumnKind(StrEnum):
    """Type of a column. Text columns have at least one text and, if all cells are text, no number."""

    TEXT = "text"
    NUMBER = "numbers"
    EMPTY = "nothing"
    TEXTS = "lists of texts"
    OTHER = "something else"


@dataclass(frozen=True)
class FileTable:
    """A file as named columns of equal length, whatever its format.

    Attributes:
        path: as given, for messages.
        places: place of every row in the file: number of the line on which it begins, or of the row.
        row_word: "line" or "row".
        separator: between the cells of a .csv or .tsv; "" for other files.
        sha256: of the file's bytes.
        remarks: what was not read as a row of texts, a phrase each.
    """

    path: Path
    names: tuple[str, ...]
    kinds: tuple[ColumnKind, ...]
    cells: tuple[Sequence[Any], ...]
    places: Sequence[int]
    row_word: str
    separator: str = ""
    sha256: str = ""
    remarks: tuple[str, ...] = ()

    @property
    def format(self) -> FileFormat:
        return format_of(self.path)

    @property
    def shown_names(self) -> str:
        """The names of the columns, for a message."""
        return ", ".join(f"'{name[:40]}'" if name else "(no name)" for name in self.names)

    def place(self, row: int) -> str:
        """A row's place in the file, in words."""
        return f"{self.row_word} {self.places[row]}"

    def where(self, row: int, column: int | None = None) -> str:
        """File, row and column, as the beginning of a message."""
        where = f"{self.path}, {self.place(row)}"
        return where if column is None else f"{where}, column '{self.names[column]}'"

    def number(self, name: str) -> int:
        """Number of a column, from 0."""
        if name not in self.names:
            raise InputError(f"{self.path} has no column '{name}'", expected=f"one of {', '.join(self.names)}")
        return self.names.index(name)


def format_of(path: Path) -> FileFormat:
    """The format that a file's ending gives."""
    ending = path.suffix.lower().removeprefix(".")
    if ending not in ENDINGS:
        endings = ", ".join(f".{e}" for e in ENDINGS)
        remedy = next((what for others, what in _OTHER_ENDINGS.items() if ending in others), "")
        raise InputError(f"cannot tell the format of {path}", expected=f"a name that ends in {endings}", remedy=remedy)
    return FileFormat.TSV if ending == TEXT_FILE else FileFormat(ending)


def read_bytes(path: Path) -> bytes:
    """The bytes of a file, after a check of its name and size."""
    format_of(path)
    check_size(path, require_regular(path))
    return read_limited(path, MAX_BYTES)


def tabulate(path: Path, data: bytes, header: bool = True) -> FileTable:
    """The columns in a file's bytes.

    Args:
        path: for its ending, which gives the format, and for errors. In a .csv, double quotes enclose cells; in a .tsv
            they do if all cells of a column are quoted, otherwise they are part of the text.
        header: whether the first row of a .csv or .tsv names the columns; else they are "column 1", "column 2", ...
    """
    file_format = format_of(path)
    check_size(path, len(data))
    if not data.strip():
        raise InputError(f"{path} is empty", expected="a header and rows of texts")
    if file_format is FileFormat.PARQUET:
        table = _parquet(path, data)
    elif file_format is FileFormat.JSONL:
        table = _jsonl(path, _text(path, data))
    elif file_format is FileFormat.JSON:
        table = _json(path, _text(path, data))
    else:
        table = _separated(path, _text(path, data), header)
    return replace(_with_lists(table), sha256=hashlib.sha256(data).hexdigest())


def _with_lists(table: FileTable) -> FileTable:
    """The table with lists in columns in which all cells are lists of texts, as JSON, Python or numpy write them.

    A column with other lists or objects in all cells is not text.
    """
    kinds, cells = list(table.kinds), list(table.cells)
    for number, column in enumerate(table.cells):
        present = [cell for cell in column if cell is not None and cell != ""]
        if table.kinds[number] is not ColumnKind.TEXT or not all(isinstance(cell, str) for cell in present):
            continue
        if all(map(_WRITTEN.fullmatch, present)):
            lists = {cell: _written_list(cell) for cell in present}
            is_read = None not in lists.values()
            kinds[number] = ColumnKind.TEXTS if is_read else ColumnKind.OTHER
            cells[number] = [cell and ((is_read and lists[cell]) or Nested(cell[:60])) for cell in column]
    return replace(table, kinds=tuple(kinds), cells=tuple(cells))


_ITEM = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\"""", re.DOTALL)
_LIST = re.compile(rf"\s*\[\s*(?:(?:{_ITEM.pattern})(?:[\s,]+(?:{_ITEM.pattern}))*)?\s*\]\s*", re.DOTALL)
_WRITTEN = re.compile(r"""\s*(?:\[\s*(?:['"{\[].*)?\]|\{\s*['"].*\})\s*""", re.DOTALL)


def _written_list(cell: str) -> Texts | None:
    """The texts of a list in writing; None if it is not a list of texts."""
    if not _LIST.fullmatch(cell):
        return None
    try:
        return Texts(json.loads(cell))
    except ValueError:  # Python's or numpy's
        pass
    try:
        return Texts(ast.literal_eval(item.replace("\n", "\\n").replace("\r", "\\r")) for item in _ITEM.findall(cell))
    except (ValueError, SyntaxError):
        return None


# --- the formats


def _text(path: Path, data: bytes) -> str:
    text = whole_text(path, data)
    if not text.strip():
        raise InputError(f"{path} is empty", expected="a header and rows of texts")
    return text


_OTHER_FILES = {  # by their beginning: what they are, and what to do
    codecs.BOM_UTF32_LE: ("UTF-32", "save it as UTF-8"),  # before UTF-16, with which it begins
    codecs.BOM_UTF32_BE: ("UTF-32", "save it as UTF-8"),
    codecs.BOM_UTF16_LE: ("UTF-16", "save it as UTF-8"),
    codecs.BOM_UTF16_BE: ("UTF-16", "save it as UTF-8"),
    b"PK\x03\x04": ("a zip archive, as .xlsx is one", "unpack it, or save the sheet as .csv in UTF-8"),
    b"\x1f\x8b": ("packed with gzip", "unpack it"),
    b"\xd0\xcf\x11\xe0": ("an Office file", "save the sheet as .csv in UTF-8"),
    b"PAR1": ("Parquet", "name it .parquet"),
    LFS_POINTER: ("a pointer of Git LFS, without the content", "fetch it: git lfs pull"),
    b"<!doctype html": ("a web page", "download the file itself"),
    b"<html": ("a web page", "download the file itself"),
}


_INNER_MARK = re.compile("(?<=[\r\n])\ufeff+")


def whole_text(path: Path, data: bytes) -> str:
    """A UTF-8 text without byte order marks and zero bytes."""
    if kind := next(
        (kind_name for head, kind_name in _OTHER_FILES.items() if data[: len(head)].lower() == head.lower()), None
    ):
        raise InputError(f"{path} is {kind[0]}", expected="a UTF-8 text file", remedy=kind[1])
    # Some programs put one mark before another, and joined files have each its own.
    text = _INNER_MARK.sub("", decoded(path, data).lstrip("\ufeff"))
    if "\0" in text:
        raise InputError(
            f"{path} contains a zero byte (byte {data.index(0)})",
            expected="a UTF-8 text file",
            remedy="if it is UTF-16, save it as UTF-8",
        )
    return text


def decoded(name: object, data: bytes) -> str:
    """A UTF-8 text, without its byte order mark."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        start = error.start + len(codecs.BOM_UTF8) * data.startswith(codecs.BOM_UTF8)
        line = data.count(b"\n", 0, start) + 1
        raise InputError(
            f"{name} is not UTF-8 (byte {start}) in line {line}",
            expected="a UTF-8 text file",
            remedy="save it as UTF-8",
        ) from error


@dataclass(frozen=True)
class Rows:
    """The rows of a .csv or .tsv, with a header, without what comes before it.

    Attributes:
        places: number of the line on which each row begins.
        remarks: as in ``FileTable``.
    """

    cells: list[list[str]]
    places: list[int]
    separator: str
    remarks: tuple[str, ...] = ()


class Quotes(NamedTuple):
    """What quotes mean in a .csv or .tsv, for the csv module.

    Attributes:
        skips_spaces: whether spaces before a cell are not part of it, so that a quote may follow them.
    """

    quoting: int = csv.QUOTE_MINIMAL
    skips_spaces: bool = False


# The usual way, and the second to try.
_OF_CSV = (Quotes(), Quotes(skips_spaces=True))
_OF_TSV = (Quotes(csv.QUOTE_NONE), Quotes())


def separated(path: Path, text: str, *, has_header: bool = True, is_even: bool = True) -> Rows:
    """The rows of a text with separators, without a first line about separators, without comments and titles, and in a
    .tsv without quotes around all cells of a column.

    Args:
        path: for its ending and for errors.
        has_header: whether the first row may have quotes if the others have none, and the other way round.
        is_even: whether all rows must have the same number of cells, two or more.
    """
    file_format = format_of(path)
    remarks: list[str] = []
    separators = ("\t",) if file_format is FileFormat.TSV else _SEPARATORS
    if told := _SEP.match(text):  # Excel's own line
        separators, text = (told[1],), "\n" * told[0].count("\n") + text[told.end() :]
        remarks.append(f"the first line says that cells are separated by '{told[1]}'")
    ways = _OF_TSV if file_format is FileFormat.TSV else _OF_CSV
    tops = {separator: _top(path, text, separator, ways[0]) for separator in separators}
    several = [s for s, top in tops.items() if len(top.header) > 1]
    fitting = sorted((s for s in several if tops[s].is_even), key=lambda s: len(tops[s].before))
    plain = [s for s in several if not tops[s].before]
    separator = next(iter([*fitting, *plain, *several]), separators[0])
    top = tops[separator]
    if not top.header:  # no separator fits: report what is wrong with the first
        next(csv_rows(path, _short_lines(path, text, separator), separator, *ways[0]))
    if len(top.header) <= 1 and is_even:
        between = "a tab" if file_format is FileFormat.TSV else "a comma"
        only = top.header[0] if top.header else ""
        raise InputError(
            f"{path} has one column, '{only[:40]}'", expected=f"two columns of text with {between} between"
        )
    _check_columns(path, len(top.header))
    if top.doubt:
        raise InputError(
            f"{path}, line {top.doubt}: one of two cells is empty: this may be a title, or a header without a name",
            expected="a first line that names both columns",
            remedy="name both, or remove the line",
        )
    if other := _other_separator(top, separator):
        raise InputError(
            f"{path}: cells are separated by {other!r} in '{top.before[-1][:40]}' and by {separator!r} below it",
            expected="one separator",
            remedy="write the header as the rows are",
        )
    if top.before:
        remarks.append(f"left out before the header: {', '.join(repr(line[:40]) for line in top.before)}")
    rows, way = _best_rows(path, text, separator, ways, top.line, len(top.header) if is_even else 0, has_header)
    if way.skips_spaces:
        remarks.append("spaces between a separator and a quote are no part of the texts")
    if way.quoting == csv.QUOTE_NONE and (quoted := _unquote(rows.cells, int(has_header))):
        remarks.append(f"quotes around all cells of {', '.join(quoted)} are no part of the texts")
    return replace(rows, remarks=tuple(remarks))


def _separated(path: Path, text: str, has_header: bool) -> FileTable:
    rows = separated(path, text, has_header=has_header)
    header, first = rows.cells[0], int(has_header)
    again = {
        n for n, cells in enumerate(rows.cells) if n and has_header and cells == header and any(map(str.strip, cells))
    }
    blank = {n for n, cells in enumerate(rows.cells) if n >= first and not any(map(str.strip, cells))}
    rows = _less(_less(rows, again, "the header again"), blank, "rows of empty cells")
    if has_header:
        types = {1} if len(rows.cells) > 1 and no_rows.are_types(rows.cells[1]) else set()
        rows = _less(rows, types, "types under the header")
        sums = {1 + n for n in no_rows.summaries(rows.cells[1:])}
        rows = _less(rows, sums, "sums or means of the rows above")
    if len(rows.cells) == first:
        raise InputError(f"{path} has a header and no rows", expected="rows of texts")
    columns = tuple(zip(*rows.cells[first:], strict=True))
    names = _numbered(header) if has_header else tuple(f"column {number}" for number in range(1, len(header) + 1))
    _check_names(path, names)
    kinds = tuple(_kind(column) for column in columns)
    return FileTable(path, names, kinds, columns, rows.places[first:], "line", rows.separator, remarks=rows.remarks)


def _less(rows: Rows, left_out: set[int], what: str) -> Rows:
    """The rows without some that have no content of their own (from joining or padding files), with a remark on it."""
    if not left_out:
        return rows
    lines = [str(rows.places[n]) for n in sorted(left_out)]
    remark = f"left out: {what}, in line {', '.join(lines[:SHOWN_LINES])}" + ", ..." * (len(lines) > SHOWN_LINES)
    kept = [n for n in range(len(rows.cells)) if n not in left_out]
    cells, places = [rows.cells[n] for n in kept], [rows.places[n] for n in kept]
    return Rows(cells, places, rows.separator, (*rows.remarks, remark))


def _unquote(rows: list[list[str]], first: int) -> list[str]:
    """Remove quotes from columns in which all cells have them; returns the names of these columns.

    Args:
        first: number of the first row that is not a header.
    """
    width = len(rows[0]) if rows else 0
    if any(len(cells) != width for cells in rows):
        return []
    quoted = []
    for number in range(width):
        filled = [cells[number] for cells in rows[first:] if cells[number].strip()]
        if filled and all(map(is_quoted, filled)):
            for cells in rows:
                cells[number] = unquoted(cells[number])
            quoted.append(f"'{rows[0][number][:40]}'" if first else f"column {number + 1}")
    if first and all(map(is_quoted, rows[0])):
        rows[0] = [unquoted(name) for name in rows[0]]
    return quoted


_SEP = re.compile(r'"?sep=([^\r\n"])"?[ \t,;]*(?:\r?\n|\r)', re.IGNORECASE)
_BLOCK = 1 << 20  # characters whose lines are made at once
_LOOKED_AT = 50  # rows read to find the header
SHOWN_LINES = 3


@dataclass(frozen=True)
class _Top:
    """The top of a file: its header, empty if quotes do not fit the separator, and the lines before it.

    Attributes:
        is_even: whether the rows read after it are as wide.
        doubt: number of an earlier line that may be the header after all, since it names one of two columns; else 0.
    """

    header: Sequence[str]
    line: int = 0
    before: tuple[str, ...] = ()
    is_even: bool = False
    doubt: int = 0


def _best_rows(
    path: Path, text: str, separator: str, ways: tuple[Quotes, Quotes], line: int, width: int, has_header: bool
) -> tuple[Rows, Quotes]:
    """The rows, and how quotes were read: in the second way if only that gives rows, or if the first way leaves a whole
    column with spaces before its quotes."""
    usual, other = ways
    try:
        rows = _rows(path, text, separator, usual, line, width, has_header)
    except InputError:
        try:  # quotes may enclose separators or line ends
            rows = _rows(path, text, separator, other, line, width, has_header)
        except InputError:
            rows = Rows([], [], separator)
        if not rows.cells:
            raise
        return rows, other
    if other.skips_spaces and any(map(_are_spaced, zip(*rows.cells[int(has_header) :], strict=False))):
        return _rows(path, text, separator, other, line, width, has_header), other
    return rows, usual


def _are_spaced(cells: Sequence[str]) -> bool:
    """Whether all cells that are not empty have a text in quotes after spaces."""
    are_all = all(not cell.strip() or (cell[0] == " " and is_quoted(cell.strip())) for cell in cells)
    return are_all and any(map(str.strip, cells))


def _rows(path: Path, text: str, separator: str, quotes: Quotes, line: int, width: int, has_header: bool) -> Rows:
    """The rows from a line on, each with ``width`` cells if that is not 0."""
    rows = Rows([], [], separator)
    every = csv_rows(path, _short_lines(path, text, separator), separator, *quotes)
    wanted = ((number, cells) for number, cells in every if number >= line)
    for number, cells in _bounded(path, wanted, int(has_header)):
        if width and len(cells) != width:
            raise InputError(
                f"{path}, line {number}: {len(cells)} cell(s)",
                expected=f"{width}, as in line {line}",
                remedy="if that line is no header, remove it",
            )
        rows.cells.append(cells)
        rows.places.append(number)
    return rows


def _top(path: Path, text: str, separator: str, quotes: Quotes) -> _Top:
    """The header: the first row that is neither a comment nor a title (a single cell before rows with more cells)."""
    rows: list[tuple[int, list[str]]] = []
    try:
        for row in csv_rows(path, _short_lines(path, text, separator), separator, *quotes):
            rows.append(row)
            if len(rows) > _LOOKED_AT:
                break
    except InputError:
        if not rows:
            return _Top(())
    at = 0
    while at + 1 < len(rows) and _is_before_header([cells for _, cells in rows[at:]]):
        at += 1
    before = tuple(text for _, cells in rows[:at] if (text := " ".join(filter(None, map(str.strip, cells)))))
    if not rows:
        return _Top(())
    line, header = rows[at]
    doubts = (
        number
        for number, cells in rows[:at]
        if len(cells) == len(header) == 2 and sum(bool(cell.strip()) for cell in cells) == 1
    )
    is_even = all(len(cells) == len(header) for _, cells in rows[at + 1 :])
    return _Top(header, line, before, is_even, next(doubts, 0))


def _other_separator(top: _Top, separator: str) -> str:
    """Another separator that gives the line before the header as many cells, so that it may be the header; else ""."""
    last = top.before[-1] if top.before and not top.before[-1].startswith("#") else ""
    others = (other for other in _SEPARATORS if other != separator)
    return next((other for other in others if last.count(other) == len(top.header) - 1 > 0), "")


def _is_before_header(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first of these rows is a comment, a title or nothing, and the header follows."""
    first, later = rows[0], rows[1:]
    filled = sum(bool(cell.strip()) for cell in first)
    if filled > 1:
        is_comment = first[0].lstrip().startswith("# ")
        return is_comment and len(later) > 1 and len(later[0]) == len(later[1]) > 1
    return any(sum(bool(cell.strip()) for cell in row) > 1 for row in later)


def is_quoted(cell: str) -> bool:
    """Whether a cell is in double quotes, with quotes inside it doubled."""
    return len(cell) > 1 and cell[0] == cell[-1] == '"' and '"' not in cell[1:-1].replace('""', "")


def unquoted(cell: str) -> str:
    """A cell without its quotes, if it has any."""
    return cell[1:-1].replace('""', '"') if is_quoted(cell) else cell


def _numbered(header: Sequence[str]) -> tuple[str, ...]:
    """A header with a number after a second "Negation"; other names that occur twice are refused later."""
    names: list[str] = []
    for name in header:
        before = header[: len(names)].count(name)
        repeats = before and "".join(filter(str.isalpha, name.casefold())) in MAY_REPEAT
        names.append(f"{name} ({before + 1})" if repeats else name)
    return tuple(names)


def csv_rows(
    name: object, lines: Iterable[str], separator: str, quoting: int = csv.QUOTE_MINIMAL, skips_spaces: bool = False
) -> Iterator[tuple[int, list[str]]]:
    """Non-empty rows, with the number of the line on which each begins, from 1."""
    reader = csv.reader(lines, delimiter=separator, quoting=quoting, skipinitialspace=skips_spaces, strict=True)  # type: ignore[arg-type]  # an int of the csv module
    begins = 1
    try:
        for cells in reader:
            if cells:
                yield begins, cells
            begins = reader.line_num + 1
    except csv.Error as error:
        if "new-line character" in str(error):  # its advice is about Python's modes
            raise InputError(
                f"{name}, the row that begins in line {begins}: a carriage return inside a cell that is not quoted",
                expected="line feeds at the ends of lines, perhaps after carriage returns",
                remedy="save it as text with other line ends",
            ) from error
        raise InputError(
            f"{name}, the row that begins in line {begins}: {error}",
            expected='cells that hold a separator, a quote or a line end in double quotes, quotes in them doubled ("")',
        ) from error


def _short_lines(path: Path, text: str, separator: str) -> Iterator[str]:
    """The lines of a text for the csv module; a line with so many separators that its cells would fill the memory is
    refused before they are made."""
    for number, line in enumerate(_lines(text), 1):
        if len(line) > MOST_SEPARATORS and (cells := line.count(separator) + 1) > MOST_SEPARATORS:
            what = f"{cells:,} columns" if number == 1 else f"{cells:,} cells in line {number}"
            raise InputError(f"{path} has {what}", expected=f"at most {MAX_COLUMNS:,}")
        yield line


def _lines(text: str) -> Iterator[str]:
    """Lines as from ``io.StringIO(text, newline="")`` by blocks: the whole would take four times the text's memory."""
    start = 0
    while start < len(text):
        end = text.find("\n", start + _BLOCK) + 1 or text.find("\r", start + _BLOCK) + 1 or len(text)
        yield from io.StringIO(text[start:end], newline="")
        start = end


def _jsonl(path: Path, text: str) -> FileTable:
    objects: list[dict[str, Any]] = []
    names: dict[str, None] = {}
    places: list[int] = []
    lines = ((n, line) for n, line in enumerate(text.split("\n"), 1) if line.strip())
    for number, line in _bounded(path, lines):
        if len(line) > MAX_LINE:
            raise InputError(f"{path}, line {number}: {len(line):,} characters", expected=f"at most {MAX_LINE:,}")
        value = _flat(json_object(f"{path}, line {number}", line, '{"query": "...", "match": "..."}'))
        names.update(dict.fromkeys(value))
        _check_columns(path, len(names))
        objects.append({name: _plain(cell) for name, cell in value.items()})
        places.append(number)
    return _of_objects(path, objects, places, "line")


def _of_objects(path: Path, objects: Sequence[dict[str, Any]], places: Sequence[int], word: str) -> FileTable:
    names = dict.fromkeys(name for value in objects for name in value)
    if len(names) < 2:
        raise InputError(
            f"{path} has {len(names)} column(s): {', '.join(names)}", expected="two named texts in every object"
        )
    _check_names(path, tuple(names))
    columns = tuple([value.get(name) for value in objects] for name in names)
    return FileTable(path, tuple(names), tuple(_kind(c) for c in columns), columns, places, word)


def _json(path: Path, text: str) -> FileTable:
    """A table from a list of objects, or from LlamaIndex' queries, corpus and relevant_docs by id (lists of texts)."""
    expected = "a list of objects, or an object with queries, corpus and relevant_docs"
    try:
        value = json.loads(text, object_pairs_hook=distinct_members)
    except (ValueError, RecursionError) as error:
        why = f"{error.msg} in line {error.lineno}" if isinstance(error, json.JSONDecodeError) else str(error)
        raise InputError(f"{path}: broken JSON ({why})", expected=expected) from error
    if isinstance(value, dict) and {"queries", "corpus", "relevant_docs"} <= value.keys():
        return _of_ids(path, value["queries"], value["corpus"], value["relevant_docs"])
    if not isinstance(value, list) or not value or not all(isinstance(row, dict) for row in value):
        raise InputError(f"{path}: not {expected}", expected=expected, remedy="or a .jsonl file, an object per line")
    check_rows(path, len(value))
    objects = [{name: _plain(cell) for name, cell in _flat(row).items()} for row in value]
    for member in objects:
        _check_columns(path, len(member))
    return _of_objects(path, objects, range(1, len(objects) + 1), "object")


def _of_ids(path: Path, queries: Any, corpus: Any, relevant: Any) -> FileTable:
    if not all(isinstance(part, dict) for part in (queries, corpus, relevant)):
        raise InputError(f"{path}: queries, corpus or relevant_docs is no object", expected="texts and lists by id")
    check_rows(path, max(len(queries), len(corpus)))
    if lacking := next((name for name in queries if not relevant.get(name)), None):
        raise InputError(f"{path}: no relevant_docs of the query '{lacking[:40]}'", expected="some for every query")
    objects: list[dict[str, Any]] = []
    for name, query in queries.items():
        documents = relevant[name]
        if not isinstance(documents, list) or any(document not in corpus for document in map(str, documents)):
            raise InputError(
                f"{path}: relevant_docs of the query '{name[:40]}' are no list of ids of the corpus",
                expected="ids that corpus has",
            )
        objects.append({"query": query, "positives": _plain([corpus[str(document)] for document in documents])})
    if not objects:
        raise InputError(f"{path} has no queries", expected="texts by id")
    used = {str(document) for documents in relevant.values() for document in documents}
    objects[0]["candidates"] = _plain([text for name, text in corpus.items() if name not in used])
    return _of_objects(path, objects, range(1, len(objects) + 1), "query")


@dataclass(frozen=True)
class Nested:
    """A list or an object in a cell: it is not read as a text, so only its beginning is kept.

    Attributes:
        texts: all texts of a list of lists of texts; empty for others.
        is_judged: it lists passages, and some say that they are not right.
    """

    begins: str
    texts: tuple[str, ...] = ()
    is_judged: bool = False

    def __str__(self) -> str:
        return self.begins


class Texts(tuple[str, ...]):
    """A list of texts in a cell."""

    __slots__ = ()

    def __str__(self) -> str:
        return str(list(self))[:60]


SIDES = (
    "inputs",
    "outputs",
    "input",
    "output",
    "vars",
)  # objects with one side's texts, as LangSmith and promptfoo write them


# Names that say whether a passage in a list is right. A score is not one: it comes from a search.
JUDGES = frozenset("label isselected isrelevant relevant relevance grade ispositive iscorrect correct".split())
_WRONG = frozenset(("0", "0.0", "false", "no"))


def _is_wrong(passage: Mapping[str, object]) -> bool:
    """Whether a passage in a list says of itself that it is not right."""
    return any(column_key(name) in JUDGES and str(cell).casefold() in _WRONG for name, cell in passage.items())


def _flat(row: dict[str, Any]) -> dict[str, Any]:
    """A row with columns from objects of a side's texts: ``{"inputs": {"question": ...}}`` has ``inputs.question``."""
    out: dict[str, Any] = {}
    for name, cell in row.items():
        sides = cell if name in SIDES and isinstance(cell, dict) else None
        out |= {name: cell} if sides is None else {f"{name}.{member}": value for member, value in sides.items()}
    return out


def _plain(cell: object) -> object:
    if isinstance(cell, list) and all(isinstance(text, str) for text in cell):
        return Texts(cell)
    if isinstance(cell, list) and all(
        isinstance(passage, dict) and isinstance(passage.get("text"), str) for passage in cell
    ):
        if any(map(_is_wrong, cell)):  # so this is no list of texts of one kind
            return Nested(str(cell)[:60], is_judged=True)
        titles = (passage.get("title") for passage in cell)  # passages, as in DPR
        titled = zip(titles, (passage["text"] for passage in cell), strict=True)
        return Texts(f"{title} {text}" if isinstance(title, str) and title else text for title, text in titled)
    if isinstance(cell, list) and all(isinstance(passage, list) for passage in cell):
        inside = [text for passage in cell for text in passage]
        return Nested(str(cell)[:60], tuple(inside) if all(isinstance(text, str) for text in inside) else ())
    return Nested(str(cell)[:60]) if isinstance(cell, list | dict) else cell


def json_object(where: str, line: str, example: str) -> dict[str, Any]:
    """The object in a line.

    Args:
        where: file and line, for errors.
        example: a correct object, also for errors.
    """
    try:
        value = json.loads(line, object_pairs_hook=distinct_members)
    except (ValueError, RecursionError) as error:  # ValueError is also raised for thousands of digits
        why = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
        raise InputError(f"{where}: broken JSON ({why})", expected="one JSON object per line") from error
    if not isinstance(value, dict):
        remedy = "a list of objects is a .json file" if isinstance(value, list) else ""
        raise InputError(f"{where}: not a JSON object", expected=example, remedy=remedy)
    return value


def distinct_members(members: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object; the json module alone would drop the first of two members with the same name."""
    out = dict(members)
    if len(out) < len(members):
        twice = Counter(name for name, _ in members).most_common(1)[0][0]
        raise ValueError(f"'{twice}' occurs twice")
    return out


def _parquet(path: Path, data: bytes) -> FileTable:
    import pyarrow as pa
    from pyarrow import parquet

    with parquet_errors(path):
        file = parquet.ParquetFile(pa.BufferReader(data))
        schema, footer = file.schema_arrow, file.metadata
    names = tuple(schema.names)
    if len(names) < 2:
        raise InputError(f"{path} has {len(names)} column(s): {', '.join(names)}", expected="two columns of text")
    _check_names(path, names)
    if len(set(names)) < len(names):
        raise InputError(f"{path} has several columns without a name", expected="columns of different names")
    if footer.num_rows == 0:
        raise InputError(f"{path} has columns and no rows", expected="rows of texts")
    check_rows(path, footer.num_rows)
    plain = [field.name for field in schema if _is_plain(field.type) or is_texts(field.type)]
    with parquet_errors(path):
        table = pa.Table.from_batches(parquet_batches(data, str(path), plain, MAX_BYTES))
        columns = tuple(
            [_plain(cell) for cell in table.column(field.name).to_pylist()]
            if field.name in plain
            else [field.type] * footer.num_rows
            for field in schema
        )
    classes = _classes_in(schema.metadata or {})
    columns = tuple(
        [_class_of(cell, classes[name]) for cell in cells] if name in classes else cells
        for name, cells in zip(names, columns, strict=True)
    )
    kinds = tuple(
        _kind(cells) if field.name in classes else _arrow_kind(field.type, cells)
        for field, cells in zip(schema, columns, strict=True)
    )
    return FileTable(path, names, kinds, columns, range(1, footer.num_rows + 1), "row")


def _classes_in(metadata: Mapping[bytes, bytes]) -> dict[str, list[str]]:
    """The classes that a column's numbers stand for, per column, as Hugging Face's datasets writes them
    (``ClassLabel``): in GLUE, 0 is not_duplicate in one file and entailment in another."""
    try:
        features = json.loads(metadata.get(b"huggingface", b"{}"))["info"]["features"]
        named = {
            str(column): feature["names"]
            for column, feature in features.items()
            if feature.get("_type") == "ClassLabel"
        }
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError):
        return {}
    return {
        column: names
        for column, names in named.items()
        if isinstance(names, list) and all(isinstance(name, str) and not name.strip("-.").isdecimal() for name in names)
    }


def _class_of(cell: Any, names: Sequence[str]) -> Any:
    """The class that a number stands for; None for -1, which means no class."""
    if not isinstance(cell, int) or not -1 <= cell < len(names):
        return cell
    return names[cell] if cell >= 0 else None


def _is_plain(kind: pa.DataType) -> bool:
    """Whether a column is read: nested columns may be embeddings (lists of texts are read), and bytes in a file of one
    kilobyte can become gigabytes.

    So could texts, but they can be read as dictionaries, which give their size before they are unpacked.
    """
    import pyarrow as pa

    if isinstance(kind, pa.BaseExtensionType):
        return False
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    is_bytes = (
        pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
        or pa.types.is_binary_view(kind)
        or pa.types.is_fixed_size_binary(kind)
    )
    return not (is_bytes or pa.types.is_nested(kind))


def _arrow_kind(kind: Any, cells: Sequence[Any]) -> ColumnKind:
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return ColumnKind.NUMBER
    if pa.types.is_null(kind):
        return ColumnKind.EMPTY
    return _kind(cells) if is_text(kind) or is_texts(kind) else ColumnKind.OTHER


@contextmanager
def parquet_errors(name: object) -> Iterator[None]:
    """Context in which a broken Parquet file is an error in one line with its name."""
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, OSError, ValueError, OverflowError) as error:  # the last two for impossible dates
        why = next(iter(str(error).strip().splitlines()), type(error).__name__)[:200]
        raise InputError(f"{name} is not a Parquet file, or is damaged: {why}", remedy="write it again") from error


def parquet_batches(data: bytes, file: str, columns: Sequence[str], most_bytes: int) -> Iterator[pa.RecordBatch]:
    """The rows of some columns of an untrusted Parquet file, batch by batch, with texts as plain strings.

    A few kilobytes can claim to be, and become, terabytes, so sizes are checked while it is read. The file's dictionary
    has a text of many rows only once; batches read as dictionaries tell their size before they are unpacked.

    Args:
        file: its name, for errors.
        columns: names of columns; they may not have bytes or be nested, except for lists of texts.
        most_bytes: limit for all batches together.

    Raises:
        InputError: it unpacks to more.
        pyarrow.ArrowException, OSError, ValueError: it is broken; see ``parquet_errors``.
    """
    import pyarrow as pa
    from pyarrow import parquet

    def check(size: int) -> None:
        if size > most_bytes:
            raise InputError(
                f"{file} unpacks to more than {most_bytes:,} bytes",
                expected="no more than that",
                remedy="take a sample, or keep only the columns of texts",
            )

    with parquet.ParquetFile(pa.BufferReader(data)) as plain:
        fields = [f for f in plain.schema_arrow if f.name in set(columns)]
        metadata = plain.metadata
        paths = [metadata.schema.column(i).path for i in range(metadata.num_columns)]
        lists = {path for path in paths for f in fields if is_texts(f.type) and path.startswith(f"{f.name}.")}
        wanted = {f.name for f in fields} | lists
        texts = [*(f.name for f in fields if is_text(f.type)), *lists]
    with tempfile.NamedTemporaryFile(suffix=".parquet") as copy:
        copy.write(data)
        copy.flush()
        groups = column_chunks(Path(copy.name), metadata)
    for chunks in groups:
        check(sum(chunk.unpacked for chunk in chunks if chunk.path in wanted))
        check(sum(4 * chunk.values for chunk in chunks if chunk.path in lists))  # lists may have any length
    unpacked = 0
    with parquet.ParquetFile(pa.BufferReader(data), read_dictionary=texts) as source:
        for batch in source.iter_batches(batch_size=ROWS_PER_BATCH, columns=list(columns)):
            batch.validate(full=True)
            unpacked += sum(_size(column) for column in batch.columns)
            check(unpacked)
            decoded = pa.RecordBatch.from_arrays([_decoded(c) for c in batch.columns], names=batch.schema.names)
            decoded.validate(full=True)  # now checks that the texts are UTF-8, too
            yield decoded


def is_text(kind: pa.DataType) -> bool:
    """Whether an Arrow type is a type of strings."""
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def is_texts(kind: pa.DataType, depth: int = 2) -> bool:
    """Whether an Arrow type is a list of strings, or a list of such lists."""
    import pyarrow as pa

    if not (depth and (pa.types.is_list(kind) or pa.types.is_large_list(kind))):
        return False
    return is_text(kind.value_type) or is_texts(kind.value_type, depth - 1)


def _decoded(column: pa.Array) -> pa.Array:
    """A column, or lists of it, without a dictionary."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        return column.dictionary_decode()
    if pa.types.is_list(column.type) or pa.types.is_large_list(column.type):
        is_nested = pa.types.is_nested(column.type.value_type)
        inside = pa.list_(pa.string()) if is_nested else pa.string()
        return pa.array(column.to_pylist(), pa.list_(inside))
    return column


def _size(column: pa.Array) -> int:
    import pyarrow as pa
    from pyarrow import compute

    if pa.types.is_list(column.type) or pa.types.is_large_list(column.type):
        return _size(column.flatten()) + 4 * len(column)
    if not pa.types.is_dictionary(column.type):
        return int(column.nbytes)
    if not (is_text(column.type.value_type) or pa.types.is_binary(column.type.value_type)):
        return int(column.nbytes)
    lengths = compute.binary_length(column.dictionary).take(column.indices)
    return int(compute.sum(lengths).as_py() or 0) + 4 * len(column)


# --- what cells are


def _kind(cells: Sequence[Any]) -> ColumnKind:
    """The kind of cells without a declared type; a column of text with a cell of another type counts as text."""
    present = [cell for cell in cells if cell is not None and cell != ""]
    if not present:
        return ColumnKind.EMPTY
    if all(isinstance(cell, int | float) for cell in present):
        return ColumnKind.NUMBER
    if all(isinstance(cell, Texts) for cell in present):
        return ColumnKind.TEXTS
    if not any(isinstance(cell, str) for cell in present):
        return ColumnKind.OTHER
    return ColumnKind.NUMBER if all(isinstance(c, str) and _is_number(c) for c in present) else ColumnKind.TEXT


def is_unicode(text: str) -> bool:
    """Whether a text has no half of a surrogate pair."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def number_in(text: str) -> float:
    """The number that people read in a text, so not Python's 1_000; raises ``ValueError``."""
    if "_" in text:
        raise ValueError(text)
    return float(text)


def _is_number(cell: str) -> bool:
    try:
        number_in(cell)
    except ValueError:
        return False
    return True


# --- limits


def check_size(path: Path, size: int) -> None:
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
    if odd := next((name for name in names if "\0" in name or not is_unicode(name)), ""):
        raise InputError(
            f"{path}: the name of a column has a zero byte or half of a surrogate pair: {ascii(odd)[:40]}",
            expected="names of whole characters",
        )
    twice = [name for name, count in Counter(names).items() if name and count > 1]
    if twice:
        raise InputError(f"{path} has two columns '{twice[0]}'", expected="columns of different names")


def check_rows(path: Path, rows: int, more: str = "") -> None:
    if rows > MAX_ROWS:
        raise InputError(
            f"{path} has {more}{rows:,} rows", expected=f"at most {MAX_ROWS:,}", remedy="take a sample of them"
        )


def _bounded(path: Path, rows: Iterator[_T], header_rows: int = 0) -> Iterator[_T]:
    for count, row in enumerate(rows, 1 - header_rows):
        if count > MAX_ROWS:
            check_rows(path, count, more="at least ")
        yield row
