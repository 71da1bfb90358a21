"""Ranking problems: lengths, thresholds and prepared queries, before any item is compared."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property

import numpy as np

from blindspot.errors import BlindspotError
from blindspot.numerics.similarity import Similarity, similarity_of_pairs
from blindspot.numerics.threads import in_threads
from blindspot.types import Float32, Float64, Int32, Int64

TAU = 1e-6  # two similarities no further apart than this are tied
ROWS_PER_PART = 512  # prepared at a time: in float64 they fit the processor's cache
ROWS_OF_MEAN = 1_024


class Relation(StrEnum):
    """Position of an item relative to the match."""

    ABOVE = "above the match"
    TIED = "tied with the match"
    MATCH = "the match"
    BELOW = "below the match"


@dataclass(frozen=True, eq=False)
class RankCounts:
    """Per pair: the match's similarity (``[m] float64``), and the numbers of items above it and tied with it."""

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
class RankProblem:
    """A ranking problem before any item is compared: p pairs, sorted by their q distinct queries.

    Attributes:
        matrix: ``[n, d] float32``.
        norms, factors: ``[n] float64``, lengths of the rows, and their factors before multiplication.
        order: ``[p]``, the caller's index of each pair.
        query_items: ``[q] int64``; pairs ``pair_starts[i]:pair_starts[i + 1]`` (``[q + 1]``) are those of query i.
        pair_matches, pair_similarity: ``[p]``, item and similarity (float64) of each pair's match.
        low, high: ``[p] float32``; items with scores below or above are certainly below or above the match.
        left: ``[q, d] float32``, the queries' rows, prepared for multiplication.
    """

    matrix: Float32
    metric: Similarity
    norms: Float64
    factors: Float64
    similarity: Float64
    order: Int64
    query_items: Int64
    pair_starts: Int64
    pair_matches: Int64
    pair_similarity: Float64
    low: Float32
    high: Float32
    left: Float32

    @cached_property
    def origin(self) -> Float32:
        """Mean of some rows, prepared for multiplication, ``[d] float32``."""
        step = -(-len(self.matrix) // ROWS_OF_MEAN)
        some = scaled(self.matrix, np.arange(0, len(self.matrix), step), self.factors)
        return np.asarray(some.mean(axis=0))

    def operand(self, items: slice) -> Float32:
        """The items' rows, prepared for multiplication."""
        return scaled(self.matrix, np.arange(items.start, items.stop), self.factors)

    def half_squares(self, items: slice | Int64) -> Float32:
        """Amounts subtracted from the items' products to make scores; none for cosine."""
        if self.metric is Similarity.COS:
            return np.empty(0, dtype=np.float32)
        return np.asarray((self.norms[items] * self.factors[items]) ** 2 / 2, dtype=np.float32)

    def of_queries(self, queries: Int64) -> RankProblem:
        """The problem of only these queries, by their indices, in this order. If these are all queries, ``counts``
        still gives the caller's order."""
        pairs_of = np.diff(self.pair_starts)[queries]
        starts = np.concatenate([[0], np.cumsum(pairs_of)])
        pairs = np.arange(starts[-1]) + np.repeat(self.pair_starts[queries] - starts[:-1], pairs_of)
        return replace(
            self,
            order=self.order[pairs],
            query_items=self.query_items[queries],
            pair_starts=starts,
            pair_matches=self.pair_matches[pairs],
            pair_similarity=self.pair_similarity[pairs],
            low=self.low[pairs],
            high=self.high[pairs],
            left=self.left[queries],
        )

    def counts(self, greater: Int64, ties: Int64) -> RankCounts:
        """Counts reordered from the problem's order of pairs to the caller's."""
        back = np.empty_like(self.order)
        back[self.order] = np.arange(len(self.order))
        return RankCounts(self.similarity, greater[back], ties[back])


def prepare(
    matrix: Float32,
    queries: Int32,
    matches: Int32,
    metric: Similarity,
    tau: float,
    threads: int,
    slack: float,
    *,
    with_left: bool = True,
) -> RankProblem:
    """Prepare everything that ranking needs besides the products.

    Args:
        slack: error bound of a product of two vectors no longer than 1.
        with_left: whether to prepare the queries' rows, too; a GPU does that by itself. Else ``left`` is empty.

    Raises:
        BlindspotError: the embeddings are not all finite.
    """
    from blindspot.numerics.kernels import measure_rows

    n, m = len(matrix), len(queries)
    norms, similarity = np.empty(n), np.empty(m)

    def measure(rows: slice) -> None:
        measure_rows(matrix, rows.start, norms[rows])

    def compare(pairs: slice) -> None:
        similarity[pairs] = similarity_of_pairs(matrix, queries[pairs], matches[pairs], metric)

    in_threads(_parts(n), measure, threads)
    if broken := int(np.count_nonzero(~np.isfinite(norms))):
        raise BlindspotError(
            f"{broken} of {n} embeddings have NaN or infinite values",
            expected="finite numbers",
            remedy="use another encoder or transform",
        )
    in_threads(_parts(m), compare, threads)
    factors = _factors(norms, metric)

    # Pairs sorted by query, so that a query with several pairs is multiplied once.
    order = np.argsort(queries, kind="stable").astype(np.int64)
    query_items, first_pair = np.unique(queries[order].astype(np.int64), return_index=True)
    pair_starts = np.append(first_pair, m).astype(np.int64)
    query_of_pair = np.repeat(query_items, np.diff(pair_starts))
    low, high = _thresholds(similarity[order], norms * factors, factors, query_of_pair, slack, metric, tau)
    left = np.empty((len(query_items) if with_left else 0, matrix.shape[1]), dtype=np.float32)

    def gather(rows: slice) -> None:
        left[rows] = scaled(matrix, query_items[rows], factors)

    in_threads(_parts(len(left)), gather, threads)
    return RankProblem(
        matrix,
        metric,
        norms,
        factors,
        similarity,
        order,
        query_items,
        pair_starts,
        matches[order].astype(np.int64),
        similarity[order],
        low,
        high,
        left,
    )


def _parts(rows: int) -> Iterator[slice]:
    for start in range(0, rows, ROWS_PER_PART):
        yield slice(start, min(start + ROWS_PER_PART, rows))


def _factors(norms: Float64, metric: Similarity) -> Float64:
    """Factor of each row before multiplication, ``[n] float64``.

    Cosine: makes unit rows (a zero vector stays zero). l2: one power of two for all, which scales the longest row to a
    length of about 1, so that no product overflows or vanishes; it is exact.
    """
    if metric is Similarity.COS:
        return np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0)
    _, exponent = np.frexp(norms.max(initial=0.0))
    return np.full_like(norms, np.ldexp(1.0, -exponent))


