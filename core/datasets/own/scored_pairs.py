"""Scored pairs in a user's file: which columns are the two texts and the score, and what is in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from shlex import quote
from typing import Any

from core.datasets.kinds.base import DatasetKind
from core.datasets.kinds.scored_pairs import ScoredPairs
from core.datasets.own import guess as own_guess
from core.datasets.own import pairs as own_pairs
from core.datasets.own.columns import (
    FIRST,
    SCORE,
    SECOND,
    UNUSED,
    ColumnReading,
    OwnFile,
    UnclearColumns,
    finite_number,
    readings,
    require,
    texts_of,
)
from core.datasets.published import scored_pairs
from core.errors import InputError
from core.files.tables import ColumnKind, FileTable
from core.texts import column_key

MIN_ROWS = 2
# Names that mean a score, compared by letters and digits only; the first that a file has wins.
SCORE_NAMES = (
    *("score", "gold", "goldscore", "similarity", "relatedness", "similarityscore", "relatednessscore"),
    *("humanscore", "meanscore", "rating", "meanrating", "simscore"),
)
WEAK_NAMES = ("label",)  # often a class: a score only where the column holds numbers


@dataclass(frozen=True)
class OwnScoredPairs(OwnFile):
    """A file of scored pairs.

    Attributes:
        pairs: (text, text, score), in the file's order; texts are kept to the letter, pairs that repeat too.
    """

    pairs: tuple[scored_pairs.Row, ...]

    kind = DatasetKind.SCORED_PAIRS

    @property
    def rows(self) -> int:
        return len(self.pairs)

    @cached_property
    def distinct_texts(self) -> int:
        return len({text for first, second, _ in self.pairs for text in (first, second)})

    @cached_property
    def scale(self) -> tuple[float, float]:
        """The lowest and the highest score."""
        scores = [score for *_, score in self.pairs]
        return min(scores), max(scores)

    @property
    def description(self) -> str:
        low, high = self.scale
        return f"Pairs of your own with scores from {low:g} to {high:g}; a higher score means more alike."

    def as_manifest(self) -> dict[str, Any]:
        return {
            "columns": {use: column.name for use, column in self.used.items()},
            "why": {use: column.why for use, column in self.used.items()},
            "format": self.format.value,
            "separator": self.separator,
            "rows": self.rows,
            "scale": list(self.scale),
        }

    @property
    def summary(self) -> str:
        columns = ", ".join(f"{use} is column '{column.name}' ({column.why})" for use, column in self.used.items())
        low, high = self.scale
        return (
            f"{self.path.name}: scored pairs: {columns}; {self.rows:,} pairs, {self.distinct_texts:,} texts, scores "
            f"from {low:g} to {high:g}"
        )

    def dataset(self, dataset_id: str) -> ScoredPairs:
        return scored_pairs.scored_pairs(dataset_id, {self.path.stem: self.pairs})


def is_told(table: FileTable) -> bool:
    """Whether a file's header says that it holds scored pairs: a score by its name, and two columns for the texts."""
    score = score_column(table)
    texts = sum(kind is ColumnKind.TEXT for number, kind in enumerate(table.kinds) if number != score)
    return score is not None and (own_pairs.known_columns(table) is not None or texts >= 2)


def score_column(table: FileTable) -> int | None:
    """The number of the column whose name says that it is the score; None where there is none, or several."""
    keys = [column_key(name) for name in table.names]
    for name in SCORE_NAMES:
        if keys.count(name) == 1:
            return keys.index(name)
    for name in WEAK_NAMES:
        if keys.count(name) == 1 and table.kinds[keys.index(name)] is ColumnKind.NUMBER:
            return keys.index(name)
    return None


def text_columns(table: FileTable) -> own_guess.PairGuess:
    """A guess at the columns of the texts: those whose names mean a pair, else as ``own_guess.pair``."""
    if (known := own_pairs.known_columns(table)) is not None:
        return own_guess.PairGuess(known, ("by its name", "by its name"), is_clear=True)
    return own_guess.pair(table, {score_column(table)})


def read_columns(path: Path, table: FileTable, asked: tuple[str, str, str] | None) -> tuple[ColumnReading, ...]:
    """How every column is read.

    Args:
        asked: the names of the two texts' and the score's column, where they are known; guessed if left out.

    Raises:
        UnclearColumns: names that say nothing, or several guesses are about as good.
        InputError: no such columns, or one of them twice.
    """
    if asked is not None:
        require(path, table, asked)
        if len(set(asked)) < len(asked):
            raise InputError(f"one column cannot be two of {', '.join(asked)}", expected="three columns")
        first, second, score = (table.names.index(name) for name in asked)
        return readings(table, {first: (FIRST, "as asked"), second: (SECOND, "as asked"), score: (SCORE, "as asked")})
    named, texts = score_column(table), text_columns(table)
    if named is None or texts.pair is None:
        raise UnclearColumns(
            f"{path} has no two texts and a score: {', '.join(repr(name[:40]) for name in table.names)}",
            expected="two columns of texts and a column score (or gold, similarity, relatedness)",
            remedy="if it has them, name them with --text1-column, --text2-column and --score-column",
        )
    if not texts.is_clear:
        one, other, number = (quote(table.names[column]) for column in (*texts.pair, named))
        raise UnclearColumns(
            f"{path}: it is not clear which two columns are scored: {', '.join(repr(n[:40]) for n in table.names)}",
            expected="two columns named text1 and text2, or two that are clearly the longest texts",
            remedy=f"name them, for example: --text1-column {one} --text2-column {other} --score-column {number}",
        )
    (first, second), (why_first, why_second) = texts.pair, texts.whys
    unused = {number: (UNUSED, why) for number, why in texts.left_out.items()}
    used = {first: (FIRST, why_first), second: (SECOND, why_second), named: (SCORE, "by its name")}
    return readings(table, unused | used)


def read_pairs(path: Path, table: FileTable, columns: Sequence[ColumnReading]) -> tuple[scored_pairs.Row, ...]:
    """The pairs and scores in the columns that are read as such.

    Raises:
        InputError: a row that has no two texts, or whose score is no finite number; it is named. Or too few rows, or
            one score for all.
    """
    number = {reading.use: i for i, reading in enumerate(columns)}
    firsts, seconds = (texts_of(path, table, number[use]) for use in (FIRST, SECOND))
    if len(firsts) < MIN_ROWS:
        raise InputError(f"{path} has {len(firsts)} pair", expected=f"at least {MIN_ROWS} pairs")
    column = number[SCORE]
    place = f"column '{table.names[column]}'"
    cells = table.cells[column]
    scores = [_score(f"{path}, {table.where(row)}, {place}", cell) for row, cell in enumerate(cells)]
    if len(set(scores)) < 2:
        raise InputError(
            f"{path}, {place}: the score is {scores[0]:g} in all {len(scores):,} rows",
            expected="at least two different scores",
            remedy="if these are positive pairs, remove the column",
        )
    return tuple(zip(firsts, seconds, scores, strict=True))


def _score(place: str, cell: object) -> float:
    return finite_number(place, cell, "a score, a finite number such as 3.5")
