"""Ranking against bare matrix products and the published toolkit."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

import numpy as np

from benchmarks import resident
from benchmarks.measuring import BenchmarkResult, NotMeasured, interleaved_ratios
from benchmarks.problems import ranking_problem
from blindspot.datasets import fetch
from blindspot.datasets.catalog import DATASETS
from blindspot.datasets.kinds.pairs import PairSet
from blindspot.encoders.cache import EmbeddingCache
from blindspot.encoders.catalog import resolve_encoder
from blindspot.errors import DataMissing
from blindspot.numerics import coarse
from blindspot.numerics.ranking.ranks import QUERIES_PER_TILE, rank_pairs
from blindspot.numerics.similarity import Similarity
from blindspot.numerics.threads import one_blas_thread
from blindspot.settings import Settings
from blindspot.types import CancelToken, Float32, Int32, Progress, no_progress

TOOLKIT_PAIRS = 300  # timed; the others take as long
SCALES = (25_000, 250_000)
PAIRS_OF_SCALES = 3  # of timings: one of 250,000 items takes ten seconds
OUT_OF_CORE = (1_000_000, 2_000)  # items, queries
# Models of ``rank_kinds``; the last one's vectors are means of the words' ones, of 300 dimensions.
STORED = ("minilm", "minilm-cls", "random-projection")
Context = Callable[[], AbstractContextManager[None]]


def rank_vs_gemm(progress: Progress) -> list[BenchmarkResult]:
    """Exact ranks with ties, of isotropic vectors, against the bare float32 products of the same shapes, whole rows."""
    results = []
    for dimension in (384, 768):
        matrix, queries, matches = ranking_problem(dimension)
        vectors = matrix[queries]
        out = np.empty((QUERIES_PER_TILE, len(matrix)), dtype=np.float32)

        def ours(m: Float32 = matrix, q: Int32 = queries, y: Int32 = matches) -> None:
            rank_pairs(m, q, y, Similarity.COS, no_progress, CancelToken())

        def products(m: Float32 = matrix, v: Float32 = vectors, o: Float32 = out) -> None:
            for start in range(0, len(v), QUERIES_PER_TILE):
                rows = v[start : start + QUERIES_PER_TILE]
                np.matmul(rows, m.T, out=o[: len(rows)])

        samples = interleaved_ratios(ours, products, progress, f"rank_vs_gemm, {dimension} dimensions")
        results.append(BenchmarkResult(f"rank_vs_gemm_{dimension}", statistics.median(samples), "ratio", samples))
    worst = max(results, key=lambda r: r.value)
    return [BenchmarkResult("rank_vs_gemm", worst.value, worst.unit, worst.samples), *results]


def rank_kinds(progress: Progress) -> list[BenchmarkResult]:
    """Exact ranks of EvalRank's sentences by stored embeddings against the bare products, and of random vectors with
    random matches, which no coordinates decide; in float32 alone and, where the processor has instructions for them,
    with products of 8-bit codes. The first result is the worst of the stored ones by the products that this machine
    takes.

    Raises:
        NotMeasured: no embeddings of EvalRank's sentences are stored.
    """
    kinds = stored_embeddings()
    if not kinds:
        raise NotMeasured(
            "it needs stored embeddings: first 'blindspot run evalrank --encoder minilm --dataset evalrank-sent'"
        )
    matrix, queries, matches = ranking_problem(384)
    kinds["random"] = matrix, queries, np.random.default_rng(1).permutation(matches)
    ways = kinds_of_products()
    results = []
    for kind, problem in kinds.items():
        vectors = problem[0][np.unique(problem[1])]
        out = np.empty((min(QUERIES_PER_TILE, len(vectors)), len(problem[0])), dtype=np.float32)
        for way, within in ways.items():

            def ours(p: tuple[Float32, Int32, Int32] = problem, w: Context = within) -> None:
                with w():
                    rank_pairs(*p, Similarity.COS, no_progress, CancelToken())

            def products(m: Float32 = problem[0], v: Float32 = vectors, o: Float32 = out) -> None:
                for start in range(0, len(v), QUERIES_PER_TILE):
                    rows = v[start : start + QUERIES_PER_TILE]
                    np.matmul(rows, m.T, out=o[: len(rows)])

            samples = interleaved_ratios(ours, products, progress, f"rank_kinds, {kind}, {way}")
            name = f"rank_kinds_{kind}_{way}"
            results.append(BenchmarkResult(name, statistics.median(samples), "ratio", samples))
    taken = [r for r in results if "random" not in r.name and r.name.endswith(f"_{list(ways)[-1]}")]
    worst = max(taken, key=lambda r: r.value)
    return [BenchmarkResult("rank_kinds", worst.value, worst.unit, worst.samples), *results]


def kinds_of_products() -> dict[str, Context]:
    """Contexts in which products are of float32 alone and, where the processor is faster at them, of 8-bit codes too.

    torch is imported already.
    """
    with one_blas_thread():
        return {"float32": coarse.only_float32, **({"8bit": nullcontext} if coarse.pays() else {})}


def stored_embeddings() -> dict[str, tuple[Float32, Int32, Int32]]:
    """Ranking problems of EvalRank's sentences by the models of ``STORED`` that have encoded them."""
    settings = Settings.from_environment()
    try:
        dataset = fetch.load(DATASETS["evalrank-sent"], settings)
    except DataMissing:
        return {}
    if not isinstance(dataset, PairSet):
        raise TypeError("EvalRank's sentences are of another kind")
    cache, found = EmbeddingCache(settings.embeddings), {}
    for reference in STORED:
        digest = resolve_encoder(reference, settings).identity.embedding_digest(dataset.texts_digest)
        if (embedded := cache.read(digest, is_use=False)) is not None:
            found[reference.replace("-", "_")] = np.array(embedded.matrix), dataset.queries, dataset.matches
    return found


