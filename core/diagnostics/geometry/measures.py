"""The shape of a space: alignment, uniformity (Wang and Isola 2020), anisotropy, hubness of a sample (DESIGN 4.5).

All are of *unit* vectors, so that the squared distance of two is ``2 - 2 cos``. A zero vector has no direction: its
cosine with anything is 0 by convention, and its squared distance 2, as of two that have nothing to do with each other.
"""

from __future__ import annotations

import numpy as np

from core.numerics.neighbours.hubness import skewness
from core.numerics.neighbours.occurrences import k_occurrence
from core.numerics.similarity import Metric, mean_cosine, similarity_of_pairs, unit_rows
from core.types import Bool, Float32, Float64, Int32, Int64

ROWS_AT_ONCE = 512  # of the products of all pairs: 20 MB of float64 with 5,000 others


def squared_distances(matrix: Float32 | Float64, left: Int32 | Int64, right: Int32 | Int64) -> Float64:
    """``||x - y||^2`` of the unit vectors of rows ``left[i]`` and ``right[i]`` of ``[n, d]``, as ``[m] float64``.

    Never below 0, where rounding would put the distance of equal vectors.
    """
    return np.asarray(np.maximum(2.0 - 2.0 * similarity_of_pairs(matrix, left, right, Metric.COS), 0.0))


def uniformity(matrix: Float32 | Float64, rows: Int64) -> float:
    """``log E exp(-2 ||x - y||^2)`` over all pairs of two different rows, exactly, in float64.

    Args:
        rows: ``[q] int64``, none twice; NaN for fewer than two, which make no pair.
    """
    n = len(rows)
    if n < 2:
        return float("nan")
    units = unit_rows(matrix, rows)
    total = 0.0
    for start in range(0, n, ROWS_AT_ONCE):
        block = units[start : start + ROWS_AT_ONCE]
        # Each pair once: those of the block with what comes after it, and those within it.
        total += float(np.exp(4.0 * (block @ units[start + len(block) :].T) - 4.0).sum())
        within = np.exp(4.0 * (block @ block.T) - 4.0)
        total += float(np.triu(within, 1).sum())
    return float(np.log(total / (n * (n - 1) / 2)))


def anisotropy(matrix: Float32 | Float64) -> float:
    """Mean cosine of all pairs of two different rows of ``[n, d]``, exactly; NaN for fewer than two rows.

    The mean over all pairs is the squared length of the mean direction; those of a row with itself, 1 each (0 of a
    zero vector), are taken out.
    """
    n = len(matrix)
    if n < 2:
        return float("nan")
    rows = np.arange(n, dtype=np.int64)
    with_direction = int(np.count_nonzero(_has_direction(matrix)))
    return (mean_cosine(matrix, rows, rows) * n * n - with_direction) / (n * (n - 1))


def sample(n: int, most: int, seed: int) -> Int64:
    """All of n rows, or ``most`` of them drawn without replacement; ascending, ``[min(n, most)] int64``."""
    if n <= most:
        return np.arange(n, dtype=np.int64)
    return np.sort(np.random.default_rng(seed).choice(n, most, replace=False)).astype(np.int64)


def hubness(matrix: Float32, rows: Int64, k: int, metric: Metric) -> float:
    """Skewness of the k-occurrence among some rows of ``[n, d]``: they are both asked and listed.

    NaN where k is not below the number of rows, or all occur equally often. With cosine, rows without a direction
    are left out: they are nobody's neighbours.
    """
    among = np.asarray(matrix[rows], dtype=np.float32)
    if metric is Metric.COS:
        among = among[_has_direction(among)]
    if k >= len(among):
        return float("nan")
    return skewness(k_occurrence(among, np.arange(len(among), dtype=np.int64), k, metric))


def _has_direction(matrix: Float32 | Float64, rows_at_once: int = 8_192) -> Bool:
    out = np.empty(len(matrix), dtype=np.bool_)
    for start in range(0, len(matrix), rows_at_once):
        out[start : start + rows_at_once] = np.asarray(matrix[start : start + rows_at_once]).any(axis=1)
    return out
