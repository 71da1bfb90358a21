"""Positive pairs in a user's file: which columns are query and mate, and the pairs in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from shlex import quote
from typing import Any

from core.datasets.kinds.base import DatasetKind
from core.datasets.kinds.pairs import PairSet
from core.datasets.own import guess as own_guess
from core.datasets.own.columns import (
    MATE,
    QUERY,
    UNUSED,
    ColumnReading,
    OwnFile,
    UnclearColumns,
    readings,
    require,
    texts_of,
)
from core.datasets.published import pairs as loaders
from core.errors import InputError
from core.files.tables import ColumnKind, FileTable
from core.texts import column_key

WORDS_OF_A_SENTENCE = 6
MIN_ROWS = 2

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


@dataclass(frozen=True)
class OwnPairs(OwnFile):
    """A file of positive pairs.

    Attributes:
        pairs: (query, mate), in the file's order; texts are kept to the letter, pairs that repeat too.
    """

    pairs: tuple[tuple[str, str], ...]

    kind = DatasetKind.PAIR_SET

    @property
    def query(self) -> ColumnReading:
        return self.used[QUERY]

    @property
    def mate(self) -> ColumnReading:
        return self.used[MATE]

    @property
    def rows(self) -> int:
        return len(self.pairs)

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

    @property
    def description(self) -> str:
        return "Pairs of your own, among all the texts of their file."

    def as_manifest(self) -> dict[str, Any]:
        return {
            "query": self.query.name,
            "mate": self.mate.name,
            "why": [self.query.why, self.mate.why],
            "format": self.format.value,
            "separator": self.separator,
            "rows": self.rows,
            "duplicate_pairs": self.duplicate_pairs,
            "self_pairs": self.self_pairs,
        }

    @property
    def summary(self) -> str:
        columns = " and ".join(f"{c.use} is column '{c.name}' ({c.why})" for c in (self.query, self.mate))
        return (
            f"{self.path.name}: {columns}; {self.rows:,} pairs, {self.distinct_texts:,} texts, "
            f"repeated pairs: {self.duplicate_pairs:,}, pairs of a text with itself: {self.self_pairs:,}"
        )

    def dataset(self, dataset_id: str) -> PairSet:
        return loaders.pair_set(dataset_id, self.pairs, ())


def read_columns(path: Path, table: FileTable, asked: tuple[str, str] | None) -> tuple[ColumnReading, ...]:
    """How every column is read.

    Args:
        asked: the names of the query's and the mate's column, where they are known; guessed if left out.

    Raises:
        UnclearColumns: nothing to guess by, or several guesses are about as good.
        InputError: no such columns, or the first line names none.
    """
    query, mate, reasons, left_out = (*_asked(path, table, asked), {}) if asked else _guess(path, table)
    unused = {number: (UNUSED, why) for number, why in left_out.items()}
    return readings(table, {**unused, query: (QUERY, reasons[0]), mate: (MATE, reasons[1])})


def read_pairs(path: Path, table: FileTable, columns: tuple[ColumnReading, ...]) -> tuple[tuple[str, str], ...]:
    """The pairs in the columns that are read as query and mate.

    Raises:
        InputError: a row that has no two texts, which is named; or too few rows.
    """
    number = {reading.use: i for i, reading in enumerate(columns)}
    queries, mates = (texts_of(path, table, number[use]) for use in (QUERY, MATE))
    if len(queries) < MIN_ROWS:
        raise InputError(f"{path} has {len(queries)} pair", expected=f"at least {MIN_ROWS} pairs")
    return tuple(zip(queries, mates, strict=True))


def known_columns(table: FileTable) -> tuple[int, int] | None:
    """Numbers of the columns whose names mean query and mate."""
    keys = [column_key(name) for name in table.names]
    for query, mate in KNOWN_NAMES:
        if keys.count(query) == keys.count(mate) == 1:
            return keys.index(query), keys.index(mate)
    return None


def _asked(path: Path, table: FileTable, asked: tuple[str, str]) -> tuple[int, int, tuple[str, str]]:
    require(path, table, asked)
    if asked[0] == asked[1]:
        raise InputError(f"column '{asked[0]}' cannot be both query and mate", expected="two columns")
    return table.names.index(asked[0]), table.names.index(asked[1]), ("as asked", "as asked")


def _guess(path: Path, table: FileTable) -> tuple[int, int, tuple[str, str], Mapping[int, str]]:
    """Numbers of the two columns, why they are, and why other columns of text are not."""
    if known := known_columns(table):
        return *known, ("by its name", "by its name"), {}
    texts = [number for number, kind in enumerate(table.kinds) if kind is ColumnKind.TEXT]
    if len(texts) >= 2 and table.separator and all(_is_sentence(table.names[number]) for number in texts[:2]):
        first = " and ".join(f"'{table.names[number][:40]}'" for number in texts[:2])
        raise InputError(
            f"the first line of {path} holds texts, not names: {first}",
            expected="a first line that names the columns",
            remedy="put a line such as query,mate before it",
        )
    found = own_guess.pair(table)
    if found.pair is None:
        raise UnclearColumns(
            f"{path} has no two columns of text: {_listed(table, found)}",
            expected="the texts of a pair in two columns, best named query and mate",
            remedy="if two of these hold them, name them with --query-column and --mate-column",
        )
    if not found.is_clear:
        query, mate = (table.names[number] for number in found.pair)
        raise UnclearColumns(
            f"{path}: it is not clear which columns are query and mate: {_listed(table, found)}",
            expected="two columns named query and mate, or two that are clearly the longest texts",
            remedy=f"name them, for example: --query-column {quote(query)} --mate-column {quote(mate)}",
        )
    return *found.pair, found.whys, found.left_out


def _listed(table: FileTable, found: own_guess.PairGuess) -> str:
    """Every column with what it seems to hold."""
    held = (found.left_out.get(number, kind) for number, kind in enumerate(table.kinds))
    return ", ".join(f"'{name[:40]}' ({what})" for name, what in zip(table.names, held, strict=True))


def _is_sentence(name: str) -> bool:
    """Whether the name of a column is rather a text: it ends as a sentence does, or has many words."""
    return name.rstrip().endswith((".", "!", "?", "。", "؟")) or len(name.split()) >= WORDS_OF_A_SENTENCE
