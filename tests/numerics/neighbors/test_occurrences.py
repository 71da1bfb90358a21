"""Neighbor counts against a loop in float64."""

from __future__ import annotations

import numpy as np
import pytest

from blindspot.numerics.neighbors import occurrences as neighbors
from blindspot.numerics.neighbors.occurrences import k_occurrence
from blindspot.numerics.similarity import Similarity, similarity_to_all


def loop(matrix: np.ndarray, queries: np.ndarray, k: int, metric: Similarity) -> list[int]:
    counts = [0] * len(matrix)
    for query in queries.tolist():
        similarity = similarity_to_all(matrix, query, metric)
        others = [i for i in range(len(matrix)) if i != query]
        for item in sorted(others, key=lambda i: -similarity[i])[:k]:
            counts[item] += 1
    return counts


@pytest.mark.parametrize("metric", Similarity)
@pytest.mark.parametrize("k", [1, 5, 29])
def test_counts_are_those_of_a_loop(metric: Similarity, k: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(neighbors, "SCORES_AT_ONCE", 100)  # several tiles
    rng = np.random.default_rng(k)
    matrix = (rng.normal(size=(30, 4)) * rng.uniform(0.1, 50, (30, 1))).astype(np.float32)
    queries = rng.permutation(30)[:17]
    assert k_occurrence(matrix, queries, k, metric).tolist() == loop(matrix, queries, k, metric)


def test_k_must_leave_somebody_out() -> None:
    matrix = np.eye(3, dtype=np.float32)
    for k in (0, 3):
        with pytest.raises(ValueError, match="must be 1 to 2"):
            k_occurrence(matrix, np.arange(3), k, Similarity.COS)
