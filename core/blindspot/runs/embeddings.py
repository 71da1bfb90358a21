"""Embeddings and fitted transform of a stored run; reads the cache, encodes nothing."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from blindspot.diagnostic import find_diagnostic
from blindspot.encoders.cache import Embedded, EmbeddingCache
from blindspot.errors import BlindspotError
from blindspot.references import version_of
from blindspot.runs.inputs.roles import on_two_sides
from blindspot.settings import Settings
from blindspot.store.records import RunRecord
from blindspot.store.repository import Repository
from blindspot.transforms.chain import FittedChain, TransformChain
from blindspot.transforms.trained_flows import StoredFlows
from blindspot.types import Float32, Int64
from blindspot.variants import Variant


class EmbeddingsGone(BlindspotError):
    """The run is stored, but its embeddings were deleted from the cache."""


class ComparedTwice(BlindspotError):
    """The run ranks the best candidates again with finer vectors, so no single vector per text gives its ranks."""


def check_space(variant: Variant) -> None:
    """Raise ``ComparedTwice`` for a variant that is rescored."""
    chain = variant.chain
    if chain.rescored:
        raise ComparedTwice(
            f"{variant.label} compares the best of a ranking again, so it has two vectors per text",
            expected=f"its search alone, {chain.searched}",
        )


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
    if not run.plan.covered_digest:
        return np.arange(run.coverage.get("items", len(embedded.matrix)), dtype=np.int64)
    return np.flatnonzero(repository.covered(run.plan.covered_digest)).astype(np.int64)


@dataclass(frozen=True, eq=False)
class RunVectors:
    """Transformed vectors of a run.

    Attributes:
        items: ``[k] int64``, numbers of the items that it was computed on, ascending.
        asking: ``[q] int64``, ascending, those of them with another vector as queries
            (``blindspot.runs.inputs.roles``); None where queries and documents have the same.
        vectors: ``[k, d] float32`` of the items, or ``[k + q, d]``: then those of the queries.
    """

    items: Int64
    asking: Int64 | None
    vectors: Float32

    @property
    def of_items(self) -> Float32:
        """Vectors of the items, as documents where they have roles, ``[k, d]``."""
        return self.vectors[: len(self.items)]

    def places(self, numbers: Int64) -> Int64:
        """Rows of items, as documents where they have roles."""
        return np.searchsorted(self.items, numbers)

    def places_of_queries(self, numbers: Int64) -> Int64:
        """Rows of items that ask, as queries where they have roles."""
        if self.asking is None:
            return np.searchsorted(self.items, numbers)
        return len(self.items) + np.searchsorted(self.asking, numbers)


def rows_of(run: RunRecord, embedded: Embedded, repository: Repository) -> tuple[Int64, Int64 | None, Int64]:
    """Items and queries of a run as in ``RunVectors``, and rows of theirs and of texts that its diagnostic makes, among
    all embeddings of its dataset."""
    items = items_of(run, embedded, repository)
    n = run.coverage.get("items", len(embedded.matrix))
    if len(embedded.matrix) == n:
        return items, None, items
    if find_diagnostic(run.plan.diagnostic).makes_texts:  # after the items
        return items, None, np.arange(len(embedded.matrix), dtype=np.int64)
    whole = asking = repository.asking(run.plan.dataset_digest)
    if run.plan.covered_digest:
        ranked = repository.items(find_diagnostic(run.plan.diagnostic), [run.run_id], texts=True)
        asking = np.unique(ranked["query_no"].to_numpy(dtype=np.int64))
    return items, asking, np.concatenate([items, n + np.searchsorted(whole, asking)])


def vectors_of(run: RunRecord, settings: Settings, repository: Repository) -> RunVectors:
    """The vectors that a run was computed on; raises as ``fitted_chain``, and ``ComparedTwice``."""
    check_space(run.plan.variant)
    return vectors_of_two(run, settings, repository)[0]


def vectors_of_two(run: RunRecord, settings: Settings, repository: Repository) -> tuple[RunVectors, RunVectors]:
    """The vectors that a run searches with, and those that it ranks the best candidates again with, which may be the
    same; raises as ``fitted_chain``."""
    embedded = embedded_of(run, settings)
    items, asking, rows = rows_of(run, embedded, repository)
    matrix = embedded.matrix[rows] if run.plan.covered_digest else embedded.matrix
    fitted = fitted_chain(run, settings, rows)

    def made(chain: FittedChain) -> RunVectors:
        if not chain.chain.is_one_sided:
            return RunVectors(items, asking, chain.apply(matrix))
        queries_here = asking
        if queries_here is None:
            queries_here = np.intersect1d(repository.asking(run.plan.dataset_digest), items)
        return RunVectors(
            items, queries_here, on_two_sides(chain, matrix, len(items), np.searchsorted(items, queries_here))
        )

    searched = made(fitted.searched)
    return searched, made(fitted.finer) if fitted.chain.rescored else searched


def fitted_chain(run: RunRecord, settings: Settings, items: Int64) -> FittedChain:
    """A run's transform, fitted on ``items [k] int64`` (rows of all embeddings of its dataset) again.

    Raises:
        EmbeddingsGone: the embeddings are no longer cached.
        InputError: the run was fitted on another dataset.
    """
    run.plan.check_fitted_on_its_items()
    return _fitted(run.plan.embedding_digest, run.plan.variant.chain, settings, _Items(run, items))


@dataclass(frozen=True)
class _Items:
    """Items of a run, as a cache key: compared by the digest of what the run ranked."""

    run: RunRecord = field(compare=False)
    numbers: Int64 = field(compare=False)
    covered_digest: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "covered_digest", self.run.plan.covered_digest)


@lru_cache(maxsize=8)  # few: a step takes up to ``[d, d]`` numbers
def _fitted(_digest: str, chain: TransformChain, settings: Settings, items: _Items) -> FittedChain:
    embedded = embedded_of(items.run, settings)
    corpus = embedded.matrix[items.numbers] if items.covered_digest else embedded.matrix
    return chain.fit(corpus, StoredFlows(settings.flows))
