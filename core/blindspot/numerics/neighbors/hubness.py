"""Hubness: how unevenly items occur in nearest-neighbor lists (Radovanović, Nanopoulos and Ivanović 2010, JMLR 11).

``N_k(i)``, the *k-occurrence* of item i, is the number of items with i among their k nearest. Its mean is k in every
space; spaces differ in the skewness of its distribution.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from blindspot.types import Float64, Int32, Int64

HUB = 10.0  # an item that occurs so many times as often as the average one is called a hub


def skewness(counts: Int64 | Float64) -> float:
    """``E[(N - mean)^3] / sd^3`` over all items (section 2.1 there), NaN where all counts are equal."""
    values = np.asarray(counts, dtype=np.float64)
    if not len(values):
        return float("nan")
    away = values - values.mean()
    variance = float(np.mean(away**2))
    return float(np.mean(away**3)) / variance**1.5 if variance > 0 else float("nan")


def occurrences(lists: Int32 | Int64, k: int, n: int) -> Int64:
    """Number of lists with each of n items among their first k, ``[n] int64``.

    Args:
        lists: ``[q, >= k]``, items by their rows, the nearest first.
    """
    if not 1 <= k <= lists.shape[1]:
        raise ValueError(f"k is {k}, with lists of {lists.shape[1]} it must be 1 to {lists.shape[1]}")
    return np.bincount(lists[:, :k].ravel(), minlength=n).astype(np.int64)


@dataclass(frozen=True)
class Hubness:
    """Summary of the k-occurrences of n items.

    Attributes:
        skewness: NaN if all items occur equally often.
        never: share of items that are not among the k nearest of any item (anti-hubs), 0 to 1.
        hubs: items that occur at least ``HUB`` times as often as the average.
        most: the highest k-occurrence.
        in_hubs: share of all places in lists that hubs take, 0 to 1.
    """

    n: int
    k: int
    skewness: float
    never: float
    hubs: int
    most: int
    in_hubs: float

    @classmethod
    def of(cls, counts: Int64, k: int) -> Hubness:
        """Summarize k-occurrences ``[n]``, n at least 1."""
        are_hubs = counts >= HUB * counts.mean() if counts.any() else np.zeros(len(counts), dtype=np.bool_)
        return cls(
            len(counts),
            k,
            skewness(counts),
            float(np.mean(counts == 0)),
            int(are_hubs.sum()),
            int(counts.max()),
            float(counts[are_hubs].sum() / max(counts.sum(), 1)),
        )


@dataclass(frozen=True)
class Chance:
    """Expectation if every list had k items drawn at random: N_k is binomial with n - 1 lists, p = k/(n - 1)."""

    skewness: float
    never: float


def by_chance(n: int, k: int) -> Chance:
    """Closed form; n is at least 2, k is 1 to n - 1. The skewness is NaN if all items are always drawn (k = n - 1)."""
    p = k / (n - 1)
    variance = (n - 1) * p * (1 - p)
    return Chance((1 - 2 * p) / variance**0.5 if variance > 0 else float("nan"), (1 - p) ** (n - 1))


@dataclass(frozen=True, eq=False)
class Tail:
    """Complementary distribution of the k-occurrence.

    Attributes:
        at_least: ``[m] int64``, the distinct occurrences, ascending, from 1.
        share: ``[m] float64``, share of items that occur at least so often.
    """

    at_least: Int64
    share: Float64


def tail(counts: Int64) -> Tail:
    """The complementary distribution of k-occurrences ``[n]``."""
    values, times = np.unique(counts, return_counts=True)
    reaching = np.cumsum(times[::-1])[::-1] / max(len(counts), 1)
    above = values >= 1
    return Tail(values[above].astype(np.int64), reaching[above])
