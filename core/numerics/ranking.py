"""Exact ranks of mates among all items, in tiles (DESIGN section 4.1; Wang 2022, section 4.2).

The products are float32, which is fast, and every score that float32 cannot tell apart from the mate's
is computed again in float64. The error bound is the worst case, so the counts are those of a float64
loop over the same float32 embeddings, whatever the order of summation.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import digamma

from core.errors import BlindspotError
from core.numerics.similarity import Metric, row_norms, similarity_of_pairs
from core.types import CancelToken, Float32, Float64, Int32, Int64, Progress

TAU = 1e-6  # two similarities no further apart than this are tied
QUERIES_PER_TILE = 1_024
ITEMS_PER_TILE = 4_096


@dataclass(frozen=True, eq=False)
class RankCounts:
    """Per pair: the mate's similarity (``[m] float64``), and how many items are above it or tied with it."""

    similarity: Float64
    greater: Int64
    ties: Int64

    @property
    def optimistic(self) -> Int64:
        return 1 + self.greater

    @property
    def pessimistic(self) -> Int64:
        return 1 + self.greater + self.ties

    @property
    def shown(self) -> Float64:
        """Mean rank under random tie order."""
        return np.asarray(1.0 + self.greater + self.ties / 2)


@dataclass(frozen=True, eq=False)
class Exclusions:
    """Items left out of the candidates of a pair: entry i leaves ``items[i]`` out of ``pairs[i]``.

    Both ``[k] int64``; an entry stands once and never names the pair's own query or mate.
    """

    pairs: Int64
    items: Int64


def rank_pairs(
    matrix: Float32,
    queries: Int32,
    mates: Int32,
    metric: Metric,
    progress: Progress,
    cancel: CancelToken,
    tau: float = TAU,
) -> RankCounts:
    """Count, for every pair, the items that are more similar to the query than its mate is, and the ties.

    Args:
        matrix: ``[n, d] float32`` embeddings of the items; may be memory-mapped.
        queries: ``[m]`` item index of each pair's query.
        mates: ``[m]`` item index of each pair's mate.

    Memory beyond the inputs: the queries' vectors and two tiles, whatever n is.

    Raises:
        Cancelled: between two tiles.
        BlindspotError: the embeddings are not all finite, so that there is nothing to rank by.
    """
    from core.numerics.kernels import KERNEL_LOCK, count_above_and_tied

    matrix = np.asarray(matrix)
    norms = row_norms(matrix)
    if broken := int(np.count_nonzero(~np.isfinite(norms))):
        raise BlindspotError(
            f"{broken} of {len(matrix)} embeddings hold NaN or infinite values",
            expected="finite numbers",
            remedy="use another encoder or transform",
        )
    factors = _factors(norms, metric)
    lengths = norms * factors
    similarity = similarity_of_pairs(matrix, queries, mates, metric)

    # Pairs in order of their query, so that a query that has several is multiplied once.
    order = np.argsort(queries, kind="stable")
    query_items, first_pair = np.unique(queries[order].astype(np.int64), return_index=True)
    pair_starts = np.append(first_pair, len(order)).astype(np.int64)
    pair_mates = mates[order].astype(np.int64)
    pair_similarity = similarity[order]
    query_of_pair = np.repeat(query_items, np.diff(pair_starts))
    low, high = _thresholds(pair_similarity, lengths, factors, query_of_pair, matrix.shape[1], metric, tau)

    greater = np.zeros(len(order), dtype=np.int64)
    ties = np.zeros(len(order), dtype=np.int64)
    left = _operand(matrix[query_items], factors[query_items])
    buffer = np.empty(QUERIES_PER_TILE * ITEMS_PER_TILE, dtype=np.float32)
    for first_item in range(0, len(matrix), ITEMS_PER_TILE):
        progress("ranking", first_item, len(matrix))
        tile = slice(first_item, first_item + ITEMS_PER_TILE)
        right = _operand(matrix[tile], factors[tile])
        half = np.zeros(len(right)) if metric is Metric.COS else lengths[tile] ** 2 / 2
        half_squares = half.astype(np.float32)
        for first_query in range(0, len(left), QUERIES_PER_TILE):
            cancel.check()
            rows = slice(first_query, min(first_query + QUERIES_PER_TILE, len(left)))
            height = rows.stop - rows.start
            scores = buffer[: height * len(right)].reshape(height, len(right))
            np.matmul(left[rows], right.T, out=scores)
            with KERNEL_LOCK:
                count_above_and_tied(
                    scores,
                    half_squares,
                    first_item,
                    matrix,
                    norms,
                    metric is Metric.COS,
                    tau,
                    query_items[rows],
                    pair_starts[rows.start : rows.stop + 1],
                    pair_mates,
                    pair_similarity,
                    low,
                    high,
                    greater,
                    ties,
                )
    progress("ranking", len(matrix), len(matrix))
    back = np.empty_like(order)
    back[order] = np.arange(len(order))
    return RankCounts(similarity, greater[back], ties[back])


