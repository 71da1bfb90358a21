"""Tests of a score against a null value, by inverting the intervals of ``pairs``.

p is below 0.05 exactly if the 95% interval excludes the value, so simulations of the intervals apply to these tests.
Without an interval there is no test: p is NaN.
"""

from __future__ import annotations

import math

import numpy as np

from blindspot.numerics.statistics.estimate import Estimate, Unit
from blindspot.numerics.statistics.intervals import LEVEL, Z_95, Interval
from blindspot.numerics.statistics.pairs import (
    Dependence,
    bounded,
    fisher_estimate,
    freedom_of,
    moments,
    t_estimate,
    worth,
)
from blindspot.types import Bool, Float64, Int64


def share_against(
    values: Float64, dependence: Dependence, null: float, null_of: float = math.inf
) -> tuple[Estimate, float]:
    """The mean of ``values [m]`` within 0 to 1, and the p-value of a score test against ``null`` (not 0 or 1).

    ``null`` may itself be a share, among ``null_of`` things.
    """
    return bounded_against(float(values.mean()), values, dependence, dependence.effective, null, null_of)


def bounded_against(
    value: float, influence: Float64, dependence: Dependence, units: float, null: float, null_of: float = math.inf
) -> tuple[Estimate, float]:
    """The same for a score within 0 to 1, from the influence of each item; ``units`` as in ``pairs.bounded``."""
    estimate = bounded(value, influence, dependence, units)
    if estimate.interval is None:
        return estimate, math.nan
    _, variance, carried = moments(influence, dependence)
    n = worth(value, float(influence.var()), variance, carried, units)
    return estimate, _two_sided(
        (value - null) / math.sqrt(null * (1 - null) * (1 / n + 1 / null_of)), dependence.freedom
    )


def correlation_against(
    value: float, influence: Float64, dependence: Dependence, null: float
) -> tuple[Estimate, float]:
    """A correlation from the influence of each pair, ``[m]``, and the p-value against ``null``, by Fisher's z."""
    counted = moments(influence, dependence)
    estimate = fisher_estimate(value, counted, dependence)
    if estimate.interval is None:
        return estimate, math.nan
    apart = (math.atanh(value) - math.atanh(null)) * (1 - value * value)
    return estimate, _two_sided(apart / math.sqrt(counted[1]), freedom_of(counted[2], dependence))


def change_against(
    value: float, influence: Float64, dependence: Dependence, null: float = 0.0, level: float = LEVEL
) -> tuple[Estimate, float]:
    """A mean or difference from the influence of each pair, ``[m]``, and the p-value against ``null``, by Student's
    t."""
    counted = moments(influence, dependence)
    estimate = t_estimate(value, counted, dependence, level=level)
    if estimate.interval is None:
        return estimate, math.nan
    return estimate, _two_sided((value - null) / math.sqrt(counted[1]), freedom_of(counted[2], dependence))


def stored_against(value: float, interval: Interval, null: float) -> float:
    """The p-value of a share against ``null``, from its stored Wilson interval.

    At the end facing ``null``, p is 0.05, which gives the share's effective n:
    ``(value - end)^2 = q^2 end (1 - end) / n``. The quantile q is taken as normal, a good approximation for stored
    scores, which have 50 examples or more.
    """
    if value == null:
        return 1.0
    end = interval.high if null > value else interval.low
    possible = end * (1 - end)
    if end == value or possible <= 0:
        return math.nan  # at a bound the interval gives no n
    squared = (value - null) ** 2 / (null * (1 - null)) * possible / (value - end) ** 2
    from scipy.special import ndtr

    return float(2 * ndtr(-Z_95 * math.sqrt(squared)))


def difference_influence(values: Float64, inside: Bool) -> tuple[float, Float64]:
    """The mean of ``values [m]`` inside minus that outside, and the influence of each value, ``[m]``.

    Args:
        inside: ``[m] bool``, neither all True nor all False.
    """
    m = len(values)
    within, outside = values[inside].mean(), values[~inside].mean()
    k = np.count_nonzero(inside)
    moved = np.where(inside, (values - within) * (m / k), -(values - outside) * (m / (m - k)))
    return float(within - outside), moved


def of_ends(moved: Float64, left: Int64, right: Int64) -> tuple[Float64, Dependence]:
    """The influence of each end, ``[k]``, on a mean of ``m`` things with two ends each, and their dependence.

    Such a mean is a U-statistic of degree two: its variance is that of the mean of the ends' influences (Hoeffding
    1948), with as many independent units as there are ends. ``Dependence.of`` would refuse many of these cases, such as
    all pairs of a set.

    Args:
        moved: ``[m]``, the influence of each thing, minus their mean.
        left, right: ``[m]``, numbers of its ends, which differ.
    """
    _, ends = np.unique(np.concatenate([left, right]), return_inverse=True)
    e = moved - moved.mean()
    sums = np.bincount(ends, np.tile(e, 2))
    return np.asarray(sums * (len(sums) / len(e)), dtype=np.float64), Dependence.of_groups(
        np.arange(len(sums)), Unit.TEXTS
    )


def _two_sided(t: float, freedom: float) -> float:
    from scipy.special import stdtr

    return float(2 * stdtr(freedom, -abs(t)))
