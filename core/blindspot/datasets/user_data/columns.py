"""Columns of a user's own file, and the declaration of every kind of such a file (or folder).

In all of ``own``, a problem with a file or a reference raises an ``InputError`` of one line with the row and column.
"""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any, ClassVar, Self
from unicodedata import category

from blindspot.datasets.kinds.base import Dataset, DatasetKind, Rows
from blindspot.datasets.kinds.own_columns import OwnColumn
from blindspot.datasets.published.minimal_pairs import ORIGINAL, SUBSETS
from blindspot.datasets.user_data import attributes
from blindspot.errors import InputError
from blindspot.files.tables import (
    MAX_CELL,
    ColumnKind,
    FileFormat,
    FileTable,
    Nested,
    is_unicode,
    number_in,
)

EXAMPLES = 3
LONGEST_SHOWN = 40
# What people and programs write in an empty cell.
MISSING = frozenset(
    # as programs write them, as spreadsheets do, and as people do in several languages
    "nan na n/a none null nil <na> - -- --- ? #n/a #na #ref! #value! #name? #div/0! #null! #num! "
    "n.a. n.a n/d n.d. s/d k.a. k.a entfällt #nv #bezug! #wert! #zahl! ninguno nessuno aucun нд н/д".split()
) | {"k. a.", "keine angabe", "sin datos", "no aplica", "nessun dato", "não aplicável", "нет данных"}

# What a column is read as: one of these, the original, or for minimal pairs the name of a subset of rewrites.
QUERY = "query"
MATCH = "match"
MARK = "mark"
WORD = "word"
COUNT = "count"
FIRST = "first text"
SECOND = "second text"
SCORE = "score"
TEXT = "text"
LABEL = "label"
SPLIT = "split"
TASK = "probing task"
DOCUMENT = "document"
TITLE = "title"
RELEVANCE = "relevance"
NEGATIVES = "negatives"
CANDIDATES = "candidates"
GROUPS = "groups"  # no diagnostic reads it; it is for grouping, filtering and coloring
UNUSED = "not used"
NO_ROLE = (GROUPS, UNUSED)
_SHOWN_FIRST = (QUERY, MATCH, MARK, WORD, COUNT, TEXT, FIRST, SECOND, SCORE, LABEL, SPLIT, TASK, ORIGINAL, *SUBSETS)


class UnclearColumns(InputError):
    """The file's header does not say which columns to read: the user has to."""


@dataclass(frozen=True)
class ColumnReading:
    """How one column is read, for people to confirm.

    Attributes:
        use: ``QUERY``, ``LABEL`` or another of these, ``GROUPS``, ``UNUSED``, ``original``, or the name of a subset.
        why: the reason why it is used or not; "" if there is nothing to say.
        examples: its first cells, as text.
    """

    name: str
    kind: ColumnKind
    use: str
    why: str
    examples: tuple[str, ...]


@dataclass(frozen=True)
class Role:
    """What the user can name a column as, on the command line and in references.

    Attributes:
        name: as in references and options.
        use: how such a column is read; "" if that depends on its name.
        meaning: for help texts.
        repeats: whether several columns may have it.
    """

    name: str
    use: str
    meaning: str
    repeats: bool = False


@dataclass(frozen=True)
class Picker:
    """The choice of a column in the upload form."""

    use: str
    help: str = ""
    optional: bool = False


