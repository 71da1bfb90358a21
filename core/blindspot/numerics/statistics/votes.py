"""Shares of votes with two-way intervals, over queries and raters.

Queries and raters are *crossed*: a rater answers many queries and a query has many raters, so votes depend on each
other along both. The variance of a mean is that of single votes by chance, plus the contributions of queries and raters
(two-way clustering: Cameron, Gelbach and Miller 2011), with leave-one-out corrections for few and unequal ones and
Satterthwaite's degrees of freedom. With few raters, or with shares near 0 or 1, the raters are treated as fixed and
only queries vary: the result then applies to these raters only.

The interval of a share is Wilson's, with Student's t and the number of independent votes that would have its variance:
it stays within 0 and 1 and never has zero width. docs/statistics.md has the measured coverage of these intervals.

Arrays in, arrays out, float64. ``hits, votes [n, r]`` are of n items and r raters: the share of a vote that went to the
scored model (0 to 1), and 1 where there is a vote. ``query [n]`` numbers the items' queries from 0 without gaps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from blindspot.numerics.statistics.estimate import Estimate, Unit
from blindspot.numerics.statistics.intervals import LEVEL, Interval, quantile, wilson_interval
from blindspot.texts import counted
from blindspot.types import Float64, Int64

FEWEST_QUERIES = 10  # for an interval or a verdict
FEWEST_VOTES = 20  # likewise: a share of fewer has too few possible values
FEWEST_RATERS = 5  # for results about raters in general
FEWEST_EFFECTIVE_RATERS = 3.0  # likewise: equivalent number of raters with equally many votes
FEWEST_RARE = 1.5  # likewise: raters times the share, or times 1 minus the share
# The share of the variance of single votes by chance that counts as known, for raters in general. Chosen by simulation;
# in a difference it counts as uncertain twice.
KNOWN_IN_SHARE, KNOWN_IN_DIFFERENCE = 0.5, -1.0
_NO_VARIANCE = 1e-20


class Population(StrEnum):
    """Population that a result applies to."""

    RATERS = "raters in general"
    THESE = "these raters"


@dataclass(frozen=True, eq=False)
class Mean:
    """A mean of votes, with the influence of each vote.

    Attributes:
        weights: of each vote, ``[n, r]``, at least 0; they sum to 1.
        influence: of each vote, ``[n, r]``; they sum to 0.
    """

    value: float
    weights: Float64
    influence: Float64

    @property
    def votes(self) -> float:
        """The equivalent number of votes of equal weight."""
        return float(1.0 / (self.weights**2).sum())


def weighted(hits: Float64, weights: Float64) -> Mean:
    """The weighted mean of hits per vote; weights are 0 without a vote and sum to 1."""
    value = float((hits * weights).sum() / weights.sum())  # exactly 1 where all votes are hits
    return Mean(value, weights, hits * weights - value * weights)


def micro(hits: Float64, votes: Float64) -> Mean | None:
    """Hits over votes, all items together; None without votes."""
    number = votes.sum()
    return weighted(hits, votes / number) if number > 0 else None


def item_mean(hits: Float64, votes: Float64) -> Mean | None:
    """Hits over votes, averaged over the items that have votes; None without votes."""
    of_item = votes.sum(axis=1, keepdims=True)
    items = np.count_nonzero(of_item)
    if not items:
        return None
    return weighted(hits, np.divide(votes, of_item * items, out=np.zeros_like(votes), where=of_item > 0))


def difference(first: Mean, second: Mean) -> Mean:
    """The first minus the second, for the same items and raters."""
    return Mean(first.value - second.value, (first.weights + second.weights) / 2, first.influence - second.influence)


def share_of(mean: Mean, all_of_them: Sequence[Mean]) -> Mean | None:
    """One mean over the sum of several, including itself; None if that is 0."""
    total = float(np.sum([m.value for m in all_of_them]))
    if total <= 0:
        return None
    share = mean.value / total
    together = np.sum([m.influence for m in all_of_them], axis=0)
    weights = np.mean([m.weights for m in all_of_them], axis=0)
    return Mean(share, weights, (mean.influence - share * together) / total)


def population(votes: Sequence[Float64], shares: Sequence[float] = ()) -> tuple[Population, str]:
    """The population that results apply to, and why it is these raters only ("" for raters in general).

    Args:
        votes: of each scored model, ``[n, r]``.
        shares: that get intervals. Near 0 or 1 they depend on a few bad raters among many good ones, which a small
            sample of raters may miss.
    """
    per_rater = [counts for counts in (of_one.sum(axis=0) for of_one in votes) if counts.any()]
    raters = min((int(np.count_nonzero(counts)) for counts in per_rater), default=0)
    if raters < FEWEST_RATERS:
        return Population.THESE, f"for raters in general it takes {FEWEST_RATERS}"
    if min(_effective(counts / counts.sum()) for counts in per_rater) < FEWEST_EFFECTIVE_RATERS:
        return Population.THESE, "for raters in general a few of them gave too many of the votes"
    rarer, near = min(((min(share, 1 - share), "0%" if share < 0.5 else "100%") for share in shares), default=(0.5, ""))
    if raters * rarer < FEWEST_RARE:
        return Population.THESE, f"for raters in general it takes more of them where a share is near {near}"
    return Population.RATERS, ""


@dataclass(frozen=True)
class Spread:
    """Precision of a mean.

    Attributes:
        degrees_of_freedom: of its variance.
        queries: number of queries that have votes.
        units: number of independent ``unit``; raters if these vary too and are fewer than the queries.
        effective: the equivalent number of units of equal weight.
    """

    variance: float
    degrees_of_freedom: float
    queries: int
    unit: Unit
    units: int
    effective: float

    def estimate(
        self, value: float, interval: Interval | None, method: str, refusal: str = "", level: float = LEVEL
    ) -> Estimate:
        how = f"{method}, robust to queries{' and raters' if self.unit is Unit.RATERS else ''}"
        return Estimate(value, interval, how, self.unit, self.units, self.effective, refusal, level)


def spread(mean: Mean, query: Int64, of: Population, *, of_share: bool = False) -> Spread:
    """Variance of a mean over queries, and over raters too for results about raters in general.

    Args:
        of_share: whether the mean is a share, which itself gives the variance of single votes by chance, so that less
            of the variance must be estimated than for a difference.
    """
    number = int(query.max(initial=-1)) + 1
    weights, influence = (_by_query(values, query, number) for values in (mean.weights, mean.influence))
    asked, cast = weights.sum(axis=1) > 0, weights.sum(axis=0) > 0
    weights, influence = weights[asked][:, cast], influence[asked][:, cast]
    queries, raters = weights.shape
    by_query, by_rater = weights.sum(axis=1), weights.sum(axis=0)
    over_queries, queries_free = _over(influence.sum(axis=1), by_query)
    within_raters = influence - weights * (influence.sum(axis=0) / by_rater)
    if of is Population.THESE:
        variance, free = over_queries, queries_free
        if of_share:
            chance = float((within_raters**2).sum())
            excess = max(over_queries - chance * queries / max(queries - 1, 1), 0.0)
            variance, free = chance + excess, _satterthwaite(chance + excess, ((excess, queries_free),))
        return Spread(variance, free, queries, Unit.QUERIES, queries, _effective(by_query))
    over_raters, raters_free = _over(influence.sum(axis=0), by_rater)
    left = within_raters - weights * (influence.sum(axis=1) / by_query)[:, np.newaxis]
    cells = np.count_nonzero(weights)
    cells_free = max(cells - queries - raters + 1, 1)
    both = float((left**2).sum()) * cells / cells_free
    variance_known = both * (KNOWN_IN_SHARE if of_share else KNOWN_IN_DIFFERENCE)
    variance, parts = both, [(both, float(cells_free))]
    for over, own_free in ((over_queries, queries_free), (over_raters, raters_free)):
        if over > both:
            variance += over - both
            parts.append((over - variance_known, own_free))
    effective, unit, units = min(
        (_effective(by_query), Unit.QUERIES, queries), (_effective(by_rater), Unit.RATERS, raters)
    )
    return Spread(variance, _satterthwaite(variance, parts), queries, unit, units, effective)


def _satterthwaite(variance: float, parts: Sequence[tuple[float, float]]) -> float:
    """Degrees of freedom of a variance from those of its parts; at least one."""
    uncertain = sum(part**2 / free for part, free in parts)
    return max(variance**2 / uncertain, 1.0) if uncertain > 0 else np.inf


def _by_query(values: Float64, query: Int64, number: int) -> Float64:
    out = np.zeros((number, values.shape[1]))
    np.add.at(out, query, values)
    return out


def _over(influence: Float64, weights: Float64) -> tuple[float, float]:
    """Variance over one kind of unit, and its degrees of freedom, from the sums within each unit.

    A unit's influence is divided by the weight of the others: this is the change of the mean without it (a jackknife).
    """
    units = len(weights)
    if units < 2:
        return 0.0, 1.0
    moved = influence / (1 - weights)
    return float((units - 1) / units * (moved**2).sum()), max(_effective(weights) - 1, 1.0)


def _effective(weights: Float64) -> float:
    """The equivalent number of units of equal weight; weights sum to 1."""
    return float(1.0 / (weights**2).sum())


def share(mean: Mean, query: Int64, of: Population, level: float = LEVEL) -> Estimate:
    """A share with its interval, at 95% by default. If all votes are equal, each counts as independent."""
    mean_spread = spread(mean, query, of, of_share=True)
    if refusal := _too_few(mean_spread.queries, mean.votes):
        return mean_spread.estimate(mean.value, None, "Wilson", refusal, level)
    value = min(max(mean.value, 0.0), 1.0)
    votes = mean.votes
    if mean_spread.variance > _NO_VARIANCE and 0 < value < 1:
        votes = min(value * (1 - value) / mean_spread.variance, votes)
    return mean_spread.estimate(
        mean.value, wilson_interval(value, votes, _quantile(mean_spread, level)), "Wilson", level=level
    )


def difference_of(mean: Mean, query: Int64, of: Population, level: float = LEVEL) -> tuple[Estimate, float | None]:
    """A difference of two shares with its interval and two-sided p-value, below 1 - ``level`` exactly if the interval
    excludes 0. Both are missing if there is a refusal.

    Its standard error is at least the influence of one vote, so that unanimous votes do not mean certainty.
    """
    from scipy.stats import t

    mean_spread = spread(mean, query, of)
    if refusal := _too_few(mean_spread.queries):
        return mean_spread.estimate(mean.value, None, "t", refusal, level), None
    error = max(float(np.sqrt(mean_spread.variance)), 1.0 / mean.votes)
    half = _quantile(mean_spread, level) * error
    interval = Interval(max(-1.0, mean.value - half), min(1.0, mean.value + half))
    p = float(2 * t.sf(abs(mean.value) / error, mean_spread.degrees_of_freedom))
    return mean_spread.estimate(mean.value, interval, "t", level=level), p


def _too_few(queries: int, votes: float = np.inf) -> str:
    """Why there is neither interval nor verdict; "" if there are enough votes."""
    if queries < FEWEST_QUERIES:
        return f"only {counted(queries, 'query has', 'queries have')} votes, it takes {FEWEST_QUERIES}"
    if round(votes, 6) < FEWEST_VOTES:
        return f"the votes are worth {votes:.0f} of equal weight, it takes {FEWEST_VOTES}"
    return ""


def _quantile(mean_spread: Spread, level: float = LEVEL) -> float:
    return float(quantile(mean_spread.degrees_of_freedom, level))
