"""Scores of rankings with graded relevance, with trec_eval's meaning, in expectation over the order of ties.

A document of grade 1 or more is relevant. The gain of a document in nDCG is its grade, and the discount at rank i is
``1 / log2(i + 1)`` (Järvelin and Kekäläinen 2002; trec_eval's ``m_ndcg_cut.c``); the best possible ranking has all
relevant documents of the query at the top. Where documents are tied, every order of them is equally likely, and each
score is its mean over all orders (McSherry and Najork 2008, *Computing information retrieval performance measures
efficiently in the presence of tied scores*). Without ties the scores are those of trec_eval.

A query without a relevant document scores 0, as in trec_eval. A relevant document that is not retrieved
(``judged.NOT_RETRIEVED``) adds nothing, wherever scores are cut off.

Arrays in, arrays out, float64.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from blindspot.numerics.ranking.judged import NOT_RETRIEVED, Judged, Places
from blindspot.types import Float64, Int32, Int64

HITS_AT = (1, 3, 5, 10)
NAMES = (
    "ndcg@10",
    "ndcg@100",
    "recall@10",
    "recall@100",
    "mrr",
    "mrr@10",
    "map",
    "p@10",
    *(f"hits@{k}" for k in HITS_AT),
)


@dataclass(frozen=True, eq=False)
class Ranked:
    """Retrieved relevant documents of q queries in groups: documents of one group are tied, those of different groups
    are not.

    Similarities are tied within a tolerance, so that a document can be tied with two that are not tied with each other;
    then all three are one group.

    Attributes:
        queries: number of queries.
        relevant: ``[q]``, relevant documents of each.
        ideal: gains of each query's relevant documents, best first, as (query, place from 0, gain), ``[r]`` each.
        query: ``[g]``, ascending, of each group.
        above: ``[g]``, documents above it.
        size: ``[g]``, documents in it, relevant or not.
        found: ``[g]``, relevant ones among them.
        gain: ``[g]``, sum of their gains.
        before: ``[g]``, relevant documents in the query's earlier groups.

    """

    queries: int
    relevant: Int64
    ideal: tuple[Int64, Int64, Float64]
    query: Int64
    above: Int64
    size: Int64
    found: Int64
    gain: Float64
    before: Int64

    @classmethod
    def of(cls, judged: Judged, places: Places, grades: Int32 | Int64) -> Ranked:
        """From ``grades [j]`` and places of the judged documents."""
        queries = len(judged.starts) - 1
        grade = np.asarray(grades, dtype=np.float64)
        kept = np.flatnonzero(grade >= 1)
        query, grade = judged.queries[kept], grade[kept]
        relevant = np.bincount(query, minlength=queries)
        by_gain = np.lexsort((-grade, query))
        rank = np.arange(len(kept)) - np.repeat(np.cumsum(relevant) - relevant, relevant)
        ideal = (query[by_gain], rank, grade[by_gain])
        retrieved = places.greater[kept] < NOT_RETRIEVED
        kept, query, grade = kept[retrieved], query[retrieved], grade[retrieved]
        in_ranking = np.bincount(query, minlength=queries)
        start, end = places.greater[kept], (places.greater + places.ties + 1)[kept]
        order = np.lexsort((start, query))
        query, start, end, grade = query[order], start[order], end[order], grade[order]
        # Ranges of places that overlap are one group. Ranges of different queries are moved apart first.
        shift = query * (int(end.max(initial=0)) + 1)
        reached = np.maximum.accumulate(end + shift)
        opens = np.ones(len(query), dtype=np.bool_)
        opens[1:] = start[1:] + shift[1:] >= reached[:-1]
        firsts = np.flatnonzero(opens)
        lasts = np.append(firsts[1:], len(query))[: len(firsts)] - 1
        lengths = lasts - firsts + 1
        gain = np.add.reduceat(grade, firsts) if len(firsts) else np.empty(0)
        above = start[firsts]
        so_far = np.cumsum(lengths) - lengths
        query_of_group = query[firsts]
        before = so_far - np.concatenate([[0], np.cumsum(in_ranking)])[query_of_group]
        return cls(
            queries,
            relevant,
            ideal,
            query_of_group,
            above,
            (reached - shift)[lasts] - above,
            lengths,
            gain,
            before.astype(np.int64),
        )

    def scores(self) -> Mapping[str, Float64]:
        """Every score of every query, ``[q]`` each, by the ``NAMES``."""
        computed = (
            self.ndcg(10),
            self.ndcg(100),
            self.recall(10),
            self.recall(100),
            self.reciprocal_rank(),
            self.reciprocal_rank(10),
            self.average_precision(),
            self.precision(10),
            *(self.hit(k) for k in HITS_AT),
        )
        return dict(zip(NAMES, computed, strict=True))

    def ndcg(self, k: int) -> Float64:
        """nDCG at k with linear gains, ``[q]``."""
        discounts = np.concatenate([[0.0], np.cumsum(1 / np.log2(np.arange(k) + 2.0))])
        until = discounts[np.minimum(self.above + self.size, k)] - discounts[np.minimum(self.above, k)]
        gained = self._by_query(self.gain * until / self.size)
        query, rank, gain = self.ideal
        counts = rank < k
        best = self._sums(query[counts], gain[counts] / np.log2(rank[counts] + 2.0))
        return self._divided(gained, best)

    def recall(self, k: int) -> Float64:
        """Share of the relevant documents in the top k, ``[q]``."""
        return self._divided(self._in_top(k), self.relevant)

    def precision(self, k: int) -> Float64:
        """Relevant documents in the top k, divided by k, ``[q]``."""
        return self._in_top(k) / k

    def _in_top(self, k: int) -> Float64:
        """Expected number of relevant documents in the top k, ``[q]``."""
        return self._by_query(self.found * np.clip((k - self.above) / self.size, 0.0, 1.0))

    def average_precision(self) -> Float64:
        """Mean over the relevant documents of the precision at their ranks, ``[q]``.

        Place i of a group of size s with f relevant documents is relevant with probability f/s; then the documents up
        to it have the ``before`` of earlier groups, itself, and (i - 1)(f - 1)/(s - 1) of the group's others.
        """
        from scipy.special import digamma

        above, size = self.above.astype(np.float64), self.size.astype(np.float64)
        inverse = digamma(above + size + 1) - digamma(above + 1)  # sum of 1/(above + i)
        inverse = np.where(self.size == 1, 1 / (above + 1), inverse)
        others = size - (above + 1) * inverse  # sum of (i - 1)/(above + i)
        share = np.divide(self.found - 1.0, size - 1, out=np.zeros(len(size)), where=self.size > 1)
        summed = self.found / size * ((self.before + 1) * inverse + share * others)
        return self._divided(self._by_query(summed), self.relevant)

    def hit(self, k: int) -> Float64:
        """Probability of a relevant document in the top k, ``[q]``."""
        out = np.zeros(self.queries)
        above, size, matches = self.above[self._first], self.size[self._first], self.found[self._first]
        drawn = np.clip(k - above, 0, size)  # places of the group in the top k
        missed = np.ones(len(drawn))  # none of them relevant
        for i in range(int(drawn.max(initial=0))):
            left = np.maximum(size - matches - i, 0) / np.maximum(size - i, 1)
            missed = np.where(i < drawn, missed * left, missed)
        out[self.query[self._first]] = 1 - missed
        return out

    def reciprocal_rank(self, k: int | None = None) -> Float64:
        """1 divided by the rank of the first relevant document, 0 if it is beyond k; ``[q]``."""
        out = np.zeros(self.queries)
        for at in self._first.tolist():
            above, size, matches = int(self.above[at]), int(self.size[at]), int(self.found[at])
            most = size - matches + 1 if k is None else min(size - matches + 1, k - above)
            if most < 1:
                continue
            # The first relevant one is at place i with probability C(size - i, found - 1) / C(size, found).
            i = np.arange(1.0, most)
            ratios = (size - i - matches + 1) / (size - i)
            probability = matches / size * np.concatenate([[1.0], np.cumprod(ratios)])
            out[self.query[at]] = float((probability / (above + np.arange(1.0, most + 1))).sum())
        return out

    @cached_property
    def _first(self) -> Int64:
        """The first group of each query that has one."""
        return np.unique(self.query, return_index=True)[1]

    def _by_query(self, values: Float64 | Int64) -> Float64:
        return self._sums(self.query, values)

    def _sums(self, query: Int64, values: Float64 | Int64) -> Float64:
        return np.bincount(query, weights=values, minlength=self.queries).astype(np.float64)

    def _divided(self, values: Float64, by: Float64 | Int64) -> Float64:
        return np.divide(values, by, out=np.zeros(self.queries), where=np.asarray(by) > 0)


def score(judged: Judged, places: Places, grades: Int32 | Int64) -> Mapping[str, Float64]:
    """Every score of every query, ``[q]`` each, by the ``NAMES``; ``grades [j]`` are of the judged documents."""
    return Ranked.of(judged, places, grades).scores()
