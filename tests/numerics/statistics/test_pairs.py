"""Means over pairs that share texts: every formula against a loop or the matrices that define it, and refusals."""

from __future__ import annotations

from itertools import product
from math import comb, exp, sqrt

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom
from scipy.stats import t as student
from statsmodels.stats.proportion import proportion_confint

from blindspot.numerics.statistics import pairs as module
from blindspot.numerics.statistics.estimate import Unit
from blindspot.numerics.statistics.intervals import mcnemar, wilson_interval
from blindspot.numerics.statistics.pairs import (
    FEWEST,
    Dependence,
    difference,
    exact_share,
    mcnemar_by_units,
    mean_rank,
    observations,
    p_values,
    share,
    smallest_detectable,
    sure_share,
    worth,
)
from blindspot.numerics.statistics.resampling import sign_flip_p_values
from blindspot.numerics.statistics.skew import mean_zero_p_value
from blindspot.types import Float64, Int64
from tests.support.pair_graphs import FEW_TEXTS, ends, random_graph, stars
from tests.support.tables import each


def of_texts(left: Int64, right: Int64) -> Dependence:
    """Dyadic-robust, whatever the graph would be taken for."""
    freedom, enlarged = module._of_texts(left, right)
    found = Dependence.of(left, right)
    texts = len(set(left) | set(right))
    return Dependence(Unit.TEXTS, found.groups, left, right, texts, freedom, enlarged, "")


# --- outcomes of several items per unit


def in_groups(sizes: list[int]) -> Dependence:
    return Dependence.of_groups(np.repeat(np.arange(len(sizes)), sizes), Unit.SENTENCE_GROUPS)


def test_outcomes_of_single_items_have_wilsons_interval_however_few() -> None:
    for n in (1, 3, 20):
        values = np.arange(n) % 2.0
        known = in_groups([1] * n)
        assert known.is_of_singles
        assert observations(values, known) == n
        low, high = proportion_confint(values.sum(), n, method="wilson")
        found = sure_share(values, known)
        assert (found.low, found.high) == pytest.approx((low, high), abs=1e-12)
        low, high = proportion_confint(values.sum(), n, alpha=0.01, method="beta")
        exact = exact_share(values, known, level=0.99)
        assert (exact.low, exact.high) == pytest.approx((low, high), abs=1e-9)
        low, high = proportion_confint(values.sum(), n, alpha=0.01, method="wilson")
        found = sure_share(values, known, level=0.99)
        assert (found.low, found.high) == pytest.approx((low, high), abs=1e-12)


def test_items_that_say_what_their_group_says_count_once() -> None:
    """20 groups of three, 8 of them right: the variance of a mean of 20, less one degree of freedom."""
    known, values = in_groups([3] * 20), np.repeat([1.0] * 8 + [0.0] * 12, 3)
    assert observations(values, known) == pytest.approx(19.0)
    expected = wilson_interval(0.4, 19.0, student.ppf(0.975, known.freedom))
    found = sure_share(values, known)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))


def test_there_are_never_more_observations_than_items() -> None:
    """In every group one of two is right: the mean cannot vary."""
    assert observations(np.tile([1.0, 0.0], 20), in_groups([2] * 20)) <= 40


def test_of_too_few_groups_each_is_one_observation() -> None:
    known, values = in_groups([5] * 4), np.tile([1.0, 1.0, 0.0, 1.0, 1.0], 4)
    assert known.refusal
    assert observations(values, known) == pytest.approx(4.0)
    found, expected = sure_share(values, known), wilson_interval(0.8, 4.0)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=1e-12)


@each(("sizes", "truth"), [([7] * 12, 0.75), ([7] * 40, 0.5), ([3] * 20, 0.9)])
def test_intervals_of_outcomes_in_groups_hold_the_truth(sizes: list[int], truth: float) -> None:
    """Wilson's for all items held it in 66, 63 and 84% of cases."""
    rng, known, held = np.random.default_rng(5), in_groups(sizes), 0
    for _ in range(500):
        of_groups = rng.beta(truth, 1 - truth, len(sizes))
        found = sure_share((rng.random(sum(sizes)) < np.repeat(of_groups, sizes)).astype(np.float64), known)
        held += found.low <= truth <= found.high
    assert 0.92 <= held / 500 <= 0.99