def rank_vs_toolkit(progress: Progress) -> list[BenchmarkResult]:
    """The toolkit against ours: per pair it multiplies the matrix with one vector, sorts and searches."""
    matrix, queries, matches = ranking_problem(384)
    few = min(TOOLKIT_PAIRS, len(queries))

    def theirs() -> None:
        for query, match in zip(queries[:few], matches[:few], strict=True):
            rank_as_toolkit(matrix, int(query), int(match))

    def ours() -> None:
        rank_pairs(matrix, queries, matches, Similarity.COS, no_progress, CancelToken())

    ratios = interleaved_ratios(theirs, ours, progress, "rank_vs_toolkit")
    samples = tuple(ratio * len(queries) / few for ratio in ratios)
    return [BenchmarkResult("rank_vs_toolkit", statistics.median(samples), "ratio", samples)]


def rank_as_toolkit(matrix: Float32, query: int, match: int) -> int:
    """Rank of one match by the operations of the published toolkit, on unit rows."""
    one, other = matrix[query : query + 1], matrix[match : match + 1]
    score = np.dot(one, other.T).squeeze()
    scores = np.sort(np.squeeze(np.dot(matrix, one.T)))[::-1]
    return max(len(scores) - int(np.searchsorted(scores[::-1], score, side="right")), 1)


def rank_scaling(progress: Progress) -> list[BenchmarkResult]:
    """Time ratio of ten times as many items to fewer, and the larger one's peak memory in a process of its own."""
    few, many = [ranking_problem(384, items) for items in SCALES]

    def rank(problem: tuple[Float32, Int32, Int32]) -> None:
        rank_pairs(*problem, Similarity.COS, no_progress, CancelToken())

    samples = interleaved_ratios(
        lambda: rank(many),
        lambda: rank(few),
        progress,
        f"rank_scaling, {SCALES[0]:,} to {SCALES[1]:,} items",
        PAIRS_OF_SCALES,
    )
    progress("rank_scaling, memory", 0, 1)
    megabytes = resident.in_memory(SCALES[1], len(many[1])).beyond / 1e6
    return [
        BenchmarkResult("rank_scaling", statistics.median(samples), "ratio", samples),
        BenchmarkResult("rank_scaling_memory", megabytes, "MB", (megabytes,)),
    ]


def rank_out_of_core(progress: Progress) -> list[BenchmarkResult]:
    """Items in a mapped file, ranked in a process of its own: peak resident memory, and time.

    The peak includes mapped pages of the file, which the system may reclaim at any time. On Linux, the process's own
    memory is reported too.
    """
    progress("rank_out_of_core", 0, 1)
    found = resident.on_disk(*OUT_OF_CORE)
    own = () if found.own is None else (("own", found.own / 1e9, "GB"),)
    parts = (*own, ("seconds", found.seconds, "s"))
    return [
        BenchmarkResult("rank_out_of_core", found.peak / 1e9, "GB", (found.peak / 1e9,)),
        *(BenchmarkResult(f"rank_out_of_core_{name}", value, unit, (value,)) for name, value, unit in parts),
    ]
