"""Intervals that know of shared texts, against loops over all pairs of pairs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from core.numerics.clusters import interval_of_mean, pairs_unordered, variance_of_mean


def loop_variance(values: np.ndarray, queries: np.ndarray, mates: np.ndarray) -> float:
    """The definition: every ordered pair of pairs that share a text."""
    texts = [frozenset((int(q), int(m))) for q, m in zip(queries, mates, strict=True)]
    e = [float(v) - float(np.mean(values)) for v in values]
    shared = sum(e[i] * e[j] for i in range(len(e)) for j in range(len(e)) if texts[i] & texts[j])
    alone = sum(e[i] * e[j] for i in range(len(e)) for j in range(len(e)) if texts[i] == texts[j])
    g = len(set(texts))
    return max(shared, alone) / len(e) ** 2 * g / (g - 1)


PAIRS = st.lists(st.tuples(st.floats(0, 1), st.integers(0, 6), st.integers(0, 6)), min_size=2, max_size=25)


@given(PAIRS)
@settings(max_examples=150, deadline=None)
def test_the_variance_is_that_of_a_loop_over_pairs_that_share_a_text(rows: list[tuple[float, int, int]]) -> None:
    values, queries, mates = (np.array(column) for column in zip(*rows, strict=True))
    if len({frozenset(pair) for pair in zip(queries.tolist(), mates.tolist(), strict=True)}) < 2:
        assert np.isnan(variance_of_mean(values, queries, mates))
        return
    assert variance_of_mean(values, queries, mates) == pytest.approx(loop_variance(values, queries, mates), abs=1e-12)


def test_pairs_without_a_common_text_give_the_standard_error_of_the_mean() -> None:
    values = np.array([0.1, 0.5, 0.9, 0.25])
    queries, mates = np.array([0, 2, 4, 6]), np.array([1, 3, 5, 7])
    low, high = stats.t.interval(0.95, 3, loc=values.mean(), scale=stats.sem(values))
    found = interval_of_mean(values, queries, mates)
    assert (found.low, found.high) == pytest.approx((max(0.0, low), min(1.0, high)))


def test_a_pair_and_its_reverse_count_as_one() -> None:
    queries, mates = np.array([0, 1, 2, 3]), np.array([1, 0, 3, 2])
    twice = variance_of_mean(np.array([0.2, 0.2, 0.8, 0.8]), queries, mates)
    once = variance_of_mean(np.array([0.2, 0.8]), queries[::2], mates[::2])
    assert twice == pytest.approx(once)
    assert pairs_unordered(queries, mates).tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize("m", [0, 1])
def test_there_is_no_interval_around_one_pair_or_none(m: int) -> None:
    found = interval_of_mean(np.full(m, 0.5), np.zeros(m, dtype=np.int32), np.ones(m, dtype=np.int32))
    assert np.isnan(found.low)
    assert np.isnan(found.high)


def test_values_that_are_all_the_same_have_no_interval() -> None:
    found = interval_of_mean(np.zeros(8), np.arange(8), np.arange(8) + 8)
    assert np.isnan(found.low)
    assert np.isnan(found.high)
