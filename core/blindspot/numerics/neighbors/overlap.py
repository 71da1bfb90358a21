"""Overlap of neighbor lists, and similarity of two spaces as a whole."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from blindspot.types import Float32, Float64, Int64

P = 0.9  # of rank-biased overlap: the first ten ranks carry 86% of the weight
LISTS_AT_ONCE = 512  # [lists, k, k] bool: 1.3 MB at k = 50
FEWEST_FOR_CKA = 4  # items; with fewer, the debiased estimator divides by zero


def shared_at_depths(a: Int64, b: Int64) -> Int64:
    """Number of items shared by the first d of two lists, for every depth d: ``[q, k] int64``, column d - 1 for d.

    Args:
        a, b: ``[q, k]``, the items of q lists each, best first, distinct within a list.
    """
    if a.shape != b.shape:
        raise ValueError(f"lists of shape {a.shape} cannot be compared with lists of shape {b.shape}")
    lists, k = a.shape
    counts = np.zeros((lists, k), dtype=np.int64)
    for start in range(0, lists, LISTS_AT_ONCE):
        part = slice(start, start + LISTS_AT_ONCE)
        which, in_a, in_b = np.nonzero(a[part, :, None] == b[part, None, :])
        # An item that is a's i-th and b's j-th is shared from depth max(i, j) on.
        np.add.at(counts, (which + start, np.maximum(in_a, in_b)), 1)
    return np.asarray(counts.cumsum(axis=1))


def jaccard(shared: Int64) -> Float64:
    """Items in both lists over items in either, at the last depth of ``shared`` (``[q, k]``): ``[q] float64``."""
    both = shared[:, -1]
    return np.asarray(both / (2 * shared.shape[1] - both))


def rank_biased_overlap(shared: Int64, p: float = P) -> Float64:
    """Extrapolated rank-biased overlap of lists of equal length without ties, ``[q] float64`` from 0 to 1.

    RBO_ext of Webber, Moffat and Zobel (2010), section 4: with X_d items shared at depth d of k,
    ``X_k/k p^k + (1 - p)/p sum_{d=1..k} X_d/d p^d``: ranks below the k-th are assumed to agree as the first k do.

    Args:
        shared: ``[q, k]``, see ``shared_at_depths``.
        p: probability that a reader continues from one rank to the next; 0 < p < 1.
    """
    if not 0 < p < 1:
        raise ValueError(f"p is {p}, but must be between 0 and 1")
    k = shared.shape[1]
    depths = np.arange(1, k + 1)
    agreement = shared / depths
    return np.asarray(agreement[:, -1] * p**k + (1 - p) / p * (agreement @ p**depths))


def linear_cka(x: Float32 | Float64, y: Float32 | Float64) -> float:
    """Debiased linear centered kernel alignment of two spaces over the same items; 1 for rotations of each other.

    ``HSIC(K, L) / sqrt(HSIC(K, K) HSIC(L, L))`` (Kornblith et al. 2019, section 3) with the unbiased estimator of HSIC
    (Song et al. 2012) over the Gram matrices K = XX', L = YY'; the biased one finds few items of many dimensions
    similar. It may be a little below 0. Computed in float64 without a Gram matrix: all terms follow from X'Y and from
    sums over rows.

    Args:
        x, y: ``[n, d]`` and ``[n, d']``, row by row for the same items.

    Returns:
        NaN if undefined: fewer than four items, or a space whose vectors do not vary.
    """
    if len(x) != len(y):
        raise ValueError(f"{len(x)} and {len(y)} rows cannot be of the same items")
    if len(x) < FEWEST_FOR_CKA:
        return float("nan")
    a, b = _Gram.of(x), _Gram.of(y)
    if a.is_constant or b.is_constant:
        return float("nan")
    norms = _hsic(a, a) * _hsic(b, b)
    return float(_hsic(a, b) / np.sqrt(norms)) if norms > 0 else float("nan")


@dataclass(frozen=True, eq=False)
class _Gram:
    """Implicit Gram matrix of centered rows, with its diagonal set to zero.

    Attributes:
        rows: ``[n, d] float64``, centered, which changes no term of the estimator, and scaled.
        diagonal: ``[n]``, the former diagonal.
        sums: ``[n]``, its row sums.
        is_constant: whether all rows are equal up to rounding.
    """

    rows: Float64
    diagonal: Float64
    sums: Float64
    is_constant: bool

    @classmethod
    def of(cls, matrix: Float32 | Float64) -> _Gram:
        wide = np.asarray(matrix, dtype=np.float64)
        rows = wide - wide.mean(axis=0)
        spread = float(np.abs(rows).max(initial=0.0))
        is_constant = spread <= 1e-6 * float(np.abs(wide).max(initial=0.0))
        if not is_constant:
            rows /= spread
        diagonal = np.einsum("nd,nd->n", rows, rows)
        return cls(rows, diagonal, rows @ rows.sum(axis=0) - diagonal, is_constant)


def _hsic(a: _Gram, b: _Gram) -> float:
    """The unbiased estimator times n (n - 3), which cancels in the ratio."""
    n = len(a.rows)
    cross = a.rows.T @ b.rows
    trace = float(np.einsum("ij,ij->", cross, cross)) - float(a.diagonal @ b.diagonal)
    total = float(a.sums.sum()) * float(b.sums.sum()) / ((n - 1) * (n - 2))
    return trace + total - 2 * float(a.sums @ b.sums) / (n - 2)


def order_of_disagreement(jaccards: Float64, rbo: Float64) -> Int64:
    """Indices of lists, least agreement first: by Jaccard, then rank-biased overlap, then index; ``[q] int64``."""
    return np.asarray(np.lexsort((np.arange(len(rbo)), rbo, jaccards)))


def in_how_many(lists: Int64) -> Int64:
    """Number of lists that contain each item of some variants' lists ``[v, k]``, as ``[v, k]``."""
    _, places, counts = np.unique(lists, return_inverse=True, return_counts=True)
    return np.asarray(counts[places.reshape(lists.shape)])
