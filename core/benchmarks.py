"""What ``python -m core bench`` measures. Ratios of interleaved pairs at equal thread counts, one process."""

from __future__ import annotations

import os
import platform
import statistics
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import psutil

from core.datasets import catalog as datasets
from core.datasets import fetch
from core.encoders import catalog as encoders
from core.encoders.cache import EmbeddingCache
from core.encoders.sentence_transformer import SentenceTransformerEncoder
from core.errors import unknown
from core.numerics.ranking import QUERIES_PER_TILE, rank_pairs
from core.numerics.similarity import Metric
from core.settings import Settings, prepare_runtime
from core.types import CancelToken, Float32, Int32, Progress, no_progress

PAIRS_OF_TIMINGS = 5


@dataclass(frozen=True)
class BenchmarkResult:
    """The median of ``samples``."""

    name: str
    value: float
    unit: str
    samples: tuple[float, ...]


@dataclass(frozen=True)
class BenchmarkReport:
    machine: Mapping[str, str | int]
    results: tuple[BenchmarkResult, ...]

    def as_json(self) -> dict[str, Any]:
        """``{"machine": ..., "results": {name: {"value", "unit", "samples"}}}`` (DESIGN section 6)."""
        return {
            "machine": dict(self.machine),
            "results": {r.name: {"value": r.value, "unit": r.unit, "samples": list(r.samples)} for r in self.results},
        }


def run(names: Sequence[str], progress: Progress = no_progress) -> BenchmarkReport:
    """Run benchmarks by name.

    Raises:
        InputError: no such benchmark.
    """
    for name in names:
        if name not in BENCHMARKS:
            raise unknown("benchmark", name, BENCHMARKS)
    prepare_runtime(Settings.from_environment())
    threads = _equal_threads()
    results = [result for name in names for result in BENCHMARKS[name](progress)]
    return BenchmarkReport(_machine(threads), tuple(results))


def interleaved_ratios(
    ours: Callable[[], object], theirs: Callable[[], object], progress: Progress, label: str
) -> tuple[float, ...]:
    """Time of ``ours`` over time of ``theirs``, five pairs in turn after one of each to warm up."""
    ours()
    theirs()
    ratios = []
    for i in range(PAIRS_OF_TIMINGS):
        progress(label, i, PAIRS_OF_TIMINGS)
        seconds = []
        for work in (ours, theirs):
            start = perf_counter()
            work()
            seconds.append(perf_counter() - start)
        ratios.append(seconds[0] / seconds[1])
    return tuple(ratios)


def ranking_problem(dimension: int, items: int = 24_957, queries: int = 6_989) -> tuple[Float32, Int32, Int32]:
    """Unit vectors of EvalRank's sizes: every query is one item, its mate lies near it."""
    rng = np.random.default_rng(7)
    matrix = rng.standard_normal((items, dimension)).astype(np.float32)
    order = rng.permutation(items).astype(np.int32)
    query_items, mates = order[:queries], order[-queries:]
    matrix[mates] = matrix[query_items] + 0.6 * rng.standard_normal((queries, dimension)).astype(np.float32)
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
    return matrix, query_items, mates


def rank_vs_gemm(progress: Progress) -> list[BenchmarkResult]:
    """Exact ranks with ties against the bare matrix products of the same shapes, whole rows."""
    results = []
    for dimension in (384, 768):
        matrix, queries, mates = ranking_problem(dimension)
        vectors = matrix[queries]
        out = np.empty((QUERIES_PER_TILE, len(matrix)), dtype=np.float32)

        def ours(m: Float32 = matrix, q: Int32 = queries, y: Int32 = mates) -> None:
            rank_pairs(m, q, y, Metric.COS, no_progress, CancelToken())

        def products(m: Float32 = matrix, v: Float32 = vectors, o: Float32 = out) -> None:
            for start in range(0, len(v), QUERIES_PER_TILE):
                rows = v[start : start + QUERIES_PER_TILE]
                np.matmul(rows, m.T, out=o[: len(rows)])

        samples = interleaved_ratios(ours, products, progress, f"rank_vs_gemm, {dimension} dimensions")
        results.append(BenchmarkResult(f"rank_vs_gemm_{dimension}", statistics.median(samples), "ratio", samples))
    worst = max(results, key=lambda r: r.value)
    return [BenchmarkResult("rank_vs_gemm", worst.value, worst.unit, worst.samples), *results]


def encode_poolings(progress: Progress) -> list[BenchmarkResult]:
    """All poolings of MiniLM, encoded and stored, against the published one alone."""
    settings = Settings.from_environment()
    together = encoders.resolve("minilm", settings)
    if not isinstance(together, SentenceTransformerEncoder):
        raise TypeError("the catalog's minilm is of another kind")
    alone = replace(together, others=())
    texts = fetch.load(datasets.find("demo-pairs"), settings).items
    for encoder in (together, alone):
        encoder.load()

    def encode(encoder: SentenceTransformerEncoder) -> None:
        with tempfile.TemporaryDirectory() as folder:
            EmbeddingCache(Path(folder)).encode(encoder, texts, "benchmark", no_progress, CancelToken())

    label = f"encode_poolings, {len(together.family)} poolings of {len(texts):,} texts"
    samples = interleaved_ratios(lambda: encode(together), lambda: encode(alone), progress, label)
    return [BenchmarkResult("encode_poolings", statistics.median(samples), "ratio", samples)]


BENCHMARKS: dict[str, Callable[[Progress], list[BenchmarkResult]]] = {
    "rank_vs_gemm": rank_vs_gemm,
    "encode_poolings": encode_poolings,
}


def _equal_threads() -> int:
    """One thread count for BLAS and for our kernels: all the cores that we may use."""
    import numba
    from threadpoolctl import threadpool_limits

    threads = min(
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
        numba.config.NUMBA_NUM_THREADS,
    )
    numba.set_num_threads(threads)
    threadpool_limits(threads)
    return int(threads)


def _machine(threads: int) -> dict[str, str | int]:
    return {
        "processor": _processor(),
        "threads": threads,
        "memory_gib": round(psutil.virtual_memory().total / 2**30),
        "system": platform.platform(),
        "python": platform.python_version(),
        "numpy": np.__version__,
    }


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as f:  # noqa: PTH123
            names = [line.partition(":")[2].strip() for line in f if line.startswith("model name")]
    except OSError:  # not Linux
        names = []
    return names[0] if names else platform.processor() or platform.machine()
