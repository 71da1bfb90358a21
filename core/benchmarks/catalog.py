"""Catalog of benchmarks. To add one: a function that measures it, and an entry here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter

from benchmarks import app, bootstrap, gpu, neighbors, ranking, reports, retrieval
from benchmarks.encoders import backend, cold, efficiency, encoding, served, streaming
from benchmarks.measuring import BenchmarkReport, BenchmarkResult, NotMeasured, equal_threads, machine
from blindspot.errors import unknown
from blindspot.settings import Settings, prepare_runtime
from blindspot.types import Progress, no_progress


@dataclass(frozen=True)
class Benchmark:
    """A benchmark and its target.

    Attributes:
        description: one sentence for the table.
        reach: the target of its value, in its unit; None if it is only reported.
        is_at_most: whether the target is an upper bound, else a lower one.
        measure: gives the result of its name first, then parts of it, each under a name that begins with it; raises
            ``NotMeasured`` where it cannot run on this machine.
        reach_float32: the target on processors without fast products of 8-bit codes, where that is another.
        part_reaches: the bounds of parts that have one of their own.
        is_usual: whether it is measured if none is named; others take minutes and gigabytes.
    """

    name: str
    description: str
    reach: float | None
    is_at_most: bool
    measure: Callable[[Progress], list[BenchmarkResult]]
    part_reaches: Mapping[str, float] = field(default_factory=dict)
    is_usual: bool = True
    reach_float32: float | None = None


_STORED = [reference.replace("-", "_") for reference in ranking.STORED]

BENCHMARKS: dict[str, Benchmark] = {
    benchmark.name: benchmark
    for benchmark in (
        Benchmark(
            "rank_vs_gemm",
            "exact EvalRank ranks with ties, of isotropic vectors, against the bare matrix products of the same shapes",
            1.15,
            True,
            ranking.rank_vs_gemm,
        ),
        Benchmark(
            "rank_kinds",
            "exact ranks of EvalRank's sentences by stored embeddings against the bare products, in float32 alone and "
            "with 8-bit codes where the processor is faster at them; and of random vectors and matches",
            0.25,
            True,
            ranking.rank_kinds,
            {
                **{f"rank_kinds_{kind}_float32": 0.55 for kind in _STORED},
                **{f"rank_kinds_{kind}_8bit": 0.25 for kind in _STORED},
                **{f"rank_kinds_random_{way}": 1.15 for way in ("float32", "8bit")},
            },
            reach_float32=0.55,
        ),
        Benchmark(
            "rank_vs_toolkit",
            "the published toolkit's way (per pair: product, sort, search), times as slow as exact ranks with ties",
            40.0,
            False,
            ranking.rank_vs_toolkit,
        ),
        Benchmark(
            "rank_scaling",
            "ten times as many items, the same queries: time ratio, and in MB the peak memory beyond the embeddings",
            11.0,
            True,
            ranking.rank_scaling,
            {"rank_scaling_memory": 600.0},
        ),
        Benchmark(
            "rank_out_of_core",
            "a million items on disk, 2,000 queries: peak memory in GB, the pages of the mapped file counted in",
            2.5,
            True,
            ranking.rank_out_of_core,
        ),
        Benchmark(
            "retrieve_vs_gemm",
            "100,000 documents for 1,000 queries: exact ranks and the first 100, against the bare matrix products",
            1.3,
            True,
            retrieval.retrieve_vs_gemm,
        ),
        Benchmark(
            "retrieve_vs_evaluator",
            "the same 100,000 documents and 1,000 queries: times as fast as sentence-transformers' evaluator",
            5.0,
            False,
            retrieval.retrieve_vs_evaluator,
        ),
        Benchmark(
            "retrieve_vs_mteb",
            "the same, where mteb is installed: times as fast as its retrieval evaluator",
            5.0,
            False,
            retrieval.retrieve_vs_mteb,
            is_usual=False,
        ),
        Benchmark(
            "encode_vs_st",
            "4,000 EvalRank sentences with MiniLM, encoded and stored: times as fast as SentenceTransformer.encode",
            1.35,
            False,
            encoding.encode_vs_st,
        ),
        Benchmark(
            "encode_out_of_core",
            "a million texts with random-projection, encoded to disk: memory in MB beyond the texts",
            300.0,
            True,
            streaming.encode_out_of_core,
            is_usual=False,
        ),
        Benchmark(
            "encode_efficiency",
            "EvalRank sentences with MiniLM: share of the float32 product rate of this machine that encoding reaches",
            0.85,
            False,
            efficiency.encode_efficiency,
        ),
        Benchmark(
            "encode_cold",
            "from the start of Python to MiniLM's first batch: imports, weights and their checksum",
            6.0,
            True,
            cold.encode_cold,
        ),
        Benchmark(
            "encode_backend",
            "minilm?backend=openvino, where it is installed, times as fast as minilm in torch's own layers, in float32",
            1.15,
            False,
            backend.encode_backend,
        ),
        Benchmark(
            "encode_api",
            "4,000 EvalRank sentences through a server on this machine, encoded and stored: time over the server's own",
            1.15,
            True,
            served.encode_api,
        ),
        Benchmark(
            "encode_poolings",
            "all poolings of MiniLM, encoded and stored, against the published one alone",
            1.15,
            True,
            encoding.encode_poolings,
        ),
        Benchmark(
            "rerun",
            "another metric or transform from cached embeddings against the first run, encoding included",
            0.05,
            True,
            encoding.rerun,
        ),
        Benchmark(
            "page",
            "server-side script time of the slowest page, p95 over 20 reruns, ten variants under all diagnostics",
            250.0,
            True,
            app.page,
            {f"page_{stem}": 250.0 for stem in app.PAGES},
        ),
        Benchmark(
            "pages_big_store",
            "as page, of Overview, Run and EvalRank: 112,500 runs, 50 million per-item rows; opening, bytes per row",
            500.0,
            True,
            app.pages_big_store,
            {f"pages_big_store_{stem}": 500.0 for stem in app.PAGES_OF_MANY_RUNS} | {"pages_big_store_open": 1.0},
            is_usual=False,
        ),
        Benchmark(
            "interaction",
            "in a browser: click to settled, median over the main interactions",
            0.35,
            True,
            app.interaction,
        ),
        Benchmark(
            "try_again",
            "Try it in a browser: Enter to settled, p95, of sentences that were asked before, and the first time",
            100.0,
            True,
            app.try_again,
            {"try_again_first": 1_000.0},
        ),
        Benchmark(
            "cold_start",
            "streamlit run to the first page's heading in a browser, and to its first finding",
            4.0,
            True,
            app.cold_start,
            {"cold_start_finding": 4.5},
        ),
        Benchmark(
            "report",
            "a report of two variants under all diagnostics, from the store to the file; and its size in MB",
            10.0,
            True,
            reports.report,
            {"report_size": 5.0},
        ),
        Benchmark(
            "bootstrap",
            "2,000 paired bootstrap resamples of 6,989 pairs for 8 encoders: MRR with its interval",
            1.0,
            True,
            bootstrap.bootstrap,
        ),
        Benchmark(
            "neighbors",
            "the 100 nearest of 4,096 among 24,957 items against faiss IndexFlatIP: random vectors, stored embeddings; "
            "in float32 alone and with 8-bit codes where the processor is faster at them",
            0.7,
            True,
            neighbors.neighbors,
            {
                f"neighbors_{kind}_{way}": bound
                for kind in ("random", *_STORED)
                for way, bound in (("float32", 1.2), ("8bit", 0.7))
            },
            reach_float32=1.2,
        ),
        Benchmark(
            "gpu_rank",
            "exact ranks on the GPU: times as fast as on the CPU, and its time over that of the bare products",
            None,
            False,
            gpu.gpu_rank,
        ),
        Benchmark(
            "gpu_encode",
            "MiniLM on the GPU: times as fast as on the CPU, in float32 and in bfloat16",
            None,
            False,
            encoding.gpu_encode,
        ),
    )
}


def run(names: Sequence[str], progress: Progress = no_progress) -> BenchmarkReport:
    """Run benchmarks by name; raises ``InputError`` for an unknown one."""
    for name in names:
        if name not in BENCHMARKS:
            raise unknown("benchmark", name, BENCHMARKS)
    prepare_runtime(Settings.from_environment())
    threads = equal_threads()
    results: list[BenchmarkResult] = []
    not_measured: dict[str, str] = {}
    seconds: dict[str, float] = {}
    for name in names:
        start = perf_counter()
        try:
            results += BENCHMARKS[name].measure(progress)
        except NotMeasured as reason:
            not_measured[name] = str(reason)
        seconds[name] = perf_counter() - start
    return BenchmarkReport(machine(threads), tuple(results), not_measured, seconds)


def benchmark_of(result: str) -> Benchmark:
    """The benchmark of a result: the one with its name, or with the longest name that the result's name begins with.

    Raises:
        KeyError: no benchmark has this result.
    """
    fitting = [name for name in BENCHMARKS if result == name or result.startswith(f"{name}_")]
    return BENCHMARKS[max(fitting, key=len)] if fitting else BENCHMARKS[result]


def bound_of(result: str) -> float | None:
    """Target of a result on this machine; None if it is only reported. A part of a benchmark may have its own."""
    benchmark = benchmark_of(result)
    if result != benchmark.name:
        return benchmark.part_reaches.get(result)
    if benchmark.reach_float32 is not None and not _takes_codes():
        return benchmark.reach_float32
    return benchmark.reach


def reach_in_words(result: BenchmarkResult) -> str:
    """``at most 1.15``, ``at least 40``; "" if it is only reported."""
    bound = bound_of(result.name)
    if bound is None:
        return ""
    benchmark = benchmark_of(result.name)
    unit = "" if result.unit == "ratio" else f" {result.unit}"
    return f"{'at most' if benchmark.is_at_most else 'at least'} {bound:g}{unit}{_products_of(result.name, benchmark)}"


def _products_of(result: str, benchmark: Benchmark) -> str:
    """The kind of processor that a target is for, where there is one for each."""
    if result != benchmark.name or benchmark.reach_float32 is None:
        return ""
    return f" ({'8-bit' if _takes_codes() else 'float32'} products)"


def _takes_codes() -> bool:
    """Whether this machine takes products of 8-bit codes."""
    return "8bit" in ranking.kinds_of_products()


def verdict(result: BenchmarkResult) -> str:
    """``reached`` or ``missed``; ``reported`` without a target."""
    bound = bound_of(result.name)
    if bound is None:
        return "reported"
    is_kept = result.value <= bound if benchmark_of(result.name).is_at_most else result.value >= bound
    return "reached" if is_kept else "missed"
