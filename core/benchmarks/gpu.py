"""Exact ranks on a GPU, against the CPU and against the bare products."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import replace

from benchmarks.measuring import PAIRS_OF_TIMINGS, BenchmarkResult, NotMeasured, interleaved_ratios
from benchmarks.problems import ranking_problem
from blindspot.encoders.device import device_for_ranking
from blindspot.numerics.ranking.gpu import ITEMS_PER_TILE, PAIRS_PER_TILE, PRECISIONS, Precision, rank_pairs_on
from blindspot.numerics.ranking.ranks import rank_pairs
from blindspot.numerics.similarity import Similarity
from blindspot.types import CancelToken, Float32, Int32, Progress, no_progress


def gpu_rank(progress: Progress) -> list[BenchmarkResult]:
    """Speedup over the CPU, and time over that of the products, in float32 and in float16.

    Raises:
        NotMeasured: torch can use no GPU.
    """
    device = device_for_ranking("cuda")
    if device == "cpu":
        raise NotMeasured("torch sees no CUDA device")
    return measured(device, progress)


def refuse(sentence: str) -> None:
    """A ``Fallback``: what is measured is not counted on the CPU instead."""
    raise RuntimeError(sentence)


def measured(device: str, progress: Progress, pairs: int = PAIRS_OF_TIMINGS) -> list[BenchmarkResult]:
    """``gpu_rank`` on a torch device; raises ``RuntimeError`` if the ranks differ from the CPU's."""
    matrix, queries, matches = ranking_problem(768)
    expected = rank_pairs(matrix, queries, matches, Similarity.COS, no_progress, CancelToken())
    results = []
    for precision in PRECISIONS:

        def there(p: Precision = precision) -> None:
            rank_pairs_on(
                device, matrix, queries, matches, Similarity.COS, no_progress, CancelToken(), p, fallback=refuse
            )

        def here() -> None:
            rank_pairs(matrix, queries, matches, Similarity.COS, no_progress, CancelToken())

        found = rank_pairs_on(
            device, matrix, queries, matches, Similarity.COS, no_progress, CancelToken(), precision, fallback=refuse
        )
        if (found.greater != expected.greater).any() or (found.ties != expected.ties).any():
            raise RuntimeError(f"ranks in {precision} on {device} are not those of the CPU")
        name = "gpu_rank" if precision == "float32" else f"gpu_rank_{precision}"
        samples = interleaved_ratios(here, there, progress, f"{name}, against the CPU", pairs)
        results.append(BenchmarkResult(name, statistics.median(samples), "ratio", samples))
        products = _products(device, precision, matrix, queries)
        samples = interleaved_ratios(there, products, progress, f"{name}, against the products", pairs)
        results.append(BenchmarkResult(f"{name}_vs_gemm", statistics.median(samples), "ratio", samples))
    return [replace(results[0], name="gpu_rank"), *results[1:]]


def _products(device: str, precision: Precision, matrix: Float32, queries: Int32) -> Callable[[], None]:
    """The bare products of the same shapes, with the vectors copied to the device each time, as ours are."""
    import torch

    dtype = torch.float16 if precision == "float16" else torch.float32

    def products() -> None:
        left = torch.from_numpy(matrix[queries]).to(device).to(dtype)
        for first in range(0, len(matrix), ITEMS_PER_TILE):
            right = torch.from_numpy(matrix[first : first + ITEMS_PER_TILE]).to(device).to(dtype)
            for start in range(0, len(left), PAIRS_PER_TILE):
                _ = left[start : start + PAIRS_PER_TILE] @ right.T
        if device.startswith("cuda"):
            torch.cuda.synchronize(device)

    return products
