"""The approximate index: what it finds is right but for what it misses, and what it misses is measured rightly."""

from __future__ import annotations

import numpy as np
import pytest

from blindspot.numerics.neighbors import approximate
from blindspot.numerics.neighbors.approximate import ApproximateIndex, quality
from blindspot.numerics.neighbors.exact import ExactIndex
from blindspot.numerics.similarity import Similarity, similarity_to_all


@pytest.fixture(scope="module")
def matrix() -> np.ndarray:
    rng = np.random.default_rng(5)
    return rng.normal(size=(1_500, 12)).astype(np.float32)


@pytest.mark.parametrize("metric", Similarity)
def test_recall_is_the_share_of_the_exact_neighbors(matrix: np.ndarray, metric: Similarity) -> None:
    exact, index = ExactIndex(matrix, metric), ApproximateIndex(matrix, metric)
    rows = np.arange(0, 1_500, 30)
    truth, guess = exact.of_rows(rows, 10), index.of_rows(rows, 10)
    share = np.mean([len(set(a) & set(b)) / 10 for a, b in zip(truth.rows.tolist(), guess.rows.tolist(), strict=True)])
    found = quality(exact, index, rows, 10)
    assert found.recall == pytest.approx(share)
    assert 0.3 < found.recall < 1.0
    assert (found.k, found.queries) == (10, 50)
    assert found.seconds > 0
    assert found.exact_seconds > 0
    for row, items, similarity in zip(rows, guess.rows, guess.similarity, strict=True):
        assert row not in items
        assert len(set(items.tolist())) == 10
        np.testing.assert_allclose(similarity, similarity_to_all(matrix, row, metric)[items], atol=1e-12)
        assert (np.diff(similarity) <= 0).all()


@pytest.mark.parametrize("metric", Similarity)
def test_in_all_cells_it_is_exact(matrix: np.ndarray, metric: Similarity, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(approximate, "SHARE_LOOKED_AT", 1)
    index, exact = ApproximateIndex(matrix, metric), ExactIndex(matrix, metric)
    for found, truth in (
        (index.of_rows(np.arange(20), 7), exact.of_rows(np.arange(20), 7)),
        (index.of_vectors(matrix[:20] * 1.1, 7), exact.of_vectors(matrix[:20] * 1.1, 7)),
    ):
        np.testing.assert_allclose(found.similarity, truth.similarity, atol=1e-12)
        np.testing.assert_array_equal(found.rows, truth.rows)


@pytest.mark.parametrize("rows", [np.eye(9, dtype=np.float32), np.ones((9, 4), dtype=np.float32)])
def test_cells_that_hold_too_few_are_made_up_for(rows: np.ndarray) -> None:
    found = ApproximateIndex(rows, Similarity.COS).of_rows(np.arange(9), 8)
    assert [sorted(items) for items in found.rows.tolist()] == [[j for j in range(9) if j != i] for i in range(9)]


def test_k_must_be_there() -> None:
    with pytest.raises(ValueError, match="must be 1 to 2"):
        ApproximateIndex(np.eye(3, dtype=np.float32), Similarity.COS).of_rows(np.arange(3), 3)
