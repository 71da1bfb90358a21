"""Products of codes: exact, and off by no more than is said."""

from __future__ import annotations

import sys

import numpy as np
import pytest
import torch
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
def test_no_score_is_farther_off_than_the_slack(seed: int, m: int, n: int, dimension: int, tails: float) -> None:
    from blindspot.numerics.kernels import scores_of_products, slack_of_codes

    x, y = unit_rows(seed, m, dimension, tails), unit_rows(seed ^ 1, n, dimension, tails)
    left, right = coarse.coded(x), coarse.coded(y)
    products = np.empty((m, n), dtype=np.int32)
    coarse.multiply(left, right, products)
    assert products.tolist() == (left.codes.astype(np.int64) @ right.codes.astype(np.int64).T).tolist()
    scores = np.empty((m, n), dtype=np.float32)
    for row in range(m):
        scores_of_products(products[row], left.steps[row], right.steps, scores[row])
    off = np.abs(scores - x.astype(np.float64) @ y.astype(np.float64).T)
    assert np.all(off <= [[slack_of_codes(error, right.farthest)] for error in left.errors])


def test_the_slack_is_narrow_where_no_coordinate_stands_out() -> None:
    from blindspot.numerics.kernels import slack_of_codes

    rows = coarse.coded(unit_rows(0, 50, 384, 99))
    assert 0.01 < slack_of_codes(rows.farthest, rows.farthest) < 0.02


def test_it_is_left_alone_without_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "torch")
    assert not coarse.pays()


def test_only_this_threads_number_of_threads_changes() -> None:
    before = torch.get_num_threads()
    with coarse.one_thread():
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == before
