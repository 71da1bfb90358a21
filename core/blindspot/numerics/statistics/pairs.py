"""Intervals and tests of means over pairs of texts, and of their differences, when pairs share texts.

Pairs that share a text are not independent, directly or through further pairs. The independent units are:

- *Groups*: the connected components of the graph whose nodes are the texts and whose edges are the pairs. Pairs of
  different groups are independent.
- *Texts*, if one group has most of the data: then only pairs that share a text are assumed to be dependent
  (dyadic-robust; Aronow, Samii and Assenova 2015).

Variances are those of sums over such units, with a small-sample correction and Satterthwaite's degrees of freedom, as
Bell and McCaffrey (2002) do for clusters. Both follow from the pairs alone. Below ``FEWEST`` degrees of freedom there
is neither an interval nor a test; simulations in ``tests/numerics/statistics`` show why.

Arrays in, arrays out, float64. ``values [m, k]`` are k quantities measured on the same m pairs; ``left, right [m]`` are
the numbers of each pair's texts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np

from blindspot.numerics.statistics.estimate import Estimate, Sure, Unit, independent
from blindspot.numerics.statistics.intervals import (
    LEVEL,
    Interval,
    exact_interval,
    level_of_each,
    mcnemar,
    quantile,
    wilson_interval,
)
from blindspot.numerics.statistics.resampling import components, sign_flip_p_values, sums_within, units
from blindspot.numerics.statistics.skew import mean_zero_p_value
from blindspot.texts import counted, numbered
from blindspot.types import Bool, Float64, Int64

FEWEST = 7.0  # degrees of freedom of an interval or a test: eight groups of equal size
AGREEING = 0.5  # share of a group with pairs that all agree, added where few units carry a variance
FEWEST_CARRYING = 2.0  # units that carry the variance of a difference
MANY = 60.0  # groups that differ, from which a sum of signs is about normal
POWER = 0.8  # of the smallest difference that could have been detected
ALLOWING = "allowing for rare large differences"  # beside flips of signs, which test symmetry alone
DYADIC = "dyadic-robust"
ENOUGH = 100  # groups on one side: significant in any test
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Dependence:
    """Independent units among m pairs.

    Attributes:
        unit: groups of pairs, or texts.
        groups: ``[m]``, the component of each pair.
        left, right: ``[m]``.
        units: their number.
        freedom: degrees of freedom of a variance.
        enlarged: factor of a variance, since deviations are from the units' own mean.
        refusal: why there is no interval of a mean; "" if there is one.
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
        """Units are groups if there are enough of them, else texts."""
        groups = components(left, right)
        sizes = np.bincount(groups).astype(np.float64)
        freedom, enlarged = _of_clusters(sizes)
        if freedom >= FEWEST:
            return cls(Unit.COMPONENTS, groups, left, right, len(sizes), freedom, enlarged, "")
        dyadic, larger = _of_texts(left, right)
        if round(dyadic) >= FEWEST:  # 64 cases of eight groups, two of which share a word, have 6.97
            texts = len(np.unique(np.concatenate([left, right])))
            return cls(Unit.TEXTS, groups, left, right, texts, dyadic, larger, "")
        refusal = _refusal(left, right, max(freedom, dyadic, 0.0))
        return cls(Unit.COMPONENTS, groups, left, right, len(sizes), freedom, enlarged, refusal)

    @classmethod
    def of_groups(cls, groups: Int64, unit: Unit) -> Dependence:
        """Dependence of things other than pairs of texts, by group number ``[m]``."""
        _, numbers = np.unique(groups, return_inverse=True)
        numbers = numbers.ravel().astype(np.int64)
        sizes = np.bincount(numbers).astype(np.float64)
        freedom, enlarged = _of_clusters(sizes)
        if freedom < FEWEST:
            worth = f"worth {_too_few(freedom)} independent {unit}"
            refusal = f"they are {worth}, and fewer than {FEWEST + 1:.0f} do not say how sure it is"
        else:
            refusal = ""
        return cls(unit, numbers, numbers, numbers, len(sizes), freedom, enlarged, refusal)

    @classmethod
    def of_texts(cls, *columns: Iterable[str], unit: Unit = Unit.EXAMPLES) -> Dependence:
        """Dependence of a dataset's rows, from the one or two texts of each, as in ``of_examples``: the rule wherever
        texts decide it. Texts that differ only by case and white space are one (``texts.numbered``).

        Args:
            unit: of rows of one text.
        """
        return cls.of_examples(*numbered(*columns), unit=unit)

    @classmethod
    def of_examples(cls, first: Int64, second: Int64 | None = None, *, unit: Unit = Unit.EXAMPLES) -> Dependence:
        """Dependence of labeled examples, from the numbers of their texts, ``[m]``: examples of two texts are pairs;
        among examples of single texts, equal ones are one unit."""
        return cls.of_groups(first, unit) if second is None else cls.of(first, second)

    @classmethod
    def joined(cls, several: Sequence[Dependence]) -> Dependence:
        """Dependence of the items of several datasets, one after the other; between datasets, items are independent."""
        starts = np.cumsum(
            [0, *(1 + max(int(dependence.left.max()), int(dependence.right.max())) for dependence in several)]
        )
        left, right = (
            np.concatenate(
                [start + getattr(dependence, side) for start, dependence in zip(starts, several, strict=False)]
            )
            for side in ("left", "right")
        )
        units = {dependence.unit for dependence in several}
        return cls.of_groups(left, units.pop()) if units == {Unit.EXAMPLES} else cls.of(left, right)

    def among(self, inside: Bool) -> Dependence:
        """Dependence of some of the items, ``[m] bool``: items that share a unit here are dependent; pairs of texts
        only if they are connected by these pairs."""
        return self.of_some(np.flatnonzero(inside))

    def of_some(self, places: Int64) -> Dependence:
        """As ``among``, for the items at these places, in their order."""
        if self.unit in (Unit.COMPONENTS, Unit.TEXTS):
            return Dependence.of(self.left[places], self.right[places])
        return Dependence.of_groups(self.groups[places], self.unit)

    @property
    def effective(self) -> float:
        """The equivalent number of units of equal size."""
        return min(self.freedom + 1, float(self.units))

    @property
    def is_of_singles(self) -> bool:
        """Whether every item is a unit of its own."""
        return self.unit is not Unit.TEXTS and self.units == len(self.groups)

    @property
    def independent(self) -> str:
        """The number of units and the effective n, in words."""
        return independent(self.unit, self.units, self.effective)

    @property
    def method(self) -> str:
        return DYADIC if self.unit is Unit.TEXTS else f"robust to {self.unit}"

    def sums(self, values: Float64) -> Float64:
        """Deviations of ``[m, k]`` from their means, summed by unit ``[u, k]``; for a text, over its pairs."""
        e = values - values.mean(axis=0)
        if self.unit is not Unit.TEXTS:
            return sums_within(e, self.groups)
        ends, other = self._ends
        return sums_within(np.concatenate([e, e[other]]), ends)

    @cached_property
    def _ends(self) -> tuple[Int64, Bool]:
        """Numbers of the first texts of all pairs, then of the second ones that differ; and which differ, ``[m]``."""
        _, ends = np.unique(np.concatenate([self.left, self.right]), return_inverse=True)
        a, b = np.split(ends.astype(np.int64), 2)
        other = a != b
        return np.concatenate([a, b[other]]), other

    @cached_property
    def _pairs_of_texts(self) -> tuple[Int64, Float64]:
        """``units`` of the pairs, and 1 for each pair of two different texts, else 0."""
        unit = units(self.left, self.right)
        of_two_texts = np.zeros(int(unit.max(initial=-1)) + 1)
        of_two_texts[unit[self.left != self.right]] = 1.0
        return unit, of_two_texts

    def variances(self, values: Float64) -> Float64:
        """Variances of the means of ``values [m, k]``, ``[k]``.

        ``1/m^2 * sum of e_p e_q over all dependent pairs p, q``, enlarged. By texts it can come out too small, even
        negative; then the variance that treats only a pair and its reverse as dependent is used.
        """
        m = len(values)
        shared = (self.sums(values) ** 2).sum(axis=0)
        if self.unit is not Unit.TEXTS:
            return np.asarray(self.enlarged * shared / m**2)
        unit, of_two_texts = self._pairs_of_texts
        within = sums_within(values - values.mean(axis=0), unit) ** 2
        alone = within.sum(axis=0)
        of_both = np.einsum("u,uk->k", of_two_texts, within)  # BLAS' threads would take longer to wake up
        return np.asarray(self.enlarged * np.maximum(shared - of_both, alone) / m**2)

    def carried_by(self, values: Float64) -> Float64:
        """Number of units that carry the variances of ``values [m, k]``: ``(sum s^2)^2 / sum s^4``, ``[k]``; 0 for
        none."""
        squared = self.sums(values) ** 2
        above, below = squared.sum(axis=0) ** 2, (squared**2).sum(axis=0)
        return np.asarray(np.divide(above, below, out=np.zeros(len(above)), where=below > 0))


