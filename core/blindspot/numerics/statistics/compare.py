"""One comparison: each item's part in the scores of two runs, the paired test of their difference, and the verdict.

``ItemScores`` are a run's score item by item, and which items are independent. ``compare`` makes a ``PairedTest`` of
two of them: difference, interval, p-value, wins and losses. ``decide`` corrects the p-values of each family of tests
after Holm; a ``Verdict`` follows from the corrected p-value alone.

A family has the main scores of one diagnostic on one dataset for one pair of models. So a verdict is the same wherever
it is shown, whatever else is stored or shown beside it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from typing import Protocol

import numpy as np

from blindspot.numerics.statistics import pairs, resampling
from blindspot.numerics.statistics.estimate import Estimate, Unit, check_is_inside
from blindspot.numerics.statistics.intervals import (
    ALPHA,
    Interval,
    holm,
    level_of_each,
    percentile_interval,
    sign_test,
)
from blindspot.numerics.statistics.pairs import Dependence
from blindspot.numerics.statistics.skew import FEWEST_UNBOUNDED
from blindspot.numerics.statistics.written import p_in_cell, p_in_words
from blindspot.types import Float64, Int64

MAIN = "main"  # family of a diagnostic's main scores
FILTERED = "filtered"  # of the same by filtered ranks; families of further scores begin with either
MOST_ITEMS = 0.5  # lead of the items won over those lost, or the reverse, as a share of those that differ
OTHERS = "others"  # scores that are compared nowhere


class Verdict(StrEnum):
    """The verdict on A, by the corrected p-value of its difference from B."""

    BETTER = "better"
    WORSE = "worse"
    ALIKE = "no significant difference"
    UNTESTED = "not tested"
    HIGHER = "higher"  # of scores for which neither more nor less is better
    LOWER = "lower"


class Statistic(Protocol):
    """How a score follows from its items, and how two scores are compared."""

    def estimate(self, scores: ItemScores, at_once: int = 1) -> Estimate:
        """The score with an interval that holds for ``at_once`` such scores at once."""
        ...

    def difference(self, a: ItemScores, b: ItemScores, at_once: int = 1) -> Estimate:
        """A less B over the same items, with an interval that holds for ``at_once`` such differences at once."""
        ...

    def p_values(self, of: Sequence[tuple[ItemScores, ItemScores]]) -> Float64:
        """Two-sided p-values ``[k]`` of k differences over the same items; NaN without a test."""
        ...

    def test(self, dependence: Dependence, units: str) -> str:
        """The test in words."""
        ...

    def gain(self, a: ItemScores, b: ItemScores) -> Float64:
        """How much more A has than B in each item, ``[m]``; 0 where items have no score of their own."""
        ...

    def value(self, parts: Float64, before: float) -> float:
        """The score of some of the items, from their parts; ``before`` is the score of all items."""
        ...

    def among(self, places: Int64) -> Statistic:
        """The statistic of only the items at these places."""
        ...


@dataclass(frozen=True)
class Item:
    """An item for people.

    Attributes:
        texts: in reading order, each with its role: query, match, original, ...
        said: the run's result for the item: ``rank 14``, ``says: sports``.
    """

    texts: tuple[tuple[str, str], ...]
    said: str


@dataclass(frozen=True, eq=False)
class ItemScores:
    """A score of a run, and each item's part in it; items are pairs, queries, originals, examples or words.

    Attributes:
        score: name of the metric; ``label``: its name for people.
        value: the score.
        parts: ``[m]``, values whose mean is the score; if it is not a mean (``is_mean``), the items' influences on it;
            for F1, counts ``[m, 3]``.
        numbers: ``[m]`` of the items in the dataset, ascending.
        read_texts: reads ``[m]``, an item in one line.
        known: which items are independent; ``units``: what these are, where that says more than ``known.unit``.
        higher_is_better: None where neither more nor less is.
        range: lowest and highest possible value of the score.
        statistic: how two are compared.
        family: scores whose tests are corrected together; scores of ``OTHERS`` are not tested.
        describe: gives the item at a place, where items are judged one by one.
    """

    score: str
    label: str
    value: float
    parts: Float64
    numbers: Int64
    known: Dependence
    higher_is_better: bool | None
    range: tuple[float, float]
    statistic: Statistic
    read_texts: Callable[[], Sequence[str]]
    units: str = ""
    family: str = MAIN
    describe: Callable[[int], Item] | None = None

    @property
    def is_mean(self) -> bool:
        return not isinstance(self.statistic, Correlation)

    @property
    def texts(self) -> Sequence[str]:
        return self.read_texts()

    def item(self, index: int) -> Item:
        """The item at a place; raises ``ValueError`` where items are not judged one by one."""
        if self.describe is None:
            raise ValueError(f"{self.score} does not describe its items")
        return self.describe(index)

    @cached_property
    def estimate(self) -> Estimate:
        """The score with its 95% interval."""
        return self.statistic.estimate(self)

    def best_of(self, many: int) -> Estimate:
        """The same if the score was chosen as the highest or lowest of so many."""
        return self.statistic.estimate(self, many)

    @property
    def unit(self) -> str:
        """The name of the independent units, in the plural."""
        return self.units or self.known.unit.value

    def among(self, numbers: Int64) -> ItemScores:
        """The score on some of the items."""
        if np.array_equal(numbers, self.numbers):
            return self
        places = np.searchsorted(self.numbers, numbers)
        parts, read, describe = self.parts[places], self.read_texts, self.describe

        def texts() -> list[str]:
            every = read()
            return [every[index] for index in places.tolist()]

        return replace(
            self,
            value=self.statistic.value(parts, self.value),
            parts=parts,
            numbers=numbers,
            known=self.known.of_some(places),
            statistic=self.statistic.among(places),
            read_texts=texts,
            describe=describe and (lambda index: describe(int(places[index]))),
        )


# --- kinds of score


@dataclass(frozen=True)
class Mean:
    """The mean of a value of each item; sign flips of whole groups, or Student's t of the dyadic-robust error.

    Attributes:
        most: the most that an item can differ by, 1 for a share.
    """

    most: float = 1.0

    def estimate(self, scores: ItemScores, at_once: int = 1) -> Estimate:
        if self.most == 1.0:
            return pairs.share(scores.parts, scores.known, level_of_each(at_once))
        return pairs.difference(scores.parts, np.zeros(len(scores.parts)), scores.known, self.most, at_once)

    def difference(self, a: ItemScores, b: ItemScores, at_once: int = 1) -> Estimate:
        return pairs.difference(a.parts, b.parts, a.known, self.most, at_once)

    def p_values(self, of: Sequence[tuple[ItemScores, ItemScores]]) -> Float64:
        return pairs.p_values(np.column_stack([a.parts - b.parts for a, b in of]), of[0][0].known, self.most)

    def test(self, dependence: Dependence, units: str) -> str:
        return pairs.test_in_words(units, is_by_texts=dependence.unit is Unit.TEXTS)

    def gain(self, a: ItemScores, b: ItemScores) -> Float64:
        return a.parts - b.parts

    def value(self, parts: Float64, before: float) -> float:  # noqa: ARG002 - it is that of the parts
        return float(parts.mean())

    def among(self, places: Int64) -> Statistic:  # noqa: ARG002 - it has nothing of the items
        return self


SHARE = Mean()


def share_by_item(score: str, parts: Float64, dependence: Dependence, statistic: Statistic = SHARE) -> ItemScores:
    """A score of items that is no run's metric: the mean of ``parts [m]`` from 0 to 1; higher is better."""
    numbers = np.arange(len(parts), dtype=np.int64)
    return ItemScores(
        score,
        score,
        float(parts.mean()),
        parts,
        numbers,
        dependence,
        True,
        (0.0, 1.0),
        statistic,
        lambda: [""] * len(parts),
    )


