"""Drop of a score from an old model to a new one, decided against a tolerance.

Both have a value per item, whose paired differences decide. A drop is *beyond* the tolerance where its one-sided lower
confidence bound lies above it, *within* where its upper bound does not, and undecided otherwise. Bounds are Student's t
of the variance over independent groups (``blindspot.numerics.statistics.pairs``).

Few groups that differ say little about a variance. From fewer than ``FEWEST_FOR_T``, bounds are those of a bounded
variable, whatever its distribution. The drop is within only if the groups that could lose are too few: Clopper and
Pearson's bound (1934) of their share, times the most that an item can lose. It is beyond only if it were even if the
largest losses were the largest gains: Anderson's bound (1969), with Massart's constant (1990).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from blindspot.numerics.statistics.pairs import FEWEST, POWER, Dependence, freedom_of, moments
from blindspot.numerics.statistics.resampling import sums_within
from blindspot.types import Float64

FEWEST_FOR_T = (FEWEST + 1) / 1.5  # groups that carry the variance of the drop: seven degrees of freedom
ROUNDING = 1e-12  # of a value, against the range of a score
MOST_ITEMS = 10_000_000  # more items than this would be needed: no number is given


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
    value: float, lost: Float64, known: Dependence, tolerance: float, alpha: float, most: float, is_mean: bool
) -> Drop:
    """Bounds of a drop.

    Args:
        value: old score less new score.
        lost: ``[m]``, per item its part in the drop: old value less new value, or old influence less new influence.
        known: what is independent among the items; without a refusal.
        tolerance: 0 or more, in units of the score.
        alpha: of one side, such as 0.05.
        most: that an item can lose; 1 for a share.
        is_mean: whether the score is the mean of the items' values. Otherwise (a correlation) a few items say nothing.
    """
    from scipy.special import betaincinv, ndtri, stdtrit

    _, variance, carried = moments(lost, known)
    if np.ptp(lost) <= ROUNDING * most:  # else what is left of a variance would be rounding, which many items carry
        variance = carried = 0.0
    error, freedom = math.sqrt(variance), known.freedom
    low = high = None
    if carried >= FEWEST_FOR_T:
        freedom = freedom_of(carried, known)
        reach = float(stdtrit(freedom, 1 - alpha)) * error
        low, high = value - reach, value + reach
    elif is_mean:
        losing, n = _losing(lost, known), known.effective
        share = 1.0 if losing >= n else float(betaincinv(losing + 1, n - losing, 1 - alpha))
        high = max(value, share * most)
        least = _least(lost, n, alpha, most)
        low = least if least > 0 else None  # below, it says no more than that the score is bounded
    reach = float(stdtrit(freedom, 1 - alpha) + ndtri(POWER))
    visible = _visible(value, lost, variance * known.effective, known.effective, tolerance, reach, most)
    needed = _needed(abs(value - tolerance), error, reach, len(lost))
    if carried < FEWEST_FOR_T and is_mean and value > tolerance:  # nearly all lose alike: as many as ``_least`` needs
        share = (value - tolerance) / (float(lost.max()) + most)
        needed = math.ceil(math.log(1 / alpha) / (2 * share * share) * len(lost) / known.effective)
    elif carried == 0 and is_mean and tolerance > 0:  # nothing has changed: what would rule out that more do
        share = min(tolerance / most, 0.5)
        needed = math.ceil(math.log(alpha) / math.log1p(-share) * len(lost) / known.effective)
    return Drop(value, tolerance, alpha, low, high, visible, needed)


def _least(lost: Float64, n: float, alpha: float, most: float) -> float:
    """The mean, if of ``n`` groups the share that chance may add to the largest losses had gained ``most`` instead."""
    share = math.sqrt(math.log(1 / alpha) / (2 * n))
    kept = np.clip(1 - share - np.arange(len(lost)) / len(lost), 0.0, 1 / len(lost))
    return float((kept * np.sort(lost)).sum()) - min(share, 1.0) * most


def _losing(lost: Float64, known: Dependence) -> float:
    """Effective number of groups that lose: their share of the groups, times the effective number of all."""
    sums = sums_within(lost[:, np.newaxis], known.groups)[:, 0]
    return known.effective * float(np.count_nonzero(sums > 0)) / len(sums)


def _visible(
    value: float, lost: Float64, spread: float, n: float, tolerance: float, reach: float, most: float
) -> float | None:
    """The drop d that solves ``d = tolerance + reach * error(d)``.

    What is lost in addition is taken to be lost in steps of the size that was seen, ``s``, by one group each. A unit's
    second moment then grows by s for each unit of the drop: ``error(d)^2 = (second + s (d - measured) - d^2) / n``.

    Args:
        spread: the variance of one of ``n`` independent units.
    """
    size = np.abs(lost)
    step = float((size**2).sum() / size.sum()) if size.any() else most
    measured = max(value, 0.0)
    second = max(spread + value * value - step * measured, 0.0)
    k = reach * reach / n
    a, b, c = 1 + k, 2 * tolerance + k * step, tolerance * tolerance - k * second
    d = (b + math.sqrt(max(b * b - 4 * a * c, 0.0))) / (2 * a)
    return d if d <= most else None


def _needed(gap: float, error: float, reach: float, items: int) -> int | None:
    if gap <= 0 or error <= 0:
        return None
    needed = math.ceil(items * (reach * error / gap) ** 2)
    return needed if needed <= MOST_ITEMS else None
