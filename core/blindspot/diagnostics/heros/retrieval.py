"""Ranks of an original's rewrites among all sentences of the dataset, in float64."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from blindspot.numerics.ranking.problem import TAU, Relation
from blindspot.numerics.similarity import Similarity, similarity_to_all
from blindspot.runs.embeddings import RunVectors, embedded_of, vectors_of
from blindspot.settings import Settings
from blindspot.store.records import RunRecord
from blindspot.store.repository import Repository
from blindspot.types import Float64

MOST_KEPT = 32 << 20  # bytes of a run's embeddings that stay in memory: HEROS's 7,000 texts have 10.8 MB


@dataclass(frozen=True)
class RewriteRank:
    """The rank of a rewrite as a neighbor of its original.

    Attributes:
        greater: number of other sentences whose cosine is higher by more than TAU.
        ties: number of those within TAU.
    """

    greater: int
    ties: int
    cosine: float

    @property
    def rank(self) -> float:
        """Expected under random tie order; 1 is the nearest."""
        return 1 + self.greater + self.ties / 2


@dataclass(frozen=True)
class Neighbor:
    """A sentence near an original: its place in the ranking (1 is the nearest), its number, and its relation to the
    rewrite in question."""

    position: int
    item_no: int
    cosine: float
    relation: Relation


def cosines_to_all(run: RunRecord, original: int, settings: Settings, repository: Repository) -> Float64:
    """Cosine of an original and every sentence of its dataset in a run's embeddings, ``[items] float64``; by role, of
    the original as a query and all sentences as documents.

    Args:
        original: its number among the dataset's items.

    Raises:
        EmbeddingsGone: the cache no longer has them.
    """
    embedded = embedded_of(run, settings)
    space = _Space(run.plan.embedding_digest, run.plan.variant.transform, run, repository)
    transformed = _kept(space, settings) if embedded.matrix.nbytes <= MOST_KEPT else space.transformed(settings)
    row = int(transformed.places_of_queries(np.array([original]))[0])
    return similarity_to_all(transformed.vectors, row, Similarity.COS)[: len(transformed.items)]


@dataclass(frozen=True)
class _Space:
    """A run's embeddings, compared by the first two fields, so that it can be a key of a cache."""

    digest: str
    transform: str
    run: RunRecord = field(compare=False)
    repository: Repository = field(compare=False)

    def transformed(self, settings: Settings) -> RunVectors:
        """All embeddings after the transform."""
        return vectors_of(self.run, settings, self.repository)


@lru_cache(maxsize=8)  # a reader goes from one original to the next
def _kept(space: _Space, settings: Settings) -> RunVectors:
    return space.transformed(settings)


def rank_of(cosines: Float64, original: int, rewrite: int) -> RewriteRank:
    """The rank of a rewrite among all sentences but the original itself.

    Args:
        cosines: of the original with every sentence, ``[items]``.
        original, rewrite: their numbers; equal if the rewrite changed nothing.
    """
    others, similarity = np.delete(cosines, [original, rewrite]), cosines[rewrite]
    is_above = others > similarity + TAU
    is_tied = ~is_above & (others >= similarity - TAU)
    return RewriteRank(int(is_above.sum()), int(is_tied.sum()), float(similarity))


def neighbors(
    cosines: Float64, original: int, rewrite: int, limit: int = 10, around: int = 2, below: int = 3
) -> list[Neighbor]:
    """The nearest ``limit`` sentences of an original, one of its rewrites, and sentences ``around`` and ``below`` it.

    The rewrite comes first among its ties: a sentence listed above it is surely above it.
    """
    order = np.argsort(-cosines, kind="stable")
    order = order[(order != original) & (order != rewrite)]
    rank = int((cosines[order] > cosines[rewrite] + TAU).sum())
    order = np.concatenate([order[:rank], [rewrite], order[rank:]])
    top = range(min(limit, rank))
    shown = sorted({*top, *range(max(rank - around, 0), min(rank + 1 + below, len(order)))})

    def relation(i: int) -> Relation:
        if i <= rank:
            return Relation.MATCH if i == rank else Relation.ABOVE
        return Relation.TIED if cosines[order[i]] >= cosines[rewrite] - TAU else Relation.BELOW

    return [Neighbor(i + 1, int(order[i]), float(cosines[order[i]]), relation(i)) for i in shown]