def _of_clusters(sizes: Float64) -> tuple[float, float]:
    """Degrees of freedom and correction of the variance of a mean over clusters of ``sizes [g]``.

    With ``T`` the clusters' sums, their deviations are ``P T`` with ``P = I - w 1'`` and w the clusters' shares, so the
    variance is the quadratic form ``Q = P'P``. Its mean and spread under variances ``D`` of the sums give both:
    ``sum D / tr(QD)`` and ``tr(QD)^2 / tr(QDQD)``. At one extreme the pairs of a cluster are independent (D = sizes),
    at the other all equal (D = sizes squared); the more conservative of the two counts.
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
    """The same for the dyadic variance: exact for independent pairs, and as for clusters for effects of the texts.

    With ``A`` 1 where two pairs share a text, the variance is ``e'Ae``. For independent pairs ``tr(MAM) = m - s/m`` and
    ``tr(MAMA) = s - 2r/m + s^2/m^2``, where M subtracts the mean, s is the sum of A and r that of its squared row sums.
    """
    m = len(left)
    _, ends = np.unique(np.concatenate([left, right]), return_inverse=True)
    a, b = ends[:m], ends[m:]
    other = a != b
    degree = np.bincount(np.concatenate([a, b[other]])).astype(np.float64)
    alike = np.bincount(units(left, right))[units(left, right)]
    shared = degree[a] + np.where(other, degree[b] - alike, 0.0)  # pairs that share a text with each, counting itself
    s, r = float(shared.sum()), float((shared**2).sum())
    trace = m - s / m
    spread = s - 2 * r / m + (s / m) ** 2
    if trace <= _ROUNDING * m or spread <= _ROUNDING * s:
        return 0.0, 1.0
    _, enlarged = _of_clusters(degree)
    return trace**2 / spread, max(enlarged, m / trace)


def _too_few(freedom: float) -> int:
    """The effective number of units of items without an interval: below ``FEWEST`` plus one."""
    return max(1, min(round(freedom + 1), int(FEWEST)))


def _refusal(left: Int64, right: Int64, freedom: float) -> str:
    """Why there is no interval: one sentence without a period."""
    m = len(left)
    if m == 1:
        return "there is one pair only"
    for side, name in ((left, "query"), (right, "match")):
        if (side == side[0]).all():
            return f"all {m:,} pairs share one {name}"
    for text in (left[0], right[0]):
        if ((left == text) | (right == text)).all():
            return f"all {m:,} pairs share one text"
    worth = counted(_too_few(freedom), "independent group of pairs", "independent groups of pairs")
    return f"the {m:,} pairs are worth {worth}, and fewer than {FEWEST + 1:.0f} do not say how sure a mean is"


# --- intervals


def worth(mean: float, spread: float, variance: float, carried: float, effective: float) -> float:
    """Effective number of independent 0/1 observations of a mean within 0 to 1: ``mean (1 - mean) / variance``.

    It is unreliable if only a few units carry the variance, as near a bound. Then part of a unit with pairs that all
    agree is averaged in: up to ``AGREEING`` of one, nothing if half of the units carry the variance. If no unit does,
    each counts as one observation.

    Args:
        spread: the variance of the values themselves.
        carried: number of units that carry the variance; ``effective``: their number in all.
    """
    possible = mean * (1 - mean)
    if variance <= _ROUNDING * max(possible, _ROUNDING):
        return effective
    lacking = AGREEING * max(0.0, 1 - 2 * carried / effective)
    smoothed = (carried * variance + lacking * spread / effective) / (carried + lacking)
    return possible / max(variance, smoothed)


def observations(values: Float64, dependence: Dependence) -> float:
    """Effective number of independent 0/1 observations of the mean of ``values [m]`` within 0 to 1: m if every unit is
    one item, else at most m; with too few units for an interval, the effective number of these."""
    if dependence.is_of_singles:
        return float(len(values))
    if dependence.refusal:
        return max(1.0, dependence.effective)
    mean, variance, carried = moments(values, dependence)
    return min(float(len(values)), worth(mean, float(values.var()), variance, carried, dependence.effective))


def sure_share(values: Float64, dependence: Dependence, level: float = LEVEL) -> Sure:
    """The mean of ``values [m]`` within 0 to 1, with Wilson's interval for the effective number of observations.

    Unlike ``share`` it never refuses: items that are units of their own have Wilson's interval, however few there are;
    with too few larger units, each of these counts as one observation.
    """
    value, z = float(values.mean()), float(quantile(_freedom_of_share(dependence), level))
    ends = wilson_interval(value, observations(values, dependence), z)
    return Sure(value, ends, "Wilson", dependence.unit, dependence.units, dependence.effective, level=level)


def exact_share(values: Float64, dependence: Dependence, level: float = LEVEL) -> Sure:
    """As ``sure_share``, with Clopper and Pearson's interval: for shares near 0 or 1 at a level beyond 95%.

    Where units vary, the number of observations is divided by the squared ratio of the quantiles of Student's t and the
    normal distribution (Korn and Graubard 1998).
    """
    value, free = float(values.mean()), _freedom_of_share(dependence)
    wider = float(quantile(free, level) / quantile(np.inf, level))
    ends = exact_interval(value, observations(values, dependence) / wider**2, level)
    return Sure(value, ends, "exact", dependence.unit, dependence.units, dependence.effective, level=level)


def _freedom_of_share(dependence: Dependence) -> float:
    """Degrees of freedom of a share; infinite where its variance follows from the share alone."""
    return np.inf if dependence.is_of_singles or dependence.refusal else dependence.freedom


def share(values: Float64, dependence: Dependence, level: float = LEVEL) -> Estimate:
    """The mean of ``values [m]`` within 0 to 1, with Wilson's interval for the effective number of observations."""
    return bounded(float(values.mean()), values, dependence, dependence.effective, level)


