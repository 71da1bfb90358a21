"""Ranks with the arithmetic of the published EvalRank toolkit, rounding included: the toolkit protocol.

The toolkit computes the match's score by one dot product and the scores of all items by a matrix-vector product. The
two round differently, so the match often scores strictly above itself and loses a rank. Published scores compare only
with the same arithmetic: one product per query, in the precision of the vectors. The rounding depends on the processor
and its libraries.
"""

from __future__ import annotations

import numpy as np

from blindspot.numerics.ranking.problem import RankCounts
from blindspot.numerics.ranking.ranks import Exclusions
from blindspot.numerics.similarity import Similarity
from blindspot.types import Bool, CancelToken, Float32, Float64, Int32, Progress

ROWS_AT_ONCE = 2_048  # of differences, for l2: they stay in the processor's cache


def rank_pairs_as_toolkit(
    matrix: Float32 | Float64,
    queries: Int32,
    matches: Int32,
    metric: Similarity,
    exclusions: Exclusions,
    progress: Progress,
    cancel: CancelToken,
    candidates: Bool | None = None,
) -> tuple[RankCounts, RankCounts, Bool]:
    """Rank = number of items, the query included, that score strictly above the match; 0 becomes 1.

    Args:
        matrix: ``[n, d]``, unit rows for cosine; its precision is that of all products.
        exclusions: of candidates.
        candidates: ``[n] bool``, the items that count, all matches among them; all if None. The query always counts.

    Returns:
        Raw and filtered counts, which know no ties, and whether a pair's match counted above itself, ``[m] bool``.

    Raises:
        Cancelled: between two queries.
    """
    m = len(queries)
    similarity = np.empty(m)
    greater, filtered = np.empty(m, dtype=np.int64), np.empty(m, dtype=np.int64)
    above_itself = np.zeros(m, dtype=np.bool_)
    first, last = (np.searchsorted(exclusions.pairs, np.arange(m), side=side) for side in ("left", "right"))
    scores: Float32 | Float64 = np.empty(0)
    scores_of = -1
    for done, pair in enumerate(np.argsort(queries, kind="stable")):
        if done % 64 == 0:
            cancel.check()
            progress("ranking as the toolkit does", done, m)
        query, match = int(queries[pair]), int(matches[pair])
        if query != scores_of:
            scores, scores_of = _scores(matrix, query, metric), query
        score = _score_of_one(matrix[query], matrix[match], metric)
        above = int(np.count_nonzero(scores > score if candidates is None else scores[candidates] > score))
        if candidates is not None and not candidates[query]:
            above += int(scores[query] > score)
        left_out = int(np.count_nonzero(scores[exclusions.items[first[pair] : last[pair]]] > score))
        similarity[pair] = score
        greater[pair], filtered[pair] = max(above, 1) - 1, max(above - left_out, 1) - 1
        above_itself[pair] = match != query and scores[match] > score
    progress("ranking as the toolkit does", m, m)
    no_ties = np.zeros(m, dtype=np.int64)
    return RankCounts(similarity, greater, no_ties), RankCounts(similarity, filtered, no_ties), above_itself


def _score_of_one(x: Float32 | Float64, y: Float32 | Float64, metric: Similarity) -> np.floating:
    if metric is Similarity.COS:
        return np.dot(x, y)  # type: ignore[no-any-return]
    return 1 / (np.linalg.norm(x - y) + 1)


def _scores(matrix: Float32 | Float64, query: int, metric: Similarity) -> Float32 | Float64:
    x = matrix[query]
    if metric is Similarity.COS:
        return np.asarray(np.dot(matrix, x))
    starts = range(0, len(matrix), ROWS_AT_ONCE)
    return np.concatenate([1 / (np.linalg.norm(matrix[i : i + ROWS_AT_ONCE] - x, axis=1) + 1) for i in starts])
