"""Lengths of vectors against the items' frequency (Schakel and Wilson 2015, arXiv:1508.02297)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from blindspot.numerics.similarity import row_norms
from blindspot.numerics.statistics.association import Correlation, Medians, binned_medians, spearman
from blindspot.types import Bool, Float32, Float64, Int64

SAME = 1e-3  # lengths that differ by no more than this share of the longest are the same
BIN = 0.5  # of Zipf frequency: half a power of ten
FEWEST = 20  # least items of a bin with a median
MOST_POINTS = 25_000  # in all charts of a page together
SEED = 1_508


@dataclass(frozen=True, eq=False)
class Norms:
    """The lengths of a variant's vectors against the items' frequency.

    Attributes:
        norms: ``[k] float64``, of every item.
        zeros: number of zero vectors; all attributes below leave them out.
        shortest, median, longest: lengths; NaN if all vectors are zero.
        correlation: Spearman's, of length and Zipf frequency; NaN if all lengths are the same but for rounding.
        medians: median lengths, in bins of half a power of ten; none if all lengths are the same.
    """

    norms: Float64
    zeros: int
    shortest: float
    median: float
    longest: float
    correlation: Correlation
    medians: Medians

    @property
    def alike(self) -> bool:
        """Whether all vectors have the same length, as with an encoder that normalizes them."""
        return not self.longest - self.shortest > SAME * self.longest  # also if there are none


def against_frequency(vectors: Float32, zipf: Float64) -> Norms:
    """Compare vectors ``[k, d]`` with their items' Zipf frequency ``[k]``, NaN if unknown."""
    norms = row_norms(vectors)
    others = norms[norms > 0]
    ends = np.quantile(others, (0.0, 0.5, 1.0)) if len(others) else np.full(3, np.nan)
    both = _comparable(norms, zipf)
    x, y = zipf[both], norms[both]
    zeros = len(norms) - len(others)
    shortest, median, longest = map(float, ends)
    return Norms(norms, zeros, shortest, median, longest, spearman(x, y), binned_medians(x, y, BIN, FEWEST))


def correlation(vectors: Float32 | Float64, frequency: Float64) -> Correlation:
    """Spearman's correlation of the lengths of ``[k, d]`` and any measure of frequency ``[k]``; see ``Norms``."""
    norms = row_norms(vectors)
    both = _comparable(norms, frequency)
    return spearman(frequency[both], norms[both])


def _comparable(norms: Float64, frequency: Float64) -> Bool:
    """Which items have a length and a frequency, ``[k] bool``; none if rounding would decide the order of lengths."""
    others = norms[norms > 0]
    differ = len(others) > 0 and bool(np.ptp(others) > SAME * others.max())
    return np.asarray((norms > 0) & ~np.isnan(frequency) & differ)


def sample(zipf: Float64, charts: int) -> Int64:
    """The items drawn as dots in every chart, ``[m] int64`` ascending: all with a frequency, or a random sample of as
    many as the charts may hold together."""
    with_frequency = np.flatnonzero(~np.isnan(zipf)).astype(np.int64)
    most = MOST_POINTS // charts
    if len(with_frequency) <= most:
        return with_frequency
    return np.sort(np.random.default_rng(SEED).choice(with_frequency, most, replace=False)).astype(np.int64)
