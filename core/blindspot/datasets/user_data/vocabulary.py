"""Words and their counts in a user's file."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from blindspot.datasets.kinds.base import DatasetKind, Rows
from blindspot.datasets.kinds.vocabulary import Vocabulary
from blindspot.datasets.published import vocabularies
from blindspot.datasets.user_data.columns import (
    COUNT,
    WORD,
    OwnFile,
    Picker,
    Role,
    UnclearColumns,
    first_named,
    numbers_of,
    require_rows,
    texts_of,
)
from blindspot.datasets.user_data.names import COUNT_NAMES, WORD_NAMES
from blindspot.datasets.user_data.pairs import known_columns
from blindspot.errors import InputError
from blindspot.files.tables import ColumnKind, FileTable
from blindspot.texts import column_key, one_form


@dataclass(frozen=True)
class OwnVocabulary(OwnFile):
    """A file of words with their counts.

    Attributes:
        words: distinct, in the file's order, unchanged.
        counts: of each word, above 0; frequencies on any scale work, too.
    """

    words: tuple[str, ...]
    counts: tuple[float, ...]

    kind = DatasetKind.VOCABULARY
    title = "words with counts"
    form = "words (word and count)"
    about = "a word and how often it occurs in a corpus, for the page *Frequency*."
    matched_by = "where columns are called `word` and `count`"
    counted = "words"
    roles = (Role("word", WORD, "the word"), Role("count", COUNT, "how often it occurs"))
    forms = (("word", "count"),)
    pickers = ((Picker(WORD), Picker(COUNT)),)
    choose = "Choose the column of the words, and that of their counts or frequencies."

    @classmethod
    def matches_header(cls, table: FileTable) -> bool:
        return has_counts(table) and known_columns(table) is None

    @classmethod
    def by_header(cls, table: FileTable) -> dict[int, tuple[str, str]]:
        if not has_counts(table):
            raise InputError(
                f"{table.path} has no columns word and count: {table.shown_names}",
                expected="a column word and a column count (or frequency)",
            )
        return {number: (use, "by its name") for use, number in _named(table).items()}

    @classmethod
    def preselected(cls, table: FileTable) -> dict[str, int]:
        """The named columns, else the first column of texts and the first of numbers."""
        kinds = {WORD: ColumnKind.TEXT, COUNT: ColumnKind.NUMBER}
        first = {use: table.kinds.index(kind) for use, kind in kinds.items() if kind in table.kinds}
        return first | _named(table)

    @classmethod
    def cells(cls, table: FileTable, numbers: Mapping[str, int]) -> tuple[Any, ...]:
        words = texts_of(table, numbers[WORD])
        require_rows(table, "word")
        first: dict[str, int] = {}
        for row, word in enumerate(words):
            before = first.setdefault(one_form(word), row)
            if before != row:
                raise InputError(
                    f"{table.where(row)}: '{word[:40]}' occurs twice, first in {table.place(before)}",
                    expected="every word once",
                    remedy="add its counts up in one row",
                )
        expected = "a count or frequency above 0"
        counts = numbers_of(table, numbers[COUNT], expected, ", such as 1520 or 3.2e-5")
        _check_thousands(table, numbers[COUNT])
        for row, count in enumerate(counts):
            if count <= 0:
                where = table.where(row, numbers[COUNT])
                raise InputError(f"{where}: {count:g}", expected=expected, remedy="remove words that do not occur")
        return tuple(words), tuple(counts)

    @property
    def rows(self) -> int:
        return len(self.words)

    @property
    def distinct_texts(self) -> int:
        return len(self.words)

    @property
    def description(self) -> str:
        return "Words of your own with their counts; the corpus size is the sum of all counts."

    @property
    def summary(self) -> str:
        return (
            f"{self.path.name}: a vocabulary: {self._columns_in_words(' and ')}; {self.rows:,} words, "
            f"{math.fsum(self.counts):,.6g} occurrences"
        )

    @property
    def notes(self) -> tuple[str, ...]:
        size = f"{math.fsum(self.counts):,.6g} occurrences in all, taken as the size of the corpus"
        return f"{self.rows:,} words", size

    def as_manifest(self) -> dict[str, Any]:
        return super().as_manifest() | {"corpus_size": math.fsum(self.counts)}

    def first_rows(self, n: int) -> Rows:
        return Rows((WORD, COUNT), tuple(zip(self.words[:n], self.counts[:n], strict=True)))

    def kept_rows(self) -> Iterator[Mapping[str, str | float]]:
        for word, count in zip(self.words, self.counts, strict=True):
            yield {"word": word, "count": count}

    def dataset(self, dataset_id: str) -> Vocabulary:
        return vocabularies.vocabulary(dataset_id, self.words, self.counts, math.fsum(self.counts))


def has_counts(table: FileTable) -> bool:
    """Whether the header names a column of words and one of counts."""
    return len(_named(table)) == 2


def _named(table: FileTable) -> dict[str, int]:
    keys = [column_key(name) for name in table.names]
    by_use = {use: first_named(keys, names) for use, names in ((WORD, WORD_NAMES), (COUNT, COUNT_NAMES))}
    return {use: number for use, number in by_use.items() if number is not None}


_WITH_POINT = re.compile(r"[1-9]\d{0,2}\.\d{3}")


def _check_thousands(table: FileTable, column: int) -> None:
    """Refuse counts with a point before three digits in all that have one, as 1.234 for 1,234 in some languages."""
    cells = [str(cell).strip() for cell in table.cells[column]] if table.separator else []
    with_point = [cell for cell in cells if "." in cell]
    if with_point and all(map(_WITH_POINT.fullmatch, with_point)) and all("e" not in cell.lower() for cell in cells):
        raise UnclearColumns(
            f"{table.path}, column '{table.names[column][:40]}': the point of {with_point[0]} and of all others may be "
            "one of decimals or of thousands",
            expected="counts such as 1234, or decimals that differ in length, such as 1.25",
            remedy="write counts without a mark of thousands, and 1.500 as 1.5",
        )
