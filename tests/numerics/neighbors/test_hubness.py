"""Hubness against loops, scipy and cases counted by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, skew

from blindspot.numerics.neighbors.hubness import HUB, Hubness, by_chance, occurrences, skewness, tail


def test_skewness_by_hand() -> None:
    # mean 1; away: -1, -1, -1, 3; third moment (-3 + 27)/4 = 6; variance 12/4 = 3
    assert skewness(np.array([0, 0, 0, 4])) == pytest.approx(6 / 3**1.5)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 500), min_size=2, max_size=60))
def test_skewness_is_scipys(counts: list[int]) -> None:
    if len(set(counts)) > 1:
        assert skewness(np.array(counts)) == pytest.approx(float(skew(counts)), abs=1e-9)
    else:
        assert np.isnan(skewness(np.array(counts)))


def test_nothing_has_no_skewness() -> None:
    assert np.isnan(skewness(np.array([], dtype=np.int64)))


def test_occurrences_are_counted_as_by_a_loop() -> None:
    rng = np.random.default_rng(3)
    lists = np.array([rng.permutation(12)[:5] for _ in range(12)])
    for k in range(1, 6):
        counts = [0] * 12
        for row in lists.tolist():
            for item in row[:k]:
                counts[item] += 1
        assert occurrences(lists, k, 12).tolist() == counts
    for k in (0, 6):
        with pytest.raises(ValueError, match="must be 1 to 5"):
            occurrences(lists, k, 12)


def test_hubs_and_those_whom_nobody_lists() -> None:
    counts = np.zeros(40, dtype=np.int64)
    counts[:3] = (30, 9, 1)  # mean 1: ten times the average is 10
    found = Hubness.of(counts, 1)
    assert (found.n, found.k, found.hubs, found.most, found.never) == (40, 1, 1, 30, 37 / 40)
    assert found.in_hubs == pytest.approx(30 / 40)
    counts[1] = 11
    counts[0] = 28
    assert Hubness.of(counts, 1).hubs == 2
    assert HUB == 10


@pytest.mark.parametrize(("n", "k"), [(2, 1), (30, 1), (30, 7), (1_000, 10)])
def test_chance_is_the_binomial(n: int, k: int) -> None:
    expected = binom(n - 1, k / (n - 1))
    found = by_chance(n, k)
    assert found.never == pytest.approx(float(expected.pmf(0)), abs=1e-12)
    if k < n - 1:
        assert found.skewness == pytest.approx(float(expected.stats(moments="s")))
    else:
        assert np.isnan(found.skewness)


def test_lists_drawn_at_random_are_as_skewed_as_chance_says() -> None:
    rng = np.random.default_rng(5)
    n, k = 3_000, 5
    lists = np.array([np.delete(np.arange(n), i)[rng.choice(n - 1, k, replace=False)] for i in range(n)])
    found = Hubness.of(occurrences(lists, k, n), k)
    expected = by_chance(n, k)
    assert found.skewness == pytest.approx(expected.skewness, abs=0.15)
    assert found.never == pytest.approx(expected.never, abs=0.005)


def test_the_tail_says_how_many_reach_how_far() -> None:
    found = tail(np.array([0, 0, 1, 4, 4]))
    assert found.at_least.tolist() == [1, 4]
    assert found.share.tolist() == [3 / 5, 2 / 5]
    assert tail(np.zeros(3, dtype=np.int64)).at_least.tolist() == []
