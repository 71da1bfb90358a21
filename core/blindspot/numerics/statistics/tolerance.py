"""Drop of a score from an old model to a new one, decided against a tolerance.

Both have a value per item, whose paired differences decide. A drop is *beyond* the tolerance where its one-sided lower
confidence bound lies above it, *within* where its upper bound does not, and undecided otherwise. Bounds come from the
variance over independent groups (``blindspot.numerics.statistics.pairs``) and Student's t. Where losses are rare and
one-sided, a sample with few of them has a low mean *and* a low variance, and Student's t of that variance would pass a
drop of just the tolerance in 7% of re-trainings. So the variance is that of the drop at the bound, as in Wilson's
interval (1927): what the true drop has more than the measured one is taken to be lost by whole items.

A few groups that differ say little about a variance. With fewer than ``FEWEST_FOR_T``, the upper bound is the largest
drop that the data do not exclude, when any group may also lose everything (``skew``). Where nothing has changed, that
is the rule of three: the share of groups that can change when none did, times the most that an item can lose. No upper
bound is below this one, since a model with changes does not lose less than one without; unless it is shown to gain at
least all that may be lost unseen, with half of ``alpha`` for the gains (Student's t) and half for the share of groups
that lose (Clopper and Pearson), each of them everything. The drop is called beyond only if it still would be with the
largest losses turned into the largest gains: Anderson's bound (1969), with Massart's constant (1990).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from blindspot.numerics.statistics.pairs import FEWEST, POWER, Dependence, freedom_of, moments
from blindspot.numerics.statistics.resampling import sums_within
from blindspot.numerics.statistics.skew import upper_bound
from blindspot.types import Float64

TOLERATED = 0.02  # drop of a score, unless somebody says otherwise
FEWEST_FOR_T = (FEWEST + 1) / 1.5  # groups that carry the variance of the drop: seven degrees of freedom
ROUNDING = 1e-12  # of a value, against the range of a score
MOST_ITEMS = 10_000_000  # if more items would be needed, no number is given
HALVINGS = 20  # of an interval that contains the smallest visible drop


class Decision(StrEnum):
    BEYOND = "beyond the tolerance"
    WITHIN = "within the tolerance"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Drop:
    """The score of the old model less that of the new one, on the same items.

    Attributes:
        tolerance: the largest drop that is accepted; ``alpha``: probability of a false alarm at just that drop.
        low, high: one-sided bounds, each at 1 - ``alpha``; None for minus and plus infinity.
        visible: the smallest true drop found to be beyond the tolerance with probability ``POWER``; None if this many
            items cannot find any.
        needed: items that would decide with probability ``POWER`` if the true drop is as measured; None if it is too
            near the tolerance.
    """

    value: float
    tolerance: float
    alpha: float
    low: float | None
    high: float | None
    visible: float | None
    needed: int | None

    @property
    def decision(self) -> Decision:
        if self.low is not None and self.low > self.tolerance:
            return Decision.BEYOND
        if self.high is not None and self.high <= self.tolerance:
            return Decision.WITHIN
        return Decision.UNDECIDED


def drop(
    value: float, lost: Float64, dependence: Dependence, tolerance: float, alpha: float, most: float, is_mean: bool
) -> Drop:
    """Bounds of a drop.

    Args:
        value: old score less new score.
        lost: ``[m]``, per item its part in the drop: old value less new value, or old influence less new influence.
        dependence: which items are independent; without a refusal.
        tolerance: 0 or more, in units of the score.
        alpha: of one side, such as 0.05.
        most: that an item can lose: 1 for a share, and 2 for a correlation, where few influences are larger.
        is_mean: whether the score is the mean of the items' values. Otherwise (a correlation) a few items say nothing.
    """
    from scipy.special import ndtri, stdtrit

    _, variance, carried = moments(lost, dependence)
    if np.ptp(lost) <= ROUNDING * most:  # else the rest of a variance would be rounding, which many items carry
        variance = carried = 0.0
    quantile = float(
        stdtrit(freedom_of(carried, dependence) if carried >= FEWEST_FOR_T else dependence.freedom, 1 - alpha)
    )
    moments_of_drop = _Moments(
        value, variance * dependence.effective, dependence.effective, quantile, float(ndtri(POWER)), most
    )
    low = high = None
    n = dependence.effective
    floor = _floor(lost, dependence, alpha, most) if is_mean else lambda _: -math.inf
    if carried >= FEWEST_FOR_T:
        low, high = moments_of_drop.low, max(moments_of_drop.high, floor(1.0))
    elif is_mean:
        high = max(value, floor(1.0), upper_bound(_by_group(lost, dependence), n, most, alpha))
        least = _least(lost, n, alpha, most)
        low = least if least > 0 else None  # below, it only says that the score is bounded
    visible = _visible(moments_of_drop, lost, tolerance, most)
    needed = _needed(moments_of_drop, tolerance, len(lost), floor)
    if carried < FEWEST_FOR_T and is_mean and value > tolerance:  # nearly all lose alike: as many as ``_least`` needs
        share = (value - tolerance) / (float(lost.max()) + most)
        needed = math.ceil(math.log(1 / alpha) / (2 * share * share) * len(lost) / dependence.effective)
    elif carried == 0 and is_mean and tolerance > 0:  # nothing has changed: what would rule out that more do
        share = min(tolerance / most, 0.5)
        needed = math.ceil(math.log(alpha) / math.log1p(-share) * len(lost) / dependence.effective)
    return Drop(value, tolerance, alpha, low, high, visible, needed)


def _floor(lost: Float64, dependence: Dependence, alpha: float, most: float) -> Callable[[float], float]:
    """The least value of any upper bound, as a function of how many times the items there are."""
    from scipy.special import betaincinv, stdtrit

    gain, variance, carried = moments(np.maximum(-lost, 0.0), dependence)
    losing = float((sums_within((lost > 0).astype(np.float64)[:, np.newaxis], dependence.groups) > 0).mean())
    quantile = float(stdtrit(freedom_of(carried, dependence), 1 - alpha / 2)) if carried >= FEWEST_FOR_T else math.inf

    def floor(times: float) -> float:
        n = dependence.effective * times
        share = float(betaincinv(losing * n + 1, n * (1 - losing), 1 - alpha / 2)) if losing < 1 else 1.0
        shown = share * most - gain + quantile * math.sqrt(variance / times)
        return shown if shown <= 0 else most * (1 - float(alpha ** (1 / n)))  # the rule of three, exactly

    return floor


def _least(lost: Float64, n: float, alpha: float, most: float) -> float:
    """The mean if the share of ``n`` groups that chance may add to the largest losses had gained ``most`` instead."""
    share = math.sqrt(math.log(1 / alpha) / (2 * n))
    kept = np.clip(1 - share - np.arange(len(lost)) / len(lost), 0.0, 1 / len(lost))
    return float((kept * np.sort(lost)).sum()) - min(share, 1.0) * most


def _by_group(lost: Float64, dependence: Dependence) -> Float64:
    """The loss of each group, ``[g]``, scaled so that their mean is the mean of the items."""
    sums = sums_within(lost[:, np.newaxis], dependence.groups)[:, 0]
    return np.asarray(sums * (len(sums) / len(lost)))


@dataclass(frozen=True)
class _Moments:
    """Mean and variance of what independent units lose, and the bounds that follow.

    Attributes:
        spread: variance of one of ``n`` units.
        quantile: of Student's t; ``z``: of the normal distribution at ``POWER``.
        most: that a unit is taken to lose or gain where the drop differs from the measured one.
    """

    mean: float
    spread: float
    n: float
    quantile: float
    z: float
    most: float

    @property
    def error(self) -> float:
        return math.sqrt(self.spread / self.n)

    @property
    def high(self) -> float:
        return self.mean + self._reach(self.mean)

    @property
    def low(self) -> float:
        return self.mean - self._reach(-self.mean)

    def _reach(self, mean: float) -> float:
        """The distance x of a bound, at least Student's t, that solves
        ``x^2 = quantile^2 / n (spread + most x - x (2 mean + x))``."""
        t = self.quantile * self.error
        k = self.quantile**2 / self.n
        half = k * (self.most - 2 * mean) / 2
        return max(t, (half + math.sqrt(max(half * half + (1 + k) * k * self.spread, 0.0))) / (1 + k))

    def shifted(self, by: float, step: float) -> _Moments:
        """The moments if ``by`` more is lost (or less, if below 0), in steps of ``step`` by one unit each."""
        mean = self.mean + by
        second = self.spread + self.mean**2 + step * abs(by)
        return self._at(mean, max(second - mean * mean, 0.0))

    def unlucky(self, direction: float) -> _Moments:
        """The moments as measured with bad luck, of probability 1 - ``POWER``, against the decision; ``direction`` is
        -1 for less drop, 1 for more."""
        return self._at(self.mean + direction * self.z * self.error, self.spread)

    def _at(self, mean: float, spread: float) -> _Moments:
        return _Moments(mean, spread, self.n, self.quantile, self.z, self.most)


def _visible(moments_of_drop: _Moments, lost: Float64, tolerance: float, most: float) -> float | None:
    """The smallest true drop that is beyond the tolerance with probability ``POWER``; None if none is.

    Additional losses are taken to come in steps of the size that was seen, by one unit each.
    """
    size = np.abs(lost)
    step = float((size**2).sum() / size.sum()) if size.any() else most
    start = replace(moments_of_drop, mean=max(moments_of_drop.mean, 0.0))

    def is_found(drop: float) -> bool:
        return start.shifted(drop - start.mean, step).unlucky(-1).low > tolerance

    if not is_found(most):
        return None
    low, high = tolerance, most
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if is_found(middle) else (middle, high)
    return high


def _needed(moments_of_drop: _Moments, tolerance: float, items: int, floor: Callable[[float], float]) -> int | None:
    """Items like these that decide with probability ``POWER``; None if too many, or if nothing says how many."""
    if moments_of_drop.mean == tolerance or moments_of_drop.spread <= 0:
        return None

    def is_enough(times: float) -> bool:
        more = replace(moments_of_drop, n=moments_of_drop.n * times)
        if moments_of_drop.mean > tolerance:
            return more.unlucky(-1).low > tolerance
        return max(more.unlucky(1).high, floor(times)) <= tolerance

    low, high = 0.0, MOST_ITEMS / items
    if not is_enough(high):
        return None
    while (high - low) * items > 0.5:
        middle = (low + high) / 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return math.ceil(high * items)