def test_mcnemar_flips_whole_groups() -> None:
    """Eight groups of two, all better in the first: exact p of 8 coins, not of 16."""
    first, second = np.ones(16), np.zeros(16)
    found = mcnemar_by_units(first, second, in_groups([2] * 8))
    assert found == 2 / 2**8
    assert mcnemar_by_units(first, second, in_groups([1] * 16)) == mcnemar(first, second) == 2 / 2**16


@given(st.lists(st.integers(0, 3), min_size=1, max_size=20), st.data())
def test_some_items_keep_their_groups(groups: list[int], data: st.DataObject) -> None:
    inside = np.array(data.draw(st.lists(st.booleans(), min_size=len(groups), max_size=len(groups))))
    found = Dependence.of_groups(np.array(groups), Unit.SENTENCE_GROUPS).among(inside)
    kept = [group for group, is_in in zip(groups, inside, strict=True) if is_in]
    assert len(found.groups) == len(kept)
    assert [a == b for a in found.groups for b in found.groups] == [a == b for a in kept for b in kept]
    assert found.units == len(set(kept))


# --- what is independent


@each(
    ("graph", "unit", "units"),
    [
        (stars(8, 5), Unit.COMPONENTS, 8),
        (stars(200, 1), Unit.COMPONENTS, 200),
        (random_graph(60, 200, seed=1), Unit.TEXTS, 60),
    ],
)
def test_groups_where_there_are_enough_else_texts(graph: tuple[Int64, Int64], unit: Unit, units: int) -> None:
    found = Dependence.of(*graph)
    assert (found.unit, found.units, found.refusal) == (unit, units, "")
    assert found.freedom >= FEWEST
    assert found.effective <= found.units


@each(
    ("graph", "said"),
    [
        (stars(1, 100), "all 100 pairs share one query"),
        (stars(1, 100)[::-1], "all 100 pairs share one match"),
        ((np.array([5, 5, 1, 5]), np.array([1, 2, 5, 3])), "all 4 pairs share one text"),
        (stars(1, 1), "one pair only"),
        (stars(2, 50), "worth 2 independent"),
        (stars(4, 25), "worth 4 independent"),
        (stars(7, 30), "worth 7 independent"),
    ],
)
def test_too_few_independent_pairs_are_refused_with_the_reason(graph: tuple[Int64, Int64], said: str) -> None:
    found = Dependence.of(*graph)
    assert said in found.refusal
    values = np.random.default_rng(1).random(len(graph[0]))
    for estimate in (
        share(values, found),
        mean_rank(1 + values, found),
        difference(values, values[::-1].copy(), found),
    ):
        assert estimate.interval is None
        assert estimate.refusal == found.refusal
    paired = (values - 0.5)[:, np.newaxis]
    assert np.isnan(p_values(paired, found)).all()
    assert np.isnan(smallest_detectable(paired, found, 1, 0.05)).all()


# --- variances, their enlargement and degrees of freedom, by the matrices


def by_matrices(alike: Float64, sigma: Float64) -> tuple[float, float]:
    """Degrees of freedom and enlargement of ``e'Ae`` under covariances ``sigma``, as Satterthwaite's method says."""
    m = len(alike)
    off = np.eye(m) - 1 / m
    product_ = off @ alike @ off @ sigma
    trace = np.trace(product_)
    return trace**2 / np.trace(product_ @ product_), sigma.sum() / trace


