"""Positive pairs in a user's file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from shlex import quote
from statistics import median
from typing import Any, Self
from urllib.parse import quote as percent_encoded

import numpy as np

from blindspot.datasets.kinds.base import DatasetKind, Rows
from blindspot.datasets.kinds.pairs import PairSet
from blindspot.datasets.published import pairs as loaders
from blindspot.datasets.user_data import guess, judged
from blindspot.datasets.user_data.columns import (
    MARK,
    MATCH,
    QUERY,
    UNUSED,
    ColumnReading,
    OwnFile,
    Picker,
    Role,
    UnclearColumns,
    require_rows,
    texts_of,
)
from blindspot.datasets.user_data.names import KNOWN_NAMES, MARK_NAMES
from blindspot.errors import InputError
from blindspot.files.tables import ColumnKind, FileTable
from blindspot.numerics.statistics.written import percent
from blindspot.texts import column_key

WORDS_OF_A_SENTENCE = 6
# Limits for regarding queries and matches as different kinds of text.
LEAST_PAIRS = 10
MOST_ON_BOTH_SIDES = 0.1  # of the distinct queries
MUCH_LONGER = 2.5
SHARED = 0.5  # at most so many distinct matches per distinct query
QUESTIONS = 0.8


@dataclass(frozen=True)
class OwnPairs(OwnFile):
    """A file of positive pairs.

    Attributes:
        pairs: (query, match), in the file's order; texts are kept unchanged, repeated pairs too.
        kept: the rows of the file that they come from; None for all. Rows not marked as a match are left out.
    """

    pairs: tuple[tuple[str, str], ...]
    kept: tuple[int, ...] | None

    kind = DatasetKind.PAIR_SET
    title = "positive pairs"
    form = "pairs (columns query and match)"
    about = "a query and its match, two texts that belong together. Each match is ranked among all texts of the file."
    counted = "pairs"
    roles = (
        Role("query", QUERY, "the query"),
        Role("match", MATCH, "the text that should be found for it"),
        Role("mark", MARK, "whether they belong together, such as 1 or 0; other rows are left out"),
    )
    forms = (("query", "match"),)
    optional = ("mark",)
    pickers = (
        (Picker(QUERY), Picker(MATCH)),
        (Picker(MARK, "Whether the two belong together: rows of 0, false or no are left out", optional=True),),
    )
    has_groups = True
    choose = "Choose the query and match columns."

    @classmethod
    def matches_header(cls, table: FileTable) -> bool:  # noqa: ARG003 - what no other kind's header says is read as pairs
        return False

    @classmethod
    def by_header(cls, table: FileTable) -> dict[int, tuple[str, str]]:
        texts = cls._texts(table)
        marks = judged.mark_in(table)
        return texts | ({marks.number: (MARK, marks.why)} if marks else {})

    @classmethod
    def _texts(cls, table: FileTable) -> dict[int, tuple[str, str]]:
        if columns := known_columns(table):
            return dict(zip(columns, ((QUERY, guess.BY_NAME), (MATCH, guess.BY_NAME)), strict=True))
        texts = [name for name, kind in zip(table.names, table.kinds, strict=True) if kind is ColumnKind.TEXT]
        sentences = [f"'{name[:40]}'" for name in texts if _is_sentence(name)]
        if len(sentences) >= 2 and table.separator:
            raise InputError(
                f"the first line of {table.path} has texts, not names: {' and '.join(sentences[:2])}",
                expected="a first line that names the columns",
                remedy="put a line such as query,match before it; if these are names, name the columns with "
                "--query-column and --match-column",
            )
        guessed = guess.pair(table, {marks.number for marks in judged.marks_in(table)})
        if guessed.pair is None:
            nested = "; write what is within objects as columns of text" if ColumnKind.OTHER in table.kinds else ""
            raise UnclearColumns(
                f"{table.path} has no two columns of text: {_listed(table, guessed)}",
                expected="the texts of a pair in two columns, best named query and match",
                remedy="if two of these hold them, name them with --query-column and --match-column; those of labeled "
                f"texts with --text-column and --label-column{nested}",
            )
        if not guessed.is_clear:
            query, match = (table.names[number] for number in guessed.pair)
            raise UnclearColumns(
                f"{table.path}: it is not clear which columns are query and match: {_listed(table, guessed)}",
                expected="two columns named query and match, or two that are clearly the longest texts",
                remedy=f"name them, for example: --query-column {quote(query)} --match-column {quote(match)}",
            )
        unused = {number: (UNUSED, why) for number, why in guessed.left_out.items()}
        return unused | dict(zip(guessed.pair, zip((QUERY, MATCH), guessed.whys, strict=True), strict=True))

    @classmethod
    def cells(cls, table: FileTable, numbers: Mapping[str, int]) -> tuple[Any, ...]:
        queries, matches = (texts_of(table, numbers[use]) for use in (QUERY, MATCH))
        require_rows(table, "pair")
        pairs = tuple(zip(queries, matches, strict=True))
        if MARK not in numbers:
            return pairs, None
        kept = tuple(row for row, marked in enumerate(judged.are_marked(table, numbers[MARK])) if marked)
        if len(kept) < 2:
            raise InputError(
                f"{table.path}: column '{table.names[numbers[MARK]]}' marks {len(kept)} of {len(pairs):,} rows",
                expected="at least 2 pairs",
            )
        return tuple(pairs[row] for row in kept), kept

    @classmethod
    def of(cls, table: FileTable, asked: Mapping[str, int] | None = None) -> Self:
        contents = super().of(table, asked)
        if contents.kept is None:
            return contents
        rows = np.asarray(contents.kept, dtype=np.int64)
        return replace(contents, own_columns=tuple(column.part(rows) for column in contents.own_columns))

    @classmethod
    def assumed(cls, table: FileTable, columns: Sequence[ColumnReading]) -> tuple[str, ...]:
        number = next((number for number, column in enumerate(columns) if column.use == MARK), None)
        if number is None:
            return ()
        marked = judged.are_marked(table, number)
        why = next((marks.why for marks in judged.marks_in(table) if marks.number == number), columns[number].why)
        return (
            f"column '{table.names[number]}' ({why}) marks {sum(marked):,} of {len(marked):,} rows as "
            "matches, and the others are left out",
        )

    @property
    def query(self) -> ColumnReading:
        return self.used[QUERY]

    @property
    def match(self) -> ColumnReading:
        return self.used[MATCH]

    @property
    def rows(self) -> int:
        return len(self.pairs)

    @cached_property
    def distinct_texts(self) -> int:
        return len({text for pair in self.pairs for text in pair})

    @cached_property
    def self_pairs(self) -> int:
        """Number of pairs of a text with itself."""
        return sum(query == match for query, match in self.pairs)

    @cached_property
    def duplicate_pairs(self) -> int:
        """Number of pairs that an earlier row has too; they count again in every mean."""
        return len(self.pairs) - len(set(self.pairs))

    @property
    def description(self) -> str:
        return "Pairs of your own, among all the texts of their file."

    @property
    def summary(self) -> str:
        return (
            f"{self.path.name}: {self._columns_in_words(' and ')}; {self.rows:,} pairs, {self.distinct_texts:,} texts, "
            f"repeated pairs: {self.duplicate_pairs:,}, pairs of a text with itself: {self.self_pairs:,}"
        )

    @property
    def notes(self) -> tuple[str, ...]:
        counts = [f"{self.rows:,} pairs", f"{self.distinct_texts:,} distinct texts"]
        if self.duplicate_pairs:
            counts.append(f"{self.duplicate_pairs:,} repeated pairs, which count again in every mean")
        if self.self_pairs:
            counts.append(f"{self.self_pairs:,} pairs of a text with itself")
        return tuple(counts)

    @cached_property
    def doubt(self) -> str:
        why = _two_kinds_of_text(self.pairs)
        return f"are these queries and documents ({why})?" if why else ""

    def columns_as(self, kind: DatasetKind) -> str:
        forms = {
            DatasetKind.RETRIEVAL: ("query", "document", "relevance"),
            DatasetKind.SCORED_PAIRS: ("text1", "text2", "score"),
        }
        if kind not in forms or (kind is DatasetKind.SCORED_PAIRS and MARK not in self.used):
            return ""
        roles = zip(forms[kind], (QUERY, MATCH, MARK), strict=True)
        named = ((role, self.used[use].name) for role, use in roles if use in self.used)
        return "&".join(f"{role}={percent_encoded(name, safe='')}" for role, name in named)

    def as_manifest(self) -> dict[str, Any]:
        return {
            "query": self.query.name,
            "match": self.match.name,
            "why": [self.query.why, self.match.why],
            "format": self.format.value,
            "separator": self.separator,
            "rows": self.rows,
            **({"mark": self.used[MARK].name} if MARK in self.used else {}),
            **({"remarks": list(self.remarks)} if self.remarks else {}),
            "duplicate_pairs": self.duplicate_pairs,
            "self_pairs": self.self_pairs,
        }

    def first_rows(self, n: int) -> Rows:
        return Rows((QUERY, MATCH), self.pairs[:n])

    def kept_rows(self) -> Iterator[Mapping[str, str | float]]:
        for query, match in self.pairs:
            yield {"query": query, "match": match}

    def dataset(self, dataset_id: str) -> PairSet:
        return loaders.pair_set(dataset_id, self.pairs, ())


def known_columns(table: FileTable) -> tuple[int, int] | None:
    """Numbers of the columns with names for query and match; None if there are none."""
    keys = [column_key(name) for name in table.names]
    for query, match in KNOWN_NAMES:
        if keys.count(query) == keys.count(match) == 1:
            texts = keys.index(query), keys.index(match)
            if match not in MARK_NAMES or judged.positive_of(table.cells[texts[1]]) is None:
                return texts
    return None


def _two_kinds_of_text(pairs: Sequence[tuple[str, str]]) -> str:
    """The reason why queries and matches seem to be different kinds of text; "" if they do not.

    They are the same kind if many texts are on both sides. Otherwise they differ if matches are much longer, if many
    queries share a match, or if queries are questions and matches are not.
    """
    queries, matches = ({pair[side] for pair in pairs} for side in (0, 1))
    if len(pairs) < LEAST_PAIRS or len(queries & matches) > MOST_ON_BOTH_SIDES * len(queries):
        return ""
    short, long = (median(map(len, texts)) for texts in (queries, matches))
    if long >= MUCH_LONGER * short:
        return f"the matches have {long:,.0f} characters, the queries {short:,.0f}, by their medians"
    if len(matches) <= SHARED * len(queries):
        return f"{len(queries):,} queries share {len(matches):,} matches"
    asked, answered = (sum(text.rstrip().endswith("?") for text in texts) / len(texts) for texts in (queries, matches))
    if asked >= QUESTIONS and answered <= 1 - QUESTIONS:
        return f"{percent(asked)} of the queries end with a question mark, {percent(answered)} of the matches"
    return ""


def _listed(table: FileTable, guessed: guess.PairGuess) -> str:
    held = (guessed.left_out.get(number, kind) for number, kind in enumerate(table.kinds))
    return ", ".join(f"'{name[:40]}' ({what})" for name, what in zip(table.names, held, strict=True))


def _is_sentence(name: str) -> bool:
    """Whether the name of a column looks like a text: it ends like a sentence, or has many words."""
    return name.rstrip().endswith((".", "!", "?", "。", "؟")) or len(name.split()) >= WORDS_OF_A_SENTENCE
