"""Embeddings and fitted transform of a stored run; reads the cache, encodes nothing."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from core.encoders.cache import Embedded, EmbeddingCache
from core.errors import BlindspotError
from core.names import version_of
from core.settings import Settings
from core.store.records import RunRecord
from core.store.repository import Repository
from core.transforms.chain import FittedChain, TransformChain
from core.transforms.trained_flows import StoredFlows
from core.types import Int64


class EmbeddingsGone(BlindspotError):
    """The run is stored, but its embeddings were deleted from the cache."""


def embedded_of(run: RunRecord, settings: Settings) -> Embedded:
    """The untransformed embeddings of all items of a run's dataset; raises ``EmbeddingsGone``."""
    embedded = EmbeddingCache(settings.embeddings).read(run.plan.embedding_digest)
    if embedded is None:
        is_older = bool(version_of(run.plan.variant.encoder)[1])
        raise EmbeddingsGone(
            f"the embeddings of '{run.plan.variant.encoder}' on '{run.plan.dataset}' are no longer in the cache",
            remedy="nothing can encode them again, since the model's weights were replaced; the stored results stay"
            if is_older
            else "run it again: they are encoded anew, the stored results stay",
        )
    return embedded


def items_of(run: RunRecord, embedded: Embedded, repository: Repository) -> Int64:
    """``[k] int64``: numbers of the items that a run was computed on, ascending."""
    if not run.plan.support_digest:
        return np.arange(len(embedded.matrix), dtype=np.int64)
    return np.flatnonzero(repository.support(run.plan.support_digest)).astype(np.int64)


def fitted_chain(run: RunRecord, settings: Settings, items: Int64) -> FittedChain:
    """A run's transform, fitted on ``items [k] int64`` again.

    Raises:
        EmbeddingsGone: the embeddings are no longer cached.
        InputError: the run was fitted on another dataset.
    """
    run.plan.check_fitted_on_its_items()
    return _fitted(run.plan.embedding_digest, run.plan.variant.transform, settings, _Items(run, items))


@dataclass(frozen=True)
class _Items:
    """Items of a run, as a cache key: compared by the digest of the run's support."""

    run: RunRecord = field(compare=False)
    numbers: Int64 = field(compare=False)
    support_digest: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "support_digest", self.run.plan.support_digest)


@lru_cache(maxsize=8)  # few: a step holds up to ``[d, d]`` numbers
def _fitted(_digest: str, transform: str, settings: Settings, items: _Items) -> FittedChain:
    embedded = embedded_of(items.run, settings)
    corpus = embedded.matrix[items.numbers] if items.support_digest else embedded.matrix
    return TransformChain.parse(transform).fit(corpus, StoredFlows(settings.flows))
