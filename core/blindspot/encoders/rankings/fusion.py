"""Reciprocal-rank fusion of two rankings (Cormack, Clarke and Büttcher 2009).

The score of a document is the sum of 1/(60 + its rank) over the rankings that retrieve it. Each ranking retrieves its
first 100 documents, as in search engines that fuse keywords and vectors: a document below adds at most 1/161 to a
score, and one that neither ranking has among its first 100 is not retrieved. Keyword search only retrieves documents
that share a word with the query, since the order of the others means nothing.

Tied documents have no order: each gets the mean of their ranks, and all that are tied at the 100th rank are retrieved.
In trec_eval's order, no two are tied.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from blindspot.datasets.kinds.retrieval import RetrievalDataset
from blindspot.encoders.base import EncoderIdentity, EncoderInfo
from blindspot.encoders.cache import Embedded
from blindspot.encoders.rankings.base import Ranking, Way, info_of
from blindspot.encoders.rankings.bm25 import KeywordRanking
from blindspot.numerics.ranking.judged import at_least_kth, order_of_ids
from blindspot.types import CancelToken, Float32, Float64, Int64, Progress, digest_of_strings

K = 60
DEPTH = 100


@dataclass(frozen=True, eq=False)
class Fusion:
    """Two rankings as one.

    Attributes:
        names: of both models, as in manifests.
    """

    reference: str
    parts: tuple[Ranking, Ranking]
    names: tuple[str, str]

    @property
    def identity(self) -> EncoderIdentity:
        """The revision covers both models, so that it changes with the weights or file of either."""
        revisions = [part.identity.revision for part in self.parts]
        return EncoderIdentity(
            reference=self.reference,
            revision=digest_of_strings(revisions),
            pooling=f"reciprocal-rank fusion, k = {K}, of the first {DEPTH} of {' and '.join(self.names)}",
            libraries=tuple(sorted({library for part in self.parts for library in part.identity.libraries})),
        )

    @property
    def info(self) -> EncoderInfo:
        return info_of(
            f"Reciprocal-rank fusion of {' and '.join(self.names)}",
            "Cormack, Clarke and Büttcher 2009, Reciprocal Rank Fusion outperforms Condorcet and individual Rank "
            "Learning Methods",
            "https://doi.org/10.1145/1571941.1572114",
        )

    def digest(self, texts_digest: str) -> str:
        of_parts = [part.digest(texts_digest) for part in self.parts]
        return digest_of_strings(["fuse", str(K), str(DEPTH), *of_parts])[:32]

    def encode(
        self, dataset: RetrievalDataset, progress: Progress, cancel: CancelToken
    ) -> Sequence[tuple[EncoderInfo, Embedded]]:
        return [ranking for part in self.parts for ranking in part.encode(dataset, progress, cancel)]

    def scores(self, dataset: RetrievalDataset, queries: Int64, way: Way) -> Iterator[Float64]:
        """See ``Ranking``."""
        order = order_of_ids(dataset.document_ids) if way.in_order else None
        lines = [_lines(_retrieved(part, dataset, queries, way)) for part in self.parts]
        for both in zip(*lines, strict=True):
            fused = np.full((1, len(dataset.documents)), -np.inf)
            for line in both:
                documents, ranks = first_ranks(line, order)
                fused[0, documents] = np.where(fused[0, documents] == -np.inf, 0.0, fused[0, documents]) + 1.0 / (
                    K + ranks
                )
            yield fused

    def facts(self, dataset: RetrievalDataset) -> Mapping[str, Any]:
        of_parts = [part.facts(dataset) for part in self.parts]
        parts = [asdict(part.identity) | dict(facts) for part, facts in zip(self.parts, of_parts, strict=True)]
        ignored = sum(int(facts.get("ignored", 0)) for facts in of_parts)
        return {"ignored": ignored, "parts": parts}


def _lines(blocks: Iterable[Float64 | Float32]) -> Iterator[Float64 | Float32]:
    return (line for block in blocks for line in block)


def _retrieved(part: Ranking, dataset: RetrievalDataset, queries: Int64, way: Way) -> Iterator[Float64 | Float32]:
    """A ranking's scores; keyword search does not retrieve documents with a score of 0."""
    for block in part.scores(dataset, queries, way):
        yield np.where(block > 0, block, -np.inf) if isinstance(part, KeywordRanking) else block


def first_ranks(scores: Float64 | Float32, order: Int64 | None, depth: int = DEPTH) -> tuple[Int64, Float64]:
    """Numbers of the documents with fewer than ``depth`` documents above them, and their ranks from 1.

    Args:
        scores: ``[n]``; ``-inf`` for documents that are not retrieved.
        order: ``[n]``, distinct places at a tie; if None, tied documents get the mean of their ranks.
    """
    from scipy.stats import rankdata

    documents = at_least_kth(scores, depth)
    if order is None:
        return documents, np.asarray(rankdata(-scores[documents].astype(np.float64)), dtype=np.float64)
    first = documents[np.lexsort((order[documents], -scores[documents].astype(np.float64)))[:depth]]
    return first, np.arange(1.0, len(first) + 1)
