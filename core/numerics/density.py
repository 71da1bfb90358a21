"""Densities of one-dimensional samples, for figures: a kernel estimate on a grid, and quantiles.

Arrays in, arrays out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.types import Float64

GRID = 96  # places at which a density is drawn
FINE = 2048  # bins in which values are counted before they are smoothed
NARROWEST = 1 / 200  # of the range: a smaller bandwidth would be a line of no width (all values alike)
SHARES = (0.05, 0.25, 0.5, 0.75, 0.95)


@dataclass(frozen=True)
class Quantiles:
    """Of a sample: 5%, 25%, 50%, 75% and 95%."""

    low: float
    lower: float
    median: float
    upper: float
    high: float

    @classmethod
    def of(cls, values: Float64) -> Quantiles:
        """Of ``[n]`` values, interpolated linearly."""
        return cls(*(float(q) for q in np.quantile(values, SHARES)))


def bandwidth(values: Float64, span: float) -> float:
    """Silverman's rule (1986, equation 3.31): ``0.9 min(sd, IQR / 1.34) n^(-1/5)``, at least ``NARROWEST * span``.

    Where the middle half of the values are alike, the sd stands alone.
    """
    n = len(values)
    sd = float(values.std(ddof=1)) if n > 1 else 0.0
    upper, lower = np.quantile(values, [0.75, 0.25])
    middle = float(upper - lower) / 1.34
    return max(0.9 * (min(sd, middle) if middle > 0 else sd) * n ** (-1 / 5), NARROWEST * span)


def density(values: Float64, low: float, high: float, points: int = GRID) -> Float64:
    """Gaussian kernel density of ``values [n]`` at ``points`` places from ``low`` to ``high``, ``[points]``.

    All values are used, whatever their number: each is split between the two nearest of ``FINE`` bins, in proportion
    (linear binning, Wand 1994), and the bins are smoothed. Values outside the range are left out of it, but count in
    ``n``.

    Raises:
        ValueError: there are no values, one is not finite, or the range is empty.
    """
    if not len(values) or not np.isfinite(values).all() or not low < high:
        raise ValueError("a density needs finite values and a range")
    width = bandwidth(values, high - low)
    step = (high - low) / (FINE - 1)
    place = (values[(values >= low) & (values <= high)] - low) / step
    left = np.minimum(place.astype(np.int64), FINE - 2)
    share = place - left
    counts = np.bincount(left, 1.0 - share, minlength=FINE) + np.bincount(left + 1, share, minlength=FINE)
    bins = np.linspace(low, high, FINE)
    at = np.linspace(low, high, points)
    kernel = np.exp(-0.5 * ((at[:, np.newaxis] - bins) / width) ** 2)
    return np.asarray(kernel @ counts / (len(values) * width * np.sqrt(2 * np.pi)), dtype=np.float64)
