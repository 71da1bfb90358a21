"""Benchmarks of retrieval: ranking all documents for every query, against the bare product and against the evaluator of
sentence-transformers.
"""

from __future__ import annotations

import statistics
from types import SimpleNamespace
from typing import Any

import numpy as np

from benchmarks.measuring import BenchmarkResult, interleaved_ratios
from blindspot.numerics.ranking.graded import score
from blindspot.numerics.ranking.judged import Judged, search
from blindspot.numerics.ranking.ranks import QUERIES_PER_TILE
from blindspot.numerics.similarity import Similarity
from blindspot.types import CancelToken, Float32, Progress, no_progress

DOCUMENTS, QUERIES, DIMENSION = 100_000, 1_000, 384
RELEVANT = 3  # judged documents per query
PAIRS_OF_EVALUATIONS = 3


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


def retrieve_vs_evaluator(progress: Progress) -> list[BenchmarkResult]:
    """The same vectors in ``InformationRetrievalEvaluator`` of sentence-transformers: its time over ours, and the
    largest difference between the means of nDCG@10, MRR@10 and hits at 1 and 10.

    The evaluator ranks the first 100; ours ranks every judged document, too, and counts ties.
    """
    import torch
    from sentence_transformers.sentence_transformer.evaluation import InformationRetrievalEvaluator
    from sentence_transformers.util import cos_sim

    matrix, judged = problem(DOCUMENTS, QUERIES, DIMENSION)
    grades = np.ones(len(judged.documents), dtype=np.int64)
    relevant: list[list[int]] = judged.documents.reshape(QUERIES, RELEVANT).tolist()
    evaluator: Any = InformationRetrievalEvaluator(
        {f"q{i}": "" for i in range(QUERIES)},
        {f"d{i}": "" for i in range(DOCUMENTS)},
        {f"q{i}": {f"d{document}" for document in documents} for i, documents in enumerate(relevant)},
        score_functions={"cosine": cos_sim},
        write_csv=False,
    )
    documents, queries = torch.from_numpy(matrix[:DOCUMENTS]), torch.from_numpy(matrix[DOCUMENTS:])
    model = SimpleNamespace(encode_query=lambda *_, **__: queries)  # whose vectors are there
    found: dict[str, dict[str, float]] = {}

    def ours() -> None:
        places, _ = search(matrix, judged, Similarity.COS, no_progress, CancelToken())
        found["ours"] = {name: float(values.mean()) for name, values in score(judged, places, grades).items()}

    def theirs() -> None:
        scores = evaluator.compute_all_metrics(model, corpus_embeddings=documents)["cosine"]
        hits = {f"hits@{k}": scores["accuracy@k"][k] for k in (1, 10)}
        found["theirs"] = {"ndcg@10": scores["ndcg@k"][10], "mrr@10": scores["mrr@k"][10], **hits}

    samples = interleaved_ratios(theirs, ours, progress, "retrieve_vs_evaluator", PAIRS_OF_EVALUATIONS)
    difference = max(abs(found["ours"][name] - value) for name, value in found["theirs"].items())
    return [
        BenchmarkResult("retrieve_vs_evaluator", statistics.median(samples), "ratio", samples),
        BenchmarkResult("retrieve_vs_evaluator_difference", difference, "largest difference", (difference,)),
    ]
