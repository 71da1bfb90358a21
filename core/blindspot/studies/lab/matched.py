"""Pairs of models with their dimensions matched: the larger made smaller, the smaller grown, and whether that changes
which of the two is ahead (Eger, Rücklé and Gurevych 2019, section 3, *Size matters*).

Every way to match two models is a comparison of two ordinary runs. Verdicts are those that the same two models with
post-processing have everywhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from itertools import combinations
from typing import Any

from blindspot.datasets.catalog import DatasetRef
from blindspot.diagnostic import Diagnostic
from blindspot.encoders.catalog import concatenation_of, encoder_of, model_alone
from blindspot.errors import InputError
from blindspot.names import current
from blindspot.numerics.statistics.compare import PairedTest, Verdict, corrected
from blindspot.numerics.statistics.intervals import ALPHA
from blindspot.numerics.statistics.written import CHANGE, DIFFERENCE, SCORE, ci_in_words, number
from blindspot.references import ModelRef
from blindspot.runs import requesting
from blindspot.runs.comparison import cells, fields, headline_tests
from blindspot.runs.default_models import place_of
from blindspot.runs.requests import RunRequest
from blindspot.settings import Settings
from blindspot.store.records import RunRecord
from blindspot.store.repository import Repository
from blindspot.studies.lab.series import with_parameter
from blindspot.studies.size.grid import entry_of
from blindspot.texts import counted, in_sentence, listed
from blindspot.variants import Variant

# In the order in which they are joined: those of Rücklé et al. 2018 (arXiv 1803.01400), then p = 2.
POOLINGS = ("mean", "max", "min", "p3", "p2")


class Way(StrEnum):
    """How the dimensions of two models are matched."""

    OWN = "own sizes"
    TRUNCATED = "truncated"
    PROJECTED = "projected"
    POOLED = "joined poolings"
    JOINED = "joined models"
    EXPANDED = "projected up"


_LEFT_OUT = ("score", "n", "wins", "losses", "alike", "p", "detectable")  # of a test's row


@dataclass(frozen=True)
class Match:
    """Two models matched in one way: the smaller and the larger as variants, and the ``dimension`` of both; 0 for their
    own sizes."""

    way: Way
    dimension: int
    small: Variant
    large: Variant


@dataclass(frozen=True)
class Pair:
    """Two models of different dimension.

    Attributes:
        sizes: dimensions of the smaller and the larger model.
        matches: ways to compare them, their own sizes first.
    """

    small: str
    large: str
    sizes: tuple[int, int]
    matches: tuple[Match, ...]

    def label(self, match: Match) -> str:
        """A way for people: ``mine truncated to 384``."""
        small, large = current().model(self.small), current().model(self.large)
        size = f"{match.dimension:,}"
        if match.way is Way.JOINED:
            others = [current().model(part) for part in match.small.encoder.models[1:]]
            return f"{small} grown to {size} by joining {listed(others)}"
        return {
            Way.OWN: "own sizes",
            Way.TRUNCATED: f"{large} truncated to {size}",
            Way.PROJECTED: f"{large} projected to {size}",
            Way.POOLED: f"{small} grown to {size} by joining poolings",
            Way.EXPANDED: f"{small} projected up to {size}",
        }[match.way]


def pairs_of(models: Sequence[str], settings: Settings) -> tuple[Pair, ...]:
    """Every two models of different dimension, with the ways in which they can be matched.

    Raises:
        InputError: fewer than two models, all of one dimension, or as ``encoder_of``.
    """
    dimension = cache(lambda model: encoder_of(model, settings).info.dimension)
    sized = [(model, dimension(model)) for model in dict.fromkeys(map(model_alone, models))]
    parts = sorted(sized, key=lambda pair: place_of(pair[0]))  # own models first, baselines last
    pairs = tuple(
        Pair(small, large, (d, k), (_own(small, large), *_matches(small, large, d, k, parts, dimension)))
        for (small, d), (large, k) in combinations(sorted(sized, key=lambda pair: pair[1]), 2)
        if d < k
    )
    if not pairs:
        same = f", all of {sized[0][1]:,} dimensions" if len(sized) > 1 else ""
        raise InputError(f"{counted(len(sized), 'model')}{same}", expected="two models of different dimensions")
    return pairs


Dimension = Callable[[ModelRef], int]  # of a model; raises ``InputError``


def _own(small: ModelRef, large: ModelRef) -> Match:
    return Match(Way.OWN, 0, Variant(small, "none"), Variant(large, "none"))


def _matches(
    small: ModelRef, large: ModelRef, d: int, k: int, sized: Sequence[tuple[ModelRef, int]], dimension: Dimension
) -> list[Match]:
    """The larger model with ``d`` dimensions, then the smaller one with ``k``; ways that do not work are left out."""
    bare = Variant(small, "none"), Variant(large, "none")
    out = [
        Match(Way.TRUNCATED, d, bare[0], Variant(large, f"truncate:{d}")),
        Match(Way.PROJECTED, d, bare[0], Variant(large, f"random-project:{d}")),
    ]
    others = [model for model, size in sized if size < k and model != small]
    for way, grown in (
        (Way.POOLED, _pooled(small, d, k, dimension)),
        (Way.JOINED, _joined(small, large, others, k, dimension)),
    ):
        if grown is not None:
            out.append(Match(way, k, grown, bare[1]))
    return [*out, Match(Way.EXPANDED, k, Variant(small, f"random-project:{k}"), bare[1])]


def _pooled(model: ModelRef, d: int, k: int, dimension: Dimension) -> Variant | None:
    """A model with as many joined poolings as it needs; None if it takes no pooling or there are too few."""
    many = -(-k // d)
    if many > len(POOLINGS) or "pooling=" in model:
        return None
    try:
        return _cut(with_parameter(model, "pooling=", "+".join(POOLINGS[:many])), k, dimension)
    except InputError:  # it takes none
        return None


def _joined(
    model: ModelRef, large: ModelRef, others: Sequence[ModelRef], k: int, dimension: Dimension
) -> Variant | None:
    """A model joined with as many others as it needs; None if there are too few or they cannot be joined."""
    for many in range(1, len(others) + 1):
        try:
            joined = _cut(concatenation_of([model, *others[:many]]), k, dimension)
        except InputError:  # word vectors with a model of whole texts
            return None
        if joined is not None and set(joined.encoder.models) != set(large.models):  # which it would be compared with
            return joined
    return None


def _cut(grown: ModelRef, k: int, dimension: Dimension) -> Variant | None:
    """The model cut to its first ``k`` dimensions; None if it has fewer."""
    size = dimension(grown)
    return None if size < k else Variant(grown, "none" if size == k else f"truncate:{k}")


def requests_of(
    pairs: Sequence[Pair], dataset: DatasetRef, settings: Settings, diagnostic: str = "", params: Mapping[str, str] = {}
) -> tuple[Diagnostic, tuple[RunRequest, ...]]:
    """The diagnostic (the first that fits if none is named) and the runs of all pairs, on the texts that all models
    cover; raises ``InputError``."""
    entry = entry_of(dataset, diagnostic)
    models = list(dict.fromkeys(name for pair in pairs for name in (pair.small, pair.large)))
    variants = dict.fromkeys(v for pair in pairs for match in pair.matches for v in (match.small, match.large))
    return entry, tuple(
        requesting.request(entry.id, v.encoder, v.transform, dataset, dict(params), settings, models) for v in variants
    )


@dataclass(frozen=True)
class Compared:
    """Two models matched in one way, with their runs and a test of the smaller one's score minus the larger one's."""

    match: Match
    small: RunRecord
    large: RunRecord
    test: PairedTest

    @property
    def ahead(self) -> int:
        """1 if the smaller model has the better score, -1 if the larger one has, 0 if they are equal."""
        gain = (self.test.sign or 1) * self.test.value
        return (gain > 0) - (gain < 0)

    @property
    def is_significant(self) -> bool:
        return self.test.verdict not in (Verdict.ALIKE, Verdict.UNTESTED)

    @property
    def sure(self) -> str:
        """Interval and verdict of the difference, from the point of view of the model that is ahead."""
        test = self.test if self.ahead > 0 else self.test.turned
        if test.verdict is Verdict.UNTESTED:
            return f"not tested: {test.refusal}"
        ci = ci_in_words(test, CHANGE, of=DIFFERENCE)
        verdict = "significant" if self.is_significant else Verdict.ALIKE.value
        return f"{ci}; {verdict}" if ci else verdict


@dataclass(frozen=True)
class PairView:
    """A pair at its own sizes, and at the matched sizes that are computed."""

    pair: Pair
    own: Compared
    matched: tuple[Compared, ...]

    @property
    def rows(self) -> tuple[Compared, ...]:
        return (self.own, *self.matched)

    @property
    def reversed(self) -> tuple[Compared, ...]:
        """The matches in which the other model is ahead."""
        return tuple(comparison for comparison in self.matched if comparison.ahead * self.own.ahead < 0)

    @property
    def is_reversed_for_sure(self) -> bool:
        """Whether one model is significantly better at their own sizes, and the other one at a matched size."""
        return self.own.is_significant and any(comparison.is_significant for comparison in self.reversed)

    def name(self, side: int) -> str:
        """The name of the model on one side: 1 for the smaller one."""
        return current().model(self.pair.small if side > 0 else self.pair.large)

    @property
    def title(self) -> str:
        return f"{self.name(1)} against {self.name(-1)}"

    @property
    def in_words(self) -> str:
        first = self.own.ahead or -1
        small, large = (f"{self.name(side)} ({size:,})" for side, size in zip((1, -1), self.pair.sizes, strict=True))
        winner, other = (small, large) if first > 0 else (large, small)
        scores = (self.own.test.a, self.own.test.b)[:: first or 1]
        written = " and ".join(number(score, SCORE) for score in scores)
        verb = "is ahead of" if self.own.ahead else "is level with"
        scored = f"{in_sentence(self.own.test.label)} {written} ({self.own.sure})"
        text = f"{winner} {verb} {other} at their own sizes, {scored}."
        if not self.matched:
            return f"{text} No matched size is computed yet."
        many = len(self.matched)
        if not (turned := self.reversed):
            kept = sum(row.ahead == self.own.ahead for row in self.matched)
            where = (
                "the comparison" if many == 1 else f"all {many} comparisons" if kept == many else f"{kept} of {many}"
            )
            return f"{text} With matched dimensions the order is the same in {where}."
        places = "; ".join(
            f"{self.pair.label(row.match)}: {self.name(row.ahead)} by {number(abs(row.test.value), SCORE)} ({row.sure})"
            for row in turned
        )
        return f"{text} With matched dimensions the order is reversed in {len(turned)} of {many}: {places}."


@dataclass(frozen=True)
class MatchedView:
    """Pairs of models by one score, those whose order changes first."""

    entry: Diagnostic
    score: str
    pairs: tuple[PairView, ...]

    @property
    def title(self) -> str:
        """The score for people."""
        return self.entry.title_of(self.score)

    @property
    def p_of_all(self) -> dict[tuple[str, str, Way], float | None]:
        """p-values corrected, after Holm, for every comparison of the view."""
        rows = [(view.pair, row) for view in self.pairs for row in view.rows]
        keys = [(pair.small, pair.large, row.match.way) for pair, row in rows]
        return dict(zip(keys, corrected([row.test.p for _, row in rows]), strict=True))

    @property
    def in_words(self) -> tuple[str, ...]:
        """How many pairs change their order, a sentence per pair, and what holds for all at once."""
        compared = [view for view in self.pairs if view.matched]
        out = []
        if compared:
            turned = sum(bool(view.reversed) for view in compared)
            sure = sum(view.is_reversed_for_sure for view in compared)
            pairs = counted(len(compared), "pair")
            how = f"; {sure or 'none'} {'is' if sure < 2 else 'are'} significant before and after" if turned else ""
            change = "change their" if turned > 1 else "changes its"
            out.append(f"{turned or 'None'} of {pairs} of models {change} order with matched dimensions{how}.")
        out += [view.in_words for view in self.pairs]
        rows = [(view.pair, row) for view in self.pairs for row in view.rows if row.is_significant]
        if rows:
            after = self.p_of_all
            p = [after[pair.small, pair.large, row.match.way] for pair, row in rows]
            hold = sum(p_value is not None and p_value < ALPHA for p_value in p)
            which = f"{hold} of {counted(len(rows), 'significant difference')} also hold{'s' * (hold == 1)}"
            out.append(f"{which} after correction (Holm) for {counted(len(after), 'comparison')}.")
        return tuple(out)

    @property
    def rows(self) -> list[dict[str, str]]:
        """A row per comparison, for tables."""
        return [
            {
                "models": view.title,
                "dimensions": view.pair.label(row.match),
                "order": ""
                if row is view.own
                else "reversed"
                if row in view.reversed
                else "same"
                if row.ahead
                else "tie",
                **{head: cell for head, cell in cells(row.test, "smaller", "larger").items() if head not in _LEFT_OUT},
            }
            for view in self.pairs
            for row in view.rows
        ]

    def as_json(self) -> dict[str, Any]:
        after = self.p_of_all
        return {
            "diagnostic": self.entry.id,
            "score": self.score,
            "answer": list(self.in_words),
            "pairs": [
                {
                    "smaller": view.pair.small,
                    "larger": view.pair.large,
                    "dimensions": list(view.pair.sizes),
                    "reversed": [row.match.way.value for row in view.reversed],
                    "ways": [
                        {
                            "way": row.match.way.value,
                            "dimension": row.match.dimension or None,
                            "variants": [str(row.match.small), str(row.match.large)],
                            "run_ids": [row.small.run_id, row.large.run_id],
                            **fields(row.test),
                            "p_of_all": after[view.pair.small, view.pair.large, row.match.way],
                        }
                        for row in view.rows
                    ],
                }
                for view in self.pairs
            ],
        }


def matched_view(
    entry: Diagnostic, pairs: Sequence[Pair], runs: Mapping[Variant, RunRecord], repository: Repository
) -> MatchedView:
    """The pairs that are computed at their own sizes, and their ways that are computed.

    Args:
        runs: finished ones of one dataset with the same parameters.
    """
    able = [(p, m) for p in pairs for m in p.matches if {m.small, m.large} <= runs.keys()]
    tests = headline_tests(entry, [(runs[match.small], runs[match.large]) for _, match in able], repository)
    by_pair: dict[Pair, list[Compared]] = {}
    for (pair, match), test in zip(able, tests, strict=True):
        by_pair.setdefault(pair, []).append(Compared(match, runs[match.small], runs[match.large], test))
    views = [PairView(p, rows[0], tuple(rows[1:])) for p, rows in by_pair.items() if rows[0].match.way is Way.OWN]
    views.sort(key=lambda view: (not view.is_reversed_for_sure, not view.reversed))
    return MatchedView(entry, tests[0].score if tests else entry.headline, tuple(views))