def without(
    counts: RankCounts,
    exclusions: Exclusions,
    matrix: Float32,
    queries: Int32,
    metric: Metric,
    tau: float = TAU,
) -> RankCounts:
    """The counts once the excluded items are no candidates (*filtered* ranks)."""
    pairs = exclusions.pairs
    scores = similarity_of_pairs(matrix, queries[pairs].astype(np.int64), exclusions.items, metric)
    mate = counts.similarity[pairs]
    is_greater = scores > mate + tau
    is_tie = ~is_greater & (scores >= mate - tau)
    m = len(counts.greater)
    return RankCounts(
        counts.similarity,
        counts.greater - np.bincount(pairs[is_greater], minlength=m),
        counts.ties - np.bincount(pairs[is_tie], minlength=m),
    )


def expected_reciprocal_rank(greater: Int64, ties: Int64) -> Float64:
    """``E[1/rank] = (H(g+t+1) - H(g)) / (t+1)`` under random tie order; H are harmonic numbers."""
    harmonic = (digamma(greater + ties + 2.0) - digamma(greater + 1.0)) / (ties + 1.0)
    return np.asarray(np.where(ties == 0, 1.0 / (greater + 1.0), harmonic))


def expected_hit(greater: Int64 | Float64, ties: Int64 | Float64, k: int) -> Float64:
    """``E[hit@k] = clip((k - g) / (t + 1), 0, 1)`` under random tie order."""
    return np.asarray(np.clip((k - greater) / (ties + 1.0), 0.0, 1.0))


def _factors(norms: Float64, metric: Metric) -> Float64:
    """What each row is multiplied by before the product, ``[n] float64``.

    Cosine: what makes it a unit row (a zero vector stays zero). l2: one power of two for all, which brings
    the longest row to a length of about 1, so that no product overflows or vanishes; it is exact.
    """
    if metric is Metric.COS:
        return np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0)
    _, exponent = np.frexp(norms.max(initial=0.0))
    return np.full_like(norms, np.ldexp(1.0, -exponent))


def _operand(rows: Float32, factors: Float64) -> Float32:
    """The rows that are multiplied, ``[k, d] float32``."""
    return np.asarray(rows * factors[:, None], dtype=np.float32)


def _thresholds(
    similarity: Float64,
    lengths: Float64,
    factors: Float64,
    query_of_pair: Int64,
    dimension: int,
    metric: Metric,
    tau: float,
) -> tuple[Float32, Float32]:
    """Scores below which an item is surely under the mate, and above which surely over it, per pair.

    For cosine the score is the product of unit rows; for l2 it is ``x.y - |y|^2/2`` of the scaled rows
    (whose lengths are ``lengths``), which falls with the distance. A product of d terms in float32 is off
    by at most about ``d * u * |x| * |y|``, u being 2^-24; the terms besides d cover the rounding of the
    operands, of half |y|^2 and of the difference.
    """
    unit_roundoff = float(np.finfo(np.float32).eps) / 2
    if metric is Metric.COS:
        slack = np.full(len(similarity), (dimension + 8) * unit_roundoff)
        low, high = similarity - tau, similarity + tau
    else:
        x, scale = lengths[query_of_pair], factors[query_of_pair]
        longest = float(lengths.max(initial=0.0))
        slack = (dimension + 8) * unit_roundoff * (x * longest + longest**2)
        high = (x**2 - (_radius(similarity + tau) * scale) ** 2) / 2
        low = (x**2 - (_radius(similarity - tau) * scale) ** 2) / 2
    floor = -1e30  # far below every score but the query's own, which is -inf and stays below every threshold
    low32 = np.maximum(low - slack, floor).astype(np.float32)
    high32 = (high + slack).astype(np.float32)
    return np.nextafter(low32, np.float32(-np.inf)), np.nextafter(high32, np.float32(np.inf))


def _radius(similarity: Float64) -> Float64:
    """Distance at which ``1/(1 + distance)`` is ``similarity``: 0 from 1 on, infinite from 0 down."""
    inverse = np.divide(1.0, similarity, out=np.full_like(similarity, np.inf), where=similarity > 0.0)
    return np.maximum(inverse - 1.0, 0.0)
