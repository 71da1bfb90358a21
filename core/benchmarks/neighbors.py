"""Exact nearest neighbors against faiss's exhaustive index."""

from __future__ import annotations

import statistics

import numpy as np

from benchmarks import ranking
from benchmarks.measuring import BenchmarkResult, interleaved_ratios
from benchmarks.problems import ranking_problem
from blindspot.numerics.neighbors.exact import ExactIndex
from blindspot.numerics.similarity import Similarity, unit_vectors
from blindspot.types import Float32, Int64, Progress

K = 100
QUERIES = 4_096
PAIRS_OF_SEARCHES = 3  # of timings: faiss takes two seconds on two cores


def neighbors(progress: Progress) -> list[BenchmarkResult]:
    """The k nearest of some items, decided and reported in float64, against those of ``IndexFlatIP`` in float32.

    Of random vectors and of EvalRank's sentences by stored embeddings; by each kind of product. Our time includes
    building the index, theirs does not. The first result is the worst by the products that this machine takes.
    """
    import faiss

    stored = {kind: problem[0] for kind, problem in ranking.stored_embeddings().items()}
    results, ways = [], ranking.kinds_of_products()
    for kind, matrix in {"random": ranking_problem(384)[0], **stored}.items():
        rows = np.sort(np.random.default_rng(0).permutation(len(matrix))[:QUERIES]).astype(np.int64)
        units = unit_vectors(matrix)
        flat = faiss.IndexFlatIP(units.shape[1])
        flat.add(units)
        k, asked = min(K, len(matrix) - 1), units[rows]
        for way, within in ways.items():

            def ours(m: Float32 = matrix, r: Int64 = rows, k: int = k, w: ranking.Context = within) -> None:
                with w():
                    ExactIndex(m, Similarity.COS).of_rows(r, k)

            def theirs(f: faiss.IndexFlatIP = flat, a: Float32 = asked, k: int = k) -> None:
                f.search(a, k)

            label = f"nearest neighbors, k = {k}, {kind}, {way}"
            samples = interleaved_ratios(ours, theirs, progress, label, PAIRS_OF_SEARCHES)
            results.append(BenchmarkResult(f"neighbors_{kind}_{way}", statistics.median(samples), "ratio", samples))
    taken = [result for result in results if result.name.endswith(f"_{list(ways)[-1]}")]
    worst = max(taken, key=lambda result: result.value)
    return [BenchmarkResult("neighbors", worst.value, worst.unit, worst.samples), *results]
