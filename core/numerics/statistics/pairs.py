"""Means over pairs of texts, and differences of two: how sure they are where pairs share texts.

Pairs that share a text are not independent, and a shared text ties further pairs to these. What is independent:

- *Groups*: the connected components of the graph whose nodes are the texts and whose edges are the pairs. Whatever the
  pairs of a group do together, other groups know nothing of it.
- *Texts*, where one group holds most of the data: then only pairs that share a text may depend on each other
  (dyadic-robust; Aronow, Samii and Assenova 2015).

Variances are those of sums over such units, enlarged by what a mean over few units hides, with the degrees of freedom
of Satterthwaite, as Bell and McCaffrey (2002) do for clusters. Both follow from the pairs alone. Below ``FEWEST``
degrees of freedom there is neither an interval nor a test: simulations in ``tests/numerics/statistics`` say why.

Arrays in, arrays out, float64. ``values [m, k]`` are k things measured on the same m pairs; ``left, right [m]`` are the
numbers of each pair's texts.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from core.numerics.statistics.estimate import Estimate, Unit, independent
from core.numerics.statistics.intervals import Interval, quantile, wilson_interval
from core.numerics.statistics.resampling import components, sign_flip_p_values, sums_within, units
from core.texts import counted
from core.types import Bool, Float64, Int64

FEWEST = 7.0  # degrees of freedom of an interval or a test: eight groups of equal size
AGREEING = 0.5  # of a group, all of whose pairs agree, is added to the few that a variance hangs on
FEWEST_CARRYING = 2.0  # units that the variance of a difference comes from
MANY = 60.0  # groups that differ, from which on a sum of signs is normal
POWER = 0.8  # of the smallest difference that could have been detected
ENOUGH = 100  # groups on one side, which any test finds
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Dependence:
    """What is independent among m pairs.

    Attributes:
        unit: groups of pairs, or texts.
        groups: ``[m]``, the component of each pair.
        left, right: ``[m]``.
        units: how many there are.
        freedom: degrees of freedom of a variance.
        enlarged: by what a variance is multiplied, since deviations are from a mean that the units themselves made.
        refusal: why nothing can be said of how sure a mean is; empty where it can.
    """

    unit: Unit
    groups: Int64
    left: Int64
    right: Int64
    units: int
    freedom: float
    enlarged: float
    refusal: str

    @classmethod
    def of(cls, left: Int64, right: Int64) -> Dependence:
        """By groups where enough of them are there, else by texts."""
        groups = components(left, right)
        sizes = np.bincount(groups).astype(np.float64)
        freedom, enlarged = _of_clusters(sizes)
        if freedom >= FEWEST:
            return cls(Unit.COMPONENTS, groups, left, right, len(sizes), freedom, enlarged, "")
        dyadic, larger = _of_texts(left, right)
        if dyadic >= FEWEST:
            texts = len(np.unique(np.concatenate([left, right])))
            return cls(Unit.TEXTS, groups, left, right, texts, dyadic, larger, "")
        refusal = _refusal(left, right, max(freedom, dyadic, 0.0))
        return cls(Unit.COMPONENTS, groups, left, right, len(sizes), freedom, enlarged, refusal)

    @classmethod
    def of_groups(cls, groups: Int64, unit: Unit) -> Dependence:
        """Of what is no pair of texts: those of one group belong together, whatever their number ``[m]``."""
        _, numbers = np.unique(groups, return_inverse=True)
        numbers = numbers.ravel().astype(np.int64)
        sizes = np.bincount(numbers).astype(np.float64)
        freedom, enlarged = _of_clusters(sizes)
        if freedom < FEWEST:
            worth = f"worth {max(1, round(freedom + 1))} independent {unit}"
            refusal = f"they are {worth}, and fewer than {FEWEST + 1:.0f} do not say how sure it is"
        else:
            refusal = ""
        return cls(unit, numbers, numbers, numbers, len(sizes), freedom, enlarged, refusal)

    @property
    def effective(self) -> float:
        """How many units of equal size would say as much."""
        return min(self.freedom + 1, float(self.units))

    @property
    def independent(self) -> str:
        """In words: how many units there are, and what they are worth."""
        return independent(self.unit, self.units, self.effective)

    @property
    def method(self) -> str:
        return "dyadic-robust" if self.unit is Unit.TEXTS else f"robust to {self.unit}"

    def sums(self, values: Float64) -> Float64:
        """Deviations of ``[m, k]`` from their means, summed by unit ``[u, k]``; around a text, those of its pairs."""
        e = values - values.mean(axis=0)
        if self.unit is not Unit.TEXTS:
            return sums_within(e, self.groups)
        ends, other = self._ends
        return sums_within(np.concatenate([e, e[other]]), ends)

    @cached_property
    def _ends(self) -> tuple[Int64, Bool]:
        """The number of each pair's first text, then of its second where that is another; and where it is, ``[m]``."""
        _, ends = np.unique(np.concatenate([self.left, self.right]), return_inverse=True)
        a, b = np.split(ends.astype(np.int64), 2)
        other = a != b
        return np.concatenate([a, b[other]]), other

    @cached_property
    def _pairs_of_texts(self) -> tuple[Int64, Float64]:
        """``units`` of the pairs, and 1 for each of them that is of two different texts, else 0."""
        unit = units(self.left, self.right)
        of_two_texts = np.zeros(int(unit.max(initial=-1)) + 1)
        of_two_texts[unit[self.left != self.right]] = 1.0
        return unit, of_two_texts

    def variances(self, values: Float64) -> Float64:
        """Of the means of ``values [m, k]``, ``[k]``.

        ``1/m^2 * sum of e_p e_q over all pairs p, q that depend on each other``, enlarged. By texts it can come out too
        small, even negative: then the one stands in that lets only a pair and its reverse depend on each other.
        """
        m = len(values)
        shared = (self.sums(values) ** 2).sum(axis=0)
        if self.unit is not Unit.TEXTS:
            return np.asarray(self.enlarged * shared / m**2)
        unit, of_two_texts = self._pairs_of_texts
        within = sums_within(values - values.mean(axis=0), unit) ** 2
        alone = within.sum(axis=0)
        return np.asarray(self.enlarged * np.maximum(shared - of_two_texts @ within, alone) / m**2)

    def carried_by(self, values: Float64) -> Float64:
        """How many units the variances of ``values [m, k]`` hang on: ``(sum s^2)^2 / sum s^4``, ``[k]``; 0 of none."""
        squared = self.sums(values) ** 2
        above, below = squared.sum(axis=0) ** 2, (squared**2).sum(axis=0)
        return np.asarray(np.divide(above, below, out=np.zeros(len(above)), where=below > 0))