@dataclass(frozen=True)
class OwnSource(ABC):
    """A file or folder of a user's texts that was read.

    Attributes:
        path: absolute.
        sha256: of the file's bytes, or of the bytes of all files that were read.
    """

    path: Path
    sha256: str

    kind: ClassVar[DatasetKind]
    title: ClassVar[str]

    @property
    def files(self) -> dict[Path, str]:
        """Checksums of the files that were read."""
        return {self.path: self.sha256}

    @property
    @abstractmethod
    def rows(self) -> int:
        """Number of pairs, originals, words, examples or queries."""

    @property
    @abstractmethod
    def distinct_texts(self) -> int: ...

    @property
    def subsets(self) -> int:
        """Number of rewrites of each original; without meaning for other kinds."""
        return 0

    @property
    def is_split(self) -> bool:
        """Whether a column says which rows are for training and which for testing."""
        return False

    @property
    def number_of_classes(self) -> int:
        """Number of classes of labeled texts; 0 for other kinds."""
        return 0

    @property
    @abstractmethod
    def description(self) -> str:
        """A sentence on what is in it."""

    @property
    @abstractmethod
    def summary(self) -> str:
        """How it was read: one line for people."""

    @property
    def assumptions(self) -> str:
        """Assumptions that change the scores, in one line; "" for none."""
        return ""

    @property
    def doubt(self) -> str:
        """The reason why it may be of another kind, as a question to the user; "" for no doubt."""
        return ""

    def columns_as(self, kind: DatasetKind) -> str:  # noqa: ARG002 - of some kinds
        """The end of the reference that reads it as another kind, such as ``query=NAME&document=NAME``; "" if it
        cannot be."""
        return ""

    def instead(self, kind: DatasetKind) -> str:
        """What to do to read it as another kind; "" if it cannot be."""
        columns = self.columns_as(kind)
        return f'to read it as a {kind.in_words}: "file:{self.path}?{columns}"' if columns else ""

    @abstractmethod
    def as_manifest(self) -> dict[str, Any]:
        """How it was read, without its texts, for a run's manifest."""

    @abstractmethod
    def loaded(self, dataset_id: str) -> Dataset:
        """What diagnostics compute on, with its own columns."""


