"""Resampling of pairs that share texts, against loops that do what the definition says, and on simulated data."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kstest, norm

from core.numerics import resampling
from core.numerics.resampling import (
    bootstrap_means,
    bootstrap_medians,
    components,
    dyadic_quantile,
    dyadic_variances,
    interval_of_mean,
    sign_flip_p_values,
    smallest_detectable,
    sums_within,
    units,
)
from core.types import Float64, Int64

FEW_TEXTS = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=30)


def ends(pairs: list[tuple[int, int]]) -> tuple[Int64, Int64]:
    array = np.array(pairs, dtype=np.int64)
    return 100 - 7 * array[:, 0], 100 - 7 * array[:, 1]  # numbers with gaps


def pair_graph(seed: int, texts: int, pairs: int) -> tuple[Int64, Int64]:
    rng = np.random.default_rng(seed)
    return rng.integers(texts, size=pairs), rng.integers(texts, size=pairs)


# --- what belongs together


@given(FEW_TEXTS)
def test_components_are_what_a_walk_over_shared_texts_finds(pairs: list[tuple[int, int]]) -> None:
    left, right = ends(pairs)
    found = components(left, right)
    reached = np.eye(len(pairs), dtype=bool)
    for p, q in product(range(len(pairs)), repeat=2):
        reached[p, q] |= bool({left[p], right[p]} & {left[q], right[q]})
    for _ in pairs:
        reached = (reached.astype(int) @ reached.astype(int)) > 0
    assert np.array_equal(found[:, np.newaxis] == found, reached)
    assert sorted(set(found)) == list(range(found.max() + 1))


@given(FEW_TEXTS)
def test_a_unit_is_a_pair_with_its_reverse(pairs: list[tuple[int, int]]) -> None:
    left, right = ends(pairs)
    found = units(left, right)
    for p, q in product(range(len(pairs)), repeat=2):
        assert (found[p] == found[q]) == ({left[p], right[p]} == {left[q], right[q]})
    assert sorted(set(found)) == list(range(found.max() + 1))


# --- bootstrap


def drawn_pairs(groups: Int64, resamples: int, seed: int) -> list[Int64]:
    """Per resample the pairs of the groups that are drawn, one draw after another."""
    rng = np.random.default_rng(seed)
    number = groups.max() + 1
    return [
        np.concatenate([np.flatnonzero(groups == group) for group in rng.integers(number, size=number)])
        for _ in range(resamples)
    ]


@pytest.mark.parametrize("numbers_at_a_time", [1, 200, 4_000_000])
@pytest.mark.parametrize("seed", range(4))
def test_the_bootstrap_is_a_loop_that_concatenates_the_drawn_components(
    monkeypatch: pytest.MonkeyPatch, seed: int, numbers_at_a_time: int
) -> None:
    """However many resamples are computed at a time."""
    monkeypatch.setattr(resampling, "_NUMBERS_AT_A_TIME", numbers_at_a_time)
    rng = np.random.default_rng(seed)
    groups = components(*pair_graph(seed, 90, 40))
    assert groups.max() > 5
    values = np.column_stack([rng.normal(size=40), rng.integers(1, 8, size=40) / 2])  # the second with many ties
    means = bootstrap_means(values, groups, 25, seed)
    medians = bootstrap_medians(values, groups, 25, seed)
    for mean, median, pairs in zip(means, medians, drawn_pairs(groups, 25, seed), strict=True):
        assert mean == pytest.approx(values[pairs].mean(axis=0), rel=1e-12)
        assert median.tolist() == np.median(values[pairs], axis=0).tolist()


def test_a_median_far_from_the_sample_s_is_found_too() -> None:
    """One group in ten holds values of its own, so that resamples differ widely."""
    rng = np.random.default_rng(11)
    groups = np.repeat(np.arange(12), 20)
    values = (100.0 * groups + rng.integers(0, 90, size=240))[:, np.newaxis]
    medians = bootstrap_medians(values, groups, 300, 1)
    expected = [np.median(values[pairs]) for pairs in drawn_pairs(groups, 300, 1)]
    assert medians[:, 0].tolist() == expected
    low, high = resampling._near_the_median(values[:, 0])
    assert min(expected) < low < high < max(expected), "some lie beyond what is told apart at first"


def test_differences_stand_on_the_same_resamples() -> None:
    rng = np.random.default_rng(5)
    groups, values = components(*pair_graph(5, 90, 40)), rng.normal(size=(40, 2))
    both = bootstrap_means(values, groups)
    alone = bootstrap_means(values[:, :1] - values[:, 1:], groups)
    assert alone[:, 0] == pytest.approx(both[:, 0] - both[:, 1], abs=1e-12)
    assert len(both) == 2_000


# --- dyadic-robust


def variance_by_a_double_loop(values: Float64, left: Int64, right: Int64) -> float:
    e, m = values - values.mean(), len(values)
    total = 0.0
    for p in range(m):
        for q in range(m):
            if {left[p], right[p]} & {left[q], right[q]}:
                total += e[p] * e[q]
    texts = len(set(left) | set(right))
    return total / m**2 * texts / max(texts - 1, 1)


def variance_within_units(values: Float64, left: Int64, right: Int64) -> float:
    e, m = values - values.mean(), len(values)
    of_unit: dict[frozenset[int], float] = {}
    for p in range(m):
        unit = frozenset({int(left[p]), int(right[p])})
        of_unit[unit] = of_unit.get(unit, 0.0) + e[p]
    n = len(of_unit)
    return sum(total**2 for total in of_unit.values()) / m**2 * n / max(n - 1, 1)


@settings(deadline=None)
@given(FEW_TEXTS, st.integers(0, 2**32 - 1))
def test_the_dyadic_variance_is_a_double_loop_over_pairs_that_share_a_text(
    pairs: list[tuple[int, int]], seed: int
) -> None:
    """Pairs of a text with itself, reversed and repeated pairs among them."""
    left, right = ends(pairs)
    values = np.random.default_rng(seed).normal(size=(len(pairs), 2))
    found = dyadic_variances(values, left, right)
    for column, variance in zip(values.T, found, strict=True):
        by_loop = variance_by_a_double_loop(column, left, right)
        assert variance == pytest.approx(max(by_loop, variance_within_units(column, left, right)), abs=1e-12)


def test_both_sides_of_the_maximum_are_taken() -> None:
    """Texts that raise all of their pairs add to the variance; opposed ones would take from it."""
    left, right = pair_graph(1, 30, 200)
    effect = np.random.default_rng(2).normal(size=30)
    alike = effect[left] + effect[right]
    assert dyadic_variances(alike[:, np.newaxis], left, right)[0] == pytest.approx(
        variance_by_a_double_loop(alike, left, right)
    )
    opposed = np.array([1.0, -1.0, 1.0, -1.0])
    star, tips = np.zeros(4, dtype=np.int64), np.arange(1, 5)
    assert variance_by_a_double_loop(opposed, star, tips) == pytest.approx(0.0)
    assert dyadic_variances(opposed[:, np.newaxis], star, tips)[0] == pytest.approx(4 / 16 * 4 / 3)


def test_dyadic_intervals_hold_the_true_mean_about_95_times_in_100() -> None:
    """Every text has an effect of its own on all of its pairs: taking pairs for independent would fail."""
    rng = np.random.default_rng(8)
    left, right = pair_graph(8, 120, 400)
    runs = 1_500
    effects = rng.normal(size=(runs, 120))
    values = (effects[:, left] + effects[:, right] + rng.normal(size=(runs, 400))).T
    means = values.mean(axis=0)
    half = dyadic_quantile(left, right) * np.sqrt(dyadic_variances(values, left, right))
    coverage = np.mean(np.abs(means) <= half)
    assert 0.92 <= coverage <= 0.97
    naive = 1.96 * values.std(axis=0, ddof=1) / np.sqrt(400)
    assert np.mean(np.abs(means) <= naive) < 0.8


def test_bootstrap_intervals_hold_the_true_mean_about_95_times_in_100() -> None:
    rng = np.random.default_rng(9)
    groups = np.repeat(np.arange(80), rng.integers(1, 6, size=80))
    effects = rng.normal(size=(80, 600))
    values = effects[groups] + 0.5 * rng.normal(size=(len(groups), 600))
    low, high = np.quantile(bootstrap_means(values, groups), [0.025, 0.975], axis=0)
    assert 0.92 <= np.mean((low <= 0) & (high >= 0)) <= 0.97


# --- sign flips


def test_few_units_are_counted_exactly_as_by_a_loop() -> None:
    rng = np.random.default_rng(3)
    left, right = np.array([0, 1, 2, 3, 4, 5, 1, 6]), np.array([1, 0, 3, 2, 5, 5, 2, 7])
    unit = units(left, right)
    values = np.column_stack([rng.normal(size=8), np.array([1, 1, 1, 1, 1, 0, 1, 0.0]), np.zeros(8)])
    found = sign_flip_p_values(values, unit)
    number = unit.max() + 1
    for column, p in zip(values.T, found, strict=True):
        far = 0
        for signs in product((-1, 1), repeat=number):
            total = sum(signs[unit[i]] * column[i] for i in range(8))
            far += abs(total) >= abs(column.sum()) - 1e-9
        assert p == pytest.approx(far / 2**number)
    assert found[2] == 1.0


def test_many_units_come_near_the_normal_approximation() -> None:
    rng = np.random.default_rng(4)
    values = rng.normal(0.05, 1.0, size=(1_000, 3))
    found = sign_flip_p_values(values, np.arange(1_000))
    z = values.sum(axis=0) / np.sqrt((values**2).sum(axis=0))
    assert found == pytest.approx(2 * norm.sf(np.abs(z)), abs=0.015)
    assert sign_flip_p_values(values + 10, np.arange(1_000)).tolist() == [1 / 10_000] * 3


def test_a_column_does_not_depend_on_the_others() -> None:
    rng = np.random.default_rng(6)
    values = rng.normal(size=(50, 3))
    values[5:, 2] = 0.0  # few units: exact, beside two that are drawn
    together = sign_flip_p_values(values, np.arange(50), 999)
    assert together[2] == sign_flip_p_values(values[:, 2:], np.arange(50), 999)[0]
    assert together[:2].tolist() == sign_flip_p_values(values[:, :2], np.arange(50), 999).tolist()


@pytest.mark.parametrize("count", [9, 60])
def test_p_is_uniform_where_there_is_no_difference(count: int) -> None:
    """Exact and drawn: pairs with their reverses, which fall together. Skewed values, so that no normality helps."""
    rng = np.random.default_rng(count)
    left, right = np.arange(count), np.arange(count) + count
    left, right = np.concatenate([left, right]), np.concatenate([right, left])
    unit = units(left, right)
    first, second = (
        np.tile(rng.exponential(size=(count, 1_000)), (2, 1)) + 0.1 * rng.exponential(size=(2 * count, 1_000))
        for _ in range(2)
    )
    p = sign_flip_p_values(first - second, unit, 999)
    assert kstest(p, "uniform").pvalue > 0.01
    for alpha in (0.01, 0.05, 0.2, 0.5):
        assert np.mean(p <= alpha) == pytest.approx(alpha, abs=3 * np.sqrt(alpha * (1 - alpha) / 1_000) + 2**-8)
    alone = sign_flip_p_values(first - second, np.arange(2 * count), 999)
    assert np.mean(alone <= 0.05) > 0.1, "flipping a pair without its reverse would claim too much"


# --- power


def test_the_smallest_detectable_difference_is_found_as_often_as_promised() -> None:
    rng = np.random.default_rng(7)
    assert smallest_detectable(np.array([1.0]), 1, 0.05)[0] == pytest.approx(2.8016, abs=1e-4)
    error = 1 / np.sqrt(300)
    effect = smallest_detectable(np.array([error]), 5, 0.05)[0]
    samples = rng.normal(effect, 1.0, size=(300, 500))
    p = sign_flip_p_values(samples, np.arange(300), 1_999)
    assert np.mean(p * 5 < 0.05) == pytest.approx(0.8, abs=0.06)


def test_sums_within_groups() -> None:
    values = np.array([[1.0, 10.0], [2.0, 20.0], [4.0, 40.0]])
    assert sums_within(values, np.array([1, 0, 1])).tolist() == [[2.0, 20.0], [5.0, 50.0]]


def test_an_interval_of_a_mean_reaches_out_by_its_standard_error() -> None:
    values = np.array([0.1, 0.5, 0.9, 0.25])
    left, right = np.array([0, 2, 4, 6]), np.array([1, 3, 5, 7])
    half = dyadic_quantile(left, right) * np.sqrt(dyadic_variances(values[:, np.newaxis], left, right)[0])
    found = interval_of_mean(values, left, right)
    assert (found.low, found.high) == (max(0.0, values.mean() - half), min(1.0, values.mean() + half))


@pytest.mark.parametrize("values", [[], [0.5], [0.5, 0.25], [0.0, 0.0, 0.0]])
def test_nothing_to_spread_has_no_interval(values: list[float]) -> None:
    left, right = np.array([0, 1, 2])[: len(values)], np.array([1, 0, 3])[: len(values)]
    found = interval_of_mean(np.array(values), left, right)
    assert np.isnan(found.low)
    assert np.isnan(found.high)