@dataclass(frozen=True)
class Unbounded(Mean):
    """The mean of a value that is usually small but has no upper limit: intervals are cut off at ``most``, while tests
    assume no limit."""

    def p_values(self, of: Sequence[tuple[ItemScores, ItemScores]]) -> Float64:
        return pairs.p_values(np.column_stack([a.parts - b.parts for a, b in of]), of[0][0].known, np.inf)


@dataclass(frozen=True)
class MeanRank(Unbounded):
    """The mean of ranks: not tested with few groups, since a single rank can outweigh all others."""

    most: float = np.inf

    def estimate(self, scores: ItemScores, at_once: int = 1) -> Estimate:
        return pairs.mean_rank(scores.parts, scores.known, level_of_each(at_once))

    def p_values(self, of: Sequence[tuple[ItemScores, ItemScores]]) -> Float64:
        p = super().p_values(of)
        dependence = of[0][0].known
        if dependence.unit is Unit.COMPONENTS and dependence.units < FEWEST_UNBOUNDED:
            p[[bool((a.parts != b.parts).any()) for a, b in of]] = np.nan
        return p


class Resamples:
    """Medians of several scores over the same items when whole groups are resampled, with the same draws for all."""

    def __init__(self, parts: Float64, dependence: Dependence) -> None:
        """``parts [m, k]``."""
        self._parts, self._known = parts, dependence

    @cached_property
    def medians(self) -> Float64:
        """``[resamples, k]``."""
        return resampling.bootstrap_medians(self._parts, self._known.groups)

    def among(self, places: Int64) -> Resamples:
        return Resamples(self._parts[places], self._known.of_some(places))


