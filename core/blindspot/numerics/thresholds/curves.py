"""Precision and recall of calling texts the same from a similarity on, and the threshold for a wished precision.

A pair is *called the same* if its similarity is at least the threshold, ties included. Precision is the share of called
pairs that are the same, recall the share of the same pairs that are called. Intervals are pointwise, at one threshold
each: Wilson's for the effective number of independent pairs (``statistics.pairs``), given how many pairs are called.

The *threshold for a wished precision* is the lowest with at least that precision: it has the highest recall. It is
chosen on the pairs that it is measured on, so its precision there is optimistic: ``held_out`` is the precision of pairs
at thresholds that other pairs chose. Its interval inverts intervals of precision. It begins at the lowest threshold
whose interval reaches the wish, and ends at the lowest that is *safe* by a bound that holds for all thresholds at once:
among many pointwise bounds one lies above the wish by chance. ``tests/numerics/thresholds`` simulates all of these.

Arrays in, arrays out, float64.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from blindspot.errors import InputError
from blindspot.numerics.statistics.estimate import Estimate
from blindspot.numerics.statistics.intervals import LEVEL, Interval, level_of_each
from blindspot.numerics.statistics.pairs import Dependence, change, difference, exact_share, share
from blindspot.numerics.statistics.resampling import SEED, components
from blindspot.types import Bool, Float64, Int64

FEWEST_PAIRS = 20
FEWEST_CALLED = 8  # pairs that a threshold must call: the precision of fewer has no interval
FOLDS = 5
_LARGEST = 0.5  # share of the pairs in one group, from which on folds are made of single pairs
_AT_ONCE = 120  # thresholds tried first; those between two of them after that
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class LabeledPairs:
    """Pairs of texts that are the same or not, with a model's similarities, ``[m]`` each.

    Attributes:
        similarity: float64, finite.
        same: bool.
        left, right: numbers of each pair's texts: pairs that share one are not independent.

    Raises:
        InputError: too few pairs, one class only, similarities that are missing or all equal.
    """

    similarity: Float64
    same: Bool
    left: Int64
    right: Int64

    def __post_init__(self) -> None:
        m = len(self.similarity)
        if m < FEWEST_PAIRS:
            raise InputError(f"a threshold cannot be drawn from {m:,} pairs", expected=f"{FEWEST_PAIRS} or more")
        if missing := int(np.count_nonzero(~np.isfinite(self.similarity))):
            raise InputError(f"{missing:,} of {m:,} pairs have no similarity", expected="a finite number for each")
        if (count := int(self.same.sum())) in (0, m):
            which = "the same" if count else "different"
            raise InputError(f"all {m:,} pairs are {which}", expected="pairs of both kinds")
        if np.ptp(self.similarity) == 0:
            raise InputError(
                f"all {m:,} pairs have the similarity {self.similarity[0]:.4g}",
                expected="a model that tells them apart",
            )

    def __len__(self) -> int:
        return len(self.similarity)

    def within(self, inside: Bool) -> LabeledPairs:
        """The pairs where ``inside [m]`` is True; raises as the class does."""
        return LabeledPairs(self.similarity[inside], self.same[inside], self.left[inside], self.right[inside])

    def dependence(self, inside: Bool | None = None) -> Dependence:
        """Independent units among the pairs, or among some of them."""
        if inside is None:
            return Dependence.of(self.left, self.right)
        return Dependence.of(self.left[inside], self.right[inside])

    @cached_property
    def curve(self) -> Curve:
        return Curve.of(self.similarity, self.same)

    @cached_property
    def _of_same(self) -> Dependence:
        return self.dependence(self.same)

    def point(self, threshold: float, inside: Bool | None = None, level: float = LEVEL) -> Point:
        """Precision and recall from ``threshold`` on, over all pairs or those ``inside [m]``; ``level`` is of the
        intervals.

        Raises:
            InputError: none of these pairs is the same.
        """
        here = np.ones(len(self), dtype=np.bool_) if inside is None else inside
        same, called = here & self.same, here & (self.similarity >= threshold)
        if not same.any():
            raise InputError("no pair is the same", expected="pairs of both kinds")
        precision = (
            share(self.same[called].astype(np.float64), self.dependence(called), level) if called.any() else None
        )
        of_same = self._of_same if inside is None else self.dependence(same)
        recall = share(called[same].astype(np.float64), of_same, level)
        return Point(threshold, precision, recall, int(called.sum()), int((called & same).sum()))


@dataclass(frozen=True, eq=False)
class Curve:
    """Precision and recall at every distinct similarity, ``[k]`` each, ascending.

    Attributes:
        thresholds: the similarities.
        called, right: numbers of pairs called the same, and of pairs that rightly are.
        precision, recall: shares.
    """

    thresholds: Float64
    called: Int64
    right: Int64
    precision: Float64
    recall: Float64

    @classmethod
    def of(cls, similarity: Float64, same: Bool) -> Curve:
        thresholds, inverse = np.unique(similarity, return_inverse=True)
        at = np.bincount(inverse.ravel(), minlength=len(thresholds))
        same_at = np.bincount(inverse.ravel(), weights=same, minlength=len(thresholds))
        called = np.cumsum(at[::-1])[::-1].astype(np.int64)
        right = np.cumsum(same_at[::-1])[::-1].astype(np.int64)
        return cls(thresholds, called, right, right / called, right / max(int(same.sum()), 1))


@dataclass(frozen=True)
class Point:
    """Precision and recall at a threshold.

    Attributes:
        precision: None where no pair is called.
        called, right: numbers of pairs called the same, and of pairs that rightly are.
    """

    threshold: float
    precision: Estimate | None
    recall: Estimate
    called: int
    right: int


@dataclass(frozen=True)
class Wished:
    """The threshold for a wished precision.

    Attributes:
        precision: the wished precision.
        point: at the threshold; None where no threshold reaches the wish and calls ``FEWEST_CALLED`` pairs.
        low: lower end of the threshold's 95% interval; None where every threshold is ruled out.
        high: its upper end, where the wish is safe; None where no threshold is safe. For a group, both ends hold for
            all groups at once.
        best: at the threshold of the highest precision among those that call ``FEWEST_CALLED`` pairs; its intervals
            hold for all of these at once.
        held_out: precision of pairs at thresholds that other pairs chose; None where these call no pair.
    """

    precision: float
    point: Point | None
    low: float | None
    high: float | None
    best: Point
    held_out: Estimate | None = None


def wished(pairs: LabeledPairs, precision: float, among: int = 1) -> Wished:
    """The threshold for a wished precision, within 0 to 1; its interval is one of ``among`` that hold at once.

    Raises:
        InputError: the wish is not between 0 and 1.
    """
    if not 0 < precision < 1:
        raise InputError(f"a precision of {precision:g} cannot be asked for", expected="more than 0 and less than 1")
    curve = pairs.curve
    enough = curve.called >= min(FEWEST_CALLED, len(pairs))
    thresholds = curve.thresholds[enough]
    reached = np.flatnonzero(curve.precision[enough] >= precision - _ROUNDING)
    ends: dict[float, Interval | None] = {}

    def interval(threshold: float) -> Interval | None:
        if threshold not in ends:
            precision_here = pairs.point(threshold, level=level_of_each(among)).precision
            ends[threshold] = None if precision_here is None else precision_here.interval
        return ends[threshold]

    # Where there is no interval, nothing is ruled out and nothing is safe.
    low = _first(thresholds, lambda t: (bounds := interval(t)) is None or bounds.high >= precision)
    high = safe(pairs, precision, among)
    point = pairs.point(float(thresholds[reached[0]])) if len(reached) else None
    best = _chosen(pairs, float(thresholds[int(np.argmax(curve.precision[enough]))]), len(thresholds))
    if point is not None and (low is None or low > point.threshold):  # not among the thresholds that were tried
        low = point.threshold
    return Wished(precision, point, low, high, best, held_out(pairs, precision))


def _chosen(pairs: LabeledPairs, threshold: float, among: int) -> Point:
    """The point at a threshold that was chosen among so many for its precision. The interval of the precision is exact:
    Wilson's end is too high at such levels."""
    level = level_of_each(among)
    point = pairs.point(threshold, level=level)
    if point.precision is None or point.precision.refusal:
        return point
    called = pairs.similarity >= threshold
    return replace(point, precision=exact_share(pairs.same[called].astype(float), pairs.dependence(called), level))


