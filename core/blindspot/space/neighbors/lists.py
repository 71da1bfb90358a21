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


def candidates(space: Space) -> Int64:
    """``[c] int64``, ascending: numbers of the space's items that a list can have; of a retrieval set its documents."""
    return np.intersect1d(space.items, space.dataset.candidates, assume_unique=True)


def depth(spaces: Sequence[Space], *, is_item: bool = True) -> int:
    """How many neighbors a query can have, at most ``LONGEST``; an item is not its own neighbor."""
    return min(LONGEST, len(candidates(spaces[0])) - is_item)


def of_item(space: Space, metric: Similarity, item: int, k: int, *, approximate: bool = False) -> Neighbors:
    """The ``k`` nearest candidates to an item of the space, without the item itself."""
    row = space.place_of(item)
    if row is None:
        raise ValueError(f"the space has no item {item}")
    nearest = _of_rows(space, metric, np.array([row], dtype=np.int64), k, approximate)
    return Neighbors(space.variant, nearest.rows[0], nearest.similarity[0])


def of_vector(space: Space, metric: Similarity, vector: Float32, k: int, *, approximate: bool = False) -> Neighbors:
    """The ``k`` nearest candidates to any vector ``[d] float32``."""
    nearest = _index(space, metric, approximate).of_vectors(vector[None, :], k)
    return Neighbors(space.variant, candidates(space)[nearest.rows[0]], nearest.similarity[0])


def sample(space: Space, most: int = SAMPLE) -> Int64:
    """Rows to use as queries, ascending, the same in spaces over the same items: all, or the queries of a retrieval
    set; a seeded sample if there are many."""
    asking = np.intersect1d(space.items, space.dataset.asking) if _has_roles(space) else space.items
    return np.searchsorted(space.items, _few(asking, most)).astype(np.int64)


def _has_roles(space: Space) -> bool:
    """Whether only some items are candidates, and the others are queries."""
    return len(space.dataset.candidates) < len(space.dataset.items)


def _few(numbers: Int64, most: int) -> Int64:
    if len(numbers) <= max(ALL_QUERIES, most):
        return numbers
    return np.sort(np.random.default_rng(SEED).choice(numbers, size=most, replace=False)).astype(np.int64)


def of_many(space: Space, metric: Similarity, rows: Int64, k: int) -> Int64:
    """Numbers of the ``k`` nearest candidates to many rows of a space, ``[q, k] int64``."""
    return _of_rows(space, metric, rows, k, False).rows


def _of_rows(space: Space, metric: Similarity, rows: Int64, k: int, approximate: bool) -> Nearest:
    """The nearest candidates, by their numbers, to rows of the space; a row is no candidate for itself."""
    index, numbers = _index(space, metric, approximate), candidates(space)
    places = np.searchsorted(numbers, space.items[rows])
    is_candidate = numbers[np.minimum(places, len(numbers) - 1)] == space.items[rows]
    if is_candidate.all():
        found_rows = index.of_rows(places, k)
        return Nearest(numbers[found_rows.rows], found_rows.similarity)
    out = Nearest(np.empty((len(rows), k), np.int64), np.empty((len(rows), k)))
    parts = [(~is_candidate, index.of_vectors(np.asarray(space.vectors[rows[~is_candidate]]), k))]
    if is_candidate.any():
        parts.append((is_candidate, index.of_rows(places[is_candidate], k)))
    for some, nearest in parts:
        out.rows[some], out.similarity[some] = numbers[nearest.rows], nearest.similarity
    return out


def measured(space: Space, metric: Similarity, k: int) -> Quality:
    """Recall@k and speed of the approximate index over a seeded sample of the space's items."""
    exact, approximate = _exact(_Keyed.of(space, metric)), _approximate(_Keyed.of(space, metric))
    rows = np.random.default_rng(SEED).choice(len(exact), size=min(SAMPLED_FOR_RECALL, len(exact)), replace=False)
    return quality(exact, approximate, np.asarray(rows, dtype=np.int64), k)


def overlaps(lists: Sequence[Neighbors], k: int) -> list[Overlap]:
    """Per two variants, the overlap of the first k neighbors of one query."""
    out = []
    for a, b in combinations(lists, 2):
        (agreement,) = agreements({a.variant: a.items[None, :], b.variant: b.items[None, :]}, k)
        out.append(
            Overlap(
                a.variant, b.variant, k, int(agreement.shared[0]), float(agreement.jaccard[0]), float(agreement.rbo[0])
            )
        )
    return out


def agreements(lists: Mapping[Variant, Int64], k: int) -> list[Agreement]:
    """Per two variants, the overlap over many queries; ``lists`` are ``[q, >= k]`` in the same order of queries."""
    out = []
    for (a, of_a), (b, of_b) in combinations(lists.items(), 2):
        shared = overlap.shared_at_depths(of_a[:, :k], of_b[:, :k])
        agreement = Agreement(a, b, k, overlap.jaccard(shared), overlap.rank_biased_overlap(shared), shared[:, -1])
        out.append(agreement)
    return out


def cka(a: Space, b: Space) -> float:
    """Debiased linear CKA of two spaces over the same items, or a seeded sample of many; NaN where it is undefined."""
    rows = _few(np.arange(len(a.items), dtype=np.int64), ITEMS_FOR_CKA)
    return overlap.linear_cka(a.vectors[rows], b.vectors[rows])


@dataclass(frozen=True)
class _Keyed:
    """A space that is compared by its digest, as an argument of a cached function."""

    digest: str
    metric: Similarity
    space: Space = field(compare=False)

    @classmethod
    def of(cls, space: Space, metric: Similarity) -> _Keyed:
        roles = space.dataset.content_digest if _has_roles(space) else ""
        return cls(space.digest + roles, metric, space)

    @property
    def vectors(self) -> Float32:
        """Vectors of the space's candidates, ``[c, d]``."""
        if not _has_roles(self.space):
            return self.space.vectors
        return self.space.vectors[np.searchsorted(self.space.items, candidates(self.space))]


def _index(space: Space, metric: Similarity, approximate: bool) -> ExactIndex | ApproximateIndex:
    keyed = _Keyed.of(space, metric)
    return _approximate(keyed) if approximate else _exact(keyed)


@lru_cache(maxsize=6)  # each has a copy of its vectors: 38 MB of 25,000 sentences in 384 dimensions
def _exact(keyed: _Keyed) -> ExactIndex:
    return ExactIndex(keyed.vectors, keyed.metric)


@lru_cache(maxsize=4)
def _approximate(keyed: _Keyed) -> ApproximateIndex:
    return ApproximateIndex(keyed.vectors, keyed.metric)
