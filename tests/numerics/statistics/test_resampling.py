"""Resampling of pairs that share texts, against loops that do what the definition says, and on simulated data."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.stats import kstest, norm

from blindspot.numerics.statistics import resampling
from blindspot.numerics.statistics.resampling import (
    bootstrap_medians,
    components,
    sign_flip_p_values,
    sums_within,
    units,
)
from blindspot.types import Int64
from tests.support.pair_graphs import FEW_TEXTS, ends, random_graph

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
def test_components_are_numbered_as_scipy_does(pairs: list[tuple[int, int]]) -> None:
    """Or the draws of a bootstrap would be others than those of earlier versions."""
    left, right = ends(pairs)
    names, both = np.unique(np.concatenate([left, right]), return_inverse=True)
    a, b = np.split(both, 2)
    _, label = connected_components(coo_array((np.ones(len(a)), (a, b)), shape=(len(names),) * 2), directed=False)
    assert components(left, right).tolist() == label[a].tolist()


def test_the_components_of_a_long_chain_are_one() -> None:
    order = np.random.default_rng(0).permutation(5_000).astype(np.int64)
    assert components(order[:-1], order[1:]).tolist() == [0] * 4_999


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
    groups = components(*random_graph(90, 40, seed))
    assert groups.max() > 5
    values = np.column_stack([rng.normal(size=40), rng.integers(1, 8, size=40) / 2])  # the second with many ties
    medians = bootstrap_medians(values, groups, 25, seed)
    for median, pairs in zip(medians, drawn_pairs(groups, 25, seed), strict=True):
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


def test_p_is_counted_over_the_same_flips_at_every_distance() -> None:
    """No flip reaches nine standard deviations, so none is thrown; slices of the flips are put together."""
    units, flips = 9_000, 300
    rng = np.random.default_rng(3)
    noise = rng.standard_normal((units, 14))
    noise -= noise.mean(axis=0)
    values = noise + np.arange(14) / np.sqrt(units)  # by so many standard deviations from 0
    draws, at_a_time = np.random.default_rng(20_220_313), 400_000 // units
    slices = [
        draws.integers(256, size=(min(at_a_time, flips - first), -(-units // 8)), dtype=np.uint8)
        for first in range(0, flips, at_a_time)
    ]
    signs = 2.0 * np.unpackbits(np.concatenate(slices), axis=1, count=units) - 1
    assert len(signs) == flips
    far = np.abs(signs @ values) >= np.abs(values.sum(axis=0))
    expected = (far.sum(axis=0) + 1) / (flips + 1)
    assert sign_flip_p_values(values, np.arange(units), flips).tolist() == expected.tolist()
    assert expected[0] > 0.5
    assert expected[-1] == 1 / (flips + 1)


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


def test_sums_within_groups() -> None:
    values = np.array([[1.0, 10.0], [2.0, 20.0], [4.0, 40.0]])
    assert sums_within(values, np.array([1, 0, 1])).tolist() == [[2.0, 20.0], [5.0, 50.0]]
