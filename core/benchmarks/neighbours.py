"""Exact nearest neighbors against faiss's exhaustive index."""

from __future__ import annotations

import statistics

import numpy as np

from blindspot.benchmarks import ranking
from blindspot.benchmarks.measuring import BenchmarkResult, as_after_encoding, interleaved_ratios
from blindspot.numerics.neighbours.exact import ExactIndex
from blindspot.numerics.similarity import Similarity
from blindspot.types import Progress

K = 100
WARM_UP = 1_024  # queries
PAIRS_OF_SEARCHES = 3  # of timings: faiss takes 15 seconds on two cores


def neighbours(progress: Progress) -> list[BenchmarkResult]:
    """The k nearest of all items, decided and reported in float64, against those of ``IndexFlatIP`` in float32.

    Our time includes building the index, theirs does not.
    """
    import faiss

    as_after_encoding()
    matrix, _, _ = ranking.ranking_problem(384)
    rows = np.arange(len(matrix), dtype=np.int64)
    flat = faiss.IndexFlatIP(matrix.shape[1])
    flat.add(matrix)
    k = min(K, len(matrix) - 1)
    for some in (rows[:WARM_UP], rows[: WARM_UP // 2]):
        ExactIndex(matrix, Similarity.COS).of_rows(some, k)
        flat.search(matrix[some], k)
    samples = interleaved_ratios(
        lambda: ExactIndex(matrix, Similarity.COS).of_rows(rows, k),
        lambda: flat.search(matrix, k),
        progress,
        f"nearest neighbors, k = {k}",
        PAIRS_OF_SEARCHES,
        is_warm=True,
    )
    return [BenchmarkResult("neighbours", statistics.median(samples), "ratio", samples)]