def scaled(matrix: Float32, items: Int64, factors: Float64) -> Float32:
    """The items' rows, prepared for multiplication, ``[k, d] float32``."""
    from blindspot.numerics.kernels import scale_rows

    out = np.empty((len(items), matrix.shape[1]), dtype=np.float32)
    scale_rows(matrix, items, factors, out)
    return out


def slack_of_float32(dimension: int) -> float:
    """Error bound of a float32 product of two vectors no longer than 1, whatever the order of summation.

    A product of d terms has an error of at most about ``d * u * |x| * |y|``, u being 2^-24; the terms besides d cover
    the rounding of the operands, of half |y|^2 and of the difference.
    """
    return (dimension + 8) * 2.0**-24


def _thresholds(
    similarity: Float64,
    lengths: Float64,
    factors: Float64,
    query_of_pair: Int64,
    slack_of_one: float,
    metric: Similarity,
    tau: float,
) -> tuple[Float32, Float32]:
    """Scores below and above which an item is certainly below or above the match, per pair.

    For cosine the score is the product of unit rows; for l2 it is ``x.y - |y|^2/2`` of the scaled rows
    (of lengths ``lengths``), which falls with the distance.
    """
    if metric is Similarity.COS:
        slack = np.full(len(similarity), slack_of_one)
        low, high = similarity - tau, similarity + tau
    else:
        x, scale = lengths[query_of_pair], factors[query_of_pair]
        longest = float(lengths.max(initial=0.0))
        slack = slack_of_one * (x * longest + longest**2)
        high = (x**2 - (_radius(similarity + tau) * scale) ** 2) / 2
        low = (x**2 - (_radius(similarity - tau) * scale) ** 2) / 2
    floor = -1e30  # far below every score but the query's own, which is -inf and stays below every threshold
    low32 = np.maximum(low - slack, floor).astype(np.float32)
    high32 = (high + slack).astype(np.float32)
    return np.nextafter(low32, np.float32(-np.inf)), np.nextafter(high32, np.float32(np.inf))


def _radius(similarity: Float64) -> Float64:
    """Distance at which ``1/(1 + distance)`` is ``similarity``: 0 for 1 or more, infinite for 0 or less."""
    inverse = np.divide(1.0, similarity, out=np.full_like(similarity, np.inf), where=similarity > 0.0)
    return np.maximum(inverse - 1.0, 0.0)
