"""Test of a mean difference that holds where differences are skewed: few large gains against many small losses.

Flips of signs test that differences are *symmetric* about 0, which is more than that their mean is 0. With twenty small
losses and no gain they are sure that the mean is below 0, though one large gain in twenty, which may just not have been
drawn, would make up for all losses. This test assumes only that the mean is 0. Among the distributions with mean 0 it
takes the one that makes the sample most likely (empirical likelihood: Owen 1988); in it, a unit may also gain or lose
everything although none did here. The probability of so large a mean under that distribution comes from the saddlepoint
approximation (Lugannani and Rice 1980), which needs no draws. ``docs/statistics.md`` has the simulations.

Arrays in, numbers out, float64.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from blindspot.types import Float64

# Fewest units for a result if differences have no bound: fewer may have none of the gains that one in twenty units
# has.
FEWEST_UNBOUNDED = 60
_STEPS = 60  # of a root: halvings alone are enough
_FINE = 1e-7  # of a bound, as a share of the most that a unit can lose
_NONE = 1e-30  # a p-value
_CLOSE = 1e-10  # of a root, relative
_ROUNDING = 1e-12


def mean_zero_p_value(sums: Float64, most: float) -> float:
    """Two-sided p-value of a mean of 0 for independent ``sums [g]``, one per unit; 1 where all are 0.

    Args:
        most: that a unit can gain or lose. Infinite if only the sums are known: a unit may then gain or lose somewhat
            more than the largest of them.
    """
    n, largest = len(sums), float(np.abs(sums).max(initial=0.0))
    if largest == 0:
        return 1.0
    # No unit gains or loses more than this.
    edge = largest * (1 + FEWEST_UNBOUNDED / n) if math.isinf(most) else max(most, largest)
    direction = 1.0 if sums.sum() > 0 else -1.0  # first of all, so that A less B has exactly the p of B less A
    values, counts = np.unique(direction * sums / edge, return_counts=True)
    mean = float(values @ counts) / n
    if mean <= _ROUNDING:
        return 1.0
    values, weights = _most_likely(values, counts / n)
    return min(1.0, 2 * _tail(values, weights, n, mean))


def upper_bound(values: Float64, n: float, most: float, alpha: float) -> float:
    """The largest mean that ``values [g]`` of units do not exclude, one-sided at ``alpha``.

    If all are 0, it is the rule of three: ``most`` times the share of units that can lose when none of ``n`` did.

    Args:
        n: the equivalent number of units of equal size.
        most: that a unit can lose, at least its largest value.
    """
    values, counts = np.unique(values, return_counts=True)
    shares = counts / counts.sum()
    mean, largest = float(values @ shares), float(np.abs(values).max(initial=0.0))
    most, whole = max(most, largest), float(values.max(initial=0.0)) / 2 / n  # half a step of a mean of whole losses

    if largest == 0:
        return float(most * (1 - alpha ** (1 / n)))
    low, high = mean + whole, most
    if high - low <= _ROUNDING * most:
        return most
    target = math.log(alpha)

    def excess(bound: float) -> float:
        """Above 0 where the mean could be ``bound``; the logarithm of the p-value is nearly a straight line."""
        rest = most - bound
        values_of, weights = _most_likely((bound - values)[::-1] / rest, shares[::-1])
        return math.log(max(_tail(values_of, weights, n, (bound - mean - whole) / rest), _NONE)) - target

    # The Illinois method: a chord in which an end that stays counts half. At ``low`` the p-value is about a half, and
    # at ``high`` it is 0.
    at_low, at_high, kept = math.log(0.5) - target, math.log(_NONE) - target, 0
    while high - low > _FINE * most:
        middle = min(
            max(low + (high - low) * at_low / (at_low - at_high), low + _FINE * most / 2), high - _FINE * most / 2
        )
        at_middle = excess(middle)
        if at_middle > 0:
            low, at_low, at_high, kept = middle, at_middle, at_high / 2 if kept == 1 else at_high, 1
        else:
            high, at_high, at_low, kept = middle, at_middle, at_low / 2 if kept == -1 else at_low, -1
    return high


def _most_likely(values: Float64, shares: Float64) -> tuple[Float64, Float64]:
    """The distribution of mean 0 that makes ``values`` within -1 to 1, with a mean above 0, most likely: the values and
    -1, with their weights.

    A value's weight is its share over ``1 + k value``. With k below 1 the weights sum to 1; if the mean would then
    still be above 0, k is 1, and -1 has the weight that is missing to 1.
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


def _tail(values: Float64, weights: Float64, n: float, mean: float) -> float:
    """Probability that the mean of ``n`` draws is at least ``mean``, which is above 0, the mean of the distribution."""
    is_positive = weights > 0
    values, weights = values[is_positive], weights[is_positive] / weights[is_positive].sum()
    highest = float(values.max())
    if mean >= highest - _ROUNDING:
        return float(float(weights[values >= highest - _ROUNDING].sum()) ** n)

    def tilted(t: float) -> tuple[float, Float64]:
        """The logarithm of the moment generating function, and the tilted weights."""
        each = weights * np.exp(t * (values - highest))
        total = float(each.sum())
        return math.log(total) + t * highest, each / total

    def above(t: float) -> tuple[float, float]:
        _, each = tilted(t)
        projected = float(each @ values)
        return projected - mean, float(each @ values**2) - projected * projected

    high = 2 * mean / float(weights @ values**2)
    while above(high)[0] < 0:
        high *= 2
    t = _root(above, 0.0, high, high / 2)
    generating, each = tilted(t)
    at_each = float(each @ values)
    squared = 2 * n * (t * mean - generating)
    if squared <= _CLOSE:
        return 0.5
    r, u = math.sqrt(squared), t * math.sqrt(n * max(float(each @ values**2) - at_each * at_each, 0.0))
    bound = math.exp(-squared / 2)  # Chernoff's
    if u == 0:
        return bound
    tail = math.erfc(r / math.sqrt(2)) / 2 + bound / math.sqrt(2 * math.pi) * (1 / u - 1 / r)
    return min(max(tail, 0.0), bound)


def _root(function: Callable[[float], tuple[float, float]], low: float, high: float, start: float) -> float:
    """The root between ``low`` and ``high`` of a monotone function that returns its value and slope: by Newton's steps,
    and by halvings where they leave the interval."""
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
