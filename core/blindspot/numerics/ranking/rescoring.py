"""Rankings in two stages: a search with one kind of vectors; its best candidates are compared again with finer vectors.

The list of a query has the ``depth`` most similar candidates by the first kind, and those that tie with the last one;
if ties have an order, exactly ``depth``. Within the list the finer similarity decides, and the others follow in the
order of the search. Both similarities are float64, for all candidates: what a rescored index would rank, not how fast.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from blindspot.errors import BlindspotError
from blindspot.numerics.ranking.judged import DECIMALS, at_least_kth
from blindspot.numerics.ranking.passages import similarities
from blindspot.numerics.ranking.problem import TAU, RankCounts
from blindspot.numerics.ranking.ranks import Exclusions
from blindspot.numerics.similarity import Similarity, row_norms
from blindspot.types import Bool, CancelToken, Float32, Float64, Int32, Int64, Progress, no_progress

# Taken from the similarity of a candidate that is not compared again. Similarities are from -1 to 1, so scores sort as
# the ranking does, and no candidate of the list ties with one that is not.
BEHIND = 3.0


@dataclass(frozen=True, eq=False)
class Twice:
    """Vectors of a diagnostic's texts for the search, ``[n, d]``, and finer ones of the same texts, ``[n, d']``; both
    may be by role (``Diagnostic.compute``). ``depth`` candidates of a query are compared again."""

    searched: Float32
    finer: Float32
    depth: int


@dataclass(frozen=True, eq=False)
class Side:
    """Vectors of one kind: passages of the n candidates, ``starts[i]:starts[i + 1]`` of candidate i, and queries."""

    passages: Float32
    starts: Int32 | Int64
    queries: Float32

    @classmethod
    def of(cls, candidates: Float32, queries: Float32) -> Side:
        """Vectors of candidates with one passage each."""
        return cls(candidates, np.arange(len(candidates) + 1), queries)

    def blocks(self, metric: Similarity, cancel: CancelToken, progress: Progress = no_progress) -> Iterator[Float64]:
        """Similarities of the queries to all candidates, ``[some, n]``; raises ``BlindspotError`` for NaN."""
        broken = sum(int(np.count_nonzero(~np.isfinite(row_norms(rows)))) for rows in (self.passages, self.queries))
        if broken:
            raise BlindspotError(
                f"{broken} embeddings have NaN or infinite values",
                expected="finite numbers",
                remedy="use another encoder or transform",
            )
        return similarities(self.passages, self.starts, self.queries, metric, cancel, progress)


def listed(similarity: Float64, depth: int, order: Int64 | None = None) -> Bool:
    """Which candidates are compared again, ``[n]``, by their similarity in the search, ``[n]``; see ``Rescoring``."""
    out = np.zeros(len(similarity), dtype=np.bool_)
    best = at_least_kth(similarity, depth)
    if order is not None:
        best = best[np.lexsort((order[best], -similarity[best]))[:depth]]
    elif len(best):
        return np.asarray(similarity >= similarity[best].min() - TAU)
    out[best] = True
    return out


def rescored(similarity: Float64, finer: Float64, depth: int) -> Float64:
    """Scores of one query's candidates as ``Rescoring`` has them, ``[n]``; ``-inf`` for what is not a candidate."""
    return np.where(listed(similarity, depth), finer, similarity - BEHIND)


def without_shift(score: float) -> float:
    """The similarity behind a score."""
    return score if score > -BEHIND / 2 else score + BEHIND


@dataclass(eq=False)
class Rescoring:
    """Scores of all candidates of the queries that sort as the ranking in two stages, in blocks ``[some, n] float64``:
    the finer similarity in the list, the first one less ``BEHIND`` elsewhere.

    Attributes:
        own: ``[q]``, the candidate that is the query itself: its score is ``-inf``; -1 for none.
        order: ``[n]``, distinct places at a tie, and similarities are rounded; None: ties come along.
        listed: once read, how many candidates of each query were compared again.
    """

    searched: Side
    finer: Side
    depth: int
    metric: Similarity
    own: Int64 | None = None
    order: Int64 | None = None
    listed: list[int] = field(default_factory=list)

    def blocks(self, cancel: CancelToken, progress: Progress = no_progress) -> Iterator[Float64]:
        """Raises ``BlindspotError`` for vectors that are not finite, and ``Cancelled``."""
        self.listed.clear()
        both = zip(
            self.searched.blocks(self.metric, cancel, progress), self.finer.blocks(self.metric, cancel), strict=True
        )
        at = 0
        for block, finer in both:
            first, second = (block, finer) if self.order is None else (np.round(x, DECIMALS) for x in (block, finer))
            if self.own is not None:
                rows = np.arange(len(first))
                own_rows = self.own[at : at + len(first)]
                first[rows[own_rows >= 0], own_rows[own_rows >= 0]] = -np.inf
            at += len(first)
            inside = np.array([listed(line, self.depth, self.order) for line in first], dtype=np.bool_)
            self.listed += inside.sum(axis=1).tolist()
            yield np.where(inside, second, first - BEHIND)


@dataclass(frozen=True, eq=False)
class PairRanks:
    """Raw and filtered counts of pairs, and how many candidates were compared again, mean over the queries."""

    raw: RankCounts
    filtered: RankCounts
    listed: float


def rank_pairs_twice(
    rescoring: Rescoring,
    query: Int64,
    match: Int64,
    exclusions: Exclusions,
    self_similarity: Float64,
    cancel: CancelToken,
    progress: Progress = no_progress,
) -> PairRanks:
    """Count, for every pair, the candidates above its match in the ranking in two stages, and the ties.

    Filtered counts leave out the excluded candidates from the same ranking. A match that is the query itself counts
    as compared again.

    Args:
        query: ``[m]``, the number of each pair's query among those of ``rescoring``.
        match: ``[m]``, the match's number among the candidates.
        exclusions: by numbers of pairs and candidates.
        self_similarity: ``[m]``, the finer similarity of query and match.
    """
    m = len(query)
    similarity = np.empty(m)
    greater, ties = np.zeros((2, m), dtype=np.int64), np.zeros((2, m), dtype=np.int64)
    pairs = np.argsort(query, kind="stable")
    starts = np.searchsorted(query[pairs], np.arange(len(rescoring.searched.queries) + 1))
    out = np.argsort(exclusions.pairs, kind="stable")
    left_out = exclusions.items[out]
    bounds = np.searchsorted(exclusions.pairs[out], np.arange(m + 1))
    at = 0
    for block in rescoring.blocks(cancel, progress):
        for line in block:
            for pair in pairs[starts[at] : starts[at + 1]].tolist():
                scores_of_matches = line[match[pair]]
                is_self = scores_of_matches == -np.inf
                scores_of_matches = self_similarity[pair] if is_self else scores_of_matches
                similarity[pair] = without_shift(scores_of_matches)
                for way, some in enumerate((line, line[left_out[bounds[pair] : bounds[pair + 1]]])):
                    above = int(np.count_nonzero(some > scores_of_matches + TAU))
                    greater[way, pair] = above
                    ties[way, pair] = (
                        int(np.count_nonzero(some >= scores_of_matches - TAU)) - above - (way == 0 and not is_self)
                    )
            at += 1
    raw = RankCounts(similarity, greater[0], ties[0])
    filtered = RankCounts(similarity, greater[0] - greater[1], ties[0] - ties[1])
    return PairRanks(raw, filtered, float(np.mean(rescoring.listed)))