def bounded(value: float, influence: Float64, dependence: Dependence, units: float, level: float = LEVEL) -> Estimate:
    """A score within 0 to 1 from the influence of each item on it, ``[m]``, as ``share``.

    Args:
        units: effective number of observations if no unit differs.
    """
    _, variance, carried = moments(influence, dependence)
    interval = None
    if not dependence.refusal:
        n = worth(value, float(influence.var()), variance, carried, units)
        interval = wilson_interval(value, n, float(quantile(dependence.freedom, level)))
    return replace(_estimate(value, interval, "Wilson", dependence, dependence.refusal), level=level)


def mean_rank(values: Float64, dependence: Dependence, level: float = LEVEL) -> Estimate:
    """The mean of ranks ``[m]``, 1 or more: a t interval of the logarithm.

    If a few bad ranks carry most of the variance, Student's t has the degrees of freedom of so few units.
    """
    mean, variance, carried = moments(values, dependence)
    interval, refusal = None, dependence.refusal
    if not refusal and carried == 0:
        refusal = "the ranks are all the same, so that nothing tells how far they could spread"
    elif not refusal:
        freedom = min(dependence.freedom, max(carried - 1, 1.0))
        reach = float(quantile(freedom, level)) * float(np.sqrt(variance)) / mean
        interval = Interval(max(1.0, mean * float(np.exp(-reach))), mean * float(np.exp(reach)))
    return replace(_estimate(mean, interval, "t of the logarithm", dependence, refusal), level=level)


