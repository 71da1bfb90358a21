"""Approximate nearest neighbors: an inverted file (faiss IVF) with measured recall against exact search."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from blindspot.numerics.neighbors.exact import ExactIndex, Nearest
from blindspot.numerics.similarity import Similarity, similarity_to_all, unit_vectors
from blindspot.types import Float32, Int64

SHARE_LOOKED_AT = 8  # one in so many cells is searched
ROUNDS = 6  # of k-means
POINTS_PER_CELL = 40  # that k-means learns from
SEED = 7


class ApproximateIndex:
    """Rows in cells of a k-means partition; a query searches the nearest cells only.

    There are sqrt(n) cells, and an eighth of them are searched. Results are sorted by similarity in float64, as in the
    exact index; neighbors in other cells are missed.

    Args:
        matrix: ``[n, d] float32``, finite; n is 2 or more.
    """

    def __init__(self, matrix: Float32, metric: Similarity) -> None:
        import faiss

        self.metric = metric
        self._matrix = matrix
        rows = self._placed(matrix)
        n, d = rows.shape
        self.cells = max(1, round(np.sqrt(n)))
        kind = faiss.METRIC_INNER_PRODUCT if metric is Similarity.COS else faiss.METRIC_L2
        # The index uses its quantizer, which Python would otherwise free.
        self._quantiser = faiss.IndexFlat(d, kind)
        self._index: Any = faiss.IndexIVFFlat(self._quantiser, d, self.cells, kind)
        self._index.cp.niter, self._index.cp.seed = ROUNDS, SEED
        self._index.cp.min_points_per_centroid, self._index.cp.max_points_per_centroid = 1, POINTS_PER_CELL
        self._index.train(rows)
        self._index.add(rows)
        self._searched = max(1, self.cells // SHARE_LOOKED_AT)

    def _placed(self, vectors: Float32) -> Float32:
        """Vectors of unit length for cosine (zero stays zero), unchanged for distances."""
        if self.metric is not Similarity.COS:
            return np.ascontiguousarray(vectors, dtype=np.float32)
        return unit_vectors(vectors)

    def of_rows(self, rows: Int64, k: int) -> Nearest:
        """As ``ExactIndex.of_rows``, approximately."""
        return self._nearest(np.asarray(self._matrix[rows], dtype=np.float32), k, rows)

    def of_vectors(self, vectors: Float32, k: int) -> Nearest:
        """As ``ExactIndex.of_vectors``, approximately."""
        return self._nearest(vectors, k, None)

    def _nearest(self, vectors: Float32, k: int, own: Int64 | None) -> Nearest:
        most = len(self._matrix) - (own is not None)
        if not 1 <= k <= most:
            raise ValueError(f"k is {k}, with {len(self._matrix)} items it must be 1 to {most}")
        neighbors = self._search(self._placed(vectors), k + (own is not None))
        rows = np.empty((len(vectors), k), dtype=np.int64)
        similarity = np.empty((len(vectors), k), dtype=np.float64)
        for i, candidates in enumerate(neighbors):
            kept = candidates if own is None else candidates[candidates != own[i]]
            both = np.vstack([self._matrix[kept], vectors[i : i + 1]])
            values = similarity_to_all(both, len(kept), self.metric)[:-1]
            order = np.lexsort((kept, -values))[:k]
            rows[i], similarity[i] = kept[order], values[order]
        return Nearest(rows, similarity)

    def _search(self, asked: Float32, wanted: int) -> Int64:
        """Candidates, ``[q, wanted]``; searches all cells if the nearest have too few."""
        rows: Int64 = self._index.search(asked, wanted, params=_looking_into(self._searched))[1]
        few = np.flatnonzero((rows < 0).any(axis=1))
        if len(few):
            rows[few] = self._index.search(asked[few], wanted, params=_looking_into(self.cells))[1]
        return rows


def _looking_into(cells: int) -> Any:
    """Parameters of one search; the index itself is shared by threads."""
    import faiss

    params: Any = faiss.SearchParametersIVF()
    params.nprobe = cells
    return params


@dataclass(frozen=True)
class Quality:
    """Recall and speed of an approximate index.

    Attributes:
        recall: share of the exact k nearest that it finds, over ``queries`` queries.
        exact_seconds, seconds: median time of one query, exact and approximate.
    """

    recall: float
    k: int
    queries: int
    exact_seconds: float
    seconds: float


def quality(exact: ExactIndex, approximate: ApproximateIndex, rows: Int64, k: int) -> Quality:
    """Measure recall@k of an approximate index against the exact one over the same matrix, query by query.

    Args:
        rows: ``[q] int64``, the queries.
    """
    shared, took = 0, np.empty((len(rows), 2))
    for i in range(len(rows)):
        row = rows[i : i + 1]
        began = perf_counter()
        truth = exact.of_rows(row, k).rows
        between = perf_counter()
        guess = approximate.of_rows(row, k).rows
        took[i] = between - began, perf_counter() - between
        shared += len(np.intersect1d(truth, guess))
    exact_seconds, seconds = np.median(took, axis=0)
    return Quality(shared / (len(rows) * k), k, len(rows), float(exact_seconds), float(seconds))
