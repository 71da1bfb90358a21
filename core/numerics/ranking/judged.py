"""Ranks of the judged documents of queries among all documents.

Documents with equal scores have no order. Two answers: how many documents are above a judged one and how many are tied
with it, from which expected values over all orders follow (``graded``); or trec_eval's order, in which the document
with the later id, compared by bytes, is first (``form_res_rels.c``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from core.numerics.neighbours.exact import ExactIndex
from core.numerics.ranking.problem import TAU
from core.numerics.ranking.ranks import rank_pairs
from core.numerics.similarity import Similarity, row_norms
from core.types import CancelToken, Float32, Float64, Int32, Int64, Progress, no_progress

# Of similarities in trec_eval's order: copies of a text tie, whatever the last bits of their products. trec_eval keeps
# scores in float32, which tells numbers of six decimals up to 1 apart.
DECIMALS = 6
SCORES_AT_ONCE = 1 << 22  # 32 MB of float64
TOP = 100


@dataclass(frozen=True, eq=False)
class Judged:
    """Documents judged for q queries: those of query i are ``documents[starts[i]:starts[i + 1]]``.

    Attributes:
        starts: ``[q + 1]``.
        documents: ``[j]``, numbers of the documents; distinct within a query.
    """

    starts: Int32 | Int64
    documents: Int32 | Int64

    @property
    def queries(self) -> Int64:
        """Number of the query of each judgment, ``[j]``."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))


@dataclass(frozen=True, eq=False)
class Places:
    """Per judgment, ``[j] int64``: documents above it, and others tied with it."""

    greater: Int64
    ties: Int64


@dataclass(frozen=True, eq=False)
class Top:
    """The best documents of q queries, best first.

    Attributes:
        documents: ``[q, k] int64``.
        scores: ``[q, k] float64``.
    """

    documents: Int64
    scores: Float64


def order_of_ids(ids: Sequence[str]) -> Int64:
    """Places of n documents at a tie in trec_eval's order, ``[n]`` from 0: the last id first, by its UTF-8 bytes."""
    keys = [document_id.encode() for document_id in ids]
    out = np.empty(len(ids), dtype=np.int64)
    out[sorted(range(len(ids)), key=keys.__getitem__, reverse=True)] = np.arange(len(ids))
    return out


# --- by similarity


def places(
    documents: Float32,
    queries: Float32,
    judged: Judged,
    metric: Similarity,
    progress: Progress,
    cancel: CancelToken,
    tau: float = TAU,
) -> Places:
    """Exact counts of documents above each judged one and tied with it, as a float64 loop would count them.

    Args:
        documents: ``[n, d] float32``.
        queries: ``[q, d] float32``.
        tau: two similarities no further apart are tied.

    Memory: a copy of both matrices, and the tiles of ``rank_pairs``.

    Raises:
        Cancelled: between two tiles.
        BlindspotError: the embeddings are not all finite.
    """
    n = len(documents)
    both = np.concatenate([documents, queries])
    asked, found = (n + judged.queries).astype(np.int32), judged.documents.astype(np.int32)
    counts = rank_pairs(both, asked, found, metric, progress, cancel, tau, candidates=n)
    return Places(counts.greater, counts.ties)


def top(documents: Float32, queries: Float32, metric: Similarity, k: int = TOP) -> Top:
    """The k most similar documents of every query, or all if there are fewer: exact, compared in float64; among equally
    similar ones the lower number first."""
    nearest = ExactIndex(documents, metric).of_vectors(queries, min(k, len(documents)))
    return Top(nearest.rows, nearest.similarity)


def rounded_similarities(
    documents: Float32, queries: Float32, metric: Similarity, cancel: CancelToken, progress: Progress = no_progress
) -> Iterator[Float64]:
    """Similarities of the queries to all documents in float64, rounded to six decimals, as blocks ``[some, n]``."""
    cosine = metric is Similarity.COS
    right = _unit(documents) if cosine else documents.astype(np.float64)
    squares = row_norms(documents) ** 2
    at_once = max(1, SCORES_AT_ONCE // max(1, len(documents)))
    for start in range(0, len(queries), at_once):
        cancel.check()
        progress("ranking", start, len(queries))
        some = queries[start : start + at_once]
        if cosine:
            yield np.round(_unit(some) @ right.T, DECIMALS)
            continue
        left = some.astype(np.float64)
        squared = (row_norms(some) ** 2)[:, np.newaxis] + squares - 2 * (left @ right.T)
        yield np.round(1.0 / (1.0 + np.sqrt(np.maximum(squared, 0.0))), DECIMALS)


def _unit(matrix: Float32) -> Float64:
    norms = row_norms(matrix)[:, np.newaxis]
    return np.divide(matrix, norms, out=np.zeros(matrix.shape), where=norms > 0)


# --- by any score


def rank_by_scores(
    scores: Iterable[Float64] | Iterable[Float32], judged: Judged, order: Int64 | None = None, k: int = TOP
) -> tuple[Places, Top]:
    """Places and top documents by the scores of all documents, higher is better; only equal scores tie.

    Args:
        scores: of the queries in their order, in blocks ``[some, n]``.
        order: ``[n]``, distinct places at a tie, such as ``order_of_ids``: then there are no ties. If None, ties are
            counted, and the top documents have the lower number first.
    """
    greater, ties = np.zeros((2, len(judged.documents)), dtype=np.int64)
    documents, values = [], []
    for query, line in enumerate(line for block in scores for line in block):
        for at in range(int(judged.starts[query]), int(judged.starts[query + 1])):
            document = judged.documents[at]
            own = line[document]
            greater[at] = np.count_nonzero(line > own)
            same = line == own
            if order is None:
                ties[at] = np.count_nonzero(same) - 1
            else:
                greater[at] += np.count_nonzero(order[same] < order[document])
        best = _best(line, order, k)
        documents.append(best)
        values.append(line[best])
    return Places(greater, ties), Top(np.array(documents, dtype=np.int64), np.array(values, dtype=np.float64))


def _best(line: Float64 | Float32, order: Int64 | None, k: int) -> Int64:
    """Numbers of the k highest scores, highest first."""
    if k < len(line):
        candidates = np.flatnonzero(line >= np.partition(line, len(line) - k)[len(line) - k])
    else:
        candidates = np.arange(len(line))
    at_tie = candidates if order is None else order[candidates]
    return np.asarray(candidates[np.lexsort((at_tie, -line[candidates]))[:k]])