def _of_clusters(sizes: Float64) -> tuple[float, float]:
    """Degrees of freedom and enlargement of the variance of a mean over clusters of ``sizes [g]``.

    With ``T`` the clusters' sums, their deviations are ``P T`` with ``P = I - w 1'`` and w the clusters' shares, so the
    variance is the quadratic form ``Q = P'P``. Its mean and spread under variances ``D`` of the sums give both:
    ``sum D / tr(QD)`` and ``tr(QD)^2 / tr(QDQD)``. The pairs of a cluster are independent at the least (D = sizes) and
    all alike at the most (D = sizes squared); the more careful of the two counts.
    """
    w = sizes / sizes.sum()
    k = float((w**2).sum())
    freedom, enlarged = [], []
    for d in (sizes, sizes**2):
        trace = float((d * (1 - 2 * w + k)).sum())
        if trace <= _ROUNDING * d.sum():
            return 0.0, 1.0
        # tr(QDQD) is the sum of Q_cd^2 d_c d_d, with Q_cd = k - w_c - w_d, and 1 more on the diagonal.
        d0, d1, d2 = (float((d * w**i).sum()) for i in range(3))
        everywhere = k * k * d0 * d0 + 2 * d2 * d0 + 2 * d1 * d1 - 4 * k * d1 * d0
        on_diagonal = float((d**2 * (1 + 2 * (k - 2 * w))).sum())
        freedom.append(trace**2 / (everywhere + on_diagonal))
        enlarged.append(float(d.sum()) / trace)
    return min(freedom), max(enlarged)