@dataclass(frozen=True, eq=False)
class Median(Mean):
    """A median, with the middle 95% of its values in resamples. There is no test, since tests are of means.

    Attributes:
        resamples: medians of this score, in their ``column``, and of others.
    """

    resamples: Resamples = field(kw_only=True)
    column: int = field(kw_only=True)

    @property
    def drawn(self) -> Float64:
        return self.resamples.medians[:, self.column]

    def estimate(self, scores: ItemScores, at_once: int = 1) -> Estimate:
        return self._with_ends(scores.value, scores.known, lambda: self.drawn, at_once)

    def difference(self, a: ItemScores, b: ItemScores, at_once: int = 1) -> Estimate:
        drawn = [of.statistic.drawn if isinstance(of.statistic, Median) else of.value for of in (a, b)]
        return self._with_ends(a.value - b.value, a.known, lambda: np.asarray(drawn[0] - drawn[1]), at_once)

    def _with_ends(self, value: float, dependence: Dependence, drawn: Callable[[], Float64], at_once: int) -> Estimate:
        refusal, level = dependence.refusal, level_of_each(at_once)
        if not refusal and dependence.unit is Unit.TEXTS:
            refusal = "a median has no standard error that lets pairs depend on each other by their texts"
        interval = None if refusal else percentile_interval(drawn(), value, level)
        how = "bootstrap over groups"
        return Estimate(value, interval, how, dependence.unit, dependence.units, dependence.effective, refusal, level)

    def p_values(self, of: Sequence[tuple[ItemScores, ItemScores]]) -> Float64:
        return np.full(len(of), np.nan)

    def test(self, dependence: Dependence, units: str) -> str:  # noqa: ARG002
        return "none"

    def value(self, parts: Float64, before: float) -> float:  # noqa: ARG002 - it is that of the parts
        return float(np.median(parts))

    def among(self, places: Int64) -> Median:
        return replace(self, resamples=self.resamples.among(places))


@dataclass(frozen=True)
class Outcomes(Mean):
    """A share of items that are right or wrong: McNemar's exact test, or sign flips where items share a unit."""

    def p_values(self, of: Sequence[tuple[ItemScores, ItemScores]]) -> Float64:
        return np.array([pairs.mcnemar_by_units(a.parts, b.parts, a.known) for a, b in of])

    def test(self, dependence: Dependence, units: str) -> str:
        return "McNemar's exact test" if dependence.is_of_singles else super().test(dependence, units)


@dataclass(frozen=True)
class Correlation:
    """A correlation over pairs, whose ``parts`` are each pair's influence on it."""

    def estimate(self, scores: ItemScores, at_once: int = 1) -> Estimate:
        return pairs.correlation(scores.value, scores.parts, scores.known, level_of_each(at_once))

    def difference(self, a: ItemScores, b: ItemScores, at_once: int = 1) -> Estimate:
        return pairs.change(a.value - b.value, a.parts - b.parts, a.known, at_once)

    def p_values(self, of: Sequence[tuple[ItemScores, ItemScores]]) -> Float64:
        return np.array([pairs.p_of_change(a.value - b.value, a.parts - b.parts, a.known) for a, b in of])

    def test(self, dependence: Dependence, units: str) -> str:  # noqa: ARG002 - the method names them
        return f"t of the paired difference of correlations, {dependence.method}"

    def gain(self, a: ItemScores, b: ItemScores) -> Float64:
        return np.zeros_like(a.parts - b.parts)

    def value(self, parts: Float64, before: float) -> float:  # noqa: ARG002 - influences do not tell it
        return before

    def among(self, places: Int64) -> Statistic:  # noqa: ARG002 - it has nothing of the items
        return self


