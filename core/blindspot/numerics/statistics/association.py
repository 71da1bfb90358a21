"""Association of two quantities: rank correlation, and binned medians, both with intervals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from blindspot.numerics.statistics.correlations import centered_ranks
from blindspot.numerics.statistics.estimate import check_is_inside
from blindspot.numerics.statistics.intervals import Z_95, Interval
from blindspot.numerics.statistics.written import ci, number
from blindspot.types import Float64, Int64

FEWEST_FOR_INTERVAL = 10  # items; with fewer, the normal approximation is invalid


@dataclass(frozen=True)
class Correlation:
    """A correlation over n items; NaN if undefined, as are the ends of a missing interval."""

    value: float
    interval: Interval
    n: int

    @property
    def sign(self) -> int:
        """1 or -1 where the interval is above or below 0, else 0."""
        return int(self.interval.low > 0) - int(self.interval.high < 0)

    @property
    def text(self) -> str:
        """``+0.123 (95% CI +0.100 to +0.146)``, ``+0.123`` without an interval, or ``undefined``."""
        if np.isnan(self.value):
            return "undefined"
        check_is_inside(self.value, self.interval)
        return f"{number(self.value, '+.3f')}{ci(None if np.isnan(self.interval.low) else self.interval, '+.3f')}"


def spearman(x: Float64, y: Float64) -> Correlation:
    """Spearman's rank correlation of ``[n]`` and ``[n]``, ties sharing their mean rank, with a 95% interval.

    The interval is Fisher's: ``tanh(atanh(r) +- 1.96 sqrt((1 + r^2/2) / (n - 3)))`` (Bonett and Wright 2000), assuming
    independent items. NaN for fewer than two items, or if all of x or all of y are equal; no interval for fewer than
    ``FEWEST_FOR_INTERVAL`` items, or for a perfect correlation.
    """
    none = Interval(float("nan"), float("nan"))
    n = len(x)
    if n < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return Correlation(float("nan"), none, n)
    a, b = centered_ranks(x), centered_ranks(y)
    r = float(np.clip((a @ b) / np.sqrt((a @ a) * (b @ b)), -1.0, 1.0))
    if n < FEWEST_FOR_INTERVAL or 1 - abs(r) < 1e-12:
        return Correlation(r, none, n)
    return Correlation(r, rank_interval(r, n), n)


def rank_interval(r: float, n: int) -> Interval:
    """The 95% interval of ``spearman`` from the correlation, within -1 to 1, of n items, more than three."""
    half = Z_95 * _spread(r, n)
    return Interval(float(np.tanh(np.arctanh(r) - half)), float(np.tanh(np.arctanh(r) + half)))


def rank_correlation_against(r: float, n: int, null: float) -> float:
    """The two-sided p-value that a rank correlation is ``null``; below 0.05 where ``null`` is outside the interval."""
    from scipy.special import ndtr

    return float(2 * ndtr(-abs(np.arctanh(r) - np.arctanh(null)) / _spread(r, n)))


def _spread(r: float, n: int) -> float:
    """Standard error of Fisher's z of a rank correlation (Bonett and Wright 2000)."""
    return float(np.sqrt((1 + r * r / 2) / (n - 3)))


def median_interval(values: Float64) -> Interval:
    """95% interval of the median of ``[n]``, from order statistics, without assumptions on the distribution.

    From the j-th smallest to the j-th largest value, with the largest j for which a binomial(n, 1/2) falls outside with
    probability at most 5% (Conover 1999, section 3.2). NaN for fewer than six values, whose extremes cover the median
    too rarely.
    """
    from scipy.stats import binom

    n = len(values)
    # P(X <= j - 1) <= 0.025 on each side
    j = int(binom.ppf(0.025, n, 0.5)) if n else 0
    if n and binom.cdf(j, n, 0.5) <= 0.025:
        j += 1
    if j < 1:
        return Interval(float("nan"), float("nan"))
    ordered = np.sort(values)
    return Interval(float(ordered[j - 1]), float(ordered[n - j]))


@dataclass(frozen=True, eq=False)
class Medians:
    """Medians of y in those bins of x that have enough items.

    Attributes:
        middle: ``[b] float64``, the middle of each bin.
        median, low, high: ``[b] float64``; the ends are NaN without an interval.
        items: ``[b] int64``.
    """

    middle: Float64
    median: Float64
    low: Float64
    high: Float64
    items: Int64


def binned_medians(x: Float64, y: Float64, width: float, fewest: int) -> Medians:
    """Medians of y ``[n]`` in half-open bins of x ``[n]`` that begin at multiples of ``width``.

    Args:
        fewest: bins with fewer items are left out.
    """
    rows = []
    numbers = np.floor(x / width).astype(np.int64)
    for bin_number in np.unique(numbers):
        inside = y[numbers == bin_number]
        if len(inside) >= fewest:
            interval = median_interval(inside)
            rows.append(
                ((bin_number + 0.5) * width, float(np.median(inside)), interval.low, interval.high, float(len(inside)))
            )
    middle, median, low, high, items = np.array(rows, dtype=np.float64).reshape(len(rows), 5).T
    return Medians(middle, median, low, high, items.astype(np.int64))