def _of_texts(left: Int64, right: Int64) -> tuple[float, float]:
    """The same of the dyadic variance: of independent pairs exactly, and of effects of the texts, as of clusters.

    With ``A`` 1 where two pairs share a text, the variance is ``e'Ae``. Of independent pairs, ``tr(MAM) = m - s/m`` and
    ``tr(MAMA) = s - 2r/m + s^2/m^2``, where M takes the mean off, s is the sum of A and r that of its squared row sums.
    """
    m = len(left)
    _, ends = np.unique(np.concatenate([left, right]), return_inverse=True)
    a, b = ends[:m], ends[m:]
    other = a != b
    degree = np.bincount(np.concatenate([a, b[other]])).astype(np.float64)
    alike = np.bincount(units(left, right))[units(left, right)]
    shared = degree[a] + np.where(other, degree[b] - alike, 0.0)  # pairs that share a text with each, itself among them
    s, r = float(shared.sum()), float((shared**2).sum())
    trace = m - s / m
    spread = s - 2 * r / m + (s / m) ** 2
    if trace <= _ROUNDING * m or spread <= _ROUNDING * s:
        return 0.0, 1.0
    _, enlarged = _of_clusters(degree)
    return trace**2 / spread, max(enlarged, m / trace)


def _refusal(left: Int64, right: Int64, freedom: float) -> str:
    """Why there is no interval, in one sentence without a full stop."""
    m = len(left)
    if m == 1:
        return "there is one pair only"
    for side, name in ((left, "query"), (right, "mate")):
        if (side == side[0]).all():
            return f"all {m:,} pairs share one {name}"
    for text in (left[0], right[0]):
        if ((left == text) | (right == text)).all():
            return f"all {m:,} pairs share one text"
    worth = counted(max(1, round(freedom + 1)), "independent group of pairs", "independent groups of pairs")
    return f"the {m:,} pairs are worth {worth}, and fewer than {FEWEST + 1:.0f} do not say how sure a mean is"


# --- intervals


def worth(mean: float, spread: float, variance: float, carried: float, effective: float) -> float:
    """How many independent observations of 0 or 1 a mean within 0 to 1 is worth: ``mean (1 - mean) / variance``.

    Where only a few of the units carry the variance, as near a bound, it says little. Then part of a unit, all of whose
    pairs agree, is averaged in: up to ``AGREEING`` of one, none where half of the units carry it. Where no unit does,
    each is worth one observation.

    Args:
        spread: the variance of the values themselves.
        carried: how many units the variance hangs on; ``effective``: how many there are.
    """
    possible = mean * (1 - mean)
    if variance <= _ROUNDING * max(possible, _ROUNDING):
        return effective
    lacking = AGREEING * max(0.0, 1 - 2 * carried / effective)
    smoothed = (carried * variance + lacking * spread / effective) / (carried + lacking)
    return possible / max(variance, smoothed)


def share(values: Float64, dependence: Dependence) -> Estimate:
    """The mean of ``values [m]`` within 0 to 1: Wilson's interval with as many observations as the pairs are worth."""
    return bounded(float(values.mean()), values, dependence, dependence.effective)


def bounded(value: float, influence: Float64, dependence: Dependence, units: float) -> Estimate:
    """A score within 0 to 1 with the influence of each item on it, ``[m]``, as ``share``.

    Args:
        units: how many observations it is worth where no unit differs.
    """
    _, variance, carried = moments(influence, dependence)
    interval = None
    if not dependence.refusal:
        n = worth(value, float(influence.var()), variance, carried, units)
        interval = wilson_interval(value, n, float(quantile(dependence.freedom)))
    return _estimate(value, interval, "Wilson", dependence, dependence.refusal)


def mean_rank(values: Float64, dependence: Dependence) -> Estimate:
    """The mean of ranks ``[m]``, 1 or more: a t interval of the logarithm.

    A few bad ranks may carry most of the variance; then it is known no better than from so few units, and Student's t
    has the degrees of freedom of these.
    """
    mean, variance, carried = moments(values, dependence)
    interval, refusal = None, dependence.refusal
    if not refusal and carried == 0:
        refusal = "the ranks are all the same, so that nothing tells how far they could spread"
    elif not refusal:
        freedom = min(dependence.freedom, max(carried - 1, 1.0))
        reach = float(quantile(freedom)) * float(np.sqrt(variance)) / mean
        interval = Interval(max(1.0, mean * float(np.exp(-reach))), mean * float(np.exp(reach)))
    return _estimate(mean, interval, "t of the logarithm", dependence, refusal)


