"""A user's own positive pairs (``file:PATH``): which columns of the file are query and mate, and their pairs."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from core.datasets import own_files
from core.datasets.own_files import ColumnKind, FileFormat, FileTable
from core.errors import InputError
from core.texts import twin_key

PREFIX = "file:"
MIN_ROWS = 2
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
class OwnTable:
    """A file whose columns are known and whose pairs are not yet."""

    path: Path
    format: FileFormat
    sha256: str
    table: FileTable

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
    return parse(path, own_files.read_bytes(path), columns)


def parse(path: Path, data: bytes, columns: tuple[str, str] | None = None, header: bool = True) -> OwnPairs:
    """The pairs in a file's bytes: ``tabulate``, then ``OwnTable.pairs``."""
    return tabulate(path, data, header).pairs(columns)


def tabulate(path: Path, data: bytes, header: bool = True) -> OwnTable:
    """The columns in a file's bytes.

    Args:
        path, data, header: as in ``own_files.tabulate``.

    Raises:
        InputError: what is wrong with the file, in one line.
    """
    table = own_files.tabulate(path, data, header)
    return OwnTable(path, own_files.format_of(path), hashlib.sha256(data).hexdigest(), table)


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


def _readings(path: Path, table: FileTable, asked: tuple[str, str] | None) -> tuple[ColumnReading, ...]:
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


def _asked(path: Path, table: FileTable, asked: tuple[str, str]) -> tuple[int, int, tuple[str, str]]:
    if missing := [name for name in asked if name not in table.names]:
        raise InputError(f"{path} has no column '{missing[0]}'", expected=f"one of {', '.join(table.names)}")
    if asked[0] == asked[1]:
        raise InputError(f"column '{asked[0]}' cannot be both query and mate", expected="two columns")
    return table.names.index(asked[0]), table.names.index(asked[1]), ("as asked", "as asked")


def _guess(path: Path, table: FileTable) -> tuple[int, int, tuple[str, str]]:
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


def _texts(path: Path, table: FileTable, column: int) -> list[str]:
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
