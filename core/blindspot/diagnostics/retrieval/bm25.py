"""Keyword search beside every run: the scores of BM25 (``blindspot.encoders.rankings.bm25``)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from blindspot.datasets.kinds.retrieval import RetrievalDataset
from blindspot.diagnostics.retrieval.own_documents import Asked
from blindspot.encoders.rankings.bm25 import scores
from blindspot.numerics.ranking.graded import score
from blindspot.numerics.ranking.judged import Top, condensed, order_of_ids, rank_by_scores
from blindspot.types import CancelToken, Float64, Int64, Progress


@dataclass(frozen=True, eq=False)
class KeywordSearch:
    """BM25's scores of every evaluated query by name, ``[q]`` each, also for condensed lists, and its top documents."""

    scores: Mapping[str, Float64]
    condensed: Mapping[str, Float64]
    top: Top


_LAST: dict[tuple[str, bool, int], KeywordSearch] = {}  # a sweep asks the same of many models in turn


def search(
    dataset: RetrievalDataset,
    evaluated: Int64,
    asked: Asked,
    in_order: bool,
    progress: Progress,
    cancel: CancelToken,
) -> KeywordSearch:
    """Rank all documents for the queries with judgments; the last result is kept in memory.

    Args:
        evaluated: numbers of these queries.
        asked: the queries' judgments, and their own documents to leave out.
        in_order: ties are in trec_eval's order; otherwise scores are expected over all orders.
    """
    key = dataset.content_digest, in_order, asked.left_out
    if key not in _LAST:
        order = order_of_ids(dataset.document_ids) if in_order else None
        places, top = rank_by_scores(scores(dataset, evaluated, progress, cancel), asked.judged, order)
        places, top = asked.without_own(places, top, in_order, 0.0)
        judged = asked.plain
        # Documents tie only if their scores are equal: then the number of documents above them is equal, too.
        among_judged = condensed(judged, -places.greater.astype(np.float64))
        searched = KeywordSearch(
            score(judged, places, dataset.grades), score(judged, among_judged, dataset.grades), top
        )
        _LAST.clear()
        _LAST[key] = searched
    return _LAST[key]
