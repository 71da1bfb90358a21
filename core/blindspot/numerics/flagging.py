"""Scores of a tile, each compared with two bounds of its row (``blindspot.numerics.flag_kernels``).

Most items are certainly beyond one of them, so that only few are looked at one by one.
"""

from __future__ import annotations

import numpy as np

from blindspot.types import Float32, UInt64

STRIP = 64  # columns whose flags fill a word; memory for scores has room for whole strips


def strips(columns: int) -> int:
    """Number of strips that so many columns take."""
    return -(-columns // STRIP)


def room_for_scores(rows: int, columns: int) -> Float32:
    """Memory for scores, aligned with the processor's cache lines, which speeds up writing by up to half."""
    line, size = 64, rows * strips(columns) * STRIP * 4
    room = np.empty(size + line, dtype=np.uint8)
    start = -room.ctypes.data % line
    return room[start : start + size].view(np.float32)


def in_room(memory: Float32, rows: int, columns: int) -> Float32:
    """Such memory as ``[rows, whole strips]``."""
    width = strips(columns) * STRIP
    return memory[: rows * width].reshape(rows, width)


def left_terms(
    low: Float32,
    high: Float32 | float = np.inf,
    *,
    rest: Float32 | float = 0.0,
    step: Float32 | float = 1.0,
    head: Float32 | float = 0.0,
) -> Float32:
    """The rows' terms of scores, see ``flag_kernels.flag_products``; each argument is ``[q]``, or one value for all.

    Terms are in steps of the row, so that its products need not be multiplied by its step. A step of 0, which a row of
    zeros has, counts as 1.
    """
    terms = np.empty((len(low), 4), dtype=np.float32)
    terms[:, 0], terms[:, 1], terms[:, 2], terms[:, 3] = head, rest, low, high
    terms /= np.where(step == 0.0, np.float32(1.0), step)[..., np.newaxis]
    return terms


def right_terms(rest: Float32, step: Float32 | float = 1.0, head: Float32 | float = 0.0) -> Float32:
    """The columns' terms of scores, for whole strips; each argument is ``[k]``, or one value for all."""
    n = len(rest)
    terms = np.zeros((3, strips(n) * STRIP), dtype=np.float32)
    terms[0, :n], terms[1, :n], terms[2, :n] = step, head, rest
    terms[2, n:] = np.nan  # within no bound
    return terms


def no_flags(rows: int, strips: int) -> UInt64:
    """Memory for the flags of so many rows."""
    return np.empty((2, rows, strips), dtype=np.uint64)


def flag_scores(scores: Float32, left: Float32, right: Float32) -> UInt64:
    """How ``scores [q, whole strips]`` compare with the bounds of their rows.

    Returns:
        ``[2, q, strips]``: flags of columns that may reach the lower bound, and of those certainly above the higher
        one; bit b of word s is column ``64 s + b``.
    """
    from blindspot.numerics import flag_kernels

    flags = no_flags(len(scores), scores.shape[1] // STRIP)
    flag_kernels.flag_scores(scores, left, right, flags)
    return flags
