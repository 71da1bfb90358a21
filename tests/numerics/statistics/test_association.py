"""Rank correlation and binned medians against scipy and loops."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import spearmanr

from blindspot.numerics.statistics.association import binned_medians, median_interval, spearman
from tests.support.tables import each


@settings(max_examples=60, deadline=None)
@given(n=st.integers(3, 80), levels=st.integers(2, 9), seed=st.integers(0, 10_000))
def test_spearman_is_scipys(n: int, levels: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, y = rng.integers(0, levels, n).astype(float), rng.integers(0, levels, n).astype(float)  # many ties
    found = spearman(x, y)
    if len(set(x)) == 1 or len(set(y)) == 1:
        assert np.isnan(found.value)
    else:
        assert found.value == pytest.approx(float(spearmanr(x, y).statistic), abs=1e-12)
        assert np.isnan(found.interval.low) or found.interval.low < found.value < found.interval.high


def test_its_interval_by_hand() -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=103)
    y = x + rng.normal(size=103)
    r = float(spearmanr(x, y).statistic)
    half = 1.959964 * ((1 + r * r / 2) / 100) ** 0.5
    found = spearman(x, y)
    assert found.n == 103
    assert found.interval.low == pytest.approx(np.tanh(np.arctanh(r) - half), abs=1e-6)
    assert found.interval.high == pytest.approx(np.tanh(np.arctanh(r) + half), abs=1e-6)


def test_its_interval_holds_the_truth_about_as_often_as_it_says() -> None:
    rho = 0.6
    truth = 6 / np.pi * np.arcsin(rho / 2)  # Spearman's of a normal distribution with correlation rho
    rng = np.random.default_rng(2)
    held = 0
    for _ in range(400):
        x = rng.normal(size=60)
        y = rho * x + np.sqrt(1 - rho**2) * rng.normal(size=60)
        interval = spearman(x, y).interval
        held += interval.low <= truth <= interval.high
    assert 0.92 <= held / 400 <= 0.98


def test_where_there_is_no_correlation_or_no_interval() -> None:
    assert np.isnan(spearman(np.array([1.0]), np.array([2.0])).value)
    assert np.isnan(spearman(np.ones(20), np.arange(20.0)).value)
    few = spearman(np.array([1.0, 2, 3, 4]), np.array([1.0, 3, 2, 4]))
    assert few.value == pytest.approx(0.8)
    assert np.isnan(few.interval.low)
    perfect = spearman(np.arange(50.0), np.arange(50.0) ** 3)
    assert perfect.value == pytest.approx(1.0)
    assert np.isnan(perfect.interval.high)


@each("n", [1, 5, 6, 7, 10, 25, 100, 301])
def test_the_interval_of_a_median_is_the_widest_that_may_fail_in_a_twentieth(n: int) -> None:
    values = np.random.default_rng(n).permutation(n).astype(float)
    # By search: the innermost j for which the j-th smallest and largest miss the median with at most 5%.
    fitting = [j for j in range(1, n // 2 + 1) if 2 * sum(comb(n, i) for i in range(j)) / 2**n <= 0.05]
    found = median_interval(values)
    if fitting:
        assert (found.low, found.high) == (fitting[-1] - 1, n - fitting[-1])
    else:
        assert np.isnan(found.low)
        assert np.isnan(found.high)


def test_nothing_has_no_median() -> None:
    assert np.isnan(median_interval(np.array([])).low)


def test_medians_in_bins_are_those_of_a_loop() -> None:
    rng = np.random.default_rng(9)
    x, y = rng.uniform(-1, 3, 300), rng.normal(size=300)
    found = binned_medians(x, y, 0.5, 36)
    bins = {low: [b for a, b in zip(x, y, strict=True) if low <= a < low + 0.5] for low in np.arange(-1, 3, 0.5)}
    kept = {low: values for low, values in bins.items() if len(values) >= 36}
    assert 0 < len(kept) < len(bins), "the case has bins with too few items"
    assert found.middle.tolist() == [low + 0.25 for low in kept]
    assert found.items.tolist() == [len(values) for values in kept.values()]
    assert found.median == pytest.approx([np.median(values) for values in kept.values()])
    assert np.all(found.low <= found.median)
    assert np.all(found.median <= found.high)


def test_no_items_make_no_bins() -> None:
    assert len(binned_medians(np.array([]), np.array([]), 0.5, 1).median) == 0
