"""What the process of a map does before UMAP: exact neighbors, and lines of progress."""

from __future__ import annotations

import io
import json

import numpy as np
import pytest

from blindspot.numerics.similarity import Similarity
from blindspot.space.maps import worker


@pytest.mark.parametrize("metric", Similarity)
def test_the_graph_of_neighbors_is_that_of_a_loop(metric: Similarity, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "ROWS_AT_ONCE", 3)
    vectors = np.random.default_rng(4).normal(size=(8, 5)).astype(np.float32)
    if metric is Similarity.COS:
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    out = io.StringIO()
    rows, distances = worker._graph(vectors, metric, 4, out)
    exact = vectors.astype(np.float64)
    for i in range(8):
        far = {
            j: 1 - exact[i] @ exact[j] if metric is Similarity.COS else float(np.linalg.norm(exact[i] - exact[j]))
            for j in range(8)
            if j != i
        }
        nearest = sorted(far, key=lambda j, far=far: (far[j], j))[:3]
        assert rows[i].tolist() == [i, *nearest]
        np.testing.assert_allclose(distances[i], [0, *(far[j] for j in nearest)], atol=1e-5)
    told = [json.loads(line) for line in out.getvalue().splitlines()]
    assert [(one["stage"], one["done"], one["total"]) for one in told] == [
        ("finding neighbors", done, 8) for done in (0, 3, 6)
    ]


def test_the_bar_of_umap_becomes_lines_of_progress() -> None:
    out = io.StringIO()
    for written in ("30/200", "\r", "finished", " 31/200\n"):
        worker._Epochs(out).write(written)
    assert [json.loads(line)["done"] for line in out.getvalue().splitlines()] == [30, 31]
