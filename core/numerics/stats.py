"""Intervals around what was counted. Numbers in, numbers out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

Z_95 = 1.959963984540054  # the normal distribution's 97.5th percentile


@dataclass(frozen=True)
class Interval:
    low: float
    high: float


def wilson_interval(share: float, n: int, z: float = Z_95) -> Interval:
    """Score interval of a share among ``n`` (Wilson 1927), 95% unless ``z`` says otherwise.

    ``share * n`` need not be whole: ties may count half.
    """
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * float(np.sqrt(share * (1 - share) / n + z * z / (4 * n * n)))
    return Interval(max(0.0, centre - half), min(1.0, centre + half))
