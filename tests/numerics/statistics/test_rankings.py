"""Places and rank correlations against scipy and loops."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import stats

from blindspot.numerics.statistics import rankings
from blindspot.types import Float64

NAN = float("nan")
TABLES = arrays.arrays(
    np.float64,
    st.tuples(st.integers(1, 7), st.integers(1, 4)),
    elements=st.one_of(st.integers(0, 4).map(float), st.just(NAN)),
)


def slow_kendall(x: Float64, y: Float64) -> float:
    """Tau-b over the pairs that both have, by its definition."""
    both = [i for i in range(len(x)) if not (math.isnan(x[i]) or math.isnan(y[i]))]
    agree = in_x = in_y = 0
    for a in range(len(both)):
        for b in range(a):
            dx, dy = x[both[a]] - x[both[b]], y[both[a]] - y[both[b]]
            agree += int(dx * dy > 0) - int(dx * dy < 0)
            in_x += int(dx != 0)
            in_y += int(dy != 0)
    return agree / math.sqrt(in_x * in_y) if in_x and in_y else NAN


@settings(max_examples=80, deadline=None)
@given(TABLES)
def test_kendall_like_the_loop(table: Float64) -> None:
    found = rankings.kendall(table)
    for i in range(table.shape[1]):
        for j in range(table.shape[1]):
            assert found[i, j] == pytest.approx(slow_kendall(table[:, i], table[:, j]), nan_ok=True)


@settings(max_examples=80, deadline=None)
@given(TABLES)
def test_spearman_like_scipy(table: Float64) -> None:
    found = rankings.spearman(table)
    for i in range(table.shape[1]):
        for j in range(table.shape[1]):
            both = ~np.isnan(table[:, i]) & ~np.isnan(table[:, j])
            x, y = table[both, i], table[both, j]
            is_defined = len(x) > 1 and np.ptp(x) > 0 and np.ptp(y) > 0
            expected = stats.spearmanr(x, y).statistic if is_defined else NAN
            assert found[i, j] == pytest.approx(expected, nan_ok=True)


@settings(max_examples=50, deadline=None)
@given(TABLES)
def test_places_count_who_is_before(table: Float64) -> None:
    found = rankings.places(table)
    for j in range(table.shape[1]):
        here = [v for v in table[:, j] if not math.isnan(v)]
        for i, value in enumerate(table[:, j]):
            if math.isnan(value):
                assert math.isnan(found[i, j])
            else:
                before, equal = sum(v > value for v in here), sum(v == value for v in here)
                assert found[i, j] == before + (equal + 1) / 2


def test_scipy_agrees_where_nothing_is_missing() -> None:
    table = np.random.default_rng(0).integers(0, 5, (8, 2)).astype(np.float64)
    assert rankings.kendall(table)[0, 1] == pytest.approx(stats.kendalltau(table[:, 0], table[:, 1]).statistic)


def test_by_hand() -> None:
    """Three encoders: 0.9, 0.8, 0.7 by the first setting, where more is better; 3, 1, 2 by the second, where less is;
    equal but for the fifth decimal by the third."""
    values = np.array([[0.9, 3.0, 0.50001], [0.8, 1.0, 0.50002], [0.7, 2.0, 0.50003]])
    better = rankings.oriented(values, np.array([1.0, -1.0, 1.0]))
    assert rankings.places(better).T.tolist() == [[1, 2, 3], [3, 1, 2], [2, 2, 2]]
    tau = rankings.kendall(better)
    assert tau[0, 1] == pytest.approx(-1 / 3)
    assert np.isnan(tau[0, 2])
    assert rankings.spearman(better)[0, 1] == pytest.approx(-0.5)


def test_a_score_of_zero_has_no_sign() -> None:
    assert not np.signbit(rankings.oriented(np.array([[0.0]]), np.array([-1.0]))).any()
