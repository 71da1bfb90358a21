"""How sure a rank correlation over variants is, where several variants are of one model and so are not independent.

Families are drawn anew, with replacement, and all variants of each come along (a cluster bootstrap): drawing variants
one by one would take 24 variants of 6 models for 24 models, and its intervals exclude 0 in 29% of the cases in which
two scores have nothing to do with each other.

Arrays in, arrays out, float64; more is better, or less, of all of them alike.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.numerics.correlations import weighted_ranks
from core.numerics.stats import RESAMPLES, Interval, percentile_interval, resample_counts
from core.types import Bool, Float64, Int64

SEED = 2_022  # the same number of families gives the same draws, whatever was measured on them
FEWEST_FAMILIES = 10  # for an interval: with fewer, too few different draws stand behind its ends
MAY_BE_UNDEFINED = 0.05  # share of draws without a correlation up to which there is an interval
_NUMBERS_AT_A_TIME = 400_000  # of a matrix of draws


def spearman(x: Float64, y: Float64) -> float:
    """Spearman's rho of ``[n]`` and ``[n]``, ties sharing the mean of their ranks; NaN of constants or below 2."""
    from scipy import stats

    if len(x) < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return float("nan")
    return float(stats.spearmanr(x, y).statistic)


def resampled_spearman(
    first: Float64, second: Float64, families: Int64, resamples: int = RESAMPLES, seed: int = SEED
) -> Float64:
    """Spearman's rho of every column of ``first`` with every one of ``second`` in each draw, ``[resamples, a, b]``.

    As many families are drawn as there are, with all their variants; a family drawn twice has each variant in it twice.
    A correlation is NaN where a draw leaves one of its columns with one value only (one family drawn throughout, say).

    The draws depend on the seed and the number of families alone: all columns stand on the same ones, so the
    difference of two correlations is the difference of their columns.

    Args:
        first, second: ``[v, a]`` and ``[v, b]``, without NaN.
        families: ``[v]``, numbers from 0 without gaps.
    """
    number = int(families.max(initial=-1)) + 1
    rng = np.random.default_rng(seed)
    columns = [*first.T, *second.T]
    at_a_time = max(1, _NUMBERS_AT_A_TIME // max(len(families) * len(columns), 1))
    out = []
    for start in range(0, resamples, at_a_time):
        drawn = resample_counts(number, min(at_a_time, resamples - start), rng)
        counts = np.ascontiguousarray(drawn[:, families].T)  # [v, r]
        units = np.stack([_unit(column, counts) for column in columns])  # [a + b, v, r]
        out.append(np.einsum("avr,bvr->rab", units[: first.shape[1]], units[first.shape[1] :], optimize=True))
    return np.asarray(np.clip(np.concatenate(out), -1.0, 1.0))


def _unit(column: Float64, counts: Float64) -> Float64:
    """Mid-ranks of a column in each draw, less their mean, times the root of the counts, of length 1: ``[v, r]``.

    Their products are correlations. NaN where a draw has one value only.
    """
    ranks = weighted_ranks(column, counts)
    ranks -= (counts * ranks).sum(axis=0) / counts.sum(axis=0)
    weighted = np.sqrt(counts) * ranks
    length = np.sqrt((weighted**2).sum(axis=0))
    with np.errstate(invalid="ignore"):  # 0/0 is what is meant by undefined
        # Ranks are halves of whole numbers: a length that is not 0 is at least about one half.
        return np.asarray(weighted / np.where(length > 1e-6, length, np.nan))


@dataclass(frozen=True)
class FamilyInterval:
    """A 95% interval from draws of families, or why there is none.

    Attributes:
        undefined: how many of the draws had no correlation and were left out.
    """

    interval: Interval | None
    undefined: int


def interval_of(draws: Float64) -> FamilyInterval:
    """The middle 95% of ``[resamples]``; no interval where too many are undefined: what is left is not all."""
    known = draws[~np.isnan(draws)]
    undefined = len(draws) - len(known)
    enough = len(known) > 0 and undefined <= MAY_BE_UNDEFINED * len(draws)
    return FamilyInterval(percentile_interval(known) if enough else None, undefined)


def numbers_of(families: tuple[str, ...], keep: Bool) -> Int64:
    """Number of the family of each of the kept variants, ``[k]`` from 0 without gaps, by name's first appearance."""
    names: dict[str, int] = {}
    kept = (family for family, own in zip(families, keep, strict=True) if own)
    return np.array([names.setdefault(family, len(names)) for family in kept], dtype=np.int64)