def safe(pairs: LabeledPairs, precision: float, among: int = 1) -> float | None:
    """The lowest threshold whose precision is shown to be at least the wish; None if none is.

    The probability that it does not reach the wish is at most 5%, whichever threshold it is. Starts are fixed before
    any label is read: thresholds that call all pairs, half of them, a fourth and so on, as long as these are enough to
    show the wish. From each start the bound moves down, one threshold after the other, while the lower bound of the
    precision is at least the wish. A sequence that stops at the first failure errs as often as a single test (a fixed
    sequence; Maurer, Hothorn and Lehmacher 1995), so that only the number of starts is corrected for (Bonferroni).
    """
    thresholds, called = _spread(pairs.curve, _AT_ONCE)
    starts = _starts(pairs, precision, thresholds, called, among)
    level = _level(among * len(starts))
    shown: dict[int, bool] = {}

    def is_shown(index: int) -> bool:
        if index not in shown:
            shown[index] = _lowest(pairs, float(thresholds[index]), level) >= precision
        return shown[index]

    lowest = None
    for start in starts:
        number = start
        while number >= 0 and is_shown(number):
            lowest = number if lowest is None else min(lowest, number)
            number -= 1
    return None if lowest is None else float(thresholds[lowest])


def _starts(pairs: LabeledPairs, precision: float, thresholds: Float64, called: Int64, among: int) -> list[int]:
    """Places of the thresholds that call about all pairs, half of them, a fourth and so on, while they call enough to
    show the wish if all of these were the same."""
    places: list[int] = []
    for halvings in range(int(np.log2(len(pairs))) + 1):
        index = min(int(np.searchsorted(-called, -len(pairs) / 2**halvings)), len(called) - 1)
        if index in places:
            continue
        if _lowest(pairs, float(thresholds[index]), _level(among * (len(places) + 1)), all_same=True) < precision:
            break
        places.append(index)
    return places


