"""How sure a rank correlation over variants is, where several variants are of one model and so are not independent.

Each family is left out in turn, with all its variants, and the spread of what is left tells the standard error (a
jackknife over families); the interval takes Student's t with as many degrees of freedom as there are families, less
one. Drawing families with replacement and taking the middle 95% leaves 0 out in up to 11% of the cases in which two
scores have nothing to do with each other, where families are 10 to 12; this in 2 to 5% (docs/statistics.md).

Arrays in, arrays out, float64; more is better, or less, of all of them alike.
"""

from __future__ import annotations

import numpy as np

from core.numerics.statistics.correlations import weighted_ranks
from core.numerics.statistics.estimate import LEVEL
from core.numerics.statistics.intervals import Interval
from core.types import Bool, Float64, Int64

FEWEST_FAMILIES = 10  # for an interval
_EQUAL = 1e-12  # differences of correlations this close are equal


def spearman(x: Float64, y: Float64) -> float:
    """Spearman's rho of ``[n]`` and ``[n]``, ties sharing the mean of their ranks; NaN of constants or below 2."""
    from scipy import stats

    if len(x) < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return float("nan")
    return float(stats.spearmanr(x, y).statistic)


def spearman_without_each(first: Float64, second: Float64, families: Int64) -> Float64:
    """Spearman's rho of every column of ``first`` with every one of ``second`` without each family, ``[g, a, b]``.

    NaN where what is left of one of the columns has one value only.

    Args:
        first, second: ``[v, a]`` and ``[v, b]``, without NaN.
        families: ``[v]``, numbers from 0 without gaps, g of them.
    """
    number = int(families.max(initial=-1)) + 1
    counts = (families[:, np.newaxis] != np.arange(number)).astype(np.float64)  # [v, g]
    one, other = (np.stack([_unit(column, counts) for column in side.T]) for side in (first, second))
    return np.asarray(np.clip(np.einsum("avg,bvg->gab", one, other, optimize=True), -1.0, 1.0))


def _unit(column: Float64, counts: Float64) -> Float64:
    """Mid-ranks of a column among those that count, less their mean, of length 1: ``[v, g]``.

    Their products are correlations. NaN where only one value counts.
    """
    ranks = weighted_ranks(column, counts)
    ranks -= (counts * ranks).sum(axis=0) / counts.sum(axis=0)
    weighted = counts * ranks
    length = np.sqrt((weighted**2).sum(axis=0))
    with np.errstate(invalid="ignore"):  # 0/0 is what is meant by undefined
        # Ranks are halves of whole numbers: a length that is not 0 is at least about one half.
        return np.asarray(weighted / np.where(length > 1e-6, length, np.nan))


def interval_of_rho(rho: float, without: Float64, variants: int) -> Interval | None:
    """95% interval of a correlation, on Fisher's scale, from those without each family, ``[g]``.

    Its standard error is at least what so many independent variants would have, so that it is never without width,
    also where rho is 1. None where one family's absence leaves no correlation.
    """
    if np.isnan(without).any():
        return None
    highest = 1 - 12 / (variants * (variants**2 - 1))  # of a rho below 1: two neighbours in the other order
    centre, others = (np.arctanh(np.clip(v, -highest, highest)) for v in (np.asarray(rho), without))
    half = _quantile(len(without)) * max(_standard_error(float(centre), others), 1 / np.sqrt(variants - 3))
    return Interval(min(rho, float(np.tanh(centre - half))), max(rho, float(np.tanh(centre + half))))


def interval_of_difference(difference: float, without: Float64) -> Interval | None:
    """95% interval of a difference of two correlations, from those without each family, ``[g]``.

    None where one is not defined, or where all are equal: then nothing tells how far they could spread.
    """
    if np.isnan(without).any() or np.abs(without - difference).max() < _EQUAL:
        return None
    half = _quantile(len(without)) * _standard_error(difference, without)
    return Interval(max(-2.0, difference - half), min(2.0, difference + half))


def _standard_error(whole: float, without: Float64) -> float:
    """The jackknife's, around what all give together."""
    families = len(without)
    return float(np.sqrt((families - 1) / families * ((without - whole) ** 2).sum()))


def _quantile(families: int) -> float:
    from scipy.stats import t

    return float(t.ppf((1 + LEVEL) / 2, families - 1))


def numbers_of(families: tuple[str, ...], keep: Bool) -> Int64:
    """Number of the family of each of the kept variants, ``[k]`` from 0 without gaps, by name's first appearance."""
    names: dict[str, int] = {}
    kept = (family for family, own in zip(families, keep, strict=True) if own)
    return np.array([names.setdefault(family, len(names)) for family in kept], dtype=np.int64)
