"""Densities of one-dimensional samples, for figures: a kernel estimate on a grid, and quantiles.

Arrays in, arrays out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import gaussian_kde, norm

from blindspot.types import Float64

GRID = 128  # points at which a density is drawn
ALIKE = 1e-6  # of the bandwidth: a smaller standard deviation is invisible
REACH = 3.0  # bandwidths beyond the outermost values, where a kernel has fallen to a hundredth
NARROWEST = 1 / 100  # of a figure's span: a smaller bandwidth (all values equal) would be an invisible line
SHARES = (0.05, 0.25, 0.5, 0.75, 0.95)


@dataclass(frozen=True)
class Quantiles:
    """Quantiles of a sample: 5%, 25%, 50%, 75% and 95%."""

    low: float
    lower: float
    median: float
    upper: float
    high: float

    @classmethod
    def of(cls, values: Float64) -> Quantiles:
        """Quantiles of ``[n]`` values, interpolated linearly."""
        return cls(*(float(q) for q in np.quantile(values, SHARES)))


def bandwidth(values: Float64, span: float) -> float:
    """Silverman's rule (1986, equation 3.31): ``0.9 min(sd, IQR / 1.34) n^(-1/5)``, at least ``NARROWEST * span``.

    If the middle half of the values are equal, only the sd counts.
    """
    n = len(values)
    sd = float(values.std(ddof=1)) if n > 1 else 0.0
    upper, lower = np.quantile(values, [0.75, 0.25])
    middle = float(upper - lower) / 1.34
    spread = min(sd, middle) if middle > 0 else sd
    rule = float(0.9 * spread * n**-0.2)
    return max(rule, NARROWEST * span)


@dataclass(frozen=True, eq=False)
class Density:
    """``heights [points]`` at evenly spaced points ``at [points]``."""

    at: Float64
    heights: Float64


def density(values: Float64, span: float, highest: float = np.inf) -> Density:
    """Gaussian kernel density of ``values [n]``, from a little below the lowest to a little above the highest.

    The bandwidth is Silverman's, see ``bandwidth``.

    Args:
        span: width of the figure's axis.
        highest: upper end of the density, such as 1 for cosines, but never below the highest value.

    Raises:
        ValueError: there are no values, one is not finite, or the span is not positive.
    """
    if not len(values) or not np.isfinite(values).all() or not span > 0:
        raise ValueError("a density needs finite values and a positive span")
    width = bandwidth(values, span)
    high = float(values.max()) + REACH * width
    at = np.linspace(float(values.min()) - REACH * width, min(high, max(highest, float(values.max()))), GRID)
    sd = float(values.std(ddof=1)) if len(values) > 1 else 0.0
    if sd < ALIKE * width:  # scipy's estimate needs a variance
        return Density(at, norm.pdf(at, values.mean(), width))
    return Density(at, gaussian_kde(values, bw_method=width / sd)(at))
