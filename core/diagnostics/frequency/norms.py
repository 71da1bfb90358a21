"""How long vectors are, and whether frequent items have the longer ones (Schakel and Wilson 2015, arXiv:1508.02297)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.numerics.similarity import row_norms
from core.numerics.statistics.association import Correlation, Medians, binned_medians, spearman
from core.types import Float32, Float64, Int64

SAME = 1e-3  # lengths that differ by no more than this share of the median are the same
BIN = 0.5  # of Zipf frequency: half a power of ten
FEWEST = 20  # items in a bin whose median is drawn
MOST_POINTS = 25_000  # in all charts of a page together
SEED = 1_508


@dataclass(frozen=True, eq=False)
class Norms:
    """The lengths of a variant's vectors against the items' frequency.

    Attributes:
        norms: ``[k] float64``, of every item.
        zeros: items with a zero vector; they count in nothing below.
        shortest, longest: of the others; NaN where there are none.
        correlation: Spearman's, of length and Zipf frequency, over items that have both; NaN where all lengths are
            the same but for rounding.
        medians: of the length, in bins of half a power of ten; none where all lengths are the same.
    """

    norms: Float64
    zeros: int
    shortest: float
    longest: float
    correlation: Correlation
    medians: Medians

    @property
    def alike(self) -> bool:
        """Whether all vectors have one length, as those of an encoder that normalises them do."""
        return self.zeros == len(self.norms) or self.longest - self.shortest <= SAME * self.longest


def against_frequency(vectors: Float32, zipf: Float64) -> Norms:
    """Of vectors ``[k, d]`` and their items' Zipf frequency ``[k]``, NaN where it is unknown."""
    norms = row_norms(vectors)
    others = norms[norms > 0]
    shortest, longest = (float(others.min()), float(others.max())) if len(others) else (float("nan"), float("nan"))
    same = not len(others) or longest - shortest <= SAME * longest
    # Rounding would decide both the ranks and the medians of equal lengths.
    both = (norms > 0) & ~np.isnan(zipf) & (not same)
    x, y = zipf[both], norms[both]
    return Norms(
        norms,
        len(norms) - len(others),
        shortest,
        longest,
        spearman(x, y),
        binned_medians(x, y, BIN, FEWEST),
    )


def sample(zipf: Float64, charts: int) -> Int64:
    """Which items are drawn as dots: all that have a frequency, or as many at random as the charts may hold together.

    The same ones in every chart; ascending, ``[m] int64``.
    """
    known = np.flatnonzero(~np.isnan(zipf)).astype(np.int64)
    most = MOST_POINTS // max(charts, 1)
    if len(known) <= most:
        return known
    return np.sort(np.random.default_rng(SEED).choice(known, most, replace=False)).astype(np.int64)
