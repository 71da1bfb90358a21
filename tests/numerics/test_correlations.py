"""Pearson, Spearman and Kendall: by hand, against slow loops; and their bootstrap against drawing pair by pair."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from core.numerics import correlations as module
from core.numerics.correlations import SEED, Correlations, correlations, interval_of, resampled
from core.numerics.stats import resample_counts
from core.types import Float64


def slow_pearson(x: Float64, y: Float64) -> float:
    mx, my = sum(x) / len(x), sum(y) / len(y)
    xy = sum((a - mx) * (b - my) for a, b in zip(x, y, strict=True))
    return float(xy / math.sqrt(sum((a - mx) ** 2 for a in x) * sum((b - my) ** 2 for b in y)))


def slow_ranks(x: Float64) -> Float64:
    """1 plus those below, plus half of the others that are equal."""
    return np.array([1 + sum(b < a for b in x) + (sum(b == a for b in x) - 1) / 2 for a in x])


def slow_kendall(x: Float64, y: Float64) -> float:
    same = other = x_free = y_free = 0
    for i in range(len(x)):
        for j in range(i):
            sign = np.sign(x[i] - x[j]) * np.sign(y[i] - y[j])
            same, other = same + (sign > 0), other + (sign < 0)
            x_free, y_free = x_free + (x[i] != x[j]), y_free + (y[i] != y[j])
    return float((same - other) / math.sqrt(x_free * y_free))


def test_by_hand() -> None:
    # Deviations of x -2 -1 0 1 2, of y -1.2 -0.2 -1.2 0.8 1.8: products 2.4 + 0.2 + 0 + 0.8 + 3.6 = 7, squares 10
    # and 6.8.
    x, y = np.array([1.0, 2, 3, 4, 5]), np.array([1.0, 2, 1, 3, 4])
    found = correlations(x, y)
    assert found.pearson == pytest.approx(7 / math.sqrt(68))
    # Ranks of y: 1.5 3 1.5 4 5, deviations -1.5 0 -1.5 1 2: products 3 + 0 + 0 + 1 + 4 = 8, squares 10 and 9.5.
    assert found.spearman == pytest.approx(8 / math.sqrt(95))
    # Of 10 pairs one is tied in y, one turned round (2 and 3), eight are in order.
    assert found.kendall == pytest.approx(7 / math.sqrt(10 * 9))
    assert found.n == 5


@pytest.mark.parametrize(("x", "y"), [([1.0, 1, 1], [1.0, 2, 3]), ([1.0, 2], [3.0, 3]), ([1.0], [2.0]), ([], [])])
def test_what_is_undefined_is_nan(x: list[float], y: list[float]) -> None:
    found = correlations(np.array(x), np.array(y))
    assert found.n == len(x)
    assert np.isnan([found.pearson, found.spearman, found.kendall]).all()


SMALL = st.lists(st.tuples(st.integers(-4, 4), st.integers(-4, 4)), min_size=2, max_size=15).filter(
    lambda rows: len({a for a, _ in rows}) > 1 and len({b for _, b in rows}) > 1
)


@settings(deadline=None, max_examples=40)
@given(SMALL)
def test_as_slow_loops(rows: list[tuple[int, int]]) -> None:
    x, y = np.array(rows, dtype=np.float64).T
    found = correlations(x, y)
    assert found.pearson == pytest.approx(slow_pearson(x, y), abs=1e-12)
    assert found.spearman == pytest.approx(slow_pearson(slow_ranks(x), slow_ranks(y)), abs=1e-12)
    assert found.kendall == pytest.approx(slow_kendall(x, y), abs=1e-12)
    turned = correlations(y, x)
    assert (turned.pearson, turned.spearman, turned.kendall) == pytest.approx(
        (found.pearson, found.spearman, found.kendall), abs=1e-12
    )
    bent = correlations(np.exp(x), y)  # what keeps the order moves Pearson alone
    assert (bent.spearman, bent.kendall) == pytest.approx((found.spearman, found.kendall), abs=1e-12)


def one_by_one(x: Float64, y: Float64, resamples: int) -> list[Correlations]:
    drawn = resample_counts(len(x), resamples, np.random.default_rng(SEED)).astype(int)
    return [correlations(np.repeat(x, times), np.repeat(y, times)) for times in drawn]


@settings(deadline=None, max_examples=40)
@given(SMALL)
def test_resamples_are_correlations_of_what_was_drawn(rows: list[tuple[int, int]]) -> None:
    x, y = np.array(rows, dtype=np.float64).T
    found, slow = resampled(x, y, 12), one_by_one(x, y, 12)
    for kind in module.KINDS:
        expected = [getattr(one, kind) for one in slow]
        np.testing.assert_allclose(found.of(kind), expected, atol=1e-9, err_msg=kind)  # NaN where those are


def test_resamples_in_several_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    x = np.round(rng.normal(size=60), 1)
    y = np.round(x + rng.normal(size=60), 1)
    monkeypatch.setattr(module, "_NUMBERS_AT_A_TIME", 60 * 7)
    monkeypatch.setattr(module, "KENDALL_RESAMPLES", 10)
    found, slow = resampled(x, y, 20), one_by_one(x, y, 20)
    np.testing.assert_allclose(found.spearman, [one.spearman for one in slow], atol=1e-12)
    np.testing.assert_allclose(found.kendall, [one.kendall for one in slow[:10]], atol=1e-12)


def test_kendall_to_first_order_is_near_the_exact_one(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    x = rng.normal(size=800)
    y = np.round(x + rng.normal(size=800))  # with many ties
    exact = resampled(x, y, 200).kendall
    monkeypatch.setattr(module, "EXACT_PAIRS", 10)
    near = resampled(x, y, 200).kendall
    assert len(exact) == len(near) == 200
    assert np.abs(near - exact).mean() < 0.1 * exact.std()
    assert near.std() == pytest.approx(exact.std(), rel=0.05)


def test_the_interval_of_pearson_is_about_fishers() -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(size=400)
    y = x + rng.normal(size=400)
    r = stats.pearsonr(x, y)
    interval = interval_of(resampled(x, y).pearson)
    assert interval is not None
    assert (interval.low, interval.high) == pytest.approx(tuple(r.confidence_interval(0.95)), abs=0.02)


def test_no_interval_where_too_many_resamples_are_undefined() -> None:
    assert interval_of(np.array([np.nan, 0.5, 0.6])) is None
    assert interval_of(np.array([])) is None
    kept = interval_of(np.array([np.nan, *np.linspace(0, 1, 39)]))
    assert kept is not None
    assert (kept.low, kept.high) == pytest.approx((0.025, 0.975))
