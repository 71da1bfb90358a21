"""BM25, the keyword search that retrieval with a model has to beat (Robertson and Zaragoza 2009; Lù 2024, bm25s).

Lucene's variant with bm25s's parameters, k1 = 1.5 and b = 0.75; words of two letters or more, in lower case, without
English stop words, not stemmed. A document that shares no word with the query scores 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from core.datasets.kinds.retrieval import RetrievalDataset
from core.numerics.ranking.graded import score
from core.numerics.ranking.judged import Judged, Top, condensed, order_of_ids, rank_by_scores
from core.types import CancelToken, Float32, Float64, Int64, Progress


@dataclass(frozen=True, eq=False)
class KeywordSearch:
    """BM25's scores of every evaluated query, ``[q]`` each by name, also of condensed lists, and its top documents."""

    scores: Mapping[str, Float64]
    condensed: Mapping[str, Float64]
    top: Top


_LAST: dict[tuple[str, bool], KeywordSearch] = {}  # a sweep asks the same of many models in turn


def search(
    dataset: RetrievalDataset, evaluated: Int64, in_order: bool, progress: Progress, cancel: CancelToken
) -> KeywordSearch:
    """Rank all documents for the queries with judgments; the last result is kept in memory.

    Args:
        evaluated: numbers of these queries.
        in_order: ties are in trec_eval's order; otherwise scores are expected over all orders.
    """
    key = dataset.content_digest, in_order
    if key not in _LAST:
        order = order_of_ids(dataset.document_ids) if in_order else None
        judged = Judged(np.append(dataset.offsets[evaluated], dataset.offsets[-1]), dataset.judged)
        places, top = rank_by_scores(scores(dataset, evaluated, progress, cancel), judged, order)
        # Documents tie only if their scores are equal: then the number of documents above them is equal, too.
        among_judged = condensed(judged, -places.greater.astype(np.float64))
        found = KeywordSearch(score(judged, places, dataset.grades), score(judged, among_judged, dataset.grades), top)
        _LAST.clear()
        _LAST[key] = found
    return _LAST[key]


def scores(dataset: RetrievalDataset, queries: Int64, progress: Progress, cancel: CancelToken) -> Iterator[Float32]:
    """Scores of all documents for these queries in turn, ``[1, n]`` each."""
    import bm25s

    progress("keyword search", 0, len(queries))
    documents = terms(dataset.document_texts)
    index = None
    if any(documents):
        index = bm25s.BM25()
        index.index(documents, show_progress=False)
    for i, words in enumerate(terms([dataset.query_texts[q] for q in queries.tolist()])):
        cancel.check()
        progress("keyword search", i, len(queries))
        known = index.get_tokens_ids(words) if index else []
        found = index.get_scores_from_ids(known) if index and known else np.zeros(len(documents))
        yield found.astype(np.float32)[np.newaxis]


def terms(texts: Sequence[str]) -> list[list[str]]:
    """Words of each text as the search knows them, in their order, repetitions included."""
    from bm25s.tokenization import tokenize

    tokens: list[list[str]] = tokenize(list(texts), stopwords="en", return_ids=False, show_progress=False)
    return tokens
