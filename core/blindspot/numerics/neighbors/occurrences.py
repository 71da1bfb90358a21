"""Occurrences of items among the nearest neighbors of others (k-occurrence; Radovanović 2010)."""

from __future__ import annotations

import numpy as np

from blindspot.numerics.similarity import Similarity, row_norms, unit_vectors
from blindspot.types import Float32, Int64

SCORES_AT_ONCE = 8_000_000  # 32 MB of float32


def k_occurrence(
    matrix: Float32, queries: Int64, k: int, metric: Similarity, own: Int64 | None = None, items: int | None = None
) -> Int64:
    """Number of queries with each item among their ``k`` nearest items, ``[items] int64``.

    A query is not its own neighbor. Products are float32, and which of several tied items is the k-th is arbitrary:
    good enough for counts, not for ranks.

    Args:
        matrix: ``[n, d] float32``, finite.
        queries: ``[q]`` distinct rows of ``matrix``.
        k: fewer than the items.
        own: ``[q]``, the queries' rows among the items, if they differ from ``queries``; None if they are the same.
        items: number of first rows that are items; None for all.
    """
    n = len(matrix) if items is None else items
    own = queries if own is None else own
    if not 0 < k < n:
        raise ValueError(f"k is {k}, with {n} items it must be 1 to {n - 1}")
    if metric is Similarity.COS:
        rows = unit_vectors(matrix)
        halves = np.zeros(len(matrix), dtype=np.float32)
    else:  # the distance falls as x.y - |y|^2/2 rises; one scale for all keeps the squares in range
        norms = row_norms(matrix)
        scale = norms.max(initial=0.0) or 1.0
        rows = np.asarray(matrix / scale, dtype=np.float32)
        halves = np.asarray((norms / scale) ** 2 / 2, dtype=np.float32)
    counts = np.zeros(n, dtype=np.int64)
    at_once = max(1, SCORES_AT_ONCE // n)
    for start in range(0, len(queries), at_once):
        part = queries[start : start + at_once]
        scores = rows[part] @ rows[:n].T - halves[:n]
        scores[np.arange(len(part)), own[start : start + at_once]] = -np.inf
        nearest = np.argpartition(scores, n - k, axis=1)[:, n - k :]
        counts += np.bincount(nearest.ravel(), minlength=n)
    return counts
