"""Correlations of predicted similarity with human scores: Pearson, Spearman, Kendall (Eger 2019, section 3)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from blindspot.types import Float64, Int64

KINDS = ("pearson", "spearman", "kendall")
_NUMBERS_AT_A_TIME = 400_000  # of a matrix of signs: larger ones cost more in fresh memory than they save
_ROUNDING = 1e-12
DECIMALS = 6  # to which similarities are rounded: closer values are equal


@dataclass(frozen=True)
class Correlations:
    """Three correlations over n pairs, NaN if undefined. Kendall's is tau-b, which accounts for ties."""

    pearson: float
    spearman: float
    kendall: float
    n: int


def correlations(predicted: Float64, gold: Float64) -> Correlations:
    """Correlations of ``[n]`` predicted similarities with ``[n]`` scores, by scipy.

    All are NaN for fewer than two pairs, or if all predictions or all scores are equal.
    """
    from scipy import stats

    nan = float("nan")
    n = len(gold)
    if n < 2 or np.ptp(predicted) == 0 or np.ptp(gold) == 0:
        return Correlations(nan, nan, nan, n)
    return Correlations(
        float(stats.pearsonr(predicted, gold).statistic),
        spearman(predicted, gold),
        float(stats.kendalltau(predicted, gold).statistic),
        n,
    )


def spearman(x: Float64, y: Float64) -> float:
    """Spearman's rho of ``[n]`` and ``[n]``, ties sharing their mean rank; NaN for constants or fewer than two.

    To the last bit as scipy's ``spearmanr``, without the half second that importing it takes.
    """
    n = len(x)
    if n < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return float("nan")
    ranks = np.column_stack([centered_ranks(values) + (n + 1) / 2 for values in (x, y)])
    return float(np.asarray(np.corrcoef(ranks, rowvar=False))[1, 0])


# --- influence of each pair on a correlation


@dataclass(frozen=True, eq=False)
class Influences:
    """First-order influence of each pair on the correlations (infinitesimal jackknife), ``[n]`` each.

    ``n`` times the derivative with respect to the pair's weight at weights 1: up to terms of order 1/n, a correlation
    is its true value plus the mean of these. They add up to 0.
    """

    pearson: Float64
    spearman: Float64
    kendall: Float64

    def of(self, kind: str) -> Float64:
        """The influences by name of the correlation."""
        values: Float64 = getattr(self, kind)
        return values


def influences(predicted: Float64, gold: Float64) -> Influences:
    """Influences for ``[n]`` predicted similarities and scores, neither of which may be constant.

    Pearson: ``a b - r (a^2 + b^2)/2`` with a and b the standardized values. Spearman: the same of the mid-ranks, and
    since a pair also moves the ranks of others, ``sum over j of (b_j - r a_j)/sd(ranks) h(i, j)`` for either side, with
    h 1 where i is below j, 1/2 where they are equal. Kendall: tau-b is ``S / sqrt(U V)``, sums over pairs of pairs; by
    the pair's share of each, ``n (2 s/sqrt(U V) - tau (u/U + v/V))``.
    """
    n = len(gold)
    x, y = _Ranks.of(predicted), _Ranks.of(gold)
    sums = _tau_sums(x.place, y.place)
    s, u, v = sums.sum(axis=0)
    kendall = n * (2 * sums[:, 0] - s * (sums[:, 1] / u + sums[:, 2] / v)) / np.sqrt(u * v)
    kendall[np.abs(kendall) < _ROUNDING * n] = 0.0  # of a perfect order
    return Influences(_rounded(_pearson_influences(predicted, gold)[1]), _spearman_influences(x, y), kendall)


def spearman_influences(predicted: Float64, gold: Float64) -> Float64:
    """``influences(predicted, gold).spearman`` alone, ``[n]``, without Kendall's quadratic time."""
    return _spearman_influences(_Ranks.of(predicted), _Ranks.of(gold))


def _spearman_influences(x: _Ranks, y: _Ranks) -> Float64:
    ones = np.ones((len(x.order), 1))
    ranks = x.within(ones)[:, 0], y.within(ones)[:, 0]
    r, influence, (a, b) = _pearson_influences(*ranks)
    moved = x.above((b - r * a) / ranks[0].std()) + y.above((a - r * b) / ranks[1].std())
    return _rounded(influence + moved)


def _rounded(influences: Float64) -> Float64:
    """Influences, with 0 for mere rounding: no pair changes the correlation in a perfect order, or with labels of two
    kinds that it separates perfectly. Its interval would have no width, and a test would compare noise."""
    return np.where(np.abs(influences) < _ROUNDING, 0.0, influences)


def _pearson_influences(x: Float64, y: Float64) -> tuple[float, Float64, tuple[Float64, Float64]]:
    """Pearson's r, each pair's influence, and the standardized values."""
    a, b = ((values - values.mean()) / values.std() for values in (x, y))
    r = float((a * b).mean())
    return r, np.asarray(a * b - r * (a * a + b * b) / 2), (a, b)


def _tau_sums(x: Int64, y: Int64) -> Float64:
    """Sums over all other pairs, ``[n, 3]``: of 1 for the same order and -1 for the opposite; of 1 if x differ; of 1
    if y differ."""
    n = len(x)
    sums = np.empty((n, 3))
    single_x, single_y = x.astype(np.float32), y.astype(np.float32)
    at_a_time = max(1, _NUMBERS_AT_A_TIME // max(n, 1))
    for first in range(0, n, at_a_time):
        rows = slice(first, first + at_a_time)
        signs = np.sign(single_x[rows, None] - single_x) * np.sign(single_y[rows, None] - single_y)
        sums[rows, 0] = signs.sum(axis=1, dtype=np.float64)
    for column, places in ((1, x), (2, y)):
        sums[:, column] = n - np.bincount(places)[places]
    return sums


def centered_ranks(values: Float64) -> Float64:
    """Mid-rank of each of ``[n]`` values less the mean rank, (n + 1)/2: equal values share their mean rank."""
    return _Ranks.of(values).within(np.ones((len(values), 1)))[:, 0]


def weighted_ranks(values: Float64, counts: Float64) -> Float64:
    """Mid-rank, up to a constant, of each of ``[n]`` values in resamples where it occurs ``counts [n, r]`` times."""
    return _Ranks.of(values).within(counts)


@dataclass(frozen=True, eq=False)
class _Ranks:
    """Sorted values, so that ranks within a resample need no sorting.

    Attributes:
        order: ``[n]``, indices that sort the values.
        starts: ``[k]``, start of each distinct value among the sorted.
        place: ``[n]``, index of each value among the distinct ones, lowest first.
    """

    order: Int64
    starts: Int64
    place: Int64

    @classmethod
    def of(cls, values: Float64) -> _Ranks:
        order = np.argsort(values, kind="stable")
        _, starts = np.unique(values[order], return_index=True)
        return cls(order, starts, np.unique(values, return_inverse=True)[1].ravel())

    def within(self, drawn: Float64) -> Float64:
        """Mid-rank minus the mean rank of every value in each resample; ``drawn`` and result are ``[n, r]``."""
        counts = np.add.reduceat(drawn[self.order], self.starts, axis=0)
        middle = np.cumsum(counts, axis=0) - (counts - 1) / 2 - (len(drawn) + 1) / 2
        return np.asarray(middle[self.place])

    def above(self, values: Float64) -> Float64:
        """For each value, the sum of ``values [n]`` over those above it, counting equal ones half, ``[n]``."""
        at = np.add.reduceat(values[self.order], self.starts)
        return np.asarray((at.sum() - np.cumsum(at) + at / 2)[self.place])
