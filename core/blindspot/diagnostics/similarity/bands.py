"""Similarity within bands of the scores: figure 2 of the EvalRank paper (Wang 2022, section 3.3, appendix B).

The paper collects all pairs of STS-Benchmark, takes those with scores in [5,3], [4,2], [3,1] and [2,0], draws 3,000 of
each, and shows every encoder's performance on them: whitening lifts the scores of less similar pairs most.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from blindspot.datasets.catalog import DatasetRef
from blindspot.diagnostics.similarity.view import estimates_of
from blindspot.numerics.statistics.estimate import Estimate
from blindspot.types import Float64, Int64

DATASET = DatasetRef("stsb-all")
PER_BAND = 3_000
SEED = 2_022
QUANTILES = {"q5": 0.05, "q25": 0.25, "q50": 0.5, "q75": 0.75, "q95": 0.95}
BANDS = ((3, 5), (2, 4), (1, 3), (0, 2))  # lowest and highest score, both included


@dataclass(frozen=True, eq=False)
class Drawn:
    """The pairs ``rows [at most 3,000]``, ascending, drawn from the ``available`` pairs of a band."""

    label: str
    available: int
    rows: Int64


def draw(gold: Float64, per_band: int = PER_BAND) -> tuple[Drawn, ...]:
    """Draw ``per_band`` pairs in each band of scores ``gold [m]``, or all of a smaller band; the same for all encoders.

    A band is named as in the paper, the higher end first.
    """
    rng = np.random.default_rng(SEED)
    out = []
    for low, high in BANDS:
        inside = np.flatnonzero((gold >= low) & (gold <= high)).astype(np.int64)
        out.append(Drawn(f"[{high},{low}]", len(inside), np.sort(rng.permutation(inside)[:per_band])))
    return tuple(out)


@dataclass(frozen=True)
class InBand:
    """An encoder's correlations within a band, without undefined ones, and quantiles of its similarities."""

    label: str
    estimates: dict[str, Estimate]
    quantiles: dict[str, float]


def in_bands(
    similarity: Float64, gold: Float64, ends: tuple[Int64, Int64], drawn: Sequence[Drawn]
) -> tuple[InBand, ...]:
    """One encoder's results in each band of two or more pairs, from ``[m]`` similarities, scores and numbers of the
    texts."""
    out = []
    for band in drawn:
        if len(band.rows) > 1:
            x, y = similarity[band.rows], gold[band.rows]
            estimates = estimates_of(x, y, (ends[0][band.rows], ends[1][band.rows]))
            quantiles = dict(zip(QUANTILES, np.quantile(x, list(QUANTILES.values())).tolist(), strict=True))
            out.append(InBand(band.label, estimates, quantiles))
    return tuple(out)
