"""HEROS as retrieval: where an original's rewrites rank among all sentences. Reads only; float64 throughout."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from core.encoders.cache import Embedded
from core.numerics.ranking.problem import TAU, Relation
from core.numerics.similarity import Metric, similarity_to_all
from core.runs.embeddings import embedded_of, fitted_chain
from core.settings import Settings
from core.store.records import RunRecord
from core.types import Float32, Float64

MOST_KEPT = 32 << 20  # bytes of a run's embeddings that stay in memory: HEROS's 7,000 texts have 10.8 MB


@dataclass(frozen=True)
class RewriteRank:
    """Where a rewrite ranks as a neighbour of its original (DESIGN 4.1).

    Attributes:
        greater: how many other sentences are nearer to the original by more than TAU.
        ties: how many are as near, within TAU.
        cosine: the rewrite's.
    """

    greater: int
    ties: int
    cosine: float

    @property
    def rank(self) -> float:
        """Expected under random tie order; 1 is the nearest."""
        return 1 + self.greater + self.ties / 2


@dataclass(frozen=True)
class Neighbour:
    """A sentence near an original: its place in the ranking (1 is the nearest), its number, how it stands to the
    rewrite that is looked for."""

    position: int
    item_no: int
    cosine: float
    relation: Relation


def cosines_to_all(run: RunRecord, original: int, settings: Settings) -> Float64:
    """Cosine of an original and every sentence of its dataset in a run's embeddings, ``[items] float64``.

    Args:
        original: its number among the dataset's items.

    Raises:
        EmbeddingsGone: the cache no longer has them.
    """
    embedded = embedded_of(run, settings)
    is_small = embedded.matrix.nbytes <= MOST_KEPT
    vectors = _kept(_Space(run, embedded), settings) if is_small else _transformed(run, embedded, settings)
    return similarity_to_all(vectors, original, Metric.COS)


def _transformed(run: RunRecord, embedded: Embedded, settings: Settings) -> Float32:
    """All embeddings of a run after its transform, ``[items, d] float32``; without one as they lie on the disk."""
    everything = np.arange(len(embedded.matrix), dtype=np.int64)
    return fitted_chain(run, settings, everything).apply(embedded.matrix)


@dataclass(frozen=True)
class _Space:
    """A run's vectors, compared by what decides them, so that it can be a key of a cache."""

    run: RunRecord = field(compare=False)
    embedded: Embedded = field(compare=False)
    key: tuple[str, str] = field(init=False)

    def __post_init__(self) -> None:
        plan = self.run.plan
        object.__setattr__(self, "key", (plan.embedding_digest, plan.variant.transform))


@lru_cache(maxsize=8)  # a reader goes from one original to the next
def _kept(space: _Space, settings: Settings) -> Float32:
    return _transformed(space.run, space.embedded, settings)


def rank_of(cosines: Float64, original: int, rewrite: int) -> RewriteRank:
    """Where a rewrite ranks among all sentences but the original itself.

    Args:
        cosines: of the original with every sentence, ``[items]``.
        original, rewrite: their numbers; they are one where the rewrite left the original as it was.
    """
    others, own = np.delete(cosines, [original, rewrite]), cosines[rewrite]
    is_above = others > own + TAU
    is_tied = ~is_above & (others >= own - TAU)
    return RewriteRank(int(is_above.sum()), int(is_tied.sum()), float(own))


def neighbours(
    cosines: Float64, original: int, rewrite: int, limit: int = 10, around: int = 2, below: int = 3
) -> list[Neighbour]:
    """The nearest sentences of an original, a rewrite of it wherever it stands, and what stands beside that.

    Among the tied the rewrite comes first: what is listed above it is surely above it.

    Args:
        limit: at most so many from the top.
        around: so many right above the rewrite, where they are not among those.
        below: so many after it.
    """
    order = np.argsort(-cosines, kind="stable")
    order = order[(order != original) & (order != rewrite)]
    place = int((cosines[order] > cosines[rewrite] + TAU).sum())
    order = np.concatenate([order[:place], [rewrite], order[place:]])
    top = range(min(limit, place))
    shown = sorted({*top, *range(max(place - around, 0), min(place + 1 + below, len(order)))})
    out = []
    for i in shown:
        item = int(order[i])
        relation = (
            Relation.MATE
            if item == rewrite
            else Relation.ABOVE
            if i < place
            else Relation.TIED
            if cosines[item] >= cosines[rewrite] - TAU
            else Relation.BELOW
        )
        out.append(Neighbour(i + 1, item, float(cosines[item]), relation))
    return out
