"""How often intervals and tests keep their promise, by simulation: the cells of the table in ``docs/statistics.md``.

``python -m tests.numerics.statistics.promises`` prints the table. Every cell draws data of which the truth is known,
and counts how often the interval holds it, or how often a test finds what is not there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.stats import norm, spearmanr

from blindspot.diagnostics.frequency.corpus_ranks import curve_of, fit_power_law, places
from blindspot.numerics.statistics.confusion import estimates
from blindspot.numerics.statistics.correlations import correlations, influences, spearman_influences
from blindspot.numerics.statistics.estimate import Unit
from blindspot.numerics.statistics.intervals import level_of_each
from blindspot.numerics.statistics.pairs import (
    Dependence,
    correlation,
    mcnemar_by_units,
    p_values,
    share,
    smallest_detectable,
)
from blindspot.numerics.statistics.tolerance import Decision, drop
from blindspot.types import Float64, Int64
from tests.numerics.statistics.extremes import best_share, changes, flips, kinds_lost, rank_correlations
from tests.support.pair_graphs import random_graph, stars

COVERAGE, FALSE, POWER = "coverage", "false verdicts", "power"
PASSES, FAILS = "passes", "fails"  # of a gate, at a true drop of just the tolerance
# 0.05, and of the gate what chance adds to that in a table of ``REPETITIONS``.
BOUNDS = {COVERAGE: (0.92, 0.98), FALSE: (0.0, 0.065), POWER: (0.72, 0.88), PASSES: (0.0, 0.056), FAILS: (0.0, 0.056)}
REFUSED = "refused"
REPETITIONS = 2_000
Rng = np.random.Generator


@dataclass(frozen=True)
class Cell:
    """One line of the table.

    Attributes:
        before: what the issue measured, in words.
        measure: from a generator and a number of repetitions the share of them; None where it is refused.
        kind: what the share is of.
        low, high: between what it must lie.
    """

    name: str
    before: str
    kind: str
    measure: Callable[[Rng, int], float | None]
    low: float
    high: float

    @classmethod
    def of(
        cls, name: str, before: str, kind: str, measure: Callable[[Rng, int], float | None], high: float | None = None
    ) -> Cell:
        """With the bounds of its kind.

        Args:
            high: another upper bound.
        """
        low, usual = BOUNDS[kind]
        return cls(name, before, kind, measure, low, usual if high is None else high)


# --- graphs of pairs


def both_ways(groups: int) -> tuple[Int64, Int64]:
    """A pair and its reverse per group."""
    first, second = np.arange(groups), groups + np.arange(groups)
    return np.concatenate([first, second]), np.concatenate([second, first])


# --- data on them


def latent(rng: Rng, left: Int64, right: Int64, repetitions: int, of_texts: float) -> Float64:
    """Normal values ``[m, repetitions]``; the share ``of_texts`` of their variance is of effects of both texts."""
    effects = rng.normal(size=(int(max(left.max(), right.max())) + 1, repetitions))
    own = rng.normal(size=(len(left), repetitions))
    together = (effects[left] + effects[right]) / np.where(left == right, 2, np.sqrt(2))[:, np.newaxis]
    return np.asarray(np.sqrt(of_texts) * together + np.sqrt(1 - of_texts) * own)


def reciprocal_ranks(values: Float64, difficulty: float) -> Float64:
    """Ranks rise with the values: 1/rank."""
    return np.asarray(1 / np.maximum(1, np.floor(np.exp(difficulty + 1.2 * values))))


@cache
def expected_reciprocal_rank(difficulty: float) -> float:
    """The truth: a rank is r where ``exp(difficulty + 1.2 z)`` is from r to r + 1, 1 also below."""
    ends = (np.log(np.arange(2, 2_000_000)) - difficulty) / 1.2
    at_most = np.r_[0.0, norm.cdf(ends), 1.0]
    return float((np.diff(at_most) / np.arange(1, len(at_most))).sum())


# --- what is measured


def covered(values: Float64, truth: float, left: Int64, right: Int64) -> float | None:
    """How often the interval of the mean of a column holds the truth."""
    known = Dependence.of(left, right)
    if known.refusal:
        return None
    found = [share(np.ascontiguousarray(column), known) for column in values.T]
    return float(np.mean([f.low <= truth <= f.high for f in found if f.low is not None and f.high is not None]))


def mrr(graph: tuple[Int64, Int64], of_texts: float = 0.6) -> Callable[[Rng, int], float | None]:
    """Coverage of an MRR of about 0.6."""

    def measure(rng: Rng, repetitions: int) -> float | None:
        values = reciprocal_ranks(latent(rng, *graph, repetitions, of_texts), 0.2)
        return covered(values, expected_reciprocal_rank(0.2), *graph)

    return measure


def right_answers(rng: Rng, graph: tuple[Int64, Int64], repetitions: int) -> Float64:
    """Whether a class is predicted right, 0 or 1, of examples that are pairs of texts: 0.7 are."""
    return (latent(rng, *graph, repetitions, 0.6) < norm.ppf(0.7)).astype(np.float64)


def classified(graph: tuple[Int64, Int64], score: int) -> Callable[[Rng, int], float | None]:
    """Coverage of the accuracy (``score`` 0) or macro F1 (1) of 0.7 on pairs of two classes."""

    def measure(rng: Rng, repetitions: int) -> float | None:
        known, labels = Dependence.of_examples(*graph), rng.integers(2, size=len(graph[0])).astype(np.int32)
        predicted = np.where(right_answers(rng, graph, repetitions).T == 1, labels, 1 - labels).astype(np.int32)
        found = [estimates(labels, answers, known, 2)[score] for answers in predicted]
        return float(np.mean([f.low is not None and f.high is not None and f.low <= 0.7 <= f.high for f in found]))

    return measure


def classifies_better(graph: tuple[Int64, Int64]) -> Callable[[Rng, int], float | None]:
    """How often one of two models that are equally good on pairs of texts is called better."""

    def measure(rng: Rng, repetitions: int) -> float | None:
        known = Dependence.of_examples(*graph)
        both = zip(*(right_answers(rng, graph, repetitions).T for _ in range(2)), strict=True)
        return float(np.mean([mcnemar_by_units(a, b, known) < 0.05 for a, b in both]))

    return measure


def hits(groups: int, truth: float, alike: float = 0.9) -> Callable[[Rng, int], float | None]:
    """Coverage of Hits@1 where a pair and its reverse mostly agree."""

    def measure(rng: Rng, repetitions: int) -> float | None:
        first = rng.random((groups, repetitions)) < truth
        again = rng.random((groups, repetitions)) < truth
        second = np.where(rng.random((groups, repetitions)) < alike, first, again)
        return covered(np.concatenate([first, second]).astype(np.float64), truth, *both_ways(groups))

    return measure


def better(graph: tuple[Int64, Int64], of_texts: float = 0.6) -> Callable[[Rng, int], float | None]:
    """How often one of two that are equally good is called better: the decision as a whole."""

    def measure(rng: Rng, repetitions: int) -> float | None:
        known = Dependence.of(*graph)
        if known.refusal:
            return None
        one, other = (reciprocal_ranks(latent(rng, *graph, repetitions, of_texts), 0.2) for _ in range(2))
        return float(np.mean(p_values(one - other, known) < 0.05))

    return measure


def skewed(rng: Rng, n: int, share: float, gain: float = 1.0) -> Float64:
    """Differences with a mean of 0: a share of the units gains much, all others lose a little."""
    return np.where(rng.random(n) < share, gain, -gain * share / (1 - share))


def lognormal(rng: Rng, n: int) -> Float64:
    """Differences with a mean of 0 and no bound."""
    return np.asarray(rng.lognormal(size=n) - np.exp(0.5))


def better_by_mean(
    draw: Callable[[Rng], Float64], groups: int, most: float = 1.0
) -> Callable[[Rng, int], float | None]:
    """How often a difference of mean 0 is called one."""

    def measure(rng: Rng, repetitions: int) -> float | None:
        known = Dependence.of_groups(np.arange(groups), Unit.QUERIES)
        paired = np.stack([draw(rng) for _ in range(repetitions)], axis=1)
        return float(np.mean(p_values(paired, known, most) < 0.05))

    return measure


def one_in(units: int, groups: int, gain: float = 1.0) -> Callable[[Rng, int], float | None]:
    return better_by_mean(lambda rng: skewed(rng, groups, 1 / units, gain), groups)


def correlated(graph: tuple[Int64, Int64], kind: str, of_texts: float = 0.3) -> Callable[[Rng, int], float | None]:
    """Coverage of a correlation; Pearson's is 0.7 among texts and among what is the pairs' own alike."""
    r = 0.7
    truths = {"pearson": r, "spearman": 6 / np.pi * np.arcsin(r / 2), "kendall": 2 / np.pi * np.arcsin(r)}

    def measure(rng: Rng, repetitions: int) -> float | None:
        known = Dependence.of(*graph)
        if known.refusal:
            return None
        x, other = (latent(rng, *graph, repetitions, of_texts) for _ in range(2))
        y = r * x + np.sqrt(1 - r * r) * other
        held = []
        for a, b in zip(np.ascontiguousarray(x.T), np.ascontiguousarray(y.T), strict=True):
            found = correlation(getattr(correlations(a, b), kind), influences(a, b).of(kind), known)
            if found.low is not None and found.high is not None:
                held.append(found.low <= truths[kind] <= found.high)
        return float(np.mean(held))

    return measure


def power(pairs: int, differing: float, tests: int = 1) -> Callable[[Rng, int], float | None]:
    """How often a test finds the difference that is said to be the smallest detectable, as each sample says it."""

    def draw(rng: Rng, net: float, repetitions: int) -> Float64:
        some = max(differing, net)
        up = rng.random((pairs, repetitions)) < (1 + net / some) / 2
        return np.asarray((rng.random((pairs, repetitions)) < some) * np.where(up, 1.0, -1.0))

    def measure(rng: Rng, repetitions: int) -> float | None:
        known = Dependence.of(np.arange(pairs), pairs + np.arange(pairs))
        said = smallest_detectable(draw(rng, 0.0, repetitions // 50), known, tests, 0.05)
        found = [np.mean(p_values(draw(rng, float(net), 50), known) * tests < 0.05) for net in said[~np.isnan(said)]]
        return float(np.mean(found))

    return measure


# --- gates. Each draws what items lose where the true drop is just the tolerance


def only_lost(rng: Rng, n: int, tolerance: float) -> Float64:
    """Right answers turn wrong, and none the other way."""
    return (rng.random(n) < tolerance).astype(np.float64)


def lost_and_found(rng: Rng, n: int, tolerance: float) -> Float64:
    """A tenth of the answers change as well, as many for the better as for the worse."""
    u = rng.random(n)
    return np.where(u < 0.05, -1.0, np.where(u < 0.1 + tolerance, 1.0, 0.0))


def fallen(rng: Rng, n: int, tolerance: float) -> Float64:
    """Matches fall from the first rank to the second, third or tenth."""
    steps = np.array([1 - 1 / 2, 1 - 1 / 3, 1 - 1 / 10])
    return np.where(rng.random(n) < tolerance / steps.mean(), rng.choice(steps, n), 0.0)


def small_and_whole(rng: Rng, n: int, tolerance: float) -> Float64:
    """Half of the drop is small losses of a fifth of the items, half is a few that lose everything."""
    u = rng.random(n)
    return np.where(u < tolerance / 2, 1.0, np.where(u < tolerance / 2 + 0.2, tolerance / 2 / 0.2, 0.0))


def small_and_gained(rng: Rng, n: int, tolerance: float) -> Float64:
    """Few items gain everything, all others lose a little."""
    gain = 0.05
    return np.where(rng.random(n) < gain, -1.0, (tolerance + gain) / (1 - gain))


def rarely(rng: Rng, n: int, tolerance: float) -> Float64:
    """Few items lose everything, a fifth gain a little."""
    u = rng.random(n)
    return np.where(u < 0.2, -0.1, np.where(u < 0.22 + tolerance, 1.0, 0.0))


def bounded_above(
    draw: Callable[[Rng, int, float], Float64], n: int, tolerance: float, settings: int = 1
) -> Callable[[Rng, int], float | None]:
    """How often the upper bound of a loss is below the truth, at 0.05 divided by a number of settings, times it."""

    def measure(rng: Rng, repetitions: int) -> float | None:
        known, below = Dependence.of_groups(np.arange(n), Unit.QUERIES), 0
        for _ in range(repetitions):
            lost = draw(rng, n, tolerance)
            high = drop(float(lost.mean()), lost, known, 0.0, 0.05 / settings, 1.0, is_mean=True).high
            below += high is not None and high < tolerance
        return below * settings / repetitions

    return measure


def gated(
    draw: Callable[[Rng, int, float], Float64], n: int, tolerance: float, decision: Decision
) -> Callable[[Rng, int], float | None]:
    """The share of re-trainings of which a gate says this."""

    def measure(rng: Rng, repetitions: int) -> float | None:
        known, found = Dependence.of_groups(np.arange(n), Unit.QUERIES), 0
        for _ in range(repetitions):
            lost = draw(rng, n, tolerance)
            said = drop(float(lost.mean()), lost, known, tolerance, 0.05, 1.0, is_mean=True).decision
            found += said is decision
        return found / repetitions

    return measure


def passes(draw: Callable[[Rng, int, float], Float64], n: int, tolerance: float) -> Callable[[Rng, int], float | None]:
    return gated(draw, n, tolerance, Decision.WITHIN)


def on_spearman(n: int, *, rare: bool) -> Callable[[Rng, int], float | None]:
    """The share of re-trainings of which a gate on Spearman's correlation passes a drop of just the tolerance.

    Args:
        rare: a few pairs are badly off; else all are a little.
    """

    def similarities(rng: Rng, size: int) -> tuple[Float64, Float64, Float64]:
        gold, common, noise = rng.normal(size=(3, size))
        old = gold + 0.5 * common + 0.2 * rng.normal(size=size)
        if rare:
            noise = np.where(rng.random(size) < 0.05, 6 * noise, 0.1 * noise)
            return gold, old, gold + 0.5 * common + 0.2 * rng.normal(size=size) + noise
        return gold, old, gold + 0.5 * common + 0.45 * noise

    def score(first: Float64, second: Float64) -> float:
        return float(spearmanr(first, second).statistic)

    def measure(rng: Rng, repetitions: int) -> float | None:
        gold, old, new = similarities(rng, 50_000)
        tolerance = score(old, gold) - score(new, gold)
        known, found = Dependence.of_groups(np.arange(n), Unit.PAIRS), 0
        for _ in range(repetitions):
            gold, old, new = similarities(rng, n)
            lost = spearman_influences(old, gold) - spearman_influences(new, gold)
            value = score(old, gold) - score(new, gold)
            said = drop(value, lost, known, tolerance, 0.05, 2.0, is_mean=False).decision
            found += said is Decision.WITHIN
        return found / repetitions

    return measure


def extremes(k: int, n: int, truth: float, level: float | None = None) -> Callable[[Rng, int], float | None]:
    """Coverage of the highest and the lowest of ``k`` shares of the same truth, both at once.

    Args:
        level: of each interval; that of ``level_of_each`` by default.
    """

    def measure(rng: Rng, repetitions: int) -> float | None:
        known, held = Dependence.of_groups(np.arange(n), Unit.QUERIES), 0
        for _ in range(repetitions):
            counts = rng.binomial(n, truth, k)
            ends = [
                share((np.arange(n) < count).astype(np.float64), known, level or level_of_each(k))
                for count in (counts.min(), counts.max())
            ]
            held += all(one.low is not None and one.high is not None and one.low <= truth <= one.high for one in ends)
        return held / repetitions

    return measure


def exponents(queries: int, exponent: float = 0.17) -> Callable[[Rng, int], float | None]:
    """Coverage of the exponent of neighbors' corpus ranks: lognormal, partly the query's own, in level and in slope."""

    def measure(rng: Rng, repetitions: int) -> float:
        k = places(20_000)
        x = np.log(k)
        mean = 1_000 * np.exp(exponent * x - (0.8**2 + 0.8**2 + (0.1 * x) ** 2) / 2)  # of what is drawn: 1,000 k^b
        ends = []
        for _ in range(repetitions):
            level, slope = 0.8 * rng.normal(size=(queries, 1)), 0.1 * rng.normal(size=(queries, 1))
            drawn = mean * np.exp(level + slope * x + 0.8 * rng.normal(size=(queries, len(k))))
            found = fit_power_law(curve_of(k, drawn)).exponent
            ends += [found.interval] if found and found.interval else []  # none where one query carries it all
        return float(np.mean([one.low <= exponent <= one.high for one in ends]))

    return measure


CELLS = (
    Cell.of("MRR, 10 groups of pairs", "0.85 to 0.94", COVERAGE, mrr(both_ways(10))),
    Cell.of("MRR, 15 groups of pairs", "0.85 to 0.94", COVERAGE, mrr(both_ways(15))),
    Cell.of("MRR, 50 groups of pairs", "0.92 to 0.95", COVERAGE, mrr(both_ways(50))),
    Cell.of("MRR, 300 groups of pairs", "0.92 to 0.95", COVERAGE, mrr(both_ways(300))),
    Cell.of("Hits@1 of 0.97, 20 groups", "0.46", COVERAGE, hits(20, 0.97), high=0.99),
    Cell.of("Hits@1 of 0.97, 50 groups", "0.79", COVERAGE, hits(50, 0.97)),
    Cell.of("Hits@1 of 0.97, 500 groups", "0.95", COVERAGE, hits(500, 0.97)),
    Cell.of("Hits@1 of 0.99, 100 groups", "0.62", COVERAGE, hits(100, 0.99)),
    Cell.of("MRR, one query with 100 matches", "0.21 to 0.39", COVERAGE, mrr(stars(1, 100))),
    Cell.of("MRR, two queries with 50 matches each", "0.56 to 0.71", COVERAGE, mrr(stars(2, 50))),
    Cell.of("MRR, nine queries with 20 matches each", "0.87 to 0.92", COVERAGE, mrr(stars(9, 20))),
    Cell.of("MRR, 12 queries with 20 matches each of 60", "0.87 to 0.92", COVERAGE, mrr(stars(12, 20, of=60))),
    Cell.of("MRR, random graph of 60 texts, 200 pairs", "0.90 to 0.94", COVERAGE, mrr(random_graph(60, 200))),
    Cell.of("MRR, random graph of 300 texts, 900 pairs", "0.90 to 0.94", COVERAGE, mrr(random_graph(300, 900))),
    Cell.of("A is better than B, 10 groups", "0.04 to 0.08", FALSE, better(both_ways(10))),
    Cell.of("A is better than B, 25 groups", "0.04 to 0.08", FALSE, better(both_ways(25))),
    Cell.of("A is better than B, 200 groups", "0.04 to 0.08", FALSE, better(both_ways(200))),
    Cell.of("A is better than B, one query x 100 matches", "0.65 to 0.86", FALSE, better(stars(1, 100))),
    Cell.of("A is better than B, 2 x 50", "0.33 to 0.36", FALSE, better(stars(2, 50))),
    Cell.of("A is better than B, 4 x 25", "0.16", FALSE, better(stars(4, 25))),
    Cell.of("A is better than B, 9 x 20", "0.11 to 0.13", FALSE, better(stars(9, 20))),
    Cell.of("A is better than B, 12 x 20 of 60", "0.12 to 0.86", FALSE, better(stars(12, 20, of=60))),
    Cell.of("A is better than B, random graph of 60 texts", "0.12 to 0.86", FALSE, better(random_graph(60, 200))),
    Cell.of("Large gains of 1 in 20, small losses, 10 groups", "0.60", FALSE, one_in(20, 10)),
    Cell.of("Large gains of 1 in 20, small losses, 20 groups", "0.34", FALSE, one_in(20, 20)),
    Cell.of("Large gains of 1 in 20, small losses, 60 groups", "0.20", FALSE, one_in(20, 60)),
    Cell.of("Large gains of 1 in 20, small losses, 300 groups", "0.07", FALSE, one_in(20, 300)),
    Cell.of("Large gains of 1 in 50, small losses, 60 groups", "0.29", FALSE, one_in(50, 60)),
    Cell.of("Gains of 0.3 of 1 in 20, small losses, 20 groups", "0.36", FALSE, one_in(20, 20, 0.3)),
    Cell.of(
        "Differences of ranks, lognormal, 60 groups",
        "0.11",
        FALSE,
        better_by_mean(lambda rng: lognormal(rng, 60), 60, np.inf),
    ),
    Cell.of(
        "Differences of ranks, lognormal, 300 groups",
        "0.06",
        FALSE,
        better_by_mean(lambda rng: lognormal(rng, 300), 300, np.inf),
    ),
    Cell.of("Spearman, 40 pairs that share nothing", "0.94 to 0.97", COVERAGE, correlated(stars(40, 1), "spearman")),
    Cell.of("Spearman, 353 pairs, 437 words", "0.85 to 0.93", COVERAGE, correlated(random_graph(437, 353), "spearman")),
    Cell.of("Spearman, 400 pairs, 100 words", "0.85 to 0.93", COVERAGE, correlated(random_graph(100, 400), "spearman")),
    Cell.of(
        "Spearman, the same, half of it the words'",
        "0.85 to 0.93",
        COVERAGE,
        correlated(random_graph(100, 400), "spearman", 0.5),
    ),
    Cell.of("Pearson, 400 pairs, 100 words", "0.85 to 0.93", COVERAGE, correlated(random_graph(100, 400), "pearson")),
    Cell.of("Kendall, 200 pairs, 60 words", "0.85 to 0.93", COVERAGE, correlated(random_graph(60, 200), "kendall")),
    Cell.of("smallest detectable, 2% of 200 differ", "0.39", POWER, power(200, 0.02)),
    Cell.of("smallest detectable, 10% of 200 differ", "0.72 to 0.81", POWER, power(200, 0.1)),
    Cell.of("smallest detectable, 30% of 400 differ, 5 tests", "0.72 to 0.81", POWER, power(400, 0.3, 5)),
    Cell.of("Gate on Hits@1, 300 items, only lost, tolerance 0.05", "0.063", PASSES, passes(only_lost, 300, 0.05)),
    Cell.of("Gate on Hits@1, 300 items, only lost, tolerance 0.1", "0.077", PASSES, passes(only_lost, 300, 0.1)),
    Cell.of("Gate on Hits@1, 1,000 items, only lost, tolerance 0.02", "0.059", PASSES, passes(only_lost, 1_000, 0.02)),
    Cell.of("Gate on Hits@1, 300 items, lost and found", "0.057", PASSES, passes(lost_and_found, 300, 0.1)),
    Cell.of("Gate on MRR, 300 items, only lost, tolerance 0.05", "0.070", PASSES, passes(fallen, 300, 0.05)),
    Cell.of("Gate on MRR, 1,000 items, only lost, tolerance 0.02", "0.072", PASSES, passes(fallen, 1_000, 0.02)),
    Cell.of("Gate, 100 items, small losses and whole ones", "0.370", PASSES, passes(small_and_whole, 100, 0.02)),
    Cell.of("Gate, 300 items, small losses and whole ones", "0.072", PASSES, passes(small_and_whole, 300, 0.1)),
    Cell.of(
        "Gate, 300 items, small losses and whole gains",
        "0.071",
        FAILS,
        gated(small_and_gained, 300, 0.02, Decision.BEYOND),
    ),
    Cell.of("Bound of loss, 80 items, 2% lose all", "0.000", PASSES, bounded_above(only_lost, 80, 0.02)),
    Cell.of("Bound of loss, 100 items, 3% lose all", "0.053", PASSES, bounded_above(only_lost, 100, 0.03), high=0.065),
    Cell.of("Bound of loss, 300 items, 2% lose all", "0.016", PASSES, bounded_above(only_lost, 300, 0.02)),
    Cell.of("Bound of loss, 100 items, 4% lose all, a fifth gain", "0.015", PASSES, bounded_above(rarely, 100, 0.02)),
    Cell.of("Bound of loss, 300 items, 4% lose all, a fifth gain", "0.024", PASSES, bounded_above(rarely, 300, 0.02)),
    Cell.of("Bound of loss, 100 items, small and whole", "0.000", PASSES, bounded_above(small_and_whole, 100, 0.02)),
    Cell.of("Gate on Spearman, 100 pairs, all a little worse", "0.071", PASSES, on_spearman(100, rare=False)),
    Cell.of("Gate on Spearman, 100 pairs, a few much worse", "0.149", PASSES, on_spearman(100, rare=True)),
    Cell.of("Gate on Spearman, 300 pairs, all a little worse", "0.059", PASSES, on_spearman(300, rare=False)),
    Cell.of("accuracy on pairs, 40 texts with 5 others each", "0.87", COVERAGE, classified(stars(40, 5), 0)),
    Cell.of("accuracy on pairs, 600 of 300 texts", "0.81", COVERAGE, classified(random_graph(300, 600), 0)),
    Cell.of("accuracy on pairs, 12 texts with 20 of 60 each", "0.63", COVERAGE, classified(stars(12, 20, of=60), 0)),
    Cell.of("macro F1 on pairs, 600 of 300 texts", "0.80", COVERAGE, classified(random_graph(300, 600), 1)),
    Cell.of("A classifies pairs better than B, 40 x 5", "0.15", FALSE, classifies_better(stars(40, 5))),
    Cell.of(
        "A classifies pairs better than B, 600 of 300 texts", "0.18", FALSE, classifies_better(random_graph(300, 600))
    ),
    Cell.of("highest and lowest of 14 shares, both at once", "0.54", COVERAGE, extremes(14, 200, 0.8), high=0.99),
    Cell.of("highest and lowest of 4 shares, both at once", "0.84", COVERAGE, extremes(4, 200, 0.8), high=0.99),
    Cell.of("best of 2 models, Hits@1 of 0.7 on 200 pairs", "", COVERAGE, best_share(2, 200, 0.7)),
    Cell.of("best of 3 models, Hits@1 of 0.7 on 200 pairs", "0.92", COVERAGE, best_share(3, 200, 0.7), high=0.99),
    Cell.of("best of 5 models, Hits@1 of 0.7 on 200 pairs", "0.89", COVERAGE, best_share(5, 200, 0.7), high=0.99),
    Cell.of("best of 12 models, Hits@1 of 0.7 on 200 pairs", "", COVERAGE, best_share(12, 200, 0.7), high=0.99),
    Cell.of("highest and lowest of 4 correlations, 80 pairs", "", COVERAGE, rank_correlations(4, 80), high=0.99),
    Cell.of("largest gain and loss of 12, MRR on 100 pairs", "", COVERAGE, changes(12, 100), high=0.99),
    Cell.of("largest gain and loss of 12, accuracy on 100 examples", "", COVERAGE, flips(12, 100), high=0.99),
    Cell.of("most and least lost of 6 kinds, 5% of 40 items each", "0.92", COVERAGE, kinds_lost(6, 40, 0.05), high=1.0),
    Cell.of("Frequency, exponent over 30 query words", "", COVERAGE, exponents(30)),
    Cell.of("Frequency, exponent over 353 query words", "", COVERAGE, exponents(353)),
)


def measured(cell: Cell, repetitions: int) -> float | None:
    """The same repetitions every time."""
    return cell.measure(np.random.default_rng([19, len(cell.name), *cell.name.encode()]), repetitions)


def line(cell: Cell, found: float | None) -> str:
    """A line of the table."""
    return f"| {cell.name} | {cell.kind} | {cell.before} | {REFUSED if found is None else f'{found:.3f}'} |"


if __name__ == "__main__":
    for each in CELLS:
        print(line(each, measured(each, REPETITIONS)), flush=True)
