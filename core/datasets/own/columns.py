"""How the columns of a user's file are read, and what every kind of such a file has in common."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, ClassVar

from core.datasets.kinds.base import Dataset, DatasetKind
from core.datasets.published.minimal_pairs import ORIGINAL, SUBSETS
from core.errors import InputError
from core.files.tables import MAX_CELL, ColumnKind, FileFormat, FileTable

EXAMPLES = 3


# What a column is read as: one of these, the original, or of a minimal-pair set the name of a subset of rewrites.
QUERY = "query"
MATE = "mate"
WORD = "word"
COUNT = "count"
FIRST = "first text"
SECOND = "second text"
SCORE = "score"
TEXT = "text"
LABEL = "label"
SPLIT = "split"
UNUSED = "not used"
_FIRST = (
    *(QUERY, MATE, WORD, COUNT, TEXT, FIRST, SECOND, SCORE, LABEL, SPLIT, ORIGINAL),
    *SUBSETS,
)  # in this order; other subsets follow as the file has them


class UnclearColumns(InputError):
    """A file's columns do not say by themselves which of them are to be read: somebody has to."""


@dataclass(frozen=True)
class ColumnReading:
    """How one column is read, for people to confirm.

    Attributes:
        use: ``QUERY``, ``LABEL`` or another of these, ``UNUSED``, ``original``, or the name of a subset.
        why: "by its name", "by its sentences", a reason of ``own_guess``, "the only other text column", "as asked", or
            why it is not used, or "".
        examples: its first cells, as text.
    """

    name: str
    kind: ColumnKind
    use: str
    why: str
    examples: tuple[str, ...]


@dataclass(frozen=True)
class OwnFile(ABC):
    """A file that was read.

    Attributes:
        path: absolute.
        separator: between the cells of a .csv or .tsv; "" elsewhere.
        sha256: of the file's bytes.
        columns: all of them, in the file's order.
    """

    path: Path
    format: FileFormat
    separator: str
    sha256: str
    columns: tuple[ColumnReading, ...]

    kind: ClassVar[DatasetKind]

    @property
    def used(self) -> dict[str, ColumnReading]:
        """The columns that are read as something: the original first, then the subsets in the order in which they are
        shown, those that HEROS has not as they stand in the file."""
        found = {column.use: column for column in self.columns if column.use != UNUSED}
        return {use: found[use] for use in dict.fromkeys([*_FIRST, *found]) if use in found}

    @property
    @abstractmethod
    def rows(self) -> int:
        """How many pairs, originals, words or examples there are."""

    @property
    @abstractmethod
    def distinct_texts(self) -> int:
        """How many texts there are, each counted once."""

    @property
    @abstractmethod
    def description(self) -> str:
        """What it is, in a sentence."""

    @property
    @abstractmethod
    def summary(self) -> str:
        """How it was read: one line for people."""

    @abstractmethod
    def as_manifest(self) -> dict[str, Any]:
        """How it was read, without its texts, for a run's manifest."""

    @abstractmethod
    def dataset(self, dataset_id: str) -> Dataset:
        """What diagnostics compute on."""


def require(path: Path, table: FileTable, names: Sequence[str]) -> None:
    """See that a file has columns of these names.

    Raises:
        InputError: one is missing; the names that there are stand in the error.
    """
    if missing := [name for name in names if name not in table.names]:
        raise InputError(f"{path} has no column '{missing[0]}'", expected=f"one of {', '.join(table.names)}")


def readings(table: FileTable, uses: Mapping[int, tuple[str, str]]) -> tuple[ColumnReading, ...]:
    """Every column of a file as it is read.

    Args:
        uses: per number of a column what it is used as, and why (or why not); the others are not used.
    """
    return tuple(
        ColumnReading(
            name=name,
            kind=table.kinds[number],
            use=uses.get(number, (UNUSED, ""))[0],
            why=uses.get(number, (UNUSED, ""))[1],
            examples=tuple("" if cell is None else str(cell) for cell in table.cells[number][:EXAMPLES]),
        )
        for number, name in enumerate(table.names)
    )


def texts_of(path: Path, table: FileTable, column: int) -> list[str]:
    """The cells of a column that is used, all of them texts.

    Raises:
        InputError: a cell that is none; its row and column are named.
    """
    out = []
    for row, cell in enumerate(table.cells[column]):
        place = f"{path}, {table.where(row)}, column '{table.names[column]}'"
        if cell is None or (isinstance(cell, str) and not cell.strip()):
            raise InputError(f"{place}: nothing there", expected="a text", remedy="fill it in or remove the row")
        if not isinstance(cell, str):
            shown = str(cell)
            shown = shown if len(shown) <= 40 else f"{shown[:40]}..."
            raise InputError(f"{place}: {shown} is not text", expected="a text")
        if not is_unicode(cell):
            raise InputError(f"{place}: half of a surrogate pair", expected="a text of whole characters")
        if len(cell) > MAX_CELL:
            raise InputError(
                f"{place}: {len(cell):,} characters", expected=f"at most {MAX_CELL:,}", remedy="shorten or split it"
            )
        out.append(cell)
    return out


def is_unicode(cell: str) -> bool:
    """Whether there is no half of a surrogate pair in it."""
    try:
        cell.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


# Numbers in a user's file: a cell that should hold one, and what is said where it does not.

LONGEST_SHOWN = 40


def finite_number(place: str, cell: object, expected: str, example: str = "") -> float:
    """The number in a cell.

    Args:
        place: file, row and column, for the error.
        expected, example: what should stand there, likewise.

    Raises:
        InputError: there is nothing, no number, or one that is not finite.
    """
    missing = "fill it in or remove the row"
    if cell is None or (isinstance(cell, str) and not cell.strip()):
        raise InputError(f"{place}: nothing there", expected=expected, remedy=missing)
    value = _number(cell)
    if value is None:
        shown = str(cell)
        shown = shown if len(shown) <= LONGEST_SHOWN else f"{shown[:LONGEST_SHOWN]}..."
        raise InputError(f"{place}: '{shown}' is no number", expected=f"{expected}{example}")
    if not math.isfinite(value):
        raise InputError(f"{place}: {value:g}", expected=expected, remedy=missing)
    return value


def _number(cell: object) -> float | None:
    if isinstance(cell, bool) or not isinstance(cell, str | int | float | Decimal):
        return None
    try:
        return float(cell)
    except (ValueError, OverflowError):
        return None
