"""The space of a variant: the vectors of a dataset's items, as cached and transformed. Reads only.

Several variants are looked at over the same items, those for which all of them have a vector (DESIGN 4.3: the
encoders' shared vocabulary); a transform is fitted on these. Nothing is encoded here: what is not cached is named, so
that a page can offer to encode it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from core.datasets.kinds.base import Dataset
from core.encoders import catalog as encoders
from core.encoders.cache import EmbeddingCache
from core.errors import BlindspotError
from core.settings import Settings
from core.transforms.chain import TransformChain
from core.transforms.trained_flows import StoredFlows
from core.types import Float32, Int64, Variant


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
    """The items of a dataset as one variant places them.

    Attributes:
        items: ``[k] int64``, the numbers of the items in the dataset, ascending; the same for all that are laid
            side by side.
        vectors: ``[k, d] float32``, row i for item ``items[i]``; the transform is fitted on these. Read-only.
        digest: of all that decides the vectors: the key under which what follows from them can be kept.
    """

    variant: Variant
    dataset: Dataset
    items: Int64
    vectors: Float32
    digest: str

    def place_of(self, item_no: int) -> int | None:
        """The row of an item; None where some variant has no vector for it."""
        place = int(np.searchsorted(self.items, item_no))
        return place if place < len(self.items) and self.items[place] == item_no else None


def lacking(variants: Sequence[Variant], dataset: Dataset, settings: Settings) -> tuple[str, ...]:
    """The encoders whose embeddings of the dataset are not cached, in order of the variants.

    Raises:
        BlindspotError: an encoder is not there any more, or its stored embeddings are damaged.
    """
    cache = EmbeddingCache(settings.embeddings)
    references = dict.fromkeys(variant.encoder for variant in variants)
    return tuple(r for r in references if cache.read(_digest(r, dataset, settings)) is None)


def open_spaces(variants: Sequence[Variant], dataset: Dataset, settings: Settings) -> tuple[Space, ...]:
    """The spaces of some variants over the items that all of them have a vector for.

    Transformed vectors are kept, those of the last few variants.

    Raises:
        NotEncoded: embeddings are not cached.
        BlindspotError: no item has a vector in all; an encoder is gone; a transform does not fit the embeddings.
    """
    cache = EmbeddingCache(settings.embeddings)
    digests = {variant.encoder: _digest(variant.encoder, dataset, settings) for variant in variants}
    found = {reference: cache.read(digest) for reference, digest in digests.items()}
    if missing := [reference for reference, embedded in found.items() if embedded is None]:
        raise NotEncoded(missing, dataset.id)
    covered = np.ones(len(dataset.items), dtype=np.bool_)
    for embedded in found.values():
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
            _vectors(digests[variant.encoder], variant.transform, settings, shared),
            "-".join(filter(None, (digests[variant.encoder], variant.transform, shared.digest))),
        )
        for variant in variants
    )


def _digest(reference: str, dataset: Dataset, settings: Settings) -> str:
    return encoders.resolve(reference, settings).identity.embedding_digest(dataset.texts_digest)


@dataclass(frozen=True)
class _Shared:
    """Which items are looked at ("" for all), compared by the digest, so that it can be a key of a cache."""

    digest: str
    items: Int64 = field(compare=False)


@lru_cache(maxsize=8)
def _vectors(digest: str, transform: str, settings: Settings, shared: _Shared) -> Float32:
    embedded = EmbeddingCache(settings.embeddings).read(digest)
    if embedded is None:
        raise BlindspotError("the embeddings were deleted meanwhile", remedy="encode the dataset again")
    vectors = embedded.matrix[shared.items] if shared.digest else embedded.matrix
    chain = TransformChain.parse(transform)
    return chain.fit(vectors, StoredFlows(settings.flows)).apply(vectors) if chain.steps else vectors
