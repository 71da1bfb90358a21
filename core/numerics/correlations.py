"""Correlations of predicted similarity with what people said: Pearson, Spearman, Kendall (Eger 2019, section 3)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from core.numerics.stats import Interval, percentile_interval, resample_counts
from core.types import Float32, Float64, Int64

KINDS = ("pearson", "spearman", "kendall")
EXACT_PAIRS = 1_500  # up to which Kendall's tau of a resample is computed pair by pair
KENDALL_RESAMPLES = 500  # then: with half of the others' the ends move by little
RESAMPLES = 1_000
SEED = 2_019  # of the resamples: the same number of pairs gives the same ones, whatever was measured on them
_NUMBERS_AT_A_TIME = 400_000  # of a matrix of draws or of signs: larger ones cost more in fresh memory than they save
_MAY_BE_UNDEFINED = 0.05  # share of resamples without a correlation up to which there is an interval
_ROUNDING = 1e-12
DECIMALS = 6  # to which similarities are rounded: nearer to each other they are equal (DESIGN 4.1)


@dataclass(frozen=True)
class Correlations:
    """Three correlations over n pairs; NaN where one is undefined.

    Attributes:
        kendall: tau-b, which takes ties into account.
    """

    pearson: float
    spearman: float
    kendall: float
    n: int


def correlations(predicted: Float64, gold: Float64) -> Correlations:
    """Of ``[n]`` predicted similarities and ``[n]`` scores, by scipy.

    All are NaN for fewer than two pairs, or where all predictions or all scores are the same.
    """
    from scipy import stats

    nan = float("nan")
    n = len(gold)
    if n < 2 or np.ptp(predicted) == 0 or np.ptp(gold) == 0:
        return Correlations(nan, nan, nan, n)
    return Correlations(
        float(stats.pearsonr(predicted, gold).statistic),
        float(stats.spearmanr(predicted, gold).statistic),
        float(stats.kendalltau(predicted, gold).statistic),
        n,
    )


# --- bootstrap over pairs


@dataclass(frozen=True, eq=False)
class Resampled:
    """The correlations of bootstrap resamples; NaN where one is undefined.

    Attributes:
        pearson, spearman: ``[resamples] float64``.
        kendall: ``[k] float64``, tau-b of the first k resamples of the same.
    """

    pearson: Float64
    spearman: Float64
    kendall: Float64

    def of(self, kind: str) -> Float64:
        """By the name of the correlation."""
        found: Float64 = getattr(self, kind)
        return found


def resampled(predicted: Float64, gold: Float64, resamples: int = RESAMPLES, seed: int = SEED) -> Resampled:
    """Correlations where the n pairs are drawn anew n times, with replacement.

    A resample is given by how often each pair stands in it, and nothing is sorted again for it: weighted moments for
    Pearson; mid-ranks from cumulated counts for Spearman. Kendall's tau is a sum over pairs of pairs, ``n^2`` terms
    per resample: up to ``EXACT_PAIRS`` pairs that is done for the first ``KENDALL_RESAMPLES``; of more pairs the sum
    is taken to first order in how often each pair is drawn (its projection; what is left out is of order 1/n).

    Two that were measured on the same pairs stand on the same resamples.

    Args:
        predicted, gold: ``[n]``.
    """
    rng = np.random.default_rng(seed)
    n = len(gold)
    at_a_time = max(1, _NUMBERS_AT_A_TIME // max(n, 1))
    x, y = predicted - predicted.mean(), gold - gold.mean()
    x_ranks, y_ranks = _Ranks.of(predicted), _Ranks.of(gold)
    tau = _Tau.of(x_ranks.place, y_ranks.place)
    pearson, spearman, kendall = [], [], []
    for first in range(0, resamples, at_a_time):
        drawn = np.ascontiguousarray(resample_counts(n, min(at_a_time, resamples - first), rng).T)
        pearson.append(_weighted_pearson(x[:, np.newaxis], y[:, np.newaxis], drawn))
        spearman.append(_weighted_pearson(x_ranks.within(drawn), y_ranks.within(drawn), drawn))
        if n > EXACT_PAIRS or first < KENDALL_RESAMPLES:
            kendall.append(tau.within(drawn if n > EXACT_PAIRS else drawn[:, : KENDALL_RESAMPLES - first]))
    return Resampled(*(np.concatenate(values) for values in (pearson, spearman, kendall)))


def weighted_ranks(values: Float64, counts: Float64) -> Float64:
    """Mid-rank, up to a constant, of each of ``[n]`` values where it stands as often as ``counts [n, r]`` say."""
    return _Ranks.of(values).within(counts)


def interval_of(values: Float64) -> Interval | None:
    """The middle 95% of a bootstrap's values; None where too many of them are undefined."""
    known = values[~np.isnan(values)]
    return percentile_interval(known) if len(known) and len(known) >= (1 - _MAY_BE_UNDEFINED) * len(values) else None


