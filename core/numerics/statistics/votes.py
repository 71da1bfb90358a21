"""Shares of votes that two things decide, what was asked and who answered, and how sure they are over both.

Queries and raters are *crossed*: a rater answers many queries and a query has many raters, so that votes depend on each
other along both. A share's variance is the sum of what queries and what raters contribute, less what both count
(two-way clustering: Cameron, Gelbach and Miller 2011), with leave-one-out corrections for few and unequal ones, and its
degrees of freedom are Satterthwaite's. From five raters on this speaks of raters in general. With fewer the raters are
taken as they are, and only queries vary: it speaks of these raters.

An interval of a share is Wilson's, with Student's t and the number of independent votes that would have its variance:
it stays within 0 and 1 and is never without width. docs/statistics.md says how often these intervals hold the truth.

Arrays in, arrays out, float64. ``hits, votes [n, r]`` are of n items and r raters: how much of a vote went to what is
scored (0 to 1), and 1 where there is a vote. ``query [n]`` numbers the items' queries from 0 without gaps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from core.numerics.statistics.estimate import LEVEL
from core.numerics.statistics.intervals import Interval, wilson_interval
from core.types import Float64, Int64

FEWEST_QUERIES = 10  # for an interval or a verdict
FEWEST_RATERS = 5  # to speak of raters in general
FEWEST_EFFECTIVE_RATERS = 3.0  # likewise: how many that vote alike would weigh as much
_NO_VARIANCE = 1e-20


class Population(StrEnum):
    """Whom a result speaks of."""

    RATERS = "raters in general"
    THESE = "these raters"


@dataclass(frozen=True, eq=False)
class Mean:
    """A mean of votes, and what each vote does to it.

    Attributes:
        weights: of each vote, ``[n, r]``, at least 0; they sum to 1.
        influence: how far each vote moves it, ``[n, r]``; they sum to 0.
    """

    value: float
    weights: Float64
    influence: Float64

    @property
    def votes(self) -> float:
        """How many votes of equal weight would say as much."""
        return float(1.0 / (self.weights**2).sum())


def weighted(hits: Float64, weights: Float64) -> Mean:
    """The mean of hits per vote under weights that are 0 where there is no vote and sum to 1."""
    value = float((hits * weights).sum() / weights.sum())  # exactly 1 where all votes are hits
    return Mean(value, weights, hits * weights - value * weights)


def micro(hits: Float64, votes: Float64) -> Mean | None:
    """Hits over votes, all items together; None without votes."""
    number = votes.sum()
    return weighted(hits, votes / number) if number > 0 else None


def item_mean(hits: Float64, votes: Float64) -> Mean | None:
    """The mean over the items that have votes of hits over votes; None without votes."""
    of_item = votes.sum(axis=1, keepdims=True)
    items = np.count_nonzero(of_item)
    if not items:
        return None
    return weighted(hits, np.divide(votes, of_item * items, out=np.zeros_like(votes), where=of_item > 0))


def difference(first: Mean, second: Mean) -> Mean:
    """The first less the second, of the same items and raters."""
    return Mean(first.value - second.value, (first.weights + second.weights) / 2, first.influence - second.influence)


def share_of(own: Mean, all_of_them: Sequence[Mean]) -> Mean | None:
    """One mean over the sum of several, itself among them; None where that is 0."""
    total = float(np.sum([m.value for m in all_of_them]))
    if total <= 0:
        return None
    share = own.value / total
    together = np.sum([m.influence for m in all_of_them], axis=0)
    weights = np.mean([m.weights for m in all_of_them], axis=0)
    return Mean(share, weights, (own.influence - share * together) / total)


def population(votes: Sequence[Float64]) -> Population:
    """Whom results speak of: raters in general where whatever has votes has those of enough raters.

    Args:
        votes: of each that is scored, ``[n, r]``.
    """
    per_rater = [found for found in (of_one.sum(axis=0) for of_one in votes) if found.any()]
    enough = [
        np.count_nonzero(found) >= FEWEST_RATERS and _effective(found / found.sum()) >= FEWEST_EFFECTIVE_RATERS
        for found in per_rater
    ]
    return Population.RATERS if enough and all(enough) else Population.THESE


@dataclass(frozen=True)
class Spread:
    """How sure a mean is.

    Attributes:
        degrees_of_freedom: of its variance.
        queries: that it stands on.
        fewest: the number of queries, or of raters where these vary too and are fewer.
    """

    variance: float
    degrees_of_freedom: float
    queries: int
    fewest: int


def spread(mean: Mean, query: Int64, of: Population) -> Spread:
    """Variance of a mean over queries, and over raters too where it is to speak of raters in general."""
    number = int(query.max(initial=-1)) + 1
    weights, influence = (_by_query(values, query, number) for values in (mean.weights, mean.influence))
    asked, cast = weights.sum(axis=1) > 0, weights.sum(axis=0) > 0
    weights, influence = weights[asked][:, cast], influence[asked][:, cast]
    queries, raters = weights.shape
    over_queries, queries_free = _over(influence.sum(axis=1), weights.sum(axis=1))
    if of is Population.THESE:
        return Spread(over_queries, queries_free, queries, queries)
    over_raters, raters_free = _over(influence.sum(axis=0), weights.sum(axis=0))
    left = influence - weights * (
        (influence.sum(axis=1) / weights.sum(axis=1))[:, np.newaxis] + influence.sum(axis=0) / weights.sum(axis=0)
    )
    cells = np.count_nonzero(weights)
    cells_free = cells - queries - raters + 1
    both = float((left**2).sum()) * cells / cells_free if cells_free > 0 else 0.0
    variance = over_queries + over_raters - both
    if variance <= max(over_queries, over_raters):  # one of them has nothing of its own: the other's stands
        variance, free = max((over_queries, queries_free), (over_raters, raters_free))
    else:
        parts = over_queries**2 / queries_free + over_raters**2 / raters_free
        free = variance**2 / (parts + (both**2 / cells_free if cells_free > 0 else 0.0))
    return Spread(variance, max(free, min(queries_free, raters_free)), queries, min(queries, raters))


def _by_query(values: Float64, query: Int64, number: int) -> Float64:
    out = np.zeros((number, values.shape[1]))
    np.add.at(out, query, values)
    return out


def _over(influence: Float64, weights: Float64) -> tuple[float, float]:
    """Variance over one kind of unit, and its degrees of freedom, from the sums within each unit.

    A unit's influence is divided by what the others weigh: that is how far the mean moves without it (a jackknife).
    """
    units = len(weights)
    if units < 2:
        return 0.0, 1.0
    moved = influence / (1 - weights)
    return float((units - 1) / units * (moved**2).sum()), max(_effective(weights) - 1, 1.0)


def _effective(weights: Float64) -> float:
    """How many units of equal weight would say as much; weights sum to 1."""
    return float(1.0 / (weights**2).sum())


def share_interval(mean: Mean, found: Spread) -> Interval:
    """95% interval of a share: Wilson's for as many independent votes as have its variance.

    Where all votes are alike it is as if one of them had been otherwise.
    """
    share = min(max(mean.value, 0.0), 1.0)
    votes = mean.votes * (found.fewest - 1) / found.fewest
    if found.variance > _NO_VARIANCE and 0 < share < 1:
        votes = min(share * (1 - share) / found.variance, mean.votes)
    return wilson_interval(share, votes, _quantile(found))


def interval_of_difference(mean: Mean, found: Spread) -> Interval:
    """95% interval of a difference of two shares."""
    half = _quantile(found) * _standard_error(mean, found)
    return Interval(max(-1.0, mean.value - half), min(1.0, mean.value + half))


def p_of_difference(mean: Mean, found: Spread) -> float:
    """Two-sided p-value of a difference of two shares: below 0.05 where its interval leaves 0 out."""
    from scipy.stats import t

    return float(2 * t.sf(abs(mean.value) / _standard_error(mean, found), found.degrees_of_freedom))


def _standard_error(mean: Mean, found: Spread) -> float:
    """At least what one vote does: votes that are all alike do not tell everything."""
    return max(float(np.sqrt(found.variance)), 1.0 / mean.votes)


def _quantile(found: Spread) -> float:
    from scipy.stats import t

    return float(t.ppf((1 + LEVEL) / 2, found.degrees_of_freedom))