@given(st.lists(st.integers(1, 5), min_size=2, max_size=9))
def test_freedom_of_clusters_is_that_of_the_quadratic_form(sizes: list[int]) -> None:
    of_cluster = np.repeat(np.arange(len(sizes)), sizes)
    alike = (of_cluster[:, np.newaxis] == of_cluster).astype(float)
    each = [by_matrices(alike, sigma) for sigma in (np.eye(len(alike)), alike)]
    freedom, enlarged = module._of_clusters(np.array(sizes, dtype=np.float64))
    assert freedom == pytest.approx(min(f for f, _ in each), rel=1e-8)
    assert enlarged == pytest.approx(max(e for _, e in each), rel=1e-8)


@given(FEW_TEXTS)
def test_freedom_of_texts_is_that_of_the_quadratic_form(pairs: list[tuple[int, int]]) -> None:
    left, right = ends(pairs)
    alike = np.array([[bool({a, b} & {c, d}) for c, d in pairs] for a, b in pairs], dtype=float)
    m = len(pairs)
    off = np.eye(m) - 1 / m
    freedom, enlarged = module._of_texts(left, right)
    if np.trace(off @ alike) <= 1e-9:
        assert freedom == 0.0
        return
    expected, least = by_matrices(alike, np.eye(m))
    assert freedom == pytest.approx(expected, rel=1e-8)
    assert enlarged >= least * (1 - 1e-9)


def test_clusters_of_one_size_have_one_degree_of_freedom_less_than_they_are() -> None:
    assert module._of_clusters(np.full(9, 20.0)) == pytest.approx((8.0, 9 / 8))
    left, right = stars(9, 20)
    assert module._of_texts(left, right)[0] == pytest.approx(8.0)


def test_the_variance_by_groups_is_statsmodels() -> None:
    rng = np.random.default_rng(4)
    left, right = stars(12, 5)
    values = rng.normal(size=(12, 1)).repeat(5, axis=0).ravel() + rng.normal(size=60)
    found = Dependence.of(left, right).variances(values[:, np.newaxis])[0]
    fitted = sm.OLS(values, np.ones(60)).fit(cov_type="cluster", cov_kwds={"groups": left})
    assert found == pytest.approx(float(fitted.bse[0]) ** 2)


@settings(deadline=None)
@given(FEW_TEXTS, st.integers(0, 2**32 - 1))
def test_the_variance_by_texts_is_a_double_loop(pairs: list[tuple[int, int]], seed: int) -> None:
    """Pairs of a text with itself, reversed and repeated pairs among them."""
    left, right = ends(pairs)
    values = np.random.default_rng(seed).normal(size=len(pairs))
    known, m = of_texts(left, right), len(pairs)
    e = values - values.mean()
    shared = alone = 0.0
    for p, q in product(range(m), repeat=2):
        one, other = {left[p], right[p]}, {left[q], right[q]}
        shared += e[p] * e[q] if one & other else 0.0
        alone += e[p] * e[q] if one == other else 0.0
    expected = known.enlarged * max(shared, alone) / m**2
    assert known.variances(values[:, np.newaxis])[0] == pytest.approx(expected, abs=1e-12)


def test_how_many_units_carry_a_variance() -> None:
    left, right = stars(10, 2)
    known = Dependence.of(left, right)
    equal = np.tile([1.0, 1.0, -1.0, -1.0], 5)
    assert known.carried_by(equal[:, np.newaxis])[0] == pytest.approx(10)
    one = np.zeros(20)
    one[0] = 100.0
    sums = np.array([e.sum() for e in np.split(one - one.mean(), 10)])
    assert known.carried_by(one[:, np.newaxis])[0] == pytest.approx((sums**2).sum() ** 2 / (sums**4).sum())
    assert known.carried_by(np.ones((20, 1)))[0] == 0


# --- intervals


@given(st.integers(1, 200), st.data())
def test_wilson_of_whole_counts_is_statsmodels(n: int, data: st.DataObject) -> None:
    k = data.draw(st.integers(0, n))
    found = wilson_interval(k / n, n, 1.959963984540054)
    assert (found.low, found.high) == pytest.approx(proportion_confint(k, n, method="wilson"), abs=1e-12)


