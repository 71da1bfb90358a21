"""Similarity within bands of the scores: figure 2 of the EvalRank paper (Wang 2022, section 3.3, appendix B).

The paper collects all pairs of STS-Benchmark, takes those with scores in [5,3], [4,2], [3,1] and [2,0], draws 3,000 of
each, and shows every encoder's performance on them: whitening lifts the scores of less similar pairs most.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.diagnostics.similarity.intervals import estimates_of
from core.numerics.statistics.correlations import Correlations, correlations
from core.numerics.statistics.estimate import Estimate
from core.types import Float64, Int64

DATASET = "stsb-all"
PER_BAND = 3_000
SEED = 2_022
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


@dataclass(frozen=True)
class Band:
    """Scores from ``low`` to ``high``, both among them."""

    low: float
    high: float

    @property
    def label(self) -> str:
        """As the paper writes it, the higher end first."""
        return f"[{self.high:g},{self.low:g}]"


BANDS = (Band(3, 5), Band(2, 4), Band(1, 3), Band(0, 2))


@dataclass(frozen=True, eq=False)
class Drawn:
    """The pairs drawn from a band.

    Attributes:
        available: how many the band has.
        rows: ``[at most 3,000] int64``, ascending.
    """

    band: Band
    available: int
    rows: Int64


def draw(gold: Float64, bands: Sequence[Band] = BANDS, per_band: int = PER_BAND) -> tuple[Drawn, ...]:
    """As many pairs of each band, the same ones for every encoder; all of a band that has fewer.

    Args:
        gold: ``[m]`` scores.
    """
    rng = np.random.default_rng(SEED)
    out = []
    for band in bands:
        inside = np.flatnonzero((gold >= band.low) & (gold <= band.high)).astype(np.int64)
        rows = np.sort(rng.permutation(inside)[:per_band])
        out.append(Drawn(band, len(inside), rows))
    return tuple(out)


@dataclass(frozen=True)
class InBand:
    """How an encoder does on the pairs of a band.

    Attributes:
        estimates: per correlation with its interval; one that is undefined is left out.
        quantiles: of its similarities: 5%, 25%, 50%, 75%, 95%.
    """

    band: Band
    found: Correlations
    estimates: dict[str, Estimate]
    quantiles: tuple[float, ...]


def in_bands(
    similarity: Float64, gold: Float64, ends: tuple[Int64, Int64], drawn: Sequence[Drawn]
) -> tuple[InBand, ...]:
    """Of one encoder, ``[m]`` similarities, scores and numbers of the texts; bands without two pairs are left out."""
    out = []
    for one in drawn:
        if len(one.rows) < 2:
            continue
        x, y = similarity[one.rows], gold[one.rows]
        estimates = estimates_of(x, y, (ends[0][one.rows], ends[1][one.rows]))
        quantiles = tuple(float(q) for q in np.quantile(x, QUANTILES))
        out.append(InBand(one.band, correlations(x, y), estimates, quantiles))
    return tuple(out)
