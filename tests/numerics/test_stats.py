"""Intervals, against scipy's."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from core.numerics.stats import wilson_interval


@given(st.integers(1, 2_000), st.data())
def test_the_wilson_interval_is_scipys(n: int, data: st.DataObject) -> None:
    k = data.draw(st.integers(0, n))
    interval = wilson_interval(k / n, n)
    expected = binomtest(k, n).proportion_ci(0.95, method="wilson")
    assert interval.low == pytest.approx(expected.low, abs=1e-12)
    assert interval.high == pytest.approx(expected.high, abs=1e-12)


def test_half_successes_lie_between_whole_ones() -> None:
    low, between, high = (wilson_interval(k / 10, 10) for k in (4, 4.5, 5))
    assert low.low < between.low < high.low
    assert low.high < between.high < high.high