def test_independent_pairs_are_worth_themselves_less_one() -> None:
    """The estimated variance has n - 1 below it. Many units carry it, so half of one changes little."""
    values = np.r_[np.ones(70), np.zeros(30)]
    known = Dependence.of(*stars(100, 1))
    variance, carried = known.variances(values[:, np.newaxis])[0], known.carried_by(values[:, np.newaxis])[0]
    n = worth(0.7, 0.21, variance, carried, known.effective)
    assert n == pytest.approx(99, rel=0.01)
    reach = student.ppf(0.975, 99)
    found = share(values, known)
    expected = wilson_interval(0.7, n, reach)
    assert (found.value, found.interval) == (0.7, expected)
    assert found.units == 100


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_without_any_failure_the_interval_still_has_a_width(value: float) -> None:
    known = Dependence.of(*stars(20, 5))
    found = share(np.full(100, value), known)
    reach = student.ppf(0.975, 19)
    edge = 1 / (1 + reach**2 / 20)  # where none of 20 failed
    assert (found.low, found.high) == pytest.approx((edge, 1.0) if value else (0.0, 1 - edge))


def test_a_share_is_never_beyond_the_possible() -> None:
    """Of 100 pairs that share matches one hit: the interval reached down to -0.0098."""
    left, right = np.arange(100), 1_000 + np.arange(100) // 2
    values = np.zeros(100)
    values[3] = 1.0
    for known in (Dependence.of(left, right), of_texts(left, right)):
        found = share(values, known)
        assert found.low is not None
        assert found.high is not None
        assert 0.0 < found.low < 0.01 < found.high < 0.12


def test_one_group_that_fails_says_little_of_the_others() -> None:
    """Half a group whose pairs agree is averaged in: less certain than the variance alone says."""
    left, right = stars(30, 20)
    values = np.ones(600)
    values[0] = 0.0
    known = Dependence.of(left, right)
    mean, variance = values.mean(), known.variances(values[:, np.newaxis])[0]
    carried = known.carried_by(values[:, np.newaxis])[0]
    weight = 0.5 * (1 - 2 * carried / 30)
    smoothed = (carried * variance + weight * mean * (1 - mean) / 30) / (carried + weight)
    n = worth(mean, mean * (1 - mean), variance, carried, 30)
    assert n == pytest.approx(mean * (1 - mean) / smoothed)
    assert n < mean * (1 - mean) / variance


def test_a_mean_rank_by_hand() -> None:
    left, right = stars(10, 1)
    ranks = np.array([1, 1, 1, 2, 2, 3, 4, 4, 10, 22], dtype=float)
    known = Dependence.of(left, right)
    e = ranks - 5
    variance = (e**2).sum() / 90
    carried = (e**2).sum() ** 2 / (e**4).sum()
    reach = student.ppf(0.975, min(9, carried - 1 if carried > 2 else 1)) * sqrt(variance) / 5
    found = mean_rank(ranks, known)
    assert found.value == 5
    assert (found.low, found.high) == pytest.approx((max(1.0, 5 * exp(-reach)), 5 * exp(reach)))
    assert mean_rank(np.ones(10), known).interval is None


def test_a_difference_by_hand_and_its_ends() -> None:
    left, right = stars(12, 1)
    first, second = np.r_[np.ones(9), np.zeros(3)], np.r_[np.zeros(3), np.ones(4), np.zeros(5)]
    known = Dependence.of(left, right)
    d = first - second
    e = d - d.mean()
    carried = (e**2).sum() ** 2 / (e**4).sum()
    half = student.ppf(0.975, min(11, 1.5 * carried - 1)) * sqrt((e**2).sum() / (12 * 11))
    found = difference(first, second, known)
    assert found.value == pytest.approx(d.mean())
    assert (found.low, found.high) == pytest.approx((d.mean() - half, d.mean() + half))
    assert difference(first, second, known, most=0.5).high == 0.5