@dataclass(frozen=True, eq=False)
class _Ranks:
    """Values by their order, so that ranks within a resample need no sorting.

    Attributes:
        order: ``[n]``, which sorts them.
        starts: ``[k]``, where each distinct value begins among the sorted.
        place: ``[n]``, number of each value among the distinct ones, from the lowest.
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
        """Mid-rank, less the mean rank, of every value in each resample; ``drawn`` and result are ``[n, r]``."""
        counts = np.add.reduceat(drawn[self.order], self.starts, axis=0)
        middle = np.cumsum(counts, axis=0) - (counts - 1) / 2 - (len(drawn) + 1) / 2
        return np.asarray(middle[self.place])


def _weighted_pearson(x: Float64, y: Float64, weights: Float64) -> Float64:
    """Pearson's r per column of weights ``[n, r]``, ``[r]``; x and y are ``[n, 1]`` or ``[n, r]``, near their mean."""
    total = weights.sum(axis=0)
    weighted_x, weighted_y = weights * x, weights * y
    sx, sy = weighted_x.sum(axis=0) / total, weighted_y.sum(axis=0) / total
    sxx, syy, sxy = ((a * b).sum(axis=0) / total for a, b in ((weighted_x, x), (weighted_y, y), (weighted_x, y)))
    xx, yy = sxx - sx * sx, syy - sy * sy
    # A resample of one value only has a variance of rounding errors.
    defined = (xx > _ROUNDING * sxx) & (yy > _ROUNDING * syy)
    out = np.full(len(total), np.nan)
    out[defined] = (sxy - sx * sy)[defined] / np.sqrt(xx[defined] * yy[defined])
    return np.asarray(np.clip(out, -1.0, 1.0))


@dataclass(frozen=True, eq=False)
class _Tau:
    """Kendall's tau-b as a ratio of sums over ordered pairs of pairs: ``sum s_ij / sqrt(sum u_ij sum v_ij)``.

    s is 1 for the same order, -1 for the other, 0 for a tie; u and v are 1 where x or y differ.

    Attributes:
        x, y: ``[n]`` places of the values in their order.
        sums: ``[n, 3]``, of s, u and v over j.
    """

    x: Float32
    y: Float32
    sums: Float64

    @classmethod
    def of(cls, x: Int64, y: Int64) -> _Tau:
        out = cls(x.astype(np.float32), y.astype(np.float32), np.empty((len(x), 3)))
        for rows, signs in out._blocks():
            out.sums[rows, 0] = signs.sum(axis=1, dtype=np.float64)
        for column, places in ((1, x), (2, y)):
            out.sums[:, column] = len(places) - np.bincount(places)[places]
        return out

    def _blocks(self) -> Iterator[tuple[slice, Float32]]:
        """The signs s ``[some, n]``, block by block."""
        n = len(self.x)
        at_a_time = max(1, _NUMBERS_AT_A_TIME // max(n, 1))
        for first in range(0, n, at_a_time):
            rows = slice(first, first + at_a_time)
            yield rows, np.sign(self.x[rows, None] - self.x) * np.sign(self.y[rows, None] - self.y)

    def within(self, drawn: Float64) -> Float64:
        """Tau-b in each resample; ``drawn`` is ``[n, r]``, the result ``[r]``."""
        n, r = drawn.shape
        if n > EXACT_PAIRS:
            s, u, v = 2 * (drawn.T @ self.sums).T - self.sums.sum(axis=0)[:, np.newaxis]
        else:
            single = drawn.astype(np.float32)  # whole numbers below 2^24 all along, which it holds exactly
            s = np.zeros(r)
            for rows, signs in self._blocks():
                s += np.einsum("br,br->r", drawn[rows], signs @ single)
            u, v = (n * n - _same(places, drawn) for places in (self.x, self.y))
        out = np.full(r, np.nan)
        defined = (u > 0) & (v > 0)
        out[defined] = s[defined] / np.sqrt(u[defined] * v[defined])
        return np.asarray(np.clip(out, -1.0, 1.0))


def _same(places: Float32, drawn: Float64) -> Float64:
    """Ordered pairs of one value, those of a pair with itself among them, in each resample, ``[r]``."""
    ranks = _Ranks.of(places.astype(np.float64))
    return np.asarray((np.add.reduceat(drawn[ranks.order], ranks.starts, axis=0) ** 2).sum(axis=0))