def _level(starts: int) -> float:
    """Level of two-sided intervals with lower ends that all hold with probability ``LEVEL``."""
    return 1 - 2 * (1 - LEVEL) / max(starts, 1)


def _lowest(pairs: LabeledPairs, threshold: float, level: float, *, all_same: bool = False) -> float:
    """The lower bound of the precision at a threshold, exact where pairs share no text: Wilson's lower end is too high
    for shares near 1. It is 0 for too few pairs."""
    inside = pairs.similarity >= threshold
    same = np.ones(int(inside.sum())) if all_same else pairs.same[inside].astype(np.float64)
    dependence = pairs.dependence(inside)
    return 0.0 if dependence.refusal else exact_share(same, dependence, level).interval.low


def folds_of(pairs: LabeledPairs) -> Int64:
    """A fold per pair, ``[m]`` from 0 to ``FOLDS - 1``: of whole groups of pairs, unless one has most of them."""
    m = len(pairs)
    groups = components(pairs.left, pairs.right)
    if np.bincount(groups).max() > _LARGEST * m:
        groups = np.arange(m, dtype=np.int64)
    sizes = np.bincount(groups)
    order = np.random.default_rng(SEED).permutation(len(sizes))
    before = np.cumsum(sizes[order]) - sizes[order]
    fold = np.empty(len(sizes), dtype=np.int64)
    fold[order] = before * FOLDS // m
    return fold[groups]