def difference(first: Float64, second: Float64, dependence: Dependence, most: float = 1.0) -> Estimate:
    """The mean of ``first [m]`` less that of ``second``: a t interval of the paired differences.

    Where few units carry the variance, the degrees of freedom are fewer; where it is one, there is no interval.

    Args:
        most: the largest difference that can be, at which an interval ends.
    """
    value = float(first.mean()) - float(second.mean())
    return t_estimate(value, moments(first - second, dependence), dependence, most)


def change(value: float, influence: Float64, dependence: Dependence) -> Estimate:
    """The difference of two statistics, from the difference of each pair's influences ``[m]``: a t interval."""
    return t_estimate(value, moments(influence, dependence), dependence)


def correlation(value: float, influence: Float64, dependence: Dependence) -> Estimate:
    """A correlation with the influence of each pair on it, ``[m]``: a t interval of Fisher's ``atanh``."""
    return fisher_estimate(value, moments(influence, dependence), dependence)


def fisher_estimate(value: float, found: tuple[float, float, float], dependence: Dependence) -> Estimate:
    """As ``correlation``, from the ``moments`` of the influences."""
    _, variance, carried = found
    interval, refusal = None, dependence.refusal
    if not refusal and (carried < FEWEST_CARRYING or abs(value) >= 1 - _ROUNDING):
        refusal = "no pair stands apart from the others, so that nothing tells how far it could be off"
    elif not refusal:
        reach = float(quantile(freedom_of(carried, dependence))) * float(np.sqrt(variance)) / (1 - value * value)
        middle = float(np.arctanh(value))
        interval = Interval(float(np.tanh(middle - reach)), float(np.tanh(middle + reach)))
    return _estimate(value, interval, "t of Fisher's z", dependence, refusal)


def t_estimate(
    value: float, found: tuple[float, float, float], dependence: Dependence, most: float = np.inf
) -> Estimate:
    """A t interval from the ``moments`` of the influences."""
    _, variance, carried = found
    interval, refusal = None, dependence.refusal
    if not refusal and carried == 0:
        refusal = "no pair tells the two apart"
    elif not refusal and carried < FEWEST_CARRYING:
        refusal = "what differs between the two hangs on a single group or text"
    elif not refusal:
        half = float(quantile(freedom_of(carried, dependence))) * float(np.sqrt(variance))
        interval = Interval(max(-most, value - half), min(most, value + half))
    return _estimate(value, interval, "t", dependence, refusal)


def freedom_of(carried: float, dependence: Dependence) -> float:
    """Those of the pairs, fewer where a few units carry the variance (of normal values a third of the units do)."""
    return min(dependence.freedom, 1.5 * carried - 1)


def moments(values: Float64, dependence: Dependence) -> tuple[float, float, float]:
    """Mean, its variance, and how many units carry that."""
    column = values[:, np.newaxis]
    variance, carried = (float(found(column)[0]) for found in (dependence.variances, dependence.carried_by))
    return float(values.mean()), variance, carried


def _estimate(value: float, interval: Interval | None, how: str, dependence: Dependence, refusal: str) -> Estimate:
    method = f"{how}, {dependence.method}"
    return Estimate(value, interval, method, dependence.unit, dependence.units, dependence.effective, refusal)


# --- tests


def p_values(paired: Float64, dependence: Dependence) -> Float64:
    """Two-sided p-values of mean paired differences ``[m, k]``, ``[k]``: the one rule by which one is called better.

    By groups: sign flips of whole groups. Were the two alike, their places could be exchanged in every group on its
    own. By texts nothing can be exchanged on its own: Student's t of the dyadic-robust standard error. NaN where there
    is no test.
    """
    if dependence.refusal:
        return np.full(paired.shape[1], np.nan)
    if dependence.unit is not Unit.TEXTS:
        return sign_flip_p_values(paired, dependence.groups)
    from scipy.special import stdtr

    error = np.sqrt(dependence.variances(paired))
    size = np.abs(paired.mean(axis=0))
    t = np.divide(size, error, out=np.zeros_like(size), where=error > 0)
    return np.asarray(2 * stdtr(dependence.freedom, -t))