def difference(first: Float64, second: Float64, dependence: Dependence, most: float = 1.0, among: int = 1) -> Estimate:
    """The mean of ``first [m]`` minus that of ``second``: a t interval of the paired differences.

    If few units carry the variance, there are fewer degrees of freedom; if only one does, there is no interval.

    Args:
        most: the largest possible difference, at which intervals are cut off.
        among: the number of differences from which this one was chosen by its value on these very pairs. With 95%
            confidence the intervals of all of them hold (Bonferroni).
    """
    value = float(first.mean()) - float(second.mean())
    return t_estimate(value, moments(first - second, dependence), dependence, most, level_of_each(among))


def change(value: float, influence: Float64, dependence: Dependence, among: int = 1) -> Estimate:
    """The difference of two statistics, from the differences of each pair's influences ``[m]``: a t interval.

    ``among`` is as in ``difference``.
    """
    return t_estimate(value, moments(influence, dependence), dependence, level=level_of_each(among))


def correlation(value: float, influence: Float64, dependence: Dependence, level: float = LEVEL) -> Estimate:
    """A correlation from the influence of each pair on it, ``[m]``: a t interval of Fisher's ``atanh``."""
    return fisher_estimate(value, moments(influence, dependence), dependence, level)


def fisher_estimate(
    value: float, moments_of_values: tuple[float, float, float], dependence: Dependence, level: float = LEVEL
) -> Estimate:
    """As ``correlation``, from the ``moments`` of the influences."""
    _, variance, carried = moments_of_values
    interval, refusal = None, dependence.refusal
    if not refusal and (carried == 0 or abs(value) >= 1 - _ROUNDING):
        refusal = "all pairs are equally influential, so there is no estimate of its error"
    elif not refusal and carried < FEWEST_CARRYING:
        refusal = "how far it may be off hangs on a single group or text"
    elif not refusal:
        reach = float(quantile(freedom_of(carried, dependence), level)) * float(np.sqrt(variance)) / (1 - value * value)
        middle = float(np.arctanh(value))
        interval = Interval(float(np.tanh(middle - reach)), float(np.tanh(middle + reach)))
    return replace(_estimate(value, interval, "t of Fisher's z", dependence, refusal), level=level)


