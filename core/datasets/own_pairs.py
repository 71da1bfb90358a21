"""Positive pairs in a user's file: which columns are query and mate, and the pairs in them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from core.datasets import loaders
from core.datasets.own_columns import MATE, QUERY, ColumnReading, OwnFile, readings, texts_of
from core.datasets.own_files import ColumnKind, FileTable
from core.errors import InputError
from core.texts import twin_key
from core.types import DatasetKind, PairSet

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
        InputError: no such columns, or nothing to guess by.
    """
    query, mate, reasons = _asked(path, table, asked) if asked else _guess(path, table)
    return readings(table, {query: (QUERY, reasons[0]), mate: (MATE, reasons[1])})


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
    keys = [twin_key(name) for name in table.names]
    for query, mate in KNOWN_NAMES:
        if keys.count(query) == keys.count(mate) == 1:
            return keys.index(query), keys.index(mate)
    return None


def _asked(path: Path, table: FileTable, asked: tuple[str, str]) -> tuple[int, int, tuple[str, str]]:
    if missing := [name for name in asked if name not in table.names]:
        raise InputError(f"{path} has no column '{missing[0]}'", expected=f"one of {', '.join(table.names)}")
    if asked[0] == asked[1]:
        raise InputError(f"column '{asked[0]}' cannot be both query and mate", expected="two columns")
    return table.names.index(asked[0]), table.names.index(asked[1]), ("as asked", "as asked")


def _guess(path: Path, table: FileTable) -> tuple[int, int, tuple[str, str]]:
    if known := known_columns(table):
        return *known, ("by its name", "by its name")
    texts = [number for number, kind in enumerate(table.kinds) if kind is ColumnKind.TEXT]
    if len(texts) < 2:
        found = ", ".join(f"'{name[:40]}' ({kind})" for name, kind in zip(table.names, table.kinds, strict=True))
        raise InputError(
            f"{path} has no two columns of text: {found}",
            expected="the texts of a pair in two columns, best named query and mate",
        )
    if table.separator and all(_is_sentence(table.names[number]) for number in texts[:2]):
        first = " and ".join(f"'{table.names[number][:40]}'" for number in texts[:2])
        raise InputError(
            f"the first line of {path} holds texts, not names: {first}",
            expected="a first line that names the columns",
            remedy="put a line such as query,mate before it",
        )
    return texts[0], texts[1], ("first text column", "second text column")


def _is_sentence(name: str) -> bool:
    """Whether the name of a column is rather a text: it ends as a sentence does, or has many words."""
    return name.rstrip().endswith((".", "!", "?", "。", "؟")) or len(name.split()) >= WORDS_OF_A_SENTENCE
