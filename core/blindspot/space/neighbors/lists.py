"""Nearest neighbors of an item or a text in several spaces, and how far the spaces disagree. Reads only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import combinations

import numpy as np

from blindspot.numerics.neighbors import overlap
from blindspot.numerics.neighbors.approximate import ApproximateIndex, Quality, quality
from blindspot.numerics.neighbors.exact import ExactIndex, Nearest
from blindspot.numerics.similarity import Similarity
from blindspot.runs.spaces import Space
from blindspot.types import Float32, Float64, Int64
from blindspot.variants import Variant

LONGEST = 50  # neighbors of a query
RANKS = (1, 5, 50)  # compared by people in Schnabel et al. 2015, section 3.3
ALL_QUERIES = 2_000  # up to so many items, every one is a query; beyond, a sample
SAMPLE = 1_000
SAMPLED_FOR_RECALL = 100
ITEMS_FOR_CKA = 10_000
SEED = 7
ALIKE = 1e-6  # similarities this close are equal but for rounding


@dataclass(frozen=True, eq=False)
class Neighbors:
    """The nearest items of a query in one space, most similar first: their numbers in the dataset, ``[k]`` each."""

    variant: Variant
    items: Int64
    similarity: Float64

    def are_alike(self, k: int) -> bool:
        """Whether the first k are equally similar, so that their order means nothing."""
        return k > 1 and bool(self.similarity[0] - self.similarity[min(k, len(self.items)) - 1] <= ALIKE)


@dataclass(frozen=True)
class Overlap:
    """How much two variants' lists for one query share."""

    a: Variant
    b: Variant
    k: int
    shared: int
    jaccard: float
    rbo: float


@dataclass(frozen=True, eq=False)
class Agreement:
    """Overlap of two variants' lists over q queries; ``[q]`` each, at a depth of k."""

    a: Variant
    b: Variant
    depth: int
    jaccard: Float64
    rbo: Float64
    shared: Int64

    def worst_first(self) -> Int64:
        """Positions of the queries, ``[q]``: lowest Jaccard first, then lowest rank-biased overlap, then number."""
        return overlap.order_of_disagreement(self.jaccard, self.rbo)


def depth(spaces: Sequence[Space], *, is_item: bool = True) -> int:
    """How many neighbors a query can have, at most ``LONGEST``; an item is not its own neighbor."""
    return min(LONGEST, len(spaces[0].items) - is_item)


def of_item(space: Space, metric: Similarity, item: int, k: int, *, approximate: bool = False) -> Neighbors:
    """The ``k`` nearest of an item of the space, itself left out."""
    row = space.place_of(item)
    if row is None:
        raise ValueError(f"the space has no item {item}")
    return _in_numbers(space, _index(space, metric, approximate).of_rows(np.array([row]), k))


def of_vector(space: Space, metric: Similarity, vector: Float32, k: int, *, approximate: bool = False) -> Neighbors:
    """The ``k`` nearest items of any vector ``[d] float32``."""
    return _in_numbers(space, _index(space, metric, approximate).of_vectors(vector[None, :], k))


def _in_numbers(space: Space, found: Nearest) -> Neighbors:
    return Neighbors(space.variant, space.items[found.rows[0]], found.similarity[0])


def sample(space: Space, most: int = SAMPLE) -> Int64:
    """Rows that serve as queries, ascending: all of a few, else a seeded sample, the same in spaces of one size."""
    n = len(space.items)
    if n <= max(ALL_QUERIES, most):
        return np.arange(n, dtype=np.int64)
    return np.sort(np.random.default_rng(SEED).choice(n, size=most, replace=False)).astype(np.int64)


def of_many(space: Space, metric: Similarity, rows: Int64, k: int) -> Int64:
    """The ``k`` nearest rows of many rows of a space, ``[q, k] int64``."""
    return _index(space, metric, False).of_rows(rows, k).rows


def measured(space: Space, metric: Similarity, k: int) -> Quality:
    """Recall@k and speed of the approximate index over a seeded sample of the space's items."""
    exact, approximate = _exact(_Keyed.of(space, metric)), _approximate(_Keyed.of(space, metric))
    rows = np.random.default_rng(SEED).choice(len(exact), size=min(SAMPLED_FOR_RECALL, len(exact)), replace=False)
    return quality(exact, approximate, np.asarray(rows, dtype=np.int64), k)


def overlaps(lists: Sequence[Neighbors], k: int) -> list[Overlap]:
    """Per two variants, the overlap of the first k neighbors of one query."""
    out = []
    for a, b in combinations(lists, 2):
        (found,) = agreements({a.variant: a.items[None, :], b.variant: b.items[None, :]}, k)
        out.append(Overlap(a.variant, b.variant, k, int(found.shared[0]), float(found.jaccard[0]), float(found.rbo[0])))
    return out


def agreements(lists: Mapping[Variant, Int64], k: int) -> list[Agreement]:
    """Per two variants, the overlap over many queries; ``lists`` are ``[q, >= k]`` in the same order of queries."""
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
    """Vectors of a space, compared by its digest: arguments of a cached function."""

    digest: str
    metric: Similarity
    vectors: Float32 = field(compare=False)

    @classmethod
    def of(cls, space: Space, metric: Similarity) -> _Keyed:
        return cls(space.digest, metric, space.vectors)


def _index(space: Space, metric: Similarity, approximate: bool) -> ExactIndex | ApproximateIndex:
    keyed = _Keyed.of(space, metric)
    return _approximate(keyed) if approximate else _exact(keyed)


@lru_cache(maxsize=6)  # each holds a copy of its vectors: 38 MB of 25,000 sentences in 384 dimensions
def _exact(keyed: _Keyed) -> ExactIndex:
    return ExactIndex(keyed.vectors, keyed.metric)


@lru_cache(maxsize=4)
def _approximate(keyed: _Keyed) -> ApproximateIndex:
    return ApproximateIndex(keyed.vectors, keyed.metric)
