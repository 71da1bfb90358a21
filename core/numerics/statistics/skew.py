"""Test of a mean difference that holds where differences are skewed: few large gains against many small losses.

Flips of signs test that differences are *symmetric* about 0, which is more than that their mean is 0. Of twenty small
losses and no gain they are sure that the mean is below 0, though a gain in twenty, none of which happened to be drawn,
would make up for all of them. This test takes the mean alone to be 0. Among the distributions of which that is true it
takes the one that makes the sample most likely (empirical likelihood: Owen 1988), where a unit may also have gained or
lost everything although none here did. How likely so large a mean is under that distribution is its saddlepoint
approximation (Lugannani and Rice 1980), which needs no draws. ``docs/statistics.md`` has the simulations.

Arrays in, numbers out, float64.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from blindspot.types import Float64

# Units of differences without a bound below which nothing is said: of fewer, none of the gains that come to one in
# twenty units may be there.
FEWEST_UNBOUNDED = 60
_STEPS = 60  # of a root: halvings alone are enough
_CLOSE = 1e-10  # of a root, relative
_ROUNDING = 1e-12


def mean_zero_p_value(sums: Float64, most: float) -> float:
    """Two-sided p-value of a mean of 0 for independent ``sums [g]``, one per unit; 1 where all are 0.

    Args:
        most: that a unit can gain or lose. Infinite: no more is known than the sums, and a unit may do somewhat more
            than the largest of them.
    """
    n, largest = len(sums), float(np.abs(sums).max(initial=0.0))
    if largest == 0:
        return 1.0
    # Beyond this no unit goes.
    edge = largest * (1 + FEWEST_UNBOUNDED / n) if math.isinf(most) else max(most, largest)
    direction = 1.0 if sums.sum() > 0 else -1.0  # first of all, so that A less B has the very p of B less A
    values, counts = np.unique(direction * sums / edge, return_counts=True)
    mean = float(values @ counts) / n
    if mean <= _ROUNDING:
        return 1.0
    values, weights = _most_likely(values, counts / n)
    return min(1.0, 2 * _tail(values, weights, n, mean))


def _most_likely(values: Float64, shares: Float64) -> tuple[Float64, Float64]:
    """The distribution of mean 0 that makes values within -1 to 1 with a mean above 0 most likely: themselves and -1,
    with their weights.

    A value's weight is its share over ``1 + k value``. With k below 1 these sum to 1; where the mean would then still
    be above 0, k is 1, and what is lacking to 1 is the weight of -1.
    """

    def beyond(k: float) -> tuple[float, float]:
        each = values / (1 + k * values)
        return float(shares @ each), -float(shares @ (each * each))

    top = 1.0
    if values.min() <= -1 + _ROUNDING or beyond(top)[0] < 0:
        spread = float(shares @ values**2)
        top = _root(beyond, 0.0, top, float(shares @ values) / spread)
    weights = shares / (1 + top * values)
    return np.append(values, -1.0), np.append(weights, max(0.0, 1 - float(weights.sum())))


def _tail(values: Float64, weights: Float64, n: int, mean: float) -> float:
    """Probability of a mean of ``n`` draws of at least ``mean``, which is above 0, the mean of the distribution."""
    known = weights > 0
    values, weights = values[known], weights[known] / weights[known].sum()
    highest = float(values.max())
    if mean >= highest - _ROUNDING:
        return float(weights[values >= highest - _ROUNDING].sum()) ** n

    def tilted(t: float) -> tuple[float, Float64]:
        """The logarithm of the moment generating function, and the weights that are tilted by it."""
        each = weights * np.exp(t * (values - highest))
        total = float(each.sum())
        return math.log(total) + t * highest, each / total

    def above(t: float) -> tuple[float, float]:
        _, each = tilted(t)
        own = float(each @ values)
        return own - mean, float(each @ values**2) - own * own

    high = 2 * mean / float(weights @ values**2)
    while above(high)[0] < 0:
        high *= 2
    t = _root(above, 0.0, high, high / 2)
    generating, each = tilted(t)
    own = float(each @ values)
    squared = 2 * n * (t * mean - generating)
    if squared <= _CLOSE:
        return 0.5
    r, u = math.sqrt(squared), t * math.sqrt(n * max(float(each @ values**2) - own * own, 0.0))
    bound = math.exp(-squared / 2)  # Chernoff's
    if u == 0:
        return bound
    found = math.erfc(r / math.sqrt(2)) / 2 + bound / math.sqrt(2 * math.pi) * (1 / u - 1 / r)
    return min(max(found, 0.0), bound)


def _root(function: Callable[[float], tuple[float, float]], low: float, high: float, start: float) -> float:
    """Where a monotone function of two values, its own and its slope, is 0 between ``low`` and ``high``: Newton's
    steps, and halvings where they leave the interval."""
    x = start if low < start < high else (low + high) / 2
    rises = function(low)[0] < 0
    for _ in range(_STEPS):
        value, slope = function(x)
        if value == 0:
            return x
        low, high = (x, high) if (value < 0) is rises else (low, x)
        step = x - value / slope if slope else math.nan
        before, x = x, step if low < step < high else (low + high) / 2
        if abs(x - before) <= _CLOSE * abs(x):
            break
    return x