def test_what_hangs_on_one_pair_has_no_interval() -> None:
    known = Dependence.of(*stars(200, 1))
    alone = np.zeros(200)
    alone[7] = 1.0
    assert difference(alone, np.zeros(200), known).interval is None
    assert difference(alone, alone, known).interval is None


# --- tests


def test_p_of_groups_turns_whole_groups() -> None:
    rng = np.random.default_rng(5)
    left, right = stars(9, 4)
    values = rng.normal(size=(36, 2))
    sums = values.reshape(9, 4, 2).sum(axis=1)
    expected = []
    for column in range(2):
        far = [abs(np.dot(signs, sums[:, column])) >= abs(sums[:, column].sum()) - 1e-9 for signs in FLIPS_OF_9]
        expected.append(np.mean(far))
    assert sign_flip_p_values(values, left) == pytest.approx(expected)
    for most in (1.0, np.inf):
        edge = 4 * most  # of a group of four
        skewed = [mean_zero_p_value(column, edge) for column in sums.T]
        assert p_values(values, Dependence.of(left, right), most) == pytest.approx(np.maximum(expected, skewed))


FLIPS_OF_9 = list(product((-1, 1), repeat=9))


def test_p_of_texts_is_students() -> None:
    left, right = random_graph(60, 200, seed=1)
    values = np.random.default_rng(6).normal(0.1, 1, size=(200, 3))
    values[:, 2] = 0.0
    known = Dependence.of(left, right)
    t = np.abs(values.mean(axis=0)[:2]) / np.sqrt(known.variances(values)[:2])
    assert p_values(values, known) == pytest.approx([*(2 * student.sf(t, known.freedom)), 1.0])


# --- power


def test_the_power_of_a_sign_test_is_the_sum_over_what_can_happen() -> None:
    groups, mean, one_side, alpha = 12, 5.0, 0.85, 0.05
    power = 0.0
    for k in range(groups + 1):
        for up in range(k + 1):
            tail = sum(comb(k, i) for i in range(max(up, k - up), k + 1)) / 2**k
            if k and 2 * tail <= alpha and 2 * up != k:
                power += binom.pmf(k, groups, mean / groups) * binom.pmf(up, k, one_side)
    assert module._power_of_sign_test(mean, groups, one_side, alpha) == pytest.approx(power, rel=1e-9)


def test_many_groups_that_differ_have_the_normal_power() -> None:
    known = Dependence.of(*stars(400, 1))
    values = np.random.default_rng(8).normal(size=(400, 1))
    found = smallest_detectable(values, known, 1, 0.05)[0]
    assert found == pytest.approx(2.801585 * sqrt(known.variances(values)[0]), rel=1e-6)


def test_few_groups_that_differ_cannot_promise_what_no_test_finds() -> None:
    """Four of 200 differ. A test needs six on one side, which a share of 0.02 hardly ever gives: 0.028 was promised."""
    known = Dependence.of(*stars(200, 1))
    values = np.zeros((200, 1))
    values[:4, 0] = [1, 1, -1, -1]
    found = smallest_detectable(values, known, 1, 0.05)[0]
    assert binom.sf(5, 200, found) == pytest.approx(0.8, abs=0.01)
    assert np.isnan(smallest_detectable(np.zeros((200, 1)), known, 1, 0.05)[0])


def test_by_texts_the_smallest_detectable_is_students_t_at_both_ends() -> None:
    left, right = np.random.default_rng(4).integers(0, 60, (2, 200))
    known = Dependence.of(left, right)
    assert known.unit is Unit.TEXTS
    values = np.random.default_rng(8).normal(size=(200, 1))
    error, quantile = sqrt(known.variances(values)[0]), student(known.freedom).ppf
    for tests in (1, 5):
        expected = (quantile(1 - 0.05 / tests / 2) + quantile(0.8)) * error
        assert smallest_detectable(values, known, tests, 0.05)[0] == pytest.approx(expected)