# --- tests and verdicts


@dataclass(frozen=True)
class PairedTest:
    """A score of run A less that of run B, over the items that both evaluated.

    Scores of different scales compare by ``advantage``: the difference as a share of the range that the score can take
    (0 to 1 for an accuracy, -1 to 1 for a correlation, 0 to 4 for a squared distance), positive where A is better.

    Attributes:
        score: name of the metric; ``label``: for people.
        higher_is_better: None where neither more nor less is.
        range: lowest and highest possible value of the score.
        n: number of independent things that the test rests on; ``unit``: what these are, in the plural.
        test: in words.
        interval: 95% interval of ``a - b`` in the score's own units; None where there is none. It holds for ``of_many``
            such differences at once.
        p: two-sided, uncorrected; None where there is no test. ``p_corrected``: after Holm, in its family.
        refusal: why the test or the interval is missing; "" where both are there.
        wins, losses: items that A, or B, does better on; ``alike``: the others.
        a_interval, b_interval: 95% intervals of the two scores themselves, where there are any.
        address: query parameters that open the two side by side on the diagnostic's page, besides dataset and variants.
        family: of scores whose p-values are corrected together.
        detectable: the smallest true difference that the test finds with probability 0.8, at the strictest step of the
            correction; None where that is not known, or was not asked for.

    Raises:
        ValueError: p is not a probability, or missing without a reason, or an interval belongs to another value.
    """

    score: str
    label: str
    higher_is_better: bool | None
    range: tuple[float, float]
    a: float
    b: float
    n: int
    unit: str
    test: str
    interval: Interval | None = None
    p: float | None = None
    refusal: str = ""
    wins: int = 0
    losses: int = 0
    alike: int = 0
    a_interval: Interval | None = None
    b_interval: Interval | None = None
    address: Mapping[str, str] = field(default_factory=dict)
    p_corrected: float | None = None
    family: str = MAIN
    detectable: float | None = None
    of_many: int = 1

    def __post_init__(self) -> None:
        for value, interval in ((self.value, self.interval), (self.a, self.a_interval), (self.b, self.b_interval)):
            check_is_inside(value, interval)
        if self.p is None and not self.refusal:
            raise ValueError(f"{self.score} is not tested, and gives no reason")
        if self.p is not None and not 0.0 <= self.p <= 1.0:
            raise ValueError(f"p of {self.score} is {self.p}")

    @property
    def value(self) -> float:
        return self.a - self.b

    @property
    def turned(self) -> PairedTest:
        """The same test for B less A."""
        interval = self.interval and Interval(-self.interval.high, -self.interval.low)
        sides = {"a": self.b, "b": self.a, "a_interval": self.b_interval, "b_interval": self.a_interval}
        return replace(self, **sides, interval=interval, wins=self.losses, losses=self.wins)  # type: ignore[arg-type]

    @property
    def basis(self) -> str:
        """The test and what it rests on: ``sign flips of 120 groups of pairs that share no text``."""
        counted = f"{self.n:,} {self.unit}"
        return self.test.replace(self.unit, counted) if self.unit in self.test else f"{self.test} over {counted}"

    @property
    def sign(self) -> int:
        """1 where more is better, -1 where less is, 0 where neither."""
        return {True: 1, False: -1, None: 0}[self.higher_is_better]

    @property
    def advantage(self) -> float | None:
        """A's advantage over B, from -1 to 1: the difference as a share of the score's range; None where neither is
        better, or the score has no highest value."""
        return self._share(self.value) if self._has_scale else None

    @property
    def _has_scale(self) -> bool:
        return self.higher_is_better is not None and math.isfinite(self.range[1] - self.range[0])

    @property
    def advantage_interval(self) -> Interval | None:
        """The interval of ``advantage``."""
        if self.interval is None or not self._has_scale:
            return None
        ends = sorted((self._share(self.interval.low), self._share(self.interval.high)))
        return Interval(*ends)

    def _share(self, value: float) -> float:
        return self.sign * value / (self.range[1] - self.range[0]) + 0.0  # no -0.0

    @property
    def despite(self) -> str:
        """Why a verdict has no interval, and why it is not the one that interval (0 is outside without a significant
        difference, or inside with one) or items suggest (most are won or lost); "" where all agree."""
        p, after, ends = self.p, self.p_corrected, self.interval
        if p is None or after is None:
            return ""
        is_significant, side = after < ALPHA, self._side_of_items
        agrees = ends is None or is_significant != (ends.low <= 0.0 <= ends.high)
        is_like_items = side in (0, (self.sign or 1) * math.copysign(1, self.value) if is_significant else 0)
        parts = [] if ends or not self.value else [f"no interval of the difference: {self.refusal}"]
        if not (agrees and is_like_items):
            if p < ALPHA <= after:
                why = f"{p_in_words(p)}, {p_in_cell(after, p)} after correction for several scores"
            else:
                why = f"{p_in_words(after, p)} by {self.test}"
            most, way = (
                max(self.wins, self.losses),
                "the other way, while their mean has" if is_significant else "one way, yet",
            )
            on_items = "" if is_like_items else f"{most:,} of {self.wins + self.losses:,} differences go {way} "
            parts.append(on_items + why)
        return "; ".join(parts)

    @property
    def _side_of_items(self) -> int:
        """1 where most items that differ are won, -1 where most are lost, 0 where a reader expects no verdict."""
        differing, lead = self.wins + self.losses, self.wins - self.losses
        if abs(lead) < MOST_ITEMS * differing or sign_test(self.wins, self.losses) >= ALPHA:
            return 0
        return 1 if lead > 0 else -1

    @property
    def verdict(self) -> Verdict:
        """The verdict on A: the corrected p-value alone decides."""
        if self.p_corrected is None:
            return Verdict.UNTESTED
        if self.p_corrected >= ALPHA:
            return Verdict.ALIKE
        if self.higher_is_better is None:
            return Verdict.HIGHER if self.value > 0 else Verdict.LOWER
        return Verdict.BETTER if self.sign * self.value > 0 else Verdict.WORSE


