"""Rankings that a run computes on: those of a model's vectors, as part of a fusion, and those without vectors."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from blindspot.datasets.kinds.retrieval import RetrievalDataset
from blindspot.encoders.base import Encoder, EncoderIdentity, EncoderInfo
from blindspot.encoders.cache import Embedded, EmbeddingCache
from blindspot.encoders.catalog import encoder_of, resolve_ranking
from blindspot.encoders.rankings.base import Ranking, Way
from blindspot.encoders.rankings.fusion import Fusion
from blindspot.encoders.roles import by_role
from blindspot.encoders.transformer.passages import in_passages
from blindspot.errors import InputError
from blindspot.numerics.ranking import passages
from blindspot.numerics.ranking.judged import DECIMALS, rounded_similarities
from blindspot.references import FusionRef, ModelRef
from blindspot.settings import Settings
from blindspot.transforms.chain import TransformChain
from blindspot.transforms.trained_flows import TrainedFlows
from blindspot.types import CancelToken, Float64, Int64, Progress, digest_of_strings
from blindspot.variants import Variant


def opened(model: ModelRef, settings: Settings) -> Encoder | Ranking:
    """The encoder of a model with vectors, the ranking of one without; raises ``InputError``."""
    return encoder_of(model, settings) if model.has_vectors else ranking_of(model, settings)


def ranking_of(model: ModelRef, settings: Settings, queries: Collection[str] = ()) -> Ranking:
    """The ranking of a model without vectors; nothing is encoded or read yet.

    Args:
        queries: texts of the dataset that are queries, for models that declare a prompt for these.

    Raises:
        InputError: as ``encoder_of`` and ``resolve_ranking``.
    """
    if not isinstance(model, FusionRef):
        return resolve_ranking(model, settings)
    variants = [Variant(part, chain) for part, chain in model.parts]
    first, second = (_part(variant, settings, queries) for variant in variants)
    names = [str(variant) if variant.chain.steps else variant.encoder for variant in variants]
    return Fusion(model, (first, second), (names[0], names[1]))


def _part(variant: Variant, settings: Settings, queries: Collection[str]) -> Ranking:
    if not variant.encoder.has_vectors:
        return resolve_ranking(variant.encoder, settings)
    encoder, chain = encoder_of(variant.encoder, settings), variant.chain
    if chain.rescored:
        what, instead = f"a fusion compares once, and '{chain}' does twice", f"the transform {chain.searched}"
        raise InputError(what, expected=instead)
    return VectorRanking(by_role(encoder, queries), chain, settings, Cuts(variant.encoder, encoder))


@dataclass(frozen=True, eq=False)
class Cuts:
    """How the model of a reference reads documents: whole, or in passages."""

    reference: str
    encoder: Encoder

    def read(self, dataset: RetrievalDataset) -> RetrievalDataset:
        cut = in_passages(dataset, self.reference, self.encoder)
        return cut if isinstance(cut, RetrievalDataset) else dataset


@dataclass(frozen=True, eq=False)
class VectorRanking:
    """Documents by the similarity of their transformed vectors to the query's, to six decimals.

    The transform is fitted on the dataset's texts that have a vector; a document or query without one is not ranked.
    """

    encoder: Encoder
    chain: TransformChain
    settings: Settings
    cuts: Cuts

    @property
    def identity(self) -> EncoderIdentity:
        return self.encoder.identity

    @property
    def info(self) -> EncoderInfo:
        return self.encoder.info

    def digest(self, texts_digest: str) -> str:
        return digest_of_strings([self.identity.embedding_digest(texts_digest), str(self.chain)])

    def encode(
        self, dataset: RetrievalDataset, progress: Progress, cancel: CancelToken
    ) -> Sequence[tuple[EncoderInfo, Embedded]]:
        return [(self.info, self._encoded(self.cuts.read(dataset), progress, cancel))]

    def _encoded(self, dataset: RetrievalDataset, progress: Progress, cancel: CancelToken) -> Embedded:
        cache = EmbeddingCache(self.settings.embeddings)
        return cache.encode(self.encoder, dataset.encoded, dataset.encoded_digest, progress, cancel)

    def scores(self, dataset: RetrievalDataset, queries: Int64, way: Way) -> Iterator[Float64]:
        dataset = self.cuts.read(dataset)
        embedded = self._encoded(dataset, way.progress, way.cancel)
        covered = embedded.covered
        some = embedded.matrix if covered.all() else embedded.matrix[covered]
        flows = TrainedFlows(self.settings.flows, way.progress, way.cancel)
        fitted = self.chain.fit(some, flows)
        vectors = np.zeros((len(embedded.matrix), fitted.d_out), dtype=np.float32)
        vectors[covered] = fitted.apply(some)
        if self.chain.is_one_sided:
            asking = np.intersect1d(dataset.rows_that_ask, np.flatnonzero(covered))
            vectors[asking] = fitted.apply_to_queries(embedded.matrix[asking])
        if cut := dataset.cut:
            places = vectors[cut.passages], cut.starts, vectors[cut.queries[queries]]
            for block in passages.similarities(*places, way.metric, way.cancel, way.progress):
                yield np.round(block, DECIMALS)
            return
        documents, asked = dataset.documents, dataset.queries[queries]
        at = 0
        for block in rounded_similarities(vectors[documents], vectors[asked], way.metric, way.cancel, way.progress):
            block[:, ~covered[documents]] = -np.inf
            block[~covered[asked[at : at + len(block)]]] = -np.inf
            at += len(block)
            yield block

    def facts(self, dataset: RetrievalDataset) -> Mapping[str, Any]:  # noqa: ARG002 - of other rankings
        return {"transform": str(self.chain)}
