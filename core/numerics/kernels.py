"""Compiled loops. Import only inside functions that run in a worker: numba takes a second to import.

numba's threading layer does not allow two parallel calls at once, so every call holds ``KERNEL_LOCK``.
"""

from __future__ import annotations

import threading

import numba
import numpy as np

from core.types import Float32, Float64, Int64

KERNEL_LOCK = threading.Lock()
_BLOCK = 512  # columns counted before deciding whether any of them needs a closer look


@numba.njit(cache=True)  # type: ignore[untyped-decorator]
def _exact_similarity(x: Float32, y: Float32, x_norm: float, y_norm: float, cosine: bool) -> float:
    total = 0.0
    if cosine:
        if x_norm == 0.0 or y_norm == 0.0:
            return 0.0
        for k in range(x.shape[0]):
            total += np.float64(x[k]) * np.float64(y[k])
        return float(total / (x_norm * y_norm))
    for k in range(x.shape[0]):
        difference = np.float64(x[k]) - np.float64(y[k])
        total += difference * difference
    return float(1.0 / (1.0 + np.sqrt(total)))


@numba.njit(cache=True)  # type: ignore[untyped-decorator]
def _count(block: Float32, halves: Float32, low: np.float32, high: np.float32) -> tuple[np.int32, np.int32]:
    """How many scores are above ``high``, and how many not below ``low``; compiled to vector instructions."""
    above, not_below = np.int32(0), np.int32(0)
    for c in range(len(block)):
        score = block[c] - halves[c]
        above += np.int32(score > high)
        not_below += np.int32(score >= low)
    return above, not_below


@numba.njit(parallel=True, cache=True)  # type: ignore[untyped-decorator]
def count_above_and_tied(
    scores: Float32,
    half_squares: Float32,
    first_item: int,
    matrix: Float32,
    norms: Float64,
    cosine: bool,
    tau: float,
    query_items: Int64,
    pair_starts: Int64,
    pair_mates: Int64,
    pair_similarity: Float64,
    pair_low: Float32,
    pair_high: Float32,
    greater: Int64,
    ties: Int64,
) -> None:
    """Add one tile of scores to the counts of every pair whose query is a row of the tile.

    ``scores`` is ``[rows, columns] float32``, approximate; column c is item ``first_item + c`` and row r
    is query item ``query_items[r]``, whose pairs are ``pair_starts[r]:pair_starts[r + 1]``. A score (less
    ``half_squares[c]``) above ``pair_high`` is surely greater, one below ``pair_low`` surely smaller
    than the mate's; what lies between is computed again in float64 from ``matrix``.
    ``greater`` and ``ties`` are ``[pairs] int64`` and are added to.
    """
    columns = scores.shape[1]
    for row in numba.prange(scores.shape[0]):
        x = query_items[row]
        if first_item <= x < first_item + columns:
            scores[row, x - first_item] = -np.inf  # the query is no candidate of its own
        for pair in range(pair_starts[row], pair_starts[row + 1]):
            low, high = pair_low[pair], pair_high[pair]
            mate, similarity = pair_mates[pair], pair_similarity[pair]
            n_greater, n_ties = 0, 0
            for start in range(0, columns, _BLOCK):
                block = scores[row, start : start + _BLOCK]
                halves = half_squares[start : start + _BLOCK]
                above, not_below = _count(block, halves, low, high)
                n_greater += above
                if above == not_below:
                    continue
                for c in range(len(block)):
                    j = first_item + start + c
                    if low <= block[c] - halves[c] <= high and j != mate:
                        exact = _exact_similarity(matrix[x], matrix[j], norms[x], norms[j], cosine)
                        if exact > similarity + tau:
                            n_greater += 1
                        elif exact >= similarity - tau:
                            n_ties += 1
            greater[pair] += n_greater
            ties[pair] += n_ties
