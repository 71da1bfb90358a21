"""Scored pairs in a user's file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from shlex import quote
from typing import Any
from urllib.parse import quote as percent_encoded

from blindspot.datasets.kinds.base import DatasetKind, Rows
from blindspot.datasets.kinds.scored_pairs import ScoredPairs
from blindspot.datasets.published import scored_pairs
from blindspot.datasets.user_data import guess, judged
from blindspot.datasets.user_data.columns import (
    FIRST,
    SCORE,
    SECOND,
    UNUSED,
    ColumnReading,
    OwnFile,
    Picker,
    Role,
    UnclearColumns,
    first_named,
    numbers_of,
    require_rows,
    texts_of,
)
from blindspot.datasets.user_data.names import SCORE_NAMES, WEAK_SCORE_NAMES
from blindspot.datasets.user_data.pairs import known_columns
from blindspot.errors import InputError
from blindspot.files.tables import ColumnKind, FileTable
from blindspot.texts import column_key, counted

FEW_SCORES = 4  # fewer different ones are no scale


@dataclass(frozen=True)
class OwnScoredPairs(OwnFile):
    """A file of scored pairs.

    Attributes:
        pairs: (text, text, score), in the file's order; texts are kept unchanged, repeated pairs too.
    """

    pairs: tuple[scored_pairs.Row, ...]

    kind = DatasetKind.SCORED_PAIRS
    title = "scored pairs"
    form = "scored pairs (text1, text2 and score)"
    about = "two texts and a human score, higher for more similar, for the page *Similarity*."
    matched_by = "where one is called `score`, `gold`, `similarity` or the like beside two of texts"
    counted = "scored pairs"
    roles = (
        Role("text1", FIRST, "the first of two texts"),
        Role("text2", SECOND, "the second of them"),
        Role("score", SCORE, "the score that people gave"),
    )
    forms = (("text1", "text2", "score"),)
    pickers = ((Picker(FIRST), Picker(SECOND), Picker(SCORE)),)
    has_groups = True
    choose = "Choose the columns of the two texts, and that of their human score."

    @classmethod
    def matches_header(cls, table: FileTable) -> bool:
        score = score_column(table)
        texts = sum(kind is ColumnKind.TEXT for number, kind in enumerate(table.kinds) if number != score)
        return score is not None and (known_columns(table) is not None or texts >= 2)

    @classmethod
    def by_header(cls, table: FileTable) -> dict[int, tuple[str, str]]:
        named, texts, why = score_column(table), _text_columns(table), guess.BY_NAME
        if named is None and (marks := judged.mark_in(table)):
            named, why = marks.number, marks.why
        elif named is None and (scores := guess.scores(table)):
            named, why = _only(table, scores), guess.BY_WORD
        elif named is not None:
            _check_rivals(table, named)
        if named is None or texts.pair is None:
            raise UnclearColumns(
                f"{table.path} has no two texts and a score: {table.shown_names}",
                expected="two columns of texts and a column score (or gold, similarity, relatedness)",
                remedy="if it has them, name them with --text1-column, --text2-column and --score-column",
            )
        if not texts.is_clear:
            text1, other, number = (quote(table.names[column]) for column in (*texts.pair, named))
            raise UnclearColumns(
                f"{table.path}: it is not clear which two columns are scored: {table.shown_names}",
                expected="two columns named text1 and text2, or two that are clearly the longest texts",
                remedy=f"name them, for example: --text1-column {text1} --text2-column {other} --score-column {number}",
            )
        unused = {number: (UNUSED, why) for number, why in texts.left_out.items()}
        used = dict(zip(texts.pair, zip((FIRST, SECOND), texts.whys, strict=True), strict=True))
        return unused | used | {named: (SCORE, why)}

    @classmethod
    def preselected(cls, table: FileTable) -> dict[str, int]:
        texts, score = _text_columns(table), score_column(table)
        if score is None and len(marks := judged.marks_in(table)) == 1:
            score = marks[0].number
        pair = dict(zip((FIRST, SECOND), texts.pair, strict=True)) if texts.pair and texts.is_clear else {}
        return pair if score is None else pair | {SCORE: score}

    @classmethod
    def cells(cls, table: FileTable, numbers: Mapping[str, int]) -> tuple[Any, ...]:
        firsts, seconds = (texts_of(table, numbers[use]) for use in (FIRST, SECOND))
        require_rows(table, "pair")
        table = judged.with_numbers(table, numbers[SCORE])
        scores = numbers_of(table, numbers[SCORE], "a score, a finite number such as 3.5")
        if len(set(scores)) < 2:
            raise InputError(
                f"{table.path}, column '{table.names[numbers[SCORE]]}': the score is {scores[0]:g} in all "
                f"{len(scores):,} rows",
                expected="at least two different scores",
                remedy="if these are positive pairs, remove the column",
            )
        return (tuple(zip(firsts, seconds, scores, strict=True)),)

    @classmethod
    def assumed(cls, table: FileTable, columns: Sequence[ColumnReading]) -> tuple[str, ...]:
        (pairs,) = cls.cells(table, {column.use: number for number, column in enumerate(columns)})
        scores = [score for *_, score in pairs]
        return (*_missing(sorted(set(scores))), *_repeated(pairs), *_scales(table, scores))

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
    def _scores_in_words(self) -> str:
        low, high = self.scale
        return f"scores from {low:g} to {high:g}"

    @property
    def description(self) -> str:
        return f"Pairs of your own with {self._scores_in_words}; a higher score means more similar."

    @property
    def summary(self) -> str:
        return (
            f"{self.path.name}: scored pairs: {self._columns_in_words(', ')}; {self.rows:,} pairs, "
            f"{self.distinct_texts:,} texts, {self._scores_in_words}"
        )

    @property
    def notes(self) -> tuple[str, ...]:
        scores = f"{self._scores_in_words}; a higher score means more similar"
        return f"{self.rows:,} pairs", f"{self.distinct_texts:,} distinct texts", scores

    def columns_as(self, kind: DatasetKind) -> str:
        if kind is not DatasetKind.PAIR_SET or not self.is_marked:
            return ""
        names = (percent_encoded(self.used[use].name, safe="") for use in (FIRST, SECOND, SCORE))
        return "query={}&match={}&mark={}".format(*names)

    @cached_property
    def is_marked(self) -> bool:
        """Whether there are only two scores, 0 or -1 and 1, so that they say which pairs are matches."""
        return self.scale in {(0, 1), (-1, 1)} and len({score for *_, score in self.pairs}) == 2

    def as_manifest(self) -> dict[str, Any]:
        return super().as_manifest() | {"scale": list(self.scale)}

    def first_rows(self, n: int) -> Rows:
        return Rows((FIRST, SECOND, SCORE), self.pairs[:n])

    def kept_rows(self) -> Iterator[Mapping[str, str | float]]:
        for first, second, score in self.pairs:
            yield {"text1": first, "text2": second, "score": score}

    def dataset(self, dataset_id: str) -> ScoredPairs:
        return scored_pairs.scored_pairs(dataset_id, {self.path.stem: self.pairs})


def score_column(table: FileTable) -> int | None:
    """Number of the column with a name for scores; None if there is none, or several."""
    keys = [column_key(name) for name in table.names]
    if (named := first_named(keys, SCORE_NAMES)) is not None:
        return named
    weak = first_named(keys, WEAK_SCORE_NAMES)
    return weak if weak is not None and table.kinds[weak] is ColumnKind.NUMBER else None


def _missing(scores: Sequence[float]) -> Iterator[str]:
    """Remarks on scores that may stand for missing ones: the only one below 0, and nines far above all others.

    Args:
        scores: different ones, from the lowest to the highest.
    """
    if len(scores) < FEW_SCORES:
        return
    (low, second), (third, high) = scores[:2], scores[-2:]
    is_code = low < 0 <= second and low.is_integer()
    is_nines = {*f"{high:g}"} == {"9"} and high - third > third - low
    for score in [low] * is_code + [high] * is_nines:
        others = [other for other in scores if other != score]
        yield (
            f"the score {score:g} is apart from all others ({others[0]:g} to {others[-1]:g}) and taken as written; if "
            "it stands for a missing one, remove its rows"
        )


def _repeated(pairs: Sequence[scored_pairs.Row]) -> Iterator[str]:
    """A remark on pairs that have different scores in different rows, whichever text comes first."""
    scores: dict[tuple[str, ...], set[float]] = {}
    for first, second, score in pairs:
        scores.setdefault(tuple(sorted((first, second))), set()).add(score)
    if several := [given for given in scores.values() if len(given) > 1]:
        some = ", ".join(f"{score:g}" for score in sorted(several[0])[:3])
        yield f"{counted(len(several), 'pair')} with several scores (such as {some}), each row of which counts"


def _scales(table: FileTable, scores: Sequence[float]) -> Iterator[str]:
    """A remark on scores that seem to be on two scales: such as 0 to 1 in the first rows, or in those of one source,
    and 0 to 5 in the others."""
    for top in _TOPS:
        small = [score <= top for score in scores]
        if all(small) or max(scores) < 2 * top:
            continue
        first, last = small.index(False), small[::-1].index(False)
        parts = {
            f"about the first {first:,} rows": [row < first for row in range(len(scores))],
            f"about the last {last:,} rows": [row >= len(scores) - last for row in range(len(scores))],
        }
        for name, cells in zip(table.names, table.cells, strict=True):
            if 1 < len(values := dict.fromkeys(map(str, cells))) <= _MOST_SOURCES:
                of_top = values.keys() - {str(cell) for s, cell in zip(small, cells, strict=True) if not s}
                shown = " and ".join(repr(value[:20]) for value in values if value in of_top)
                parts[f"rows with {shown} in column '{name[:40]}'"] = [str(cell) in of_top for cell in cells]
        for what, inside in parts.items():
            here = [score for score, is_inside in zip(scores, inside, strict=True) if is_inside]
            others = [score for score, is_inside in zip(scores, inside, strict=True) if not is_inside]
            if here and others and _are_apart(here, others, top):
                yield (
                    f"scores seem to be on two scales, up to {max(here):g} in {what} and up to {max(others):g} in the "
                    "others, and are taken as one; if so, bring them to one scale in the file"
                )
                return


def _are_apart(small: Sequence[float], others: Sequence[float], top: float) -> bool:
    """Whether it is no chance that some scores are at most ``top``, judging by how often the others are; nor an order
    by score, where all others would be higher."""
    share = sum(score <= top for score in others) / len(others)
    return share > 0 and share ** len(small) < _BY_CHANCE and max(small) > top / 2 and min(others) < max(small)


_TOPS = (1.0, 5.0, 10.0)  # of usual scales
_MOST_SOURCES = 20  # different values of a column
_BY_CHANCE = 1e-6


def _check_rivals(table: FileTable, score: int) -> None:
    """Refuse a column of scores beside another that by its name may be people's: one may be a model's."""
    for number, (name, kind) in enumerate(zip(table.names, table.kinds, strict=True)):
        is_named = number != score and kind is ColumnKind.NUMBER and column_key(name) in (*SCORE_NAMES, "human")
        if is_named and list(table.cells[number]) != list(table.cells[score]):
            raise UnclearColumns(
                f"{table.path}: both '{table.names[score]}' and '{name}' may be the score",
                expected="to know which of them people gave",
                remedy="name it with --text1-column, --text2-column and --score-column",
            )


def _only(table: FileTable, scores: Sequence[int]) -> int:
    """The only column that may be scores; refuses several, and distances."""
    if len(scores) > 1:
        raise UnclearColumns(
            f"{table.path}: several columns may be the score: {', '.join(repr(table.names[n]) for n in scores)}",
            expected="one score for each pair",
            remedy="name it with --text1-column, --text2-column and --score-column, or add a column score, such as "
            "their mean",
        )
    if guess.is_distance(name := table.names[scores[0]]):
        raise UnclearColumns(
            f"{table.path}: column {name!r} seems to be higher for texts that are less similar",
            expected="a score that is higher for more similar texts",
            remedy=f"add a column score, such as minus {name}",
        )
    return scores[0]


def _text_columns(table: FileTable) -> guess.PairGuess:
    if (columns := known_columns(table)) is not None:
        return guess.PairGuess(columns, (guess.BY_NAME, guess.BY_NAME), is_clear=True)
    return guess.pair(table, {score_column(table), *(marks.number for marks in judged.marks_in(table))})