def t_estimate(
    value: float,
    moments_of_values: tuple[float, float, float],
    dependence: Dependence,
    most: float = np.inf,
    level: float = LEVEL,
) -> Estimate:
    """A t interval from the ``moments`` of the influences."""
    _, variance, carried = moments_of_values
    interval, refusal = None, dependence.refusal
    if not refusal and carried == 0:
        refusal = "no pair tells the two apart"
    elif not refusal and carried < FEWEST_CARRYING:
        refusal = "what differs between the two hangs on a single group or text"
    elif not refusal:
        half = float(quantile(freedom_of(carried, dependence), level)) * float(np.sqrt(variance))
        interval = Interval(max(-most, value - half), min(most, value + half))
    return replace(_estimate(value, interval, "t", dependence, refusal), level=level)


def freedom_of(carried: float, dependence: Dependence) -> float:
    """Degrees of freedom of the pairs, fewer if few units carry the variance (of normal values, a third do)."""
    return min(dependence.freedom, 1.5 * carried - 1)


def moments(values: Float64, dependence: Dependence) -> tuple[float, float, float]:
    """Mean, its variance, and the number of units that carry it."""
    column = values[:, np.newaxis]
    variance, carried = (float(moment(column)[0]) for moment in (dependence.variances, dependence.carried_by))
    return float(values.mean()), variance, carried


def _estimate(value: float, interval: Interval | None, how: str, dependence: Dependence, refusal: str) -> Estimate:
    method = f"{how}, {dependence.method}"
    return Estimate(value, interval, method, dependence.unit, dependence.units, dependence.effective, refusal)


# --- tests


def p_values(paired: Float64, dependence: Dependence, most: float | Float64 = 1.0) -> Float64:
    """Two-sided p-values of mean paired differences ``[m, k]``, ``[k]``: the only rule for calling one better.

    The hypothesis is that the mean difference is 0. With groups as units: sign flips of whole groups, and where
    differences are skewed, so that flips find too much, ``skew.mean_zero_p_value``; the larger p counts. With texts as
    units, which are not exchangeable: Student's t of the dyadic-robust standard error. NaN without a test.

    Args:
        most: the most that an item can differ by, in all columns or in each, ``[k]``; infinite where it is not known,
            or where no item comes near it.
    """
    if dependence.refusal:
        return np.full(paired.shape[1], np.nan)
    if dependence.unit is not Unit.TEXTS:
        return _p_of_groups(paired, dependence.groups, most)
    from scipy.special import stdtr

    error = np.sqrt(dependence.variances(paired))
    size = np.abs(paired.mean(axis=0))
    t = np.divide(size, error, out=np.zeros_like(size), where=error > 0)
    return np.asarray(2 * stdtr(dependence.freedom, -t))


