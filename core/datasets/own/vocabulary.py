"""Words and their counts in a user's file: which columns they are, and what is in them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.datasets.kinds.base import DatasetKind
from core.datasets.kinds.vocabulary import Vocabulary
from core.datasets.own.columns import (
    COUNT,
    WORD,
    ColumnReading,
    OwnFile,
    finite_number,
    readings,
    require,
    texts_of,
)
from core.datasets.published import vocabularies
from core.errors import InputError
from core.files.tables import ColumnKind, FileTable
from core.texts import column_key, one_form

MIN_ROWS = 2
WORD_NAMES = ("word", "words", "token", "term", "type")
COUNT_NAMES = ("count", "counts", "frequency", "freq", "occurrences", "n")


@dataclass(frozen=True)
class OwnVocabulary(OwnFile):
    """A file of words with their counts.

    Attributes:
        words: distinct, in the file's order, to the letter.
        counts: of each, above 0; frequencies of any scale do as well.
    """

    words: tuple[str, ...]
    counts: tuple[float, ...]

    kind = DatasetKind.VOCABULARY

    @property
    def rows(self) -> int:
        return len(self.words)

    @property
    def distinct_texts(self) -> int:
        return len(self.words)

    @property
    def description(self) -> str:
        return "Words of your own with how often each occurs; the corpus is the sum of their counts."

    def as_manifest(self) -> dict[str, Any]:
        return {
            "columns": {use: column.name for use, column in self.used.items()},
            "why": {use: column.why for use, column in self.used.items()},
            "format": self.format.value,
            "separator": self.separator,
            "rows": self.rows,
            "corpus_size": math.fsum(self.counts),
        }

    @property
    def summary(self) -> str:
        columns = " and ".join(f"{use} is column '{column.name}' ({column.why})" for use, column in self.used.items())
        return (
            f"{self.path.name}: a vocabulary: {columns}; {self.rows:,} words, {math.fsum(self.counts):,.6g} occurrences"
        )

    def dataset(self, dataset_id: str) -> Vocabulary:
        return vocabularies.vocabulary(dataset_id, self.words, self.counts, math.fsum(self.counts))


def is_told(table: FileTable) -> bool:
    """Whether a file's header says that it holds words with counts."""
    return len(_named(table)) == 2


def _named(table: FileTable) -> dict[str, int]:
    """Numbers of the columns whose names say that they are the word or the count; the first known name wins."""
    keys = [column_key(name) for name in table.names]
    found: dict[str, int] = {}
    for use, names in ((WORD, WORD_NAMES), (COUNT, COUNT_NAMES)):
        if (name := next((name for name in names if keys.count(name) == 1), None)) is not None:
            found[use] = keys.index(name)
    return found


def read_columns(path: Path, table: FileTable, asked: tuple[str, str] | None) -> tuple[ColumnReading, ...]:
    """How every column is read.

    Args:
        asked: the names of the word's and the count's column, where they are known; told by the names if left out.

    Raises:
        InputError: no such columns, the same one twice, or names that say nothing.
    """
    if asked is not None:
        require(path, table, asked)
        if asked[0] == asked[1]:
            raise InputError(f"column '{asked[0]}' cannot be both word and count", expected="two columns")
        numbers, why = [table.names.index(name) for name in asked], "as asked"
    else:
        named = _named(table)
        if len(named) < 2:
            raise InputError(
                f"{path} has no columns word and count: {', '.join(repr(name[:40]) for name in table.names)}",
                expected="a column word and a column count (or frequency)",
            )
        numbers, why = list(named.values()), "by its name"
    return readings(table, {numbers[0]: (WORD, why), numbers[1]: (COUNT, why)})


def read_words(path: Path, table: FileTable, columns: Sequence[ColumnReading]) -> tuple[list[str], list[float]]:
    """The words and counts in the columns that are read as such.

    Raises:
        InputError: a row that has no word, or one that stands there before, or whose count is no number above 0; it
            is named. Or too few rows.
    """
    number = {reading.use: i for i, reading in enumerate(columns)}
    words = texts_of(path, table, number[WORD])
    if len(words) < MIN_ROWS:
        raise InputError(f"{path} has {len(words)} word", expected=f"at least {MIN_ROWS} words")
    first: dict[str, int] = {}
    for row, word in enumerate(words):
        before = first.setdefault(one_form(word), row)
        if before != row:
            raise InputError(
                f"{path}, {table.where(row)}: '{word[:40]}' stands there twice, first in {table.where(before)}",
                expected="every word once",
                remedy="add its counts up in one row",
            )
    column = number[COUNT]
    place = f"column '{table.names[column]}'"
    cells = table.cells[column]
    return words, [_count(f"{path}, {table.where(row)}, {place}", cell) for row, cell in enumerate(cells)]


def _count(place: str, cell: object) -> float:
    expected = "a count or frequency above 0"
    value = finite_number(place, cell, expected, ", such as 1520 or 3.2e-5")
    if value <= 0:
        raise InputError(f"{place}: {value:g}", expected=expected, remedy="remove words that do not occur")
    return value


def text_column(table: FileTable) -> int | None:
    """A first guess at the column of words, for a form: the named one, else the first of text."""
    named = _named(table)
    kinds = table.kinds
    return named.get(WORD, kinds.index(ColumnKind.TEXT) if ColumnKind.TEXT in kinds else None)


def count_column(table: FileTable) -> int | None:
    """A first guess at the column of counts, for a form: the named one, else the first of numbers."""
    named = _named(table)
    kinds = table.kinds
    return named.get(COUNT, kinds.index(ColumnKind.NUMBER) if ColumnKind.NUMBER in kinds else None)
