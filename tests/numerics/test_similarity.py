"""Similarities: cosine and ``1/(1 + distance)`` by hand and against the plain loop, in blocks of any size."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from blindspot.numerics.similarity import Similarity, row_norms, similarity_of_pairs, similarity_to_all
from blindspot.types import Float32
from tests.support import evalrank_reference as reference

MATRIX = np.array([[3, 4], [4, 3], [6, 8], [-3, -4], [0, 0], [4, -3]], dtype=np.float32)

anything_finite = arrays(
    np.float32,
    array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=12),
    elements=st.floats(width=32, allow_nan=False, allow_infinity=False),
)


def test_cosine_by_hand() -> None:
    similarity = similarity_to_all(MATRIX, 0, Similarity.COS)
    assert similarity == pytest.approx([1, 24 / 25, 1, -1, 0, 0], abs=1e-15)


def test_l2_by_hand() -> None:
    distances = np.array([0, math.sqrt(2), 5, 10, 5, math.sqrt(50)])
    assert similarity_to_all(MATRIX, 0, Similarity.L2) == pytest.approx(1 / (1 + distances), abs=1e-15)


def test_a_zero_vector_has_cosine_0_even_with_itself() -> None:
    assert similarity_to_all(MATRIX, 4, Similarity.COS).tolist() == [0.0] * 6
    assert similarity_to_all(MATRIX, 4, Similarity.L2)[4] == 1.0


def test_metrics_are_named_as_on_the_command_line() -> None:
    assert [str(metric) for metric in Similarity] == ["cos", "l2"]


@given(matrix=anything_finite, metric=st.sampled_from(Similarity), block=st.integers(1, 5), data=st.data())
def test_similarities_equal_the_loop(matrix: Float32, metric: Similarity, block: int, data: st.DataObject) -> None:
    """Any float32, subnormal and near overflow too; the result does not depend on the size of the blocks."""
    query = data.draw(st.integers(0, len(matrix) - 1))
    vectors = matrix.astype(np.float64).tolist()
    expected = [reference.SIMILARITIES[metric.value](vectors[query], vector) for vector in vectors]
    items = np.arange(len(matrix))
    to_all = similarity_to_all(matrix, query, metric, rows_at_once=block)
    of_pairs = similarity_of_pairs(matrix, np.full_like(items, query), items, metric, rows_at_once=block)
    np.testing.assert_allclose(to_all, expected, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(of_pairs, expected, rtol=1e-12, atol=1e-14)
    assert to_all.dtype == of_pairs.dtype == np.float64


@given(matrix=anything_finite, metric=st.sampled_from(Similarity))
def test_similarity_is_symmetric_and_bounded(matrix: Float32, metric: Similarity) -> None:
    left, right = np.indices((len(matrix), len(matrix))).reshape(2, -1)
    forth = similarity_of_pairs(matrix, left, right, metric)
    np.testing.assert_array_equal(forth, similarity_of_pairs(matrix, right, left, metric))
    assert np.all(forth <= 1 + 1e-12)
    assert np.all(forth >= (-1 - 1e-12 if metric is Similarity.COS else 0))


@given(matrix=anything_finite, block=st.integers(1, 5))
def test_norms_equal_the_loop(matrix: Float32, block: int) -> None:
    expected = [math.sqrt(math.fsum(value * value for value in row)) for row in matrix.astype(np.float64).tolist()]
    np.testing.assert_allclose(row_norms(matrix, rows_at_once=block), expected, rtol=1e-12)


def test_norms_of_values_whose_squares_overflow_or_vanish_in_float32() -> None:
    matrix = np.array([[3e30, 4e30], [3e-30, 4e-30]], dtype=np.float32)
    assert row_norms(matrix) == pytest.approx([5e30, 5e-30], rel=1e-6)
    assert similarity_of_pairs(matrix, np.array([0]), np.array([1]), Similarity.COS) == pytest.approx([1.0])
