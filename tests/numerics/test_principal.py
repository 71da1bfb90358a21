"""Second moments and principal directions against loops and numpy's SVD, all in float64."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blindspot.errors import BlindspotError
from blindspot.numerics.principal import NOISE, blocks, column_means, principal_axes, second_moment, signs
from blindspot.types import Float32
from tests.support.tables import each


def draw(seed: int, n: int, d: int) -> Float32:
    """Rows with unlike spreads and a mean."""
    generator = np.random.default_rng(seed)
    return (generator.standard_normal((n, d)) * np.geomspace(3, 0.3, d) + generator.standard_normal(d)).astype("f4")


matrices = st.builds(draw, st.integers(0, 10_000), st.integers(1, 12), st.integers(1, 9))


@given(matrices)
def test_the_second_moment_is_that_of_a_loop(matrix: Float32) -> None:
    origin = matrix[0].astype(np.float64) / 3
    expected = np.zeros((matrix.shape[1], matrix.shape[1]))
    for row in matrix.astype(np.float64):
        expected += np.outer(row - origin, row - origin) / len(matrix)
    np.testing.assert_allclose(second_moment(matrix, origin), expected, atol=1e-12)


@given(matrices)
def test_axes_are_the_singular_vectors(matrix: Float32) -> None:
    origin = column_means(matrix)
    axes = principal_axes(matrix, origin)
    _, singular, right = np.linalg.svd(matrix - origin, full_matrices=False)
    variances = singular**2 / len(matrix)
    np.testing.assert_allclose(axes.variances[: len(variances)], variances, atol=1e-12)
    np.testing.assert_allclose(axes.variances[len(variances) :], 0, atol=1e-12)
    np.testing.assert_allclose(axes.directions.T @ axes.directions, np.eye(matrix.shape[1]), atol=1e-10)
    clear = [i for i in range(axes.rank) if np.sum(np.abs(variances - variances[i]) < 1e-3 * variances[0]) == 1]
    for i in clear:  # where two variances are almost equal, any two directions in their plane will do
        assert abs(right[i] @ axes.directions[:, i]) == pytest.approx(1, abs=1e-6)


@given(matrices)
def test_the_largest_entry_of_every_direction_is_positive(matrix: Float32) -> None:
    directions = principal_axes(matrix, column_means(matrix)).directions
    for column in directions.T:
        assert column[np.abs(column).argmax()] > 0


def test_axes_by_hand() -> None:
    matrix = np.array([[3, 3], [-3, -3], [1, -1], [-1, 1]], dtype=np.float32)
    axes = principal_axes(matrix, np.zeros(2))
    np.testing.assert_allclose(axes.variances, [36 / 4, 4 / 4])
    np.testing.assert_allclose(axes.directions[:, 0], [0.5**0.5, 0.5**0.5])
    assert axes.rank == 2
    assert axes.share(1) == pytest.approx(0.9)
    assert axes.share(2) == 1.0


@each(("spread", "rank"), [(0.0, 1), (0.1, 1), (10.0, 2)])
def test_what_is_within_the_noise_does_not_count(spread: float, rank: int) -> None:
    """Rows of length about 5; the second column spreads by a multiple of the noise of such a length."""
    generator = np.random.default_rng(0)
    matrix = np.column_stack([generator.standard_normal(500) * 5, generator.standard_normal(500) * 5 * NOISE * spread])
    assert principal_axes(matrix.astype(np.float32), np.zeros(2)).rank == rank


def test_equal_rows_have_no_rank_around_their_mean() -> None:
    matrix = np.full((7, 3), 0.1, dtype=np.float32)
    assert principal_axes(matrix, column_means(matrix)).rank == 0
    assert principal_axes(matrix, np.zeros(3)).rank == 1


def test_blocks_are_the_matrix() -> None:
    matrix = draw(0, 11, 3)
    for rows in (1, 4, 11, 100):
        parts = list(blocks(matrix, rows))
        np.testing.assert_array_equal(np.concatenate([block for _, block in parts]), matrix)
        assert all(block.dtype == np.float64 for _, block in parts)
        assert all(np.array_equal(matrix[part], block) for part, block in parts)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_what_is_not_finite_is_refused(value: float) -> None:
    matrix = draw(0, 5, 3)
    matrix[2, 1] = value
    with pytest.raises(BlindspotError, match="NaN or infinite"):
        principal_axes(matrix, np.zeros(3))


def test_of_entries_that_are_nearly_as_large_the_first_decides_the_sign() -> None:
    columns = np.array([[-0.999, 0.5, 0.0], [1.0, -1.0, 0.0]])
    assert signs(columns).tolist() == [1.0, -1.0, 1.0]
    assert signs(columns, 0.01).tolist() == [-1.0, -1.0, 1.0]
    rounded = columns + np.array([[-0.002], [0.0]])  # now the first entry of the first column is the largest
    assert signs(rounded).tolist() == [-1.0, -1.0, -1.0]
    assert signs(rounded, 0.01).tolist()[:2] == [-1.0, -1.0]