@dataclass(frozen=True)
class OwnFile(OwnSource):
    """A file that was read. A kind of file is a subclass in a module of its own; ``own.kinds`` lists them.

    Attributes:
        separator: between the cells of a .csv or .tsv; "" for other files.
        columns: all columns, in the file's order.
        own_columns: the columns that are read as ``GROUPS``.
        remarks: assumptions that change the scores, a phrase each.

        title: name of the kind, in the plural.
        form: its columns, for the command line's help.
        about: a row and its use, for the upload form.
        matched_by: the header that makes a file of this kind, for the upload form.
        counted: what its rows are called.
        roles: what its columns can be named as, in the order of a canonical reference.
        forms: sets of roles that have to be named; one of these sets is enough.
        optional: further roles that may be named.
        pickers: lines of pickers in the upload form.
        choose: asks for the columns that are not picked yet.
        has_groups: whether further columns are kept, since its rows are the dataset's.
    """

    format: FileFormat
    separator: str
    columns: tuple[ColumnReading, ...]
    own_columns: tuple[OwnColumn, ...]
    remarks: tuple[str, ...]

    form: ClassVar[str]
    about: ClassVar[str]
    matched_by: ClassVar[str] = ""
    counted: ClassVar[str]
    roles: ClassVar[tuple[Role, ...]]
    forms: ClassVar[tuple[tuple[str, ...], ...]]
    optional: ClassVar[tuple[str, ...]] = ()
    pickers: ClassVar[tuple[tuple[Picker, ...], ...]] = ()
    choose: ClassVar[str] = ""
    has_groups: ClassVar[bool] = False

    # --- which columns

    @classmethod
    @abstractmethod
    def matches_header(cls, table: FileTable) -> bool:
        """Whether the header says that a file is of this kind; cells decide if names are ambiguous."""

    @classmethod
    @abstractmethod
    def by_header(cls, table: FileTable) -> dict[int, tuple[str, str]]:
        """Use and reason per column number, from the header; also reasons why a column is not used.

        Raises:
            UnclearColumns: the header says nothing, or several readings are about equally good.
            InputError: the file cannot be of this kind.
        """

    @classmethod
    def readings(cls, table: FileTable, asked: Mapping[str, int] | None = None) -> tuple[ColumnReading, ...]:
        """How every column is read.

        Args:
            asked: the number of each use's column, if the user named them; if left out, the header decides.
        """
        return cls._read(table, asked)[0]

    @classmethod
    def _read(
        cls, table: FileTable, asked: Mapping[str, int] | None = None
    ) -> tuple[tuple[ColumnReading, ...], tuple[OwnColumn, ...]]:
        """The readings, and the columns that are kept besides."""
        columns = read_as(table, as_asked(table, asked) if asked else cls.by_header(table))
        if not cls.has_groups:
            return columns, ()
        kept, whys = attributes.kept(table, [number for number, column in enumerate(columns) if column.use != UNUSED])
        readings = list(columns)
        for number, column in kept.items():
            why = f"{len(column.values)} different values, to group and filter by"
            readings[number] = replace(columns[number], use=GROUPS, why=why)
        for number, why in whys.items():
            readings[number] = replace(columns[number], why="; ".join(filter(None, [columns[number].why, why])))
        return tuple(readings), tuple(kept.values())

    @classmethod
    def preselected(cls, table: FileTable) -> dict[str, int]:
        """The number of the column that the upload form starts with, per use; without uses that have no likely
        column."""
        try:
            return {r.use: number for number, r in enumerate(cls.readings(table)) if r.use not in NO_ROLE}
        except InputError:
            return {}

    @classmethod
    def uses_of(cls, table: FileTable, named: Sequence[tuple[str, str]]) -> dict[str, int]:
        """The number of the column per use, from (role, name of a column)."""
        uses = {role.name: role.use for role in cls.roles}
        return {uses[role]: table.number(name) for role, name in named}

    # --- what is in them

    @classmethod
    def of(cls, table: FileTable, asked: Mapping[str, int] | None = None) -> Self:
        """Read the columns, ``asked`` as in ``readings``."""
        columns, own_columns = cls._read(table, asked)
        numbers = {reading.use: number for number, reading in enumerate(columns) if reading.use not in NO_ROLE}
        remarks = (*table.remarks, *cls.assumed(table, columns))
        file = (table.path, table.sha256, table.format, table.separator, columns, own_columns, remarks)
        return cls(*file, *cls.cells(table, numbers))

    @classmethod
    def assumed(cls, table: FileTable, columns: Sequence[ColumnReading]) -> tuple[str, ...]:  # noqa: ARG003 - of some kinds
        """What a reading of columns assumes, a phrase each."""
        return ()

    @property
    def named(self) -> tuple[tuple[str, str], ...]:
        """(Role, name of the column) for all columns that are used."""
        roles = {role.use: role.name for role in reversed(self.roles)}
        return tuple((roles.get(use, ""), column.name) for use, column in self.used.items())

    @classmethod
    @abstractmethod
    def cells(cls, table: FileTable, numbers: Mapping[str, int]) -> tuple[Any, ...]:
        """The content of the columns with these numbers: values of the fields that the kind adds."""

    @property
    def assumptions(self) -> str:
        return f"{self.path.name}: {'; '.join(self.remarks)}" if self.remarks else ""

    @property
    def used(self) -> dict[str, ColumnReading]:
        """The columns that are used: the original first, then the subsets in the order in which they are shown; subsets
        that HEROS does not have follow in the file's order."""
        by_use = {column.use: column for column in self.columns if column.use not in NO_ROLE}
        return {use: by_use[use] for use in dict.fromkeys([*_SHOWN_FIRST, *by_use]) if use in by_use}

    @property
    def subsets(self) -> int:
        return len(self.used) - 1

    @property
    @abstractmethod
    def notes(self) -> tuple[str, ...]:
        """Counts for the upload form, a phrase each."""

    def _columns_in_words(self, between: str) -> str:
        return between.join(f"{use} is column '{column.name}' ({column.why})" for use, column in self.used.items())

    def as_manifest(self) -> dict[str, Any]:
        return {
            "columns": {use: column.name for use, column in self.used.items()},
            "why": {use: column.why for use, column in self.used.items()},
            "format": self.format.value,
            "separator": self.separator,
            "rows": self.rows,
            **({"remarks": list(self.remarks)} if self.remarks else {}),
        }

    @abstractmethod
    def first_rows(self, n: int) -> Rows:
        """The first ``n`` rows, for the upload form."""

    @abstractmethod
    def kept_rows(self) -> Iterator[Mapping[str, str | float | list[str]]]:
        """Its rows as an upload keeps them, under column names that ``matches_header`` recognizes."""

    def written_rows(self) -> Iterator[Mapping[str, str | float | list[str]]]:
        """As ``kept_rows``, with its own columns."""
        if not self.own_columns:
            return self.kept_rows()
        further = attributes.as_cells(self.own_columns)
        return ({**row, **more} for row, more in zip(self.kept_rows(), further, strict=True))

    @abstractmethod
    def dataset(self, dataset_id: str) -> Dataset:
        """What diagnostics compute on."""

    def loaded(self, dataset_id: str) -> Dataset:
        return replace(self.dataset(dataset_id), own_columns=self.own_columns)


def as_asked(table: FileTable, asked: Mapping[str, int]) -> dict[int, tuple[str, str]]:
    """Use and reason per number of each column that the user named."""
    uses: dict[int, tuple[str, str]] = {}
    for use, number in asked.items():
        if number in uses:
            both = f"{uses[number][0]} and {use}"
            raise InputError(f"column '{table.names[number]}' cannot be both {both}", expected="two columns")
        uses[number] = (use, "as asked")
    return uses