def corrected_p(p: Float64) -> Float64:
    """p-values ``[k]`` corrected for their number after Holm; NaN, where there is no test, stays and does not count."""
    out = np.array(p, dtype=np.float64)
    tested = ~np.isnan(out)
    out[tested] = holm(out[tested])
    return out


def corrected(p: Sequence[float | None]) -> list[float | None]:
    """As ``corrected_p``, with None where there is no test."""
    after = corrected_p(np.array([math.nan if value is None else value for value in p], dtype=np.float64))
    return [None if math.isnan(value) else value for value in after.tolist()]


def decide(tests: Sequence[PairedTest]) -> tuple[PairedTest, ...]:
    """The tests of two runs with their corrected p-values, from which the verdicts follow; each family is corrected
    separately."""
    after: list[float | None] = [None] * len(tests)
    for places in _by_family([test.family for test in tests]):
        for index, p in zip(places, corrected([tests[index].p for index in places]), strict=True):
            after[index] = p
    return tuple(replace(test, p_corrected=p) for test, p in zip(tests, after, strict=True))


def corrected_together(tests: Sequence[PairedTest], of: PairedTest) -> int:
    """The number of two runs' tests for which the p-value of one of them is corrected."""
    return sum(test.family == of.family and test.p is not None for test in tests)


def decide_chosen(test: PairedTest, many: int) -> PairedTest:
    """A test of a difference that was chosen for its size among ``many``: p is multiplied by ``many`` (Bonferroni)."""
    return replace(test, p_corrected=None if test.p is None else min(1.0, many * test.p))


def _by_family(families: Sequence[str]) -> list[list[int]]:
    """Places of each family."""
    by_family: dict[str, list[int]] = {}
    for index, family in enumerate(families):
        by_family.setdefault(family, []).append(index)
    return list(by_family.values())


def with_detectable(tests: Sequence[PairedTest], of: Sequence[tuple[ItemScores, ItemScores]]) -> tuple[PairedTest, ...]:
    """The tests of two runs with the smallest difference that each can find; ``of`` are the scores they compare."""
    out = list(tests)
    for places in _by_family([test.family for test in tests]):
        for index in places:
            a, b = on_shared_items(*of[index])
            if tests[index].p is not None and type(a.statistic) in _PLAIN:
                paired = (a.parts - b.parts)[:, np.newaxis]
                least = float(pairs.smallest_detectable(paired, a.known, len(places), ALPHA)[0])
                out[index] = replace(tests[index], detectable=None if math.isnan(least) else least)
    return tuple(out)


