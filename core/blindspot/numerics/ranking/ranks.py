"""Exact ranks of matches among all items, in tiles (Wang 2022, section 4.2).

Products are of the first principal coordinates where these decide enough (``ranking.pruning``), else of whole rows; in
float32 or, where faster, in int8 codes (``blindspot.numerics.coarse``). Every score too close to the match's to decide
is recomputed in float64. The error bound is the worst case, so the counts are those of a float64 loop over the same
float32 embeddings, whatever the order of summation and the kind of product.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from blindspot.numerics import coarse
from blindspot.numerics.flagging import room_for_scores
from blindspot.numerics.ranking import pruning
from blindspot.numerics.ranking.problem import TAU, RankCounts, prepare, slack_of_float32
from blindspot.numerics.ranking.tiles import (
    Screening,
    Tile,
    is_to_be_screened,
    planned_tiles,
    query_tiles,
)
from blindspot.numerics.similarity import Similarity, similarity_of_pairs
from blindspot.numerics.threads import in_threads, one_blas_thread, shrinking
from blindspot.types import Bool, CancelToken, Float32, Float64, Int32, Int64, Progress

QUERIES_PER_TILE, ITEMS_PER_TILE = 1_024, 4_096
# Products of few coordinates are so fast that tiles must stay in the core's cache. Rows fill cache lines, but their
# length is not a power of two: such rows would compete for the same cache sets.
QUERIES_PER_SMALL_TILE, ITEMS_PER_SMALL_TILE = 1_024, 832
QUERIES_PER_CODED_TILE, ITEMS_PER_CODED_TILE = 4_096, 1_664  # scores of codes are kept nowhere
SCORES_AT_ONCE = 64 * 2**20  # of all threads together: 256 MB
FEWEST_PRODUCTS = 100_000_000  # multiplications per millisecond: below, threads do not pay


@dataclass(frozen=True, eq=False)
class Exclusions:
    """Items excluded from a pair's candidates: entry i excludes ``items[i]`` from ``pairs[i]``.

    Both ``[k] int64``; entries are distinct and never name the pair's own query or match.
    """

    pairs: Int64
    items: Int64

    def among(self, candidates: Bool | None) -> Exclusions:
        """The exclusions that name a candidate (``[n] bool``; with None, every item is one)."""
        if candidates is None:
            return self
        kept = candidates[self.items]
        return Exclusions(self.pairs[kept], self.items[kept])


def rank_pairs(
    matrix: Float32,
    queries: Int32,
    matches: Int32,
    metric: Similarity,
    progress: Progress,
    cancel: CancelToken,
    tau: float = TAU,
    candidates: int | None = None,
) -> RankCounts:
    """Count, for every pair, the items more similar to the query than its match, and the ties.

    Args:
        matrix: ``[n, d] float32`` embeddings of the items; may be memory-mapped.
        queries: ``[m]`` item index of each pair's query.
        matches: ``[m]`` item index of each pair's match.
        candidates: number of first items that are ranked, with all matches among them; all if None. A query is never
            its own candidate.

    Memory beyond the inputs: the queries' vectors, and two tiles per thread, whatever n is.

    Raises:
        Cancelled: between two tiles.
        BlindspotError: the embeddings are not all finite.
    """
    matrix = np.asarray(matrix)
    if len(queries) * len(matrix) * matrix.shape[1] < FEWEST_PRODUCTS:
        return _rank_pairs(matrix, queries, matches, metric, progress, cancel, tau, threads=1, candidates=candidates)
    with one_blas_thread() as threads:
        return _rank_pairs(matrix, queries, matches, metric, progress, cancel, tau, threads, candidates)


def _rank_pairs(
    matrix: Float32,
    queries: Int32,
    matches: Int32,
    metric: Similarity,
    progress: Progress,
    cancel: CancelToken,
    tau: float,
    threads: int,
    candidates: int | None = None,
) -> RankCounts:
    """``rank_pairs`` on so many threads."""
    ranked = len(matrix) if candidates is None else candidates
    problem = prepare(matrix, queries, matches, metric, tau, threads, slack_of_float32(matrix.shape[1]))
    caller, local, all_counts = threading.get_ident(), threading.local(), []
    screening = Screening() if is_to_be_screened(problem) and coarse.pays() else None
    plan = None
    if pruning.may_pay(problem, ranked):
        plan = pruning.plan(problem, ranked, threads, has_codes=screening is not None)
    if screening:
        at_once, widest = QUERIES_PER_CODED_TILE, ITEMS_PER_CODED_TILE
    elif plan:
        at_once, widest = QUERIES_PER_SMALL_TILE, ITEMS_PER_SMALL_TILE
    else:
        at_once, widest = QUERIES_PER_TILE, ITEMS_PER_TILE
    at_once = max(1, min(at_once, len(problem.left)))
    if plan:
        problem, asked = plan.problem, list(planned_tiles(plan, at_once))
    else:
        asked = list(query_tiles(problem, at_once))

    def rank_tile(items: slice) -> None:
        if threading.get_ident() == caller:
            progress("ranking", items.start, ranked)
        if not hasattr(local, "memory"):  # the first tile of a thread is its largest
            local.memory = room_for_scores(at_once, items.stop - items.start)
            local.counts = np.zeros((2, len(problem.order)), dtype=np.int64)
            all_counts.append(local.counts)
        tile = Tile(problem, items, tau, local.memory, plan)
        for tile_of_queries in asked:
            cancel.check()
            if tile_of_queries.part:
                tile.count_by_part(tile_of_queries, tile_of_queries.part, *local.counts)
            elif screening and screening.pays:
                screening.count(tile, tile_of_queries, *local.counts)
            else:
                tile.count(tile_of_queries, *local.counts)

    most = min(widest, max(1, SCORES_AT_ONCE // (threads * at_once)))
    in_threads(shrinking(ranked, most, threads), rank_tile, threads)
    progress("ranking", ranked, ranked)
    greater, ties = np.sum(all_counts, axis=0)
    return problem.counts(greater, ties)


class RankPairs(Protocol):
    def __call__(
        self,
        matrix: Float32,
        queries: Int32,
        matches: Int32,
        metric: Similarity,
        progress: Progress,
        cancel: CancelToken,
        *,
        candidates: int | None = None,
    ) -> RankCounts:
        """``rank_pairs``, on the CPU or on a device."""
        ...


def rank_among(
    candidates: Bool | None,
    matrix: Float32,
    queries: Int32,
    matches: Int32,
    metric: Similarity,
    progress: Progress,
    cancel: CancelToken,
    rank: RankPairs = rank_pairs,
) -> RankCounts:
    """``rank_pairs`` among the ``candidates [n] bool``, with all matches among them; among all items if None.

    A copy of the rows of candidates and queries is made, unless the candidates are the first items, or all.
    """
    if candidates is None or candidates.all():
        return rank(matrix, queries, matches, metric, progress, cancel)
    first = np.flatnonzero(candidates)
    if first[-1] < len(first):  # the first ones: no copy
        return rank(matrix, queries, matches, metric, progress, cancel, candidates=len(first))
    order = np.concatenate([first, np.setdiff1d(queries, first)])
    row_of = np.zeros(len(matrix), dtype=np.int32)
    row_of[order] = np.arange(len(order), dtype=np.int32)
    return rank(matrix[order], row_of[queries], row_of[matches], metric, progress, cancel, candidates=len(first))


def without(
    counts: RankCounts, exclusions: Exclusions, matrix: Float32, queries: Int32, metric: Similarity, tau: float = TAU
) -> RankCounts:
    """The counts without the excluded items (*filtered* ranks)."""
    pairs = exclusions.pairs
    scores = similarity_of_pairs(matrix, queries[pairs].astype(np.int64), exclusions.items, metric)
    match = counts.similarity[pairs]
    is_greater = scores > match + tau
    is_tie = ~is_greater & (scores >= match - tau)
    m = len(counts.greater)
    return RankCounts(
        counts.similarity,
        counts.greater - np.bincount(pairs[is_greater], minlength=m),
        counts.ties - np.bincount(pairs[is_tie], minlength=m),
    )


def expected_reciprocal_rank(greater: Int64, ties: Int64) -> Float64:
    """``E[1/rank] = (H(g+t+1) - H(g)) / (t+1)`` under random tie order; H are harmonic numbers."""
    from scipy.special import digamma  # a tenth of a second of the app's start

    expected = np.asarray(1.0 / (np.asarray(greater) + 1.0))
    tied = np.asarray(ties) != 0  # few, as a rule
    g, t = np.asarray(greater)[tied], np.asarray(ties)[tied]
    expected[tied] = (digamma(g + t + 2.0) - digamma(g + 1.0)) / (t + 1.0)
    return expected


def expected_hit(greater: Int64 | Float64, ties: Int64 | Float64, k: int) -> Float64:
    """``E[hit@k] = clip((k - g) / (t + 1), 0, 1)`` under random tie order."""
    return np.asarray(np.clip((k - greater) / (ties + 1.0), 0.0, 1.0))
