"""Categorisation: words are clustered, and the purity says how well the clusters are people's classes.

Schnabel 2015, section 3.1, after Baroni, Dinu and Kruszewski 2014.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.numerics.analogies import unit_rows
from core.types import Bool, CancelToken, Float32, Float64, Int32, Int64, Progress

SEEDS = tuple(range(10))  # of k-means: one start each
SHUFFLES = 100
SHUFFLE_SEED = 0


@dataclass(frozen=True, eq=False)
class Clustering:
    """Words in clusters.

    Attributes:
        clusters: ``[n] int32``, the cluster of each word in the solution with the lowest inertia.
        named: ``[k] int64``, the class that most of each cluster's words are in; of equal ones the first.
        purity: of that solution.
        purities, inertias: of all the solutions, by seed.
        chance: mean purity where the words' classes are shuffled, the clusters being what they are.
    """

    clusters: Int32
    named: Int64
    purity: float
    purities: tuple[float, ...]
    inertias: tuple[float, ...]
    chance: float


def categorise(
    embeddings: Float32 | Float64,
    membership: Bool,
    progress: Progress,
    cancel: CancelToken,
    seeds: Sequence[int] = SEEDS,
) -> Clustering:
    """Cluster unit vectors by k-means, k being the number of classes.

    Args:
        embeddings: ``[n, d]``, n at least the number of classes.
        membership: ``[n, k] bool``, whether a word is in a class.

    Raises:
        Cancelled: between two starts.
    """
    from sklearn.cluster import KMeans

    units = unit_rows(embeddings)
    k = membership.shape[1]
    found: list[Int32] = []
    inertias: list[float] = []
    for done, seed in enumerate(seeds):
        cancel.check()
        progress("clustering", done, len(seeds))
        fitted = KMeans(n_clusters=k, n_init=1, random_state=seed).fit(units)
        found.append(fitted.labels_.astype(np.int32))
        inertias.append(float(fitted.inertia_))
    progress("clustering", len(seeds), len(seeds))
    best = found[int(np.argmin(inertias))]
    return Clustering(
        best,
        counts(best, membership).argmax(axis=1),
        purity(best, membership),
        tuple(purity(clusters, membership) for clusters in found),
        tuple(inertias),
        _chance(best, membership),
    )


def counts(clusters: Int32, membership: Bool) -> Int64:
    """Words of each class in each cluster, ``[k, classes]``; k is the number of classes."""
    out = np.zeros((membership.shape[1], membership.shape[1]), dtype=np.int64)
    np.add.at(out, clusters, membership)
    return out


def purity(clusters: Int32, membership: Bool) -> float:
    """``1/N sum over clusters of the largest number of words of one class``, N being the number of words.

    Every word counts once: one that is in several classes is right if its cluster's class is one of them.
    """
    return float(counts(clusters, membership).max(axis=1).sum() / len(clusters))


def _chance(clusters: Int32, membership: Bool) -> float:
    rng = np.random.default_rng(SHUFFLE_SEED)
    return float(np.mean([purity(clusters, membership[rng.permutation(len(clusters))]) for _ in range(SHUFFLES)]))


def order_clusters(table: Int64) -> Int64:
    """Clusters in the order of their largest class, so that a good clustering is a diagonal.

    Args:
        table: ``[k, classes]`` as ``counts`` gives it.
    """
    named, size = table.argmax(axis=1), table.max(axis=1)
    return np.lexsort((-size, named))


def shares(table: Int64) -> Float64:
    """Each class's words by cluster as shares of the class, ``[k, classes]``."""
    totals = table.sum(axis=0)
    return np.asarray(np.divide(table, totals, out=np.zeros(table.shape), where=totals > 0))
