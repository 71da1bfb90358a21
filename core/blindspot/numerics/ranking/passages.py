"""Ranks of documents that are cut into passages: a document is as similar to a query as its most similar passage.

Passages are compared in float64, in tiles. Memory beyond the inputs: a block of similarities of queries to documents,
and a tile of passages, whatever their number is.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from blindspot.numerics.ranking.judged import SCORES_AT_ONCE, Top
from blindspot.numerics.similarity import Similarity, row_norms
from blindspot.types import CancelToken, Float32, Float64, Int32, Int64, Progress, no_progress

PASSAGES_PER_TILE = 4_096
# Share of the two squared lengths below which a squared distance is computed again from the differences: the product
# of nearly equal vectors has lost too many digits.
CLOSE = 1e-5


def similarities(
    passages: Float32,
    starts: Int32 | Int64,
    queries: Float32,
    metric: Similarity,
    cancel: CancelToken,
    progress: Progress = no_progress,
) -> Iterator[Float64]:
    """Similarities of the queries to all documents, as blocks ``[some, n]``.

    Args:
        passages: ``[p, d]``, finite; those of document i are ``starts[i]:starts[i + 1]``, at least one.
        starts: ``[n + 1]``.
        queries: ``[q, d]``, finite.

    Raises:
        Cancelled: between two tiles.
    """
    n = len(starts) - 1
    at_once = max(1, SCORES_AT_ONCE // max(1, n + PASSAGES_PER_TILE))
    tiles = list(_tiles(np.asarray(starts, dtype=np.int64)))
    for start in range(0, len(queries), at_once):
        progress("ranking", start, len(queries))
        some = queries[start : start + at_once].astype(np.float64)
        block = np.full((len(some), n), -np.inf)
        for tile in tiles:
            cancel.check()
            rows = slice(int(starts[tile.start]), int(starts[tile.stop]))
            for first in range(rows.start, rows.stop, PASSAGES_PER_TILE):  # a document can be longer than a tile
                part = slice(first, min(first + PASSAGES_PER_TILE, rows.stop))
                scores = _similarities(some, passages[part].astype(np.float64), metric)
                offsets = np.maximum(np.asarray(starts[tile.start : tile.stop], dtype=np.int64) - part.start, 0)
                best = np.maximum.reduceat(scores, offsets, axis=1)
                np.maximum(block[:, tile], best, out=block[:, tile])
        yield block
    progress("ranking", len(queries), len(queries))


def _tiles(starts: Int64) -> Iterator[slice]:
    """Documents whose passages make a tile; one that fills it is alone."""
    first = 0
    while first < len(starts) - 1:
        after = int(np.searchsorted(starts, starts[first] + PASSAGES_PER_TILE, side="right")) - 1
        yield slice(first, max(after, first + 1))
        first = max(after, first + 1)


def _similarities(queries: Float64, passages: Float64, metric: Similarity) -> Float64:
    """Similarity of every query to every passage."""
    left, right = row_norms(queries), row_norms(passages)
    products: Float64 = queries @ passages.T
    if metric is Similarity.COS:
        lengths = left[:, np.newaxis] * right
        return np.divide(products, lengths, out=np.zeros_like(products), where=lengths > 0)
    scale = (left**2)[:, np.newaxis] + right**2
    squared = scale - 2 * products
    close = np.argwhere(squared < CLOSE * scale)
    for first in range(0, len(close), PASSAGES_PER_TILE):
        query, passage = close[first : first + PASSAGES_PER_TILE].T
        squared[query, passage] = ((queries[query] - passages[passage]) ** 2).sum(axis=1)
    return np.asarray(1.0 / (1.0 + np.sqrt(np.maximum(squared, 0.0))))


def best_passages(passages: Float32, starts: Int32 | Int64, queries: Float32, top: Top, metric: Similarity) -> Int64:
    """The most similar passage of each top document, ``[q, k]``, by its row in ``passages``; the first among equals."""
    out = np.empty(top.documents.shape, dtype=np.int64)
    bounds = np.asarray(starts, dtype=np.int64)
    for query, documents in enumerate(top.documents):
        counts = bounds[documents + 1] - bounds[documents]
        ends = np.cumsum(counts)
        rows = np.arange(ends[-1]) + np.repeat(bounds[documents] - (ends - counts), counts)
        scores = _similarities(
            queries[query : query + 1].astype(np.float64), passages[rows].astype(np.float64), metric
        )[0]
        for number, (end, count) in enumerate(zip(ends.tolist(), counts.tolist(), strict=True)):
            out[query, number] = rows[end - count + int(np.argmax(scores[end - count : end]))]
    return out