def p_of_change(value: float, influence: Float64, dependence: Dependence) -> float:
    """Two-sided p-value of ``change``, by the Student's t of its interval: below 0.05 exactly where that excludes 0.

    NaN where there is no test, 1 where no pair tells the two apart.
    """
    if dependence.refusal:
        return float("nan")
    _, variance, carried = moments(influence, dependence)
    if carried == 0:
        return 1.0
    if carried < FEWEST_CARRYING:
        return float("nan")
    from scipy.special import stdtr

    return float(2 * stdtr(freedom_of(carried, dependence), -abs(value) / float(np.sqrt(variance))))


def smallest_detectable(
    paired: Float64, dependence: Dependence, tests: int, alpha: float, power: float = POWER
) -> Float64:
    """The smallest true difference that the test would have found with probability ``power``, ``[k]``; NaN of none.

    At the correction's strictest step, where each of the tests has alpha/tests to itself. Where many groups differ,
    ``(z(1 - alpha/(2 tests)) + z(power)) * standard error``. Where few do, the normal distribution promises too much,
    and the power of the exact test is summed: as many groups of equal weight as differ here fall to either side; if
    even all on one side are not enough, there would have to be more of them.
    """
    out = np.full(paired.shape[1], np.nan)
    if dependence.refusal:
        return out
    from scipy.special import ndtri, stdtrit

    own = alpha / tests
    errors = np.sqrt(dependence.variances(paired))
    if dependence.unit is Unit.TEXTS:
        f = dependence.freedom
        return np.where(errors > 0, (stdtrit(f, 1 - own / 2) + stdtrit(f, power)) * errors, np.nan)
    sums = np.abs(sums_within(paired, dependence.groups))
    for i in range(paired.shape[1]):
        sizes = sums[sums[:, i] > _ROUNDING, i]
        if len(sizes) == 0:
            continue
        differing = float(sizes.sum() ** 2 / (sizes**2).sum())
        if differing > MANY:
            out[i] = (ndtri(1 - own / 2) + ndtri(power)) * errors[i]
            continue
        groups = max(1, round(len(sums) * differing / len(sizes)))
        share = _share_found(differing, groups, own, power)
        out[i] = np.nan if share is None else share * sizes.sum() / len(paired) / differing
    return out


def _share_found(differing: float, groups: int, alpha: float, power: float) -> float | None:
    """Groups, net, that must fall to one side for an exact sign test to find it; None where all ``groups`` would not.

    How many differ is binomial with the mean ``differing``; first they fall to one side more and more, then there are
    more of them.
    """

    def found(net: float) -> float:
        mean = max(differing, net)
        return _power_of_sign_test(mean, groups, (1 + net / mean) / 2, alpha)

    low, high = 0.0, min(float(groups), differing + ENOUGH)
    if found(high) < power:
        return None
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (low, middle) if found(middle) >= power else (middle, high)
    return high


def _power_of_sign_test(mean: float, groups: int, one_side: float, alpha: float) -> float:
    """How often a two-sided sign test at ``alpha`` rejects, where each of ``groups`` differs with the same probability,
    ``mean`` of them on average, and falls to one side with probability ``one_side``."""
    from scipy.special import bdtr, bdtrc

    k = np.arange(min(groups, int(2 * mean) + ENOUGH) + 1)  # more differ hardly ever
    share = min(mean / groups, 1.0)
    below = np.where(k > 0, bdtr(k - 1.0, groups, share), 0.0)
    weight = bdtr(k.astype(np.float64), groups, share) - below
    # The test rejects k differences where the larger side has at least c of them: 2 P(Bin(k, 1/2) >= c) <= alpha.
    c = np.array([_critical_of(number, alpha) for number in range(len(k))], dtype=np.int64)
    possible = c <= k
    upper = np.where(c > 0, bdtrc(np.maximum(c - 1.0, 0.0), k, one_side), 1.0)
    lower = bdtr((k - c).clip(0).astype(np.float64), k, one_side)
    return float((weight * np.where(possible, upper + lower, 0.0)).sum())


@lru_cache(maxsize=4_096)
def _critical_of(k: int, alpha: float) -> int:
    """The smallest larger side of ``k`` differences at which a sign test rejects."""
    from scipy.special import bdtrc

    c = np.arange(k // 2 + 1, k + 1)
    rejects = np.flatnonzero(2 * bdtrc(c - 1.0, k, 0.5) <= alpha)
    return int(c[rejects[0]]) if len(rejects) else k + 1
