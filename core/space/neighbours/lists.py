"""What stands nearest to an item or a text in several spaces, and where the spaces disagree. Reads only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import combinations

import numpy as np

from core.numerics.neighbours import overlap
from core.numerics.neighbours.approximate import ApproximateIndex, Quality, quality
from core.numerics.neighbours.exact import ExactIndex, Nearest
from core.numerics.similarity import Metric
from core.runs.spaces import Space
from core.types import Float32, Float64, Int64, Variant

LONGEST = 50  # neighbours of a query
RANKS = (1, 5, 50)  # that people compare in Schnabel et al. 2015, section 3.3
ALL_QUERIES = 2_000  # items of which every one is a query; of more, a sample
SAMPLE = 1_000
SAMPLED_FOR_RECALL = 100
ITEMS_FOR_CKA = 10_000
SEED = 7
ALIKE = 1e-6  # similarities this near each other are equal but for rounding (DESIGN 4.1)


@dataclass(frozen=True, eq=False)
class Neighbours:
    """The nearest items of a query in one space.

    Attributes:
        items: ``[k] int64``, their numbers in the dataset, the most similar first.
        similarity: ``[k] float64``.
    """

    variant: Variant
    items: Int64
    similarity: Float64

    def are_alike(self, k: int) -> bool:
        """Whether the first k are equally similar, so that their order says nothing."""
        return k > 1 and bool(self.similarity[0] - self.similarity[min(k, len(self.items)) - 1] <= ALIKE)


@dataclass(frozen=True)
class Overlap:
    """How much two variants' lists for one query share: ``shared`` items of k, and what follows from their ranks."""

    a: Variant
    b: Variant
    k: int
    shared: int
    jaccard: float
    rbo: float


@dataclass(frozen=True, eq=False)
class Agreement:
    """Two variants over many queries.

    Attributes:
        jaccard, rbo: ``[q] float64``, at depth k.
        shared: ``[q] int64``, items in both lists.
        depth: k.
    """

    a: Variant
    b: Variant
    depth: int
    jaccard: Float64
    rbo: Float64
    shared: Int64

    def worst_first(self) -> Int64:
        """Places of the queries: lowest Jaccard, then lowest rank-biased overlap, then first; ``[q] int64``."""
        return overlap.order_of_disagreement(self.jaccard, self.rbo)


def depth(spaces: Sequence[Space], *, is_item: bool = True) -> int:
    """How many neighbours there can be: at most ``LONGEST``; an item is none of its own."""
    return min(LONGEST, len(spaces[0].items) - is_item)


def of_item(space: Space, metric: Metric, item: int, k: int, *, approximate: bool = False) -> Neighbours:
    """The ``k`` nearest of an item of the dataset that the space holds, itself left out."""
    row = space.place_of(item)
    if row is None:
        raise ValueError(f"the space has no item {item}")
    return _in_numbers(space, _index(space, metric, approximate).of_rows(np.array([row]), k))


def of_vector(space: Space, metric: Metric, vector: Float32, k: int, *, approximate: bool = False) -> Neighbours:
    """The ``k`` nearest of a vector ``[d] float32`` of the space that belongs to none of its items."""
    return _in_numbers(space, _index(space, metric, approximate).of_vectors(vector[None, :], k))


def _in_numbers(space: Space, found: Nearest) -> Neighbours:
    return Neighbours(space.variant, space.items[found.rows[0]], found.similarity[0])


def sample(space: Space, most: int = SAMPLE) -> Int64:
    """Rows to look at: all of a few, else a seeded sample of ``most``, ascending; the same for all spaces alike."""
    n = len(space.items)
    if n <= max(ALL_QUERIES, most):
        return np.arange(n, dtype=np.int64)
    return np.sort(np.random.default_rng(SEED).choice(n, size=most, replace=False)).astype(np.int64)


def of_many(space: Space, metric: Metric, rows: Int64, k: int) -> Int64:
    """The ``k`` nearest rows of many rows of a space, ``[q, k] int64``."""
    return _index(space, metric, False).of_rows(rows, k).rows


def measured(space: Space, metric: Metric, k: int) -> Quality:
    """Recall@k and speed of the approximate index over a seeded sample of the space's items."""
    exact, approximate = _exact(_Keyed.of(space, metric)), _approximate(_Keyed.of(space, metric))
    rows = np.random.default_rng(SEED).choice(len(exact), size=min(SAMPLED_FOR_RECALL, len(exact)), replace=False)
    return quality(exact, approximate, np.asarray(rows, dtype=np.int64), k)


def overlaps(lists: Sequence[Neighbours], k: int) -> list[Overlap]:
    """Every two variants' first k neighbours of one query."""
    out = []
    for a, b in combinations(lists, 2):
        (found,) = agreements({a.variant: a.items[None, :], b.variant: b.items[None, :]}, k)
        out.append(Overlap(a.variant, b.variant, k, int(found.shared[0]), float(found.jaccard[0]), float(found.rbo[0])))
    return out


def agreements(lists: Mapping[Variant, Int64], k: int) -> list[Agreement]:
    """Every two variants over the same queries.

    Args:
        lists: per variant ``[q, >= k] int64``, in the order of the queries.
    """
    out = []
    for (a, of_a), (b, of_b) in combinations(lists.items(), 2):
        shared = overlap.shared_at_depths(of_a[:, :k], of_b[:, :k])
        found = Agreement(a, b, k, overlap.jaccard(shared), overlap.rank_biased_overlap(shared), shared[:, -1])
        out.append(found)
    return out


def cka(a: Space, b: Space) -> float:
    """Debiased linear CKA of two spaces over the same items, of many a seeded sample; NaN where it is undefined."""
    rows = sample(a, ITEMS_FOR_CKA)
    return overlap.linear_cka(a.vectors[rows], b.vectors[rows])


@dataclass(frozen=True)
class _Keyed:
    """Vectors of a space, compared by its digest, so that they can be a key of a cache."""

    digest: str
    metric: Metric
    vectors: Float32 = field(compare=False)

    @classmethod
    def of(cls, space: Space, metric: Metric) -> _Keyed:
        return cls(space.digest, metric, space.vectors)


def _index(space: Space, metric: Metric, approximate: bool) -> ExactIndex | ApproximateIndex:
    keyed = _Keyed.of(space, metric)
    return _approximate(keyed) if approximate else _exact(keyed)


@lru_cache(maxsize=6)  # each holds a copy of its vectors: 38 MB of 25,000 sentences in 384 dimensions
def _exact(keyed: _Keyed) -> ExactIndex:
    return ExactIndex(keyed.vectors, keyed.metric)


@lru_cache(maxsize=4)
def _approximate(keyed: _Keyed) -> ApproximateIndex:
    return ApproximateIndex(keyed.vectors, keyed.metric)
