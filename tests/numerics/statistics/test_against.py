"""Tests of a score against a value: they are the intervals turned around, and hold where two ends are shared."""

from __future__ import annotations

import numpy as np
import pytest

from blindspot.numerics.statistics.against import (
    bounded_against,
    change_against,
    correlation_against,
    difference_influence,
    of_ends,
    share_against,
    stored_against,
)
from blindspot.numerics.statistics.correlations import correlations, influences
from blindspot.numerics.statistics.estimate import Unit
from blindspot.numerics.statistics.intervals import wilson_interval
from blindspot.numerics.statistics.pairs import Dependence, change, correlation, share

RNG = np.random.default_rng(0)
GROUPS = Dependence.of_groups(RNG.integers(0, 40, 200), Unit.EXAMPLES)
VALUES = (RNG.uniform(size=200) < 0.7).astype(np.float64)


def test_a_share_has_p_of_five_percent_at_the_ends_of_its_interval() -> None:
    estimate = share(VALUES, GROUPS)
    assert estimate.interval is not None
    for end in (estimate.interval.low, estimate.interval.high):
        found, p = share_against(VALUES, GROUPS, end)
        assert found == estimate
        assert p == pytest.approx(0.05)
    assert share_against(VALUES, GROUPS, estimate.value)[1] == 1.0
    assert share_against(VALUES, GROUPS, 0.2)[1] < 1e-6


def test_a_correlation_and_a_change_likewise() -> None:
    x, y = RNG.normal(size=(2, 200))
    y = y + 0.5 * x
    value, moved = correlations(x, y).spearman, influences(x, y).spearman
    estimate = correlation(value, moved, GROUPS)
    assert estimate.interval is not None
    for end in (estimate.interval.low, estimate.interval.high):
        assert correlation_against(value, moved, GROUPS, end) == (estimate, pytest.approx(0.05))
    estimate = change(float(x.mean()), x, GROUPS)
    assert estimate.interval is not None
    for end in (estimate.interval.low, estimate.interval.high):
        assert change_against(float(x.mean()), x, GROUPS, end) == (estimate, pytest.approx(0.05))


def test_where_there_is_no_interval_there_is_no_test() -> None:
    few = Dependence.of_groups(np.arange(5), Unit.EXAMPLES)
    assert np.isnan(share_against(np.array([0.0, 1, 1, 0, 1]), few, 0.5)[1])
    assert np.isnan(change_against(0.5, np.arange(5.0), few)[1])
    assert np.isnan(correlation_against(0.5, np.arange(5.0), few, 0.0)[1])


def test_what_is_all_right_is_as_sure_as_its_groups() -> None:
    right = np.ones(200)
    found, p = share_against(right, GROUPS, 0.9)
    assert found.interval is not None
    assert found.interval.low < 0.95
    assert 0 < p < 0.1


def test_a_stored_interval_tells_its_p() -> None:
    ends = wilson_interval(0.7, 200)
    assert stored_against(0.7, ends, ends.high) == pytest.approx(0.05)
    assert stored_against(0.7, ends, ends.low) == pytest.approx(0.05)
    assert stored_against(0.7, ends, 0.7) == 1.0
    z = (0.7 - 0.5) / np.sqrt(0.25 / 200)  # the score test, by hand
    assert stored_against(0.7, ends, 0.5) == pytest.approx(float(2 * _normal_tail(z)), rel=1e-6)
    assert stored_against(1.0, wilson_interval(1.0, 200), 0.9) < 1e-4
    assert np.isnan(stored_against(1.0, wilson_interval(1.0, 200), 1.0 + 1e-9))


def _normal_tail(z: float) -> float:
    from scipy.stats import norm

    return float(norm.sf(z))


def test_a_difference_of_two_means_and_what_moves_it() -> None:
    inside = np.arange(200) < 60
    value, moved = difference_influence(VALUES, inside)
    assert value == pytest.approx(VALUES[:60].mean() - VALUES[60:].mean())
    assert moved.mean() == pytest.approx(0)
    more = VALUES[:60].copy()
    # Of one item a little more weight: the derivative by it.
    weights = np.ones(60)
    weights[3] += 1e-6
    changed = np.average(more, weights=weights) - VALUES[60:].mean()
    assert moved[3] / 200 == pytest.approx((changed - value) / 1e-6, rel=1e-3)


def test_ends_gather_what_their_things_move() -> None:
    left, right = np.array([5, 5, 7, 9]), np.array([7, 9, 9, 5])
    moved = np.array([1.0, 2.0, 3.0, 6.0])
    sums, known = of_ends(moved, left, right)
    slow = [sum(m - 3.0 for m, a, b in zip(moved, left, right, strict=True) if end in (a, b)) for end in (5, 7, 9)]
    assert sums.tolist() == pytest.approx([3 / 4 * one for one in slow])
    assert known.units == 3


@pytest.mark.parametrize("ends", [10, 25])
def test_a_share_of_questions_about_every_two_ends_is_covered(ends: int) -> None:
    """The ends have effects of their own on all of their questions."""
    rng = np.random.default_rng([1, ends])
    left, right = np.nonzero(~np.eye(ends, dtype=bool))
    threshold = 0.8
    truth = _truth(threshold)
    rejected = 0
    for _ in range(400):
        a, b = rng.normal(size=(2, ends))
        noise = rng.normal(size=len(left))
        hits = (a[left] + b[right] + noise > threshold).astype(np.float64)
        moved, known = of_ends(hits, left, right)
        rejected += bounded_against(float(hits.mean()), moved, known, known.units, truth)[1] < 0.05
    assert rejected / 400 <= 0.075


def _truth(threshold: float) -> float:
    return _normal_tail(threshold / np.sqrt(3))
