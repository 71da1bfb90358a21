"""Contract of rankings: models that rank documents for queries without a vector for each text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from blindspot.datasets.kinds.retrieval import RetrievalDataset
from blindspot.encoders.base import EncoderIdentity, EncoderInfo
from blindspot.encoders.cache import Embedded
from blindspot.numerics.similarity import Similarity
from blindspot.types import CancelToken, Float32, Float64, Int64, Progress, no_progress


@dataclass(frozen=True)
class Way:
    """How documents are ranked where there is a choice.

    Attributes:
        metric: similarity for rankings by vectors.
        in_order: whether ties are in trec_eval's order, the later id first.
    """

    metric: Similarity = Similarity.COS
    in_order: bool = False
    progress: Progress = no_progress
    cancel: CancelToken = field(default_factory=CancelToken)


@runtime_checkable
class Ranking(Protocol):
    """Ranks a dataset's documents for its queries."""

    @property
    def identity(self) -> EncoderIdentity:
        """``pooling`` says how documents are ranked."""
        ...

    @property
    def info(self) -> EncoderInfo: ...

    def digest(self, texts_digest: str) -> str:
        """Digest of everything besides the dataset that decides the ranking of a dataset with these texts."""
        ...

    def encode(
        self, dataset: RetrievalDataset, progress: Progress, cancel: CancelToken
    ) -> Sequence[tuple[EncoderInfo, Embedded]]:
        """Encode the dataset with every model that the ranking needs; ``scores`` does so, too, if vectors are missing.

        Raises:
            BlindspotError: a model cannot be used.
        """
        ...

    def scores(self, dataset: RetrievalDataset, queries: Int64, way: Way) -> Iterator[Float64] | Iterator[Float32]:
        """Scores of all documents for queries, given by their numbers, as blocks ``[some, n]``; the higher the better,
        ``-inf`` for a document that is not retrieved.

        Raises:
            BlindspotError: a file does not fit the dataset, or a model cannot be used.
        """
        ...

    def facts(self, dataset: RetrievalDataset) -> Mapping[str, Any]:
        """Further facts for the manifest; ``ignored`` counts queries that the dataset does not have."""
        ...


class WithoutModels:
    """A ranking that needs no embeddings."""

    def encode(
        self, _dataset: RetrievalDataset, _progress: Progress, _cancel: CancelToken
    ) -> Sequence[tuple[EncoderInfo, Embedded]]:
        return ()


def info_of(title: str, citation: str, url: str, licence: str = "") -> EncoderInfo:
    """Facts of a ranking, which has no dimension and no weights."""
    return EncoderInfo(title, 0, 0, 0, licence, citation, url)
