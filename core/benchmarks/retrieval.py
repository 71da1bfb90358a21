"""Benchmarks of retrieval: ranking all documents for every query, against the bare product and the evaluators of
sentence-transformers and mteb.
"""

from __future__ import annotations

import statistics
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import numpy as np

from benchmarks.measuring import BenchmarkResult, NotMeasured, interleaved_ratios
from blindspot.numerics.ranking.graded import score
from blindspot.numerics.ranking.judged import Judged, search
from blindspot.numerics.ranking.ranks import QUERIES_PER_TILE
from blindspot.numerics.similarity import Similarity
from blindspot.types import CancelToken, Float32, Progress, no_progress

DOCUMENTS, QUERIES, DIMENSION = 100_000, 1_000, 384
RELEVANT = 3  # judged documents per query
PAIRS_OF_EVALUATIONS = 3
MTEB_KEEPS = 1_000  # documents per query, its default
_OF_MTEB = (
    "similarity_functions",
    "tasks.retrieval",
    "timing",
    "models.search_wrappers",
    "_evaluators.retrieval_evaluator",
)


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


def _scored(matrix: Float32, judged: Judged) -> dict[str, float]:
    """Means of every measure, by exact ranks with ties; the first 100 are found, too."""
    places, _ = search(matrix, judged, Similarity.COS, no_progress, CancelToken())
    grades = np.ones(len(judged.documents), dtype=np.int64)
    return {name: float(values.mean()) for name, values in score(judged, places, grades).items()}


def retrieve_vs_evaluator(progress: Progress) -> list[BenchmarkResult]:
    """The same vectors in ``InformationRetrievalEvaluator`` of sentence-transformers: its time over ours, and the
    largest difference between the means of nDCG@10, MRR@10 and hits at 1 and 10.

    The evaluator ranks the first 100; ours ranks every judged document, too, and counts ties.
    """
    import torch
    from sentence_transformers.sentence_transformer.evaluation import InformationRetrievalEvaluator
    from sentence_transformers.util import cos_sim

    matrix, judged = problem(DOCUMENTS, QUERIES, DIMENSION)
    evaluator: Any = InformationRetrievalEvaluator(
        {f"q{i}": "" for i in range(QUERIES)},
        {f"d{i}": "" for i in range(DOCUMENTS)},
        {query: set(documents) for query, documents in _relevant(judged).items()},
        score_functions={"cosine": cos_sim},
        write_csv=False,
    )
    documents, queries = torch.from_numpy(matrix[:DOCUMENTS]), torch.from_numpy(matrix[DOCUMENTS:])
    model = SimpleNamespace(encode_query=lambda *_, **__: queries)  # whose vectors are there
    found: dict[str, dict[str, float]] = {}

    def ours() -> None:
        found["ours"] = _scored(matrix, judged)

    def theirs() -> None:
        scores = evaluator.compute_all_metrics(model, corpus_embeddings=documents)["cosine"]
        hits = {f"hits@{k}": scores["accuracy@k"][k] for k in (1, 10)}
        found["theirs"] = {"ndcg@10": scores["ndcg@k"][10], "mrr@10": scores["mrr@k"][10], **hits}

    samples = interleaved_ratios(theirs, ours, progress, "retrieve_vs_evaluator", PAIRS_OF_EVALUATIONS)
    return _times_as_fast("retrieve_vs_evaluator", samples, **found)


def retrieve_vs_mteb(progress: Progress) -> list[BenchmarkResult]:
    """The same vectors in mteb's ``RetrievalEvaluator``, which keeps the first 1,000 (its default): its time over ours,
    its preparation of the texts included, and the largest difference between the means of nDCG@10 and nDCG@100.

    mteb is no requirement of Blindspot: install it beside it. It rounds means to five decimals.
    """
    try:
        mteb = {name: import_module(f"mteb.{name}") for name in _OF_MTEB}
    except ModuleNotFoundError as error:
        raise NotMeasured("mteb is not installed") from error
    table_of = import_module("datasets").Dataset.from_dict
    matrix, judged = problem(DOCUMENTS, QUERIES, DIMENSION)
    grades = {query: dict.fromkeys(documents, 1) for query, documents in _relevant(judged).items()}
    corpus = table_of({"id": [f"d{i}" for i in range(DOCUMENTS)], "text": ["text"] * DOCUMENTS})
    queries = table_of({"id": list(grades), "text": ["text"] * QUERIES})
    found: dict[str, dict[str, float]] = {}

    def ours() -> None:
        found["ours"] = _scored(matrix, judged)

    def theirs() -> None:
        chunks = iter([matrix[DOCUMENTS:], matrix[:DOCUMENTS]])  # queries are encoded first
        model = SimpleNamespace(
            mteb_model_meta=None,
            encode=lambda *_, **__: next(chunks),
            similarity=mteb["similarity_functions"].cos_sim,
        )
        evaluator = mteb["_evaluators.retrieval_evaluator"].RetrievalEvaluator(
            corpus,
            queries,
            task_metadata=mteb["tasks.retrieval"].NanoArguAnaRetrieval.metadata,
            hf_split="test",
            hf_subset="default",
            top_k=MTEB_KEEPS,
            timer=mteb["timing"].TimingStack(),
        )
        search_all = mteb["models.search_wrappers"].SearchEncoderWrapper(model, corpus_chunk_size=DOCUMENTS)
        scores = evaluator.evaluate(grades, evaluator(search_all, {"batch_size": 128}), [10, 100, MTEB_KEEPS])
        found["theirs"] = {f"ndcg@{k}": scores.ndcg[f"NDCG@{k}"] for k in (10, 100)}

    samples = interleaved_ratios(theirs, ours, progress, "retrieve_vs_mteb", PAIRS_OF_EVALUATIONS)
    return _times_as_fast("retrieve_vs_mteb", samples, **found)


def _relevant(judged: Judged) -> dict[str, list[str]]:
    """The judged documents of each query, by the names that both libraries get."""
    documents: list[list[int]] = judged.documents.reshape(QUERIES, RELEVANT).tolist()
    return {f"q{i}": [f"d{document}" for document in some] for i, some in enumerate(documents)}


def _times_as_fast(
    name: str, samples: tuple[float, ...], ours: dict[str, float], theirs: dict[str, float]
) -> list[BenchmarkResult]:
    difference = max(abs(ours[measure] - value) for measure, value in theirs.items())
    return [
        BenchmarkResult(name, statistics.median(samples), "ratio", samples),
        BenchmarkResult(f"{name}_difference", difference, "largest difference", (difference,)),
    ]
