"""Quantized rows: their products are off by no more than is said."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from blindspot.numerics import coarse
from blindspot.types import Float32


def test_a_row_by_hand() -> None:
    found = coarse.coded(np.array([[1.0, -0.5, 0.004, 0.0], [0.0, 0.0, 0.0, 0.0]], dtype=np.float32))
    assert found.codes.tolist() == [[127, -63, 1, 0], [0, 0, 0, 0]]  # -63.5 steps: halves go up
    assert found.steps.tolist() == [np.float32(1 / 127), 0.0]
    exactly = np.hypot(0.5 / 127, 1 / 127 - 0.004)
    assert exactly <= found.errors[0] <= exactly * 1.01, "at most so much"
    assert found.errors[1] == 0.0


def unit_rows(seed: int, rows: int, dimension: int, tails: float) -> Float32:
    """Unit rows, the heavier their tails the wider their steps; one is zero."""
    matrix = np.random.default_rng(seed).standard_t(tails, (rows, dimension))
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
    matrix[0] = 0.0
    return matrix.astype(np.float32)


@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 40),
    st.integers(1, 40),
    st.integers(1, 500),
    st.sampled_from([1.1, 3, 99]),
)
@hypothesis_settings(deadline=None)  # the first compiles
def test_no_product_is_farther_off_than_its_bound(seed: int, m: int, n: int, dimension: int, tails: float) -> None:
    """Nor is one of only the first codes."""
    x, y = unit_rows(seed, m, dimension, tails), unit_rows(seed ^ 1, n, dimension, tails)
    left, right = coarse.coded(x), coarse.coded(y)
    bounds = np.outer(left.bounds, right.bounds)
    for width in {dimension, -(-dimension // 2)}:
        products = left.codes[:, :width].astype(np.float64) @ right.codes[:, :width].astype(np.float64).T
        exact = x[:, :width].astype(np.float64) @ y[:, :width].astype(np.float64).T
        assert np.all(np.abs(products * np.outer(left.steps, right.steps).astype(np.float64) - exact) <= bounds + 1e-12)


def test_bounds_are_narrow_where_no_coordinate_stands_out() -> None:
    """Almost those of the triangle inequality, to which each of the two rows' errors adds 0.007."""
    rows = coarse.coded(unit_rows(0, 50, 384, 99)[1:])
    by_triangle = np.add.outer(rows.errors, rows.errors)
    bounds = np.outer(rows.bounds, rows.bounds)
    assert np.all((by_triangle < bounds) & (bounds < 1.1 * by_triangle))
    assert 0.012 < bounds.mean() < 0.016


def test_it_is_measured_whether_codes_pay(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once per process: products of codes against those of float32."""
    for seconds, pays in (([1.0] * 3 + [1.4] * 3, False), ([1.0] * 3 + [1.6] * 3, True), ([1, 9, 9, 9, 9, 2], True)):
        taken = iter(seconds)
        monkeypatch.setattr(coarse, "_seconds", lambda way, taken=taken: (way(), next(taken))[1])
        coarse._is_faster.cache_clear()
        assert coarse.pays() == pays
        assert coarse.pays() == pays, "not measured again"
    coarse._is_faster.cache_clear()
