"""Pictures of a space in two dimensions: principal components, clusters, and how far to trust a picture."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from blindspot.numerics.principal import NOISE, blocks, column_means, principal_axes
from blindspot.numerics.similarity import Similarity, unit_vectors
from blindspot.types import Float32, Float64, Int64

VALUES_AT_ONCE = 8_000_000  # 64 MB of float64


@dataclass(frozen=True, eq=False)
class Plane:
    """The first two principal components, ``[n, 2] float64``, and each one's share of the variance.

    Signs do not depend on the linear algebra library; both shares are 0 if the vectors are all the same.
    """

    coordinates: Float64
    explained: tuple[float, float]


@dataclass(frozen=True)
class Quality:
    """How far to trust a picture of ``items`` items, by the k nearest neighbors of ``queries`` of them.

    Attributes:
        trustworthiness: 0 to 1 (Venna and Kaski 2001): 1 if the k nearest in the picture are the k nearest in the
            full space; the farther off the false ones truly are, the lower. NaN for k >= n/2.
        kept: mean share of an item's true k nearest that are among its k nearest in the picture.
    """

    trustworthiness: float
    kept: float
    k: int
    queries: int
    items: int

    @property
    def by_chance(self) -> float:
        """``kept`` of a random picture."""
        return self.k / (self.items - 1)


def as_compared(vectors: Float32, metric: Similarity) -> Float32:
    """``[n, d]`` as the metric sees it: for cosine, rows of length 1; a zero row stays zero."""
    return vectors if metric is Similarity.L2 else unit_vectors(vectors)


def are_constant(vectors: Float32) -> bool:
    """Whether the rows of ``[n, d]`` are all the same but for noise."""
    mean = column_means(vectors)
    spread, length = 0.0, 0.0
    for _, block in blocks(vectors):
        spread += float(((block - mean) ** 2).sum())
        length += float((block**2).sum())
    return bool(spread <= NOISE**2 * length * vectors.shape[1])


def principal_plane(vectors: Float32) -> Plane:
    """The plane of ``[n, d]``, n and d at least 1; a direction with noise only is 0.

    Raises:
        BlindspotError: the vectors are not all finite.
    """
    mean = column_means(vectors)
    axes = principal_axes(vectors, mean)
    coordinates = np.zeros((len(vectors), 2))
    explained = [0.0, 0.0]
    total = float(axes.variances.sum())
    for i in range(min(2, axes.rank)):
        direction = axes.directions[:, i]
        for part, block in blocks(vectors):
            coordinates[part, i] = (block - mean) @ direction
        explained[i] = float(axes.variances[i]) / total
    return Plane(coordinates, (explained[0], explained[1]))


def quality(vectors: Float32, metric: Similarity, picture: Float64, k: int, queries: Int64) -> Quality:
    """Trustworthiness and the share of true neighbors kept, in float64.

    With all items as queries the trustworthiness is scikit-learn's. Ties go to the lower number.

    Args:
        vectors: ``[n, d]``.
        picture: ``[n, 2]``, finite.
        k: 1 to n - 1.
        queries: ``[q]``, distinct rows; each is compared with all n.
    """
    n = len(vectors)
    if not 1 <= k <= n - 1:
        raise ValueError(f"k is {k}, with {n} items it must be 1 to {n - 1}")
    space = np.asarray(as_compared(vectors, metric), dtype=np.float64)
    too_far, kept = 0, 0
    at_once = max(1, VALUES_AT_ONCE // n)
    for start in range(0, len(queries), at_once):
        asked = queries[start : start + at_once]
        rows = np.arange(len(asked))
        true = _distances(space, asked)
        seen = _distances(picture, asked)
        true[rows, asked] = seen[rows, asked] = np.inf
        for neighbor in _nearest(seen, k).T:
            distance = true[rows, neighbor][:, np.newaxis]
            ties = (true == distance) & (np.arange(n) < neighbor[:, np.newaxis])
            rank = 1 + (true < distance).sum(axis=1) + ties.sum(axis=1)  # in the full space
            too_far += int(np.maximum(rank - k, 0).sum())
            kept += int((rank <= k).sum())
    worst = len(queries) * k * (2 * n - 3 * k - 1)
    trust = 1.0 - 2.0 * too_far / worst if k < n / 2 else float("nan")
    return Quality(trust, kept / (len(queries) * k), k, len(queries), n)


def _nearest(distances: Float64, k: int) -> Int64:
    """Columns of the k smallest of each row, ``[q, k]``; ties go to the lower number."""
    farthest = np.partition(distances, k - 1, axis=1)[:, k - 1]
    out = np.empty((len(distances), k), dtype=np.int64)
    for i, row in enumerate(distances):
        candidates = np.flatnonzero(row <= farthest[i])
        out[i] = candidates[np.argsort(row[candidates], kind="stable")[:k]]
    return out


def _distances(points: Float64, asked: Int64) -> Float64:
    """Squared Euclidean distances from some rows to all, ``[q, n]``; of unit vectors they order as cosines."""
    squares = np.einsum("nd,nd->n", points, points)
    out = squares[np.newaxis, :] + squares[asked][:, np.newaxis] - 2.0 * (points[asked] @ points.T)
    return np.asarray(np.maximum(out, 0.0))


def clusters(vectors: Float32, k: int, seed: int) -> Int64:
    """k-means of ``[n, d]``, k from 1 to n: each row's cluster, ``[n] int64``, 0 being the largest."""
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning

    if not 1 <= k <= len(vectors):
        raise ValueError(f"k is {k}, with {len(vectors)} items it must be 1 to {len(vectors)}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer distinct vectors than k
        labels = KMeans(k, n_init=1, random_state=seed).fit_predict(np.ascontiguousarray(vectors))
    sizes = np.bincount(labels, minlength=k)
    number_of = np.empty(k, dtype=np.int64)
    number_of[np.argsort(-sizes, kind="stable")] = np.arange(k)
    return np.asarray(number_of[labels])
