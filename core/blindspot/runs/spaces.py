"""Vector spaces of variants: the cached and transformed vectors of a dataset's items.

Several variants share the items that all of them cover, and transforms are fitted on these. Nothing is encoded here:
missing embeddings are named, so that a page can offer to encode them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from blindspot.datasets.kinds.base import Dataset
from blindspot.encoders.cache import EmbeddingCache
from blindspot.encoders.catalog import encoder_of
from blindspot.errors import BlindspotError
from blindspot.references import ModelRef, version_of
from blindspot.runs.embeddings import check_space
from blindspot.runs.encoders_here import identity_of
from blindspot.settings import Settings
from blindspot.store.repository import Repository
from blindspot.transforms.chain import FittedChain, TransformChain
from blindspot.transforms.trained_flows import StoredFlows
from blindspot.types import Float32, Int64
from blindspot.variants import Variant


class NotEncoded(BlindspotError):
    """Some encoders' embeddings of the dataset are not in the cache; ``encoders`` names them."""

    def __init__(self, references: Sequence[str], dataset: str) -> None:
        self.encoders = tuple(references)
        super().__init__(
            f"'{dataset}' is not encoded by {', '.join(references)}",
            remedy="encode it: a run of any diagnostic on it does so too",
        )


@dataclass(frozen=True, eq=False)
class Space:
    """A dataset's items in the space of a variant.

    Attributes:
        items: ``[k] int64``, item numbers, ascending; the same for all variants opened together.
        vectors: ``[k, d] float32``, read-only; the transform is fitted on these.
        digest: of everything that decides the vectors, as a key for results computed from them.
    """

    variant: Variant
    dataset: Dataset
    items: Int64
    vectors: Float32
    digest: str

    def place_of(self, item_no: int) -> int | None:
        """The row of an item, or None."""
        row = int(np.searchsorted(self.items, item_no))
        return row if row < len(self.items) and self.items[row] == item_no else None


def lacking(variants: Sequence[Variant], dataset: Dataset, settings: Settings) -> tuple[str, ...]:
    """The encoders whose embeddings of the dataset are not cached.

    Raises ``BlindspotError`` if an encoder is gone, and ``ComparedTwice`` for a variant without a space.
    """
    for variant in variants:
        check_space(variant)
    cache = EmbeddingCache(settings.embeddings)
    models = dict.fromkeys(variant.encoder for variant in variants)
    return tuple(model for model in models if cache.read(_digest(model, dataset, settings)) is None)


def open_spaces(variants: Sequence[Variant], dataset: Dataset, settings: Settings) -> tuple[Space, ...]:
    """The variants' spaces over the items that all of them cover. The last few are cached.

    Raises:
        NotEncoded: embeddings are not cached.
        BlindspotError: no item is covered by all; an encoder is gone; a transform does not fit.
    """
    cache = EmbeddingCache(settings.embeddings)
    digests = {variant.encoder: _digest(variant.encoder, dataset, settings) for variant in variants}
    opened = {reference: cache.read(digest) for reference, digest in digests.items()}
    if missing := [reference for reference, embedded in opened.items() if embedded is None]:
        raise NotEncoded(missing, dataset.id)
    covered = np.ones(len(dataset.items), dtype=np.bool_)
    for embedded in opened.values():
        if embedded is not None:
            covered &= embedded.covered
    if not covered.any():
        raise BlindspotError(
            f"no item of '{dataset.id}' has a vector in all of {', '.join(digests)}",
            expected="encoders that know the dataset's texts",
            remedy="choose fewer variants, or another dataset",
        )
    items = np.flatnonzero(covered).astype(np.int64)
    shared = _Shared("" if covered.all() else hashlib.sha256(np.packbits(covered).tobytes()).hexdigest()[:16], items)
    return tuple(
        Space(
            variant,
            dataset,
            items,
            _vectors(digests[variant.encoder], variant.chain, settings, shared),
            "-".join(filter(None, (digests[variant.encoder], variant.transform, shared.digest))),
        )
        for variant in variants
    )


def _digest(model: ModelRef, dataset: Dataset, settings: Settings) -> str:
    if version_of(model)[1]:
        # Its weights are gone: only embeddings that were kept can show it.
        for run in Repository.at(settings.store).runs(encoder=model, metrics=[], limit=1):
            identity = identity_of(run)
            digest = identity.embedding_digest(dataset.texts_digest) if identity else ""
            if digest and EmbeddingCache(settings.embeddings).read(digest, is_use=False) is not None:
                return digest
    return encoder_of(model, settings).identity.embedding_digest(dataset.texts_digest)


@dataclass(frozen=True)
class _Shared:
    """Item numbers as a cache key: compared by their digest, "" for all items."""

    digest: str
    items: Int64 = field(compare=False)


def fitted_of(space: Space, settings: Settings) -> FittedChain:
    """A space's transform, fitted on its items again; raises ``BlindspotError`` if their embeddings are gone."""
    embedding = _digest(space.variant.encoder, space.dataset, settings)
    return _fitted(embedding, space.variant.chain, settings, _Shared(space.digest, space.items))


@lru_cache(maxsize=8)
def _fitted(digest: str, chain: TransformChain, settings: Settings, shared: _Shared) -> FittedChain:
    corpus = _embeddings(digest, settings)[shared.items]
    return chain.fit(corpus, StoredFlows(settings.flows))


@lru_cache(maxsize=8)
def _vectors(digest: str, chain: TransformChain, settings: Settings, shared: _Shared) -> Float32:
    matrix = _embeddings(digest, settings)
    vectors = matrix[shared.items] if shared.digest else matrix
    return chain.fit(vectors, StoredFlows(settings.flows)).apply(vectors) if chain.steps else vectors


def _embeddings(digest: str, settings: Settings) -> Float32:
    """All items' embeddings, memory-mapped."""
    embedded = EmbeddingCache(settings.embeddings).read(digest)
    if embedded is None:
        raise BlindspotError("the embeddings were deleted meanwhile", remedy="encode the dataset again")
    return embedded.matrix