def held_out(pairs: LabeledPairs, precision: float) -> Estimate | None:
    """Precision if every fold is called by the threshold that all other folds choose; None if no pair is called."""
    folds = folds_of(pairs)
    called = np.zeros(len(pairs), dtype=np.bool_)
    for fold in range(FOLDS):
        inside = folds == fold
        curve = Curve.of(pairs.similarity[~inside], pairs.same[~inside])
        enough = (curve.called >= FEWEST_CALLED) & (curve.precision >= precision - _ROUNDING)
        if enough.any():
            called[inside] = pairs.similarity[inside] >= curve.thresholds[enough][0]
    return share(pairs.same[called].astype(np.float64), pairs.dependence(called)) if called.any() else None


def _first(thresholds: Float64, is_so: Callable[[float], bool]) -> float | None:
    """The lowest threshold for which ``is_so``: some are tried first, then those just below the first one found."""
    k = len(thresholds)
    tried = np.unique(np.linspace(0, k - 1, min(k, _AT_ONCE)).astype(np.int64))
    before = -1
    for index in tried.tolist():
        if is_so(float(thresholds[index])):
            between = range(before + 1, index)
            return next(
                (float(thresholds[i]) for i in between if is_so(float(thresholds[i]))), float(thresholds[index])
            )
        before = index
    return None


def bands(pairs: LabeledPairs, most: int = _AT_ONCE) -> tuple[Point, ...]:
    """Points to draw: at every distinct similarity, or at about ``most`` of them with as many pairs between."""
    thresholds, _ = _spread(pairs.curve, most)
    return tuple(pairs.point(float(threshold)) for threshold in thresholds)


def _spread(curve: Curve, most: int) -> tuple[Float64, Int64]:
    """Every threshold, or about ``most`` of them with equally many pairs between, and how many pairs they call."""
    thresholds, called = curve.thresholds, curve.called
    if len(thresholds) <= most:
        return thresholds, called
    wanted = np.linspace(called[0], called[-1], most)
    places = np.unique(np.searchsorted(-called, -wanted).clip(0, len(thresholds) - 1))
    return thresholds[places], called[places]


# --- a threshold of one model, used with another


@dataclass(frozen=True, eq=False)
class CarriedOver:
    """The threshold of model A, used with B on the same pairs.

    Attributes:
        a, b: both at that threshold.
        precision, recall: B less A; None where one of them calls no pair.
        only_a, only_b: ``[m] bool``, pairs that only A, or only B, calls the same.
    """

    threshold: float
    a: Point
    b: Point
    precision: Estimate | None
    recall: Estimate
    only_a: Bool
    only_b: Bool

    @property
    def flipped(self) -> Bool:
        return self.only_a | self.only_b


def carried_over(a: LabeledPairs, b: LabeledPairs, threshold: float) -> CarriedOver:
    """A's threshold with B; both have the same pairs in the same order.

    Raises:
        ValueError: the pairs differ.
    """
    if not (np.array_equal(a.same, b.same) and np.array_equal(a.left, b.left) and np.array_equal(a.right, b.right)):
        raise ValueError("both models must be measured on the same pairs")
    calls = [side.similarity >= threshold for side in (a, b)]
    hits = [called[a.same].astype(np.float64) for called in calls]
    precision = None
    if all(called.any() for called in calls):
        first, second = (_of_precision(called, a.same) for called in calls)
        precision = change(float(second.mean() - first.mean()), second - first, a.dependence())
    return CarriedOver(
        threshold,
        a.point(threshold),
        b.point(threshold),
        precision,
        difference(hits[1], hits[0], a.dependence(a.same)),
        calls[0] & ~calls[1],
        calls[1] & ~calls[0],
    )


def _of_precision(called: Bool, same: Bool) -> Float64:
    """The influence of each pair on the precision, ``[m]``; their mean is the precision itself."""
    precision = float(same[called].mean())
    return np.asarray(precision + called * (same - precision) / called.mean())