_PLAIN = (Mean, Unbounded, MeanRank, Outcomes)  # means, whose tests turn the signs of differences


def compare(of: Sequence[tuple[ItemScores, ItemScores]], at_once: int = 1) -> list[PairedTest]:
    """A paired test of every two scores of one name over one dataset, on the items that both have. The intervals of
    differences hold for ``at_once`` differences at once.

    Many tests together are faster than one by one: sign flips are drawn once for all that share their items.
    """
    shared = [on_shared_items(a, b) for a, b in of]
    return [_tested(a, b, value, at_once) for (a, b), value in zip(shared, _p_values(shared), strict=True)]


def _p_values(of: Sequence[tuple[ItemScores, ItemScores]]) -> list[float]:
    p: list[float] = [math.nan] * len(of)
    by_items: dict[tuple[int, Statistic], list[int]] = {}
    for index, (a, _) in enumerate(of):
        by_items.setdefault((id(a.known), a.statistic), []).append(index)
    for (_, statistic), places in by_items.items():
        for index, value in zip(places, statistic.p_values([of[index] for index in places]), strict=True):
            p[index] = float(value)
    return p


def best_and_alike(of: Mapping[str, Mapping[str, ItemScores]]) -> dict[str, frozenset[str]]:
    """For each tested score, the keys of the best run over the same items and of those not significantly different.

    Each run is tested against the best in all scores, and p is corrected for these scores, so that a verdict does not
    depend on other runs. Intervals, wins and losses are left out, to save time.
    """
    first = next(iter(of.values()))
    names = [
        name
        for name, item_scores in first.items()
        if item_scores.family != OTHERS
        and item_scores.higher_is_better is not None
        and not isinstance(item_scores.statistic, Median)
        and all(name in scores_of_run for scores_of_run in of.values())
    ]
    best = {}
    for name in names:
        sign = 1 if first[name].higher_is_better else -1
        best[name] = max(of, key=lambda run: sign * of[run][name].value)
    asked = [
        (name, run, ahead) for ahead in dict.fromkeys(best.values()) for run in of if run != ahead for name in names
    ]
    p = _p_values([on_shared_items(of[run][name], of[ahead][name]) for name, run, ahead in asked])
    untested = {name for (name, *_), value in zip(asked, p, strict=True) if math.isnan(value)}
    alike = {name: {run} for name, run in best.items() if name not in untested}
    for places in _by_family([f"{run} {ahead} {first[name].family}" for name, run, ahead in asked]):
        for index, after in zip(places, corrected_p(np.array(p)[places]).tolist(), strict=True):
            name, run, ahead = asked[index]
            if after >= ALPHA and best[name] == ahead and name in alike:
                alike[name].add(run)
    return {name: frozenset(runs) for name, runs in alike.items()}


def on_shared_items(a: ItemScores, b: ItemScores) -> tuple[ItemScores, ItemScores]:
    """Both scores, on the items that both have."""
    if np.array_equal(a.numbers, b.numbers):
        return a, b
    numbers = np.intersect1d(a.numbers, b.numbers)
    return a.among(numbers), b.among(numbers)


def gains(a: ItemScores, b: ItemScores) -> Float64:
    """How much better A is than B in each item, ``[m]``; how much higher, where neither more nor less is better."""
    return a.statistic.gain(a, b) * (-1.0 if a.higher_is_better is False else 1.0)


def _tested(a: ItemScores, b: ItemScores, p: float, at_once: int) -> PairedTest:
    difference, of_a, other, gain = a.statistic.difference(a, b, at_once), a.estimate, b.estimate, gains(a, b)
    return PairedTest(
        a.score,
        a.label,
        a.higher_is_better,
        a.range,
        a.value,
        b.value,
        difference.units,
        a.unit,
        a.statistic.test(a.known, a.unit),
        difference.interval,
        None if math.isnan(p) else p,
        difference.refusal or (_why_none(a) if math.isnan(p) else ""),
        int(np.count_nonzero(gain > 0)),
        int(np.count_nonzero(gain < 0)),
        int(np.count_nonzero(gain == 0)),
        of_a.interval,
        other.interval,
        family=a.family,
        of_many=at_once,
    )


def _why_none(a: ItemScores) -> str:
    if isinstance(a.statistic, Median):
        return "tests are of means, not of medians"
    return f"a single rank can outweigh fewer than {FEWEST_UNBOUNDED} groups"