def test_in_words(of: str, *, is_by_texts: bool) -> str:
    """The test of ``p_values`` in words; the signs that it flips are those ``of`` groups or differences."""
    return f"t of the {DYADIC} standard error" if is_by_texts else f"sign flips of {of}, {ALLOWING}"


def _p_of_groups(paired: Float64, groups: Int64, most: float | Float64) -> Float64:
    """The larger p-value of sign flips and of the test that skewed differences take, ``[k]``."""
    flipped = sign_flip_p_values(paired, groups)
    sums = sums_within(paired, groups)
    # Of a group of mean size.
    edges = np.broadcast_to(np.asarray(most) * len(paired) / max(len(sums), 1), flipped.shape)
    skewed = [
        mean_zero_p_value(sums_of_column, edge) for sums_of_column, edge in zip(sums.T, edges.tolist(), strict=True)
    ]
    return np.asarray(np.maximum(flipped, skewed))


def mcnemar_by_units(first: Float64, second: Float64, dependence: Dependence) -> float:
    """The p-value of McNemar's exact test on paired outcomes ``[m]``; where units have several items, the one of
    ``p_values``."""
    if dependence.is_of_singles:
        return mcnemar(first, second)
    return float(p_values((first - second)[:, np.newaxis], dependence)[0])


def p_of_change(value: float, influence: Float64, dependence: Dependence) -> float:
    """Two-sided p-value of ``change``, by the Student's t of its interval: below 0.05 exactly if this excludes 0.

    NaN without a test, 1 if the two are equal for all pairs.
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


def smallest_detectable(paired: Float64, dependence: Dependence, tests: int, alpha: float) -> Float64:
    """The smallest true difference that the test would have detected with probability ``POWER``, ``[k]``; NaN if none.

    Computed for the correction's strictest step, alpha/tests. If many groups differ, it is
    ``(z(1 - alpha/(2 tests)) + z(POWER)) * standard error``. If few do, the normal approximation is too optimistic, and
    the power of the exact test is summed, with as many groups of equal weight as differ here on either side, or with
    more of them if even all on one side are not enough.
    """
    out = np.full(paired.shape[1], np.nan)
    if dependence.refusal:
        return out
    from scipy.special import ndtri, stdtrit

    level = alpha / tests
    errors = np.sqrt(dependence.variances(paired))
    if dependence.unit is Unit.TEXTS:
        f = dependence.freedom
        return np.where(errors > 0, (stdtrit(f, 1 - level / 2) + stdtrit(f, POWER)) * errors, np.nan)
    sums = np.abs(sums_within(paired, dependence.groups))
    for i in range(paired.shape[1]):
        sizes = sums[sums[:, i] > _ROUNDING, i]
        if len(sizes) == 0:
            continue
        differing = float(sizes.sum() ** 2 / (sizes**2).sum())
        if differing > MANY:
            out[i] = (ndtri(1 - level / 2) + ndtri(POWER)) * errors[i]
            continue
        groups = max(1, round(len(sums) * differing / len(sizes)))
        share = _share_found(differing, groups, level)
        out[i] = np.nan if share is None else share * sizes.sum() / len(paired) / differing
    return out


def _share_found(differing: float, groups: int, alpha: float) -> float | None:
    """Net number of groups on one side that an exact sign test detects; None if all ``groups`` are not enough.

    The number that differ is binomial with mean ``differing``; first their share on one side grows, then their number.
    """

    def power(net: float) -> float:
        mean = max(differing, net)
        return _power_of_sign_test(mean, groups, (1 + net / mean) / 2, alpha)

    low, high = 0.0, min(float(groups), differing + ENOUGH)
    if power(high) < POWER:
        return None
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (low, middle) if power(middle) >= POWER else (middle, high)
    return high


def _power_of_sign_test(mean: float, groups: int, one_side: float, alpha: float) -> float:
    """Power of a two-sided sign test at ``alpha`` if each of ``groups`` differs with the same probability, ``mean`` of
    them on average, and favors one side with probability ``one_side``."""
    from scipy.special import bdtr, bdtrc

    k = np.arange(min(groups, int(2 * mean) + ENOUGH) + 1)  # more are very unlikely
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