def read_as(table: FileTable, uses: Mapping[int, tuple[str, str]]) -> tuple[ColumnReading, ...]:
    """Every column of a file with its use and reason; columns without a use are unused."""
    return tuple(
        ColumnReading(
            name,
            table.kinds[number],
            *uses.get(number, (UNUSED, "")),
            examples=tuple("" if cell is None else str(cell) for cell in table.cells[number][:EXAMPLES]),
        )
        for number, name in enumerate(table.names)
    )


def first_named(keys: Sequence[str], names: Iterable[str]) -> int | None:
    """Number of the column with the first of ``names`` that exactly one column has; None if there is none."""
    return next((keys.index(name) for name in names if keys.count(name) == 1), None)


def texts_of(table: FileTable, column: int) -> list[str]:
    """The cells of a column, all of them texts."""
    return [check_text(cell, table.where(row, column)) for row, cell in enumerate(table.cells[column])]


def check_text(cell: object, where: str, remedy: str = "fill it in or remove the row") -> str:
    """A cell that is a text.

    Args:
        where: file, row and column, for errors.
        remedy: for one that is empty.
    """
    if is_blank(cell):
        raise InputError(f"{where}: nothing there", expected="a text", remedy=remedy)
    if not isinstance(cell, str):
        is_judged = isinstance(cell, Nested) and cell.is_judged
        raise InputError(
            f"{where}: {shortened(str(cell))} is not text",
            expected="a text",
            remedy="write a row for each query and passage, with a column relevance" if is_judged else "",
        )
    if not is_unicode(cell):
        raise InputError(f"{where}: half of a surrogate pair", expected="a text of whole characters")
    if "\0" in cell:
        raise InputError(f"{where}: a zero byte", expected="a text without any")
    if len(cell) > MAX_CELL:
        raise InputError(
            f"{where}: {len(cell):,} characters", expected=f"at most {MAX_CELL:,}", remedy="shorten or split it"
        )
    return cell


def numbers_of(table: FileTable, column: int, expected: str, example: str = "") -> list[float]:
    """The cells of a column, all of them finite numbers."""
    out = []
    missing = "fill it in or remove the row"
    for row, cell in enumerate(table.cells[column]):
        where = table.where(row, column)
        if is_blank(cell):
            raise InputError(f"{where}: nothing there", expected=expected, remedy=missing)
        value = _number(cell)
        if value is None:
            raise InputError(
                f"{where}: '{shortened(str(cell))}' is no number",
                expected=f"{expected}{example}",
                remedy=_as_number(str(cell).strip()),
            )
        if not math.isfinite(value):
            raise InputError(f"{where}: {value:g}", expected=expected, remedy=missing)
        out.append(value)
    return out


def require_rows(table: FileTable, unit: str) -> None:
    """Refuse a file of fewer than two rows."""
    if (rows := len(table.places)) < 2:
        raise InputError(f"{table.path} has {rows} {unit}", expected=f"at least 2 {unit}s")


def is_blank(cell: object) -> bool:
    """Whether a cell has nothing, or nothing visible (a zero-width space)."""
    if not isinstance(cell, str):
        return cell is None
    return not cell.strip() or (not cell.isascii() and all(c.isspace() or category(c) == "Cf" for c in cell))


def shortened(text: str) -> str:
    """A text for a message."""
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}..."


def _as_number(text: str) -> str:
    """Advice on how to write what people read as a number, or what to do where there is none."""
    if text.casefold() in MISSING:
        return "fill it in or remove the row"
    if re.fullmatch(r"[-+]?\d+,\d+", text):
        return "write decimals with a point, and thousands without a mark"
    if re.fullmatch(r"\[?[-\d. ]+(?:[,;|][-\d. ]+)+\]?", text):
        return "write one number in each row, such as their mean"
    if text.endswith("%"):
        return "write it without the percent sign"
    if text.replace(" ", "").isalpha():
        return "write a number instead of each word, higher for more"
    return "write a number alone, such as 3.5, or remove the row"


def _number(cell: object) -> float | None:
    if isinstance(cell, bool) or not isinstance(cell, str | int | float | Decimal):
        return None
    try:
        return number_in(cell) if isinstance(cell, str) else float(cell)
    except (ValueError, OverflowError):
        return None
