"""BM25, the keyword search that retrieval with a model has to beat (Robertson and Zaragoza 2009; Lù 2024, bm25s).

Lucene's variant with bm25s's parameters, k1 = 1.5 and b = 0.75; words of two letters or more, in lower case, without
English stop words, not stemmed. A document that shares no word with the query scores 0.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from blindspot.datasets.kinds.retrieval import RetrievalDataset
from blindspot.encoders.base import EncoderIdentity, EncoderInfo, library_versions
from blindspot.encoders.rankings.base import Way, WithoutModels, info_of
from blindspot.types import CancelToken, Float32, Int64, Progress

INFO = info_of(
    "BM25 (keyword search)",
    "Robertson and Zaragoza 2009, The Probabilistic Relevance Framework; Lù 2024, BM25S",
    "https://github.com/xhluca/bm25s",
    "MIT",
)


@dataclass(frozen=True)
class KeywordRanking(WithoutModels):
    """Keyword search as a model, with the scores that every run of retrieval shows for comparison."""

    reference: str
    info: EncoderInfo = INFO

    @property
    def identity(self) -> EncoderIdentity:
        return EncoderIdentity(
            reference=self.reference,
            revision="1",
            pooling="BM25, Lucene's variant, k1 = 1.5, b = 0.75; English stop words left out, no stemming",
            libraries=library_versions("bm25s"),
        )

    def digest(self, texts_digest: str) -> str:
        return self.identity.embedding_digest(texts_digest)

    def scores(self, dataset: RetrievalDataset, queries: Int64, way: Way) -> Iterator[Float32]:
        """See ``Ranking``: every document is retrieved, also one with the score 0."""
        return scores(dataset, queries, way.progress, way.cancel)

    def facts(self, dataset: RetrievalDataset) -> Mapping[str, Any]:  # noqa: ARG002 - of other rankings
        return {}


def scores(dataset: RetrievalDataset, queries: Int64, progress: Progress, cancel: CancelToken) -> Iterator[Float32]:
    """Scores of all documents for each of these queries in turn, ``[1, n]`` each."""
    bm25s = _library()
    progress("keyword search", 0, len(queries))
    documents = terms(dataset.document_texts)
    index = None
    if any(documents):
        index = bm25s.BM25()
        index.index(documents, show_progress=False)
    for i, words in enumerate(terms([dataset.query_texts[q] for q in queries.tolist()])):
        cancel.check()
        progress("keyword search", i, len(queries))
        token_ids = index.get_tokens_ids(words) if index else []
        row = index.get_scores_from_ids(token_ids) if index and token_ids else np.zeros(len(documents))
        yield row.astype(np.float32)[np.newaxis]


def _library() -> Any:
    """bm25s, without the lines that it logs for its developers, since pytest shows logged lines beside a failure."""
    import bm25s

    logging.getLogger("bm25s").setLevel(logging.WARNING)
    return bm25s


def terms(texts: Sequence[str]) -> list[list[str]]:
    """Words of each text as the search knows them, in their order, repetitions included."""
    tokenize = _library().tokenization.tokenize
    tokens: list[list[str]] = tokenize(list(texts), stopwords="en", return_ids=False, show_progress=False)
    return tokens
