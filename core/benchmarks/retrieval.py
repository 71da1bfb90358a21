"""Benchmark of retrieval: ranking all documents for every query, against the bare product."""

from __future__ import annotations

import statistics

import numpy as np

from benchmarks.measuring import BenchmarkResult, interleaved_ratios
from blindspot.numerics.ranking.judged import Judged, search
from blindspot.numerics.ranking.ranks import QUERIES_PER_TILE
from blindspot.numerics.similarity import Similarity
from blindspot.types import CancelToken, Float32, Progress, no_progress

DOCUMENTS, QUERIES, DIMENSION = 100_000, 1_000, 384
RELEVANT = 3  # judged documents per query


def problem(documents: int, queries: int, dimension: int) -> tuple[Float32, Judged]:
    """Unit vectors, documents before queries, each query near its judged documents."""
    rng = np.random.default_rng(7)
    matrix = rng.standard_normal((documents + queries, dimension), dtype=np.float32)
    judged = np.sort(np.stack([rng.choice(documents, RELEVANT, replace=False) for _ in range(queries)]), axis=1)
    matrix[documents:] += matrix[judged].mean(axis=1)
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
    return matrix, Judged(np.arange(queries + 1) * RELEVANT, judged.ravel())


def retrieve_vs_gemm(progress: Progress) -> list[BenchmarkResult]:
    """Exact ranks of the judged documents, with ties, and the first 100, against the float32 products alone."""
    matrix, judged = problem(DOCUMENTS, QUERIES, DIMENSION)
    documents, queries = matrix[:DOCUMENTS], matrix[DOCUMENTS:]
    out = np.empty((min(QUERIES_PER_TILE, QUERIES), DOCUMENTS), dtype=np.float32)

    def ours() -> None:
        search(matrix, judged, Similarity.COS, no_progress, CancelToken())

    def products() -> None:
        for start in range(0, QUERIES, QUERIES_PER_TILE):
            rows = queries[start : start + QUERIES_PER_TILE]
            np.matmul(rows, documents.T, out=out[: len(rows)])

    samples = interleaved_ratios(ours, products, progress, "retrieve_vs_gemm")
    return [BenchmarkResult("retrieve_vs_gemm", statistics.median(samples), "ratio", samples)]
