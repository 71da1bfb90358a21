"""Intervals of rank correlations over variants, when variants of one model are not independent.

Each family is left out in turn, with all its variants; the spread of the results gives the standard error (a jackknife
over families), and the interval uses Student's t with one degree of freedom fewer than families. With 10 to 12 families
and unrelated scores, a percentile bootstrap over families excludes 0 in up to 11% of cases, this interval in 2 to 5%
(docs/statistics.md).

Arrays in, arrays out, float64; all scores are oriented alike.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from blindspot.numerics.statistics.correlations import weighted_ranks
from blindspot.numerics.statistics.estimate import Estimate, Unit
from blindspot.numerics.statistics.intervals import Interval, level_of_each, quantile
from blindspot.texts import counted
from blindspot.types import Bool, Float64, Int64

FEWEST_FAMILIES = 10  # for an interval
_EQUAL = 1e-12  # differences of correlations this close are equal


def spearman_without_each(first: Float64, second: Float64, families: Int64) -> Float64:
    """Spearman's rho of every column of ``first`` with every one of ``second``, leaving out each family: ``[g, a, b]``.

    NaN if the rest of a column is constant.

    Args:
        first, second: ``[v, a]`` and ``[v, b]``, without NaN.
        families: ``[v]``, numbers from 0 without gaps, g of them.
    """
    number = int(families.max(initial=-1)) + 1
    counts = (families[:, np.newaxis] != np.arange(number)).astype(np.float64)  # [v, g]
    units_of_first, other = (np.stack([_unit(column, counts) for column in side.T]) for side in (first, second))
    return np.asarray(np.clip(np.einsum("avg,bvg->gab", units_of_first, other, optimize=True), -1.0, 1.0))


def _unit(column: Float64, counts: Float64) -> Float64:
    """Mid-ranks of a column among the variants that count, centered, of unit length: ``[v, g]``.

    Their products are correlations. NaN if only one value counts.
    """
    ranks = weighted_ranks(column, counts)
    ranks -= (counts * ranks).sum(axis=0) / counts.sum(axis=0)
    weighted = counts * ranks
    length = np.sqrt((weighted**2).sum(axis=0))
    with np.errstate(invalid="ignore"):  # 0/0: undefined
        # Ranks are halves of whole numbers: a length that is not 0 is at least about one half.
        return np.asarray(weighted / np.where(length > 1e-6, length, np.nan))


def estimate_of_rho(rho: float, without: Float64, variants: int) -> Estimate:
    """A correlation with its 95% interval, on Fisher's scale, from the correlations without each family, ``[g]``.

    Its standard error is at least that of so many independent variants, so the interval never has zero width, even for
    rho 1.
    """
    if refusal := too_few(len(without)):
        return _estimate(rho, None, len(without), refusal)
    if np.isnan(without).any():
        return _estimate(rho, None, len(without), "without one of the families one score is the same throughout")
    centre, others = (_fisher(v, variants) for v in (np.asarray(rho), without))
    half = max(_standard_error(float(centre), others), 1 / np.sqrt(variants - 3)) * quantile(len(without) - 1)
    interval = Interval(min(rho, float(np.tanh(centre - half))), max(rho, float(np.tanh(centre + half))))
    return _estimate(rho, interval, len(without))


def _fisher(rho: Float64, variants: int) -> Float64:
    """Correlations on Fisher's scale, cut off at the largest rho below 1, which has two adjacent ranks swapped."""
    highest = 1 - 12 / (variants * (variants**2 - 1))
    return np.asarray(np.arctanh(np.clip(rho, -highest, highest)))


def one_of(estimate: Estimate, many: int, variants: int) -> Estimate:
    """A correlation of ``estimate_of_rho`` with an interval that holds for ``many`` at once: any may then be named."""
    if estimate.interval is None:
        return estimate
    level = level_of_each(many)
    wider = float(quantile(estimate.units - 1, level) / quantile(estimate.units - 1, estimate.level))
    centre = float(_fisher(np.asarray(estimate.value), variants))
    inner = (
        estimate.interval.low if estimate.value > 0 else estimate.interval.high
    )  # the other end may be 1, which is no limit
    half = wider * abs(float(np.arctanh(inner)) - centre)
    ends = (min(estimate.value, float(np.tanh(centre - half))), max(estimate.value, float(np.tanh(centre + half))))
    return replace(estimate, interval=Interval(*ends), level=level)


def estimate_of_difference(difference: float, without: Float64) -> Estimate:
    """A difference of two correlations with its 95% interval, from the differences without each family, ``[g]``."""
    if refusal := too_few(len(without)):
        return _estimate(difference, None, len(without), refusal)
    if np.isnan(without).any() or np.abs(without - difference).max() < _EQUAL:
        return _estimate(
            difference, None, len(without), "leaving out families tells nothing, as where both rank the variants alike"
        )
    half = float(quantile(len(without) - 1)) * _standard_error(difference, without)
    return _estimate(difference, Interval(max(-2.0, difference - half), min(2.0, difference + half)), len(without))


def too_few(families: int) -> str:
    """Why there is no interval; "" if there are enough families."""
    if families >= FEWEST_FAMILIES:
        return ""
    return (
        f"{counted(families, 'family', 'families')}, and variants of one family are not independent; it takes "
        f"{FEWEST_FAMILIES}"
    )


def _estimate(value: float, interval: Interval | None, families: int, refusal: str = "") -> Estimate:
    return Estimate(value, interval, "jackknife over families", Unit.FAMILIES, families, float(families), refusal)


def _standard_error(whole: float, without: Float64) -> float:
    """Standard error of the jackknife, around the estimate from all families."""
    families = len(without)
    return float(np.sqrt((families - 1) / families * ((without - whole) ** 2).sum()))


def numbers_of(families: tuple[str, ...], keep: Bool) -> Int64:
    """Family number of each kept variant, ``[k]``, from 0 without gaps, in order of first appearance."""
    names: dict[str, int] = {}
    kept = (family for family, is_kept in zip(families, keep, strict=True) if is_kept)
    return np.array([names.setdefault(family, len(names)) for family in kept], dtype=np.int64)
