"""Products of vectors in whole steps of 8 bits: four times as fast as float32 where the processor is made for them.

What a product may be off by follows from what the steps leave out of each row, which is measured, so that a screening
by such products misses nothing (``core.numerics.ranking``).
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache

import numpy as np

from core.types import Float32, Float64, Int8, Int32

# Sizes of the products that are timed, both ways, before one is chosen: about three milliseconds.
_TIMED = (256, 1_024, 384)
_TIMES = 3


@dataclass(frozen=True, eq=False)
class Coded:
    """Rows in whole steps.

    Attributes:
        codes: ``[k, d]``, -127 to 127.
        steps: ``[k]``, of each row; ``steps[i] * codes[i]`` is near row i.
        errors: ``[k]``, the length of the difference.
    """

    codes: Int8
    steps: Float32
    errors: Float64

    def part(self, rows: slice) -> Coded:
        return Coded(self.codes[rows], self.steps[rows], self.errors[rows])


def coded(rows: Float32) -> Coded:
    """``rows [k, d] float32`` in 255 steps each."""
    from core.numerics.kernels import code_rows

    found = Coded(np.empty(rows.shape, dtype=np.int8), np.empty(len(rows), dtype=np.float32), np.empty(len(rows)))
    code_rows(rows, found.codes, found.steps, found.errors)
    return found


def slack_of_codes(left: Coded, right: Coded) -> Float64:
    """``[left rows]``: by how much a product of rows no longer than 1 may be off, with whichever row of ``right``.

    ``x.y - x'.y'`` is ``(x - x').y + x'.(y - y')``, and ``x'`` is no longer than 1 and its own error. Whole products
    are exact; the last term covers their rounding to float32 from a dimension of 1,040 on, and that of the scores.
    """
    farthest = float(right.errors.max(initial=0.0))
    rounding = 2.0**-20 * (1.0 + farthest)
    return np.asarray(left.errors + (1.0 + left.errors) * farthest + rounding)


def multiply(left: Int8, right: Int8, out: Int32) -> None:
    """``left [q, d]`` times ``right [k, d]`` transposed, exactly, into ``out [q, k]``; torch is imported already."""
    import torch

    if left.shape[1] == 1:  # for one column torch 2.13 writes nothing
        np.multiply(left, right.T, out=out, dtype=np.int32)
    else:
        torch._int_mm(torch.from_numpy(left), torch.from_numpy(right).t(), out=torch.from_numpy(out))


@contextmanager
def one_thread() -> Iterator[None]:
    """Within it torch's products compute on the thread that calls them; other threads are left as they are."""
    import torch
    from threadpoolctl import threadpool_limits

    torch.get_num_threads()  # makes torch set this thread's number now rather than over the next line's
    with threadpool_limits(1, user_api="openmp"):
        yield


def pays() -> bool:
    """Whether products of codes are faster here than those of float32, by at least half.

    Only asked where BLAS has one thread, and of a process that has torch: to import it takes longer than most rankings.
    """
    return "torch" in sys.modules and _is_faster()


@cache
def _is_faster() -> bool:
    """Timed once in a process. As torch does not promise the function, its products are looked at, too."""
    m, n, d = _TIMED
    codes = np.random.default_rng(0).integers(-127, 128, (m + n, d), dtype=np.int8)
    rows = codes.astype(np.float32)
    whole, floats = np.empty((m, n), dtype=np.int32), np.empty((m, n), dtype=np.float32)

    def of_codes() -> None:
        multiply(codes[:m], codes[m:], whole)

    def of_floats() -> None:
        np.matmul(rows[:m], rows[m:].T, out=floats)  # exact, too: whole numbers below 2^24

    with one_thread():
        seconds = [min(_seconds(way) for _ in range(_TIMES)) for way in (of_codes, of_floats)]
    return seconds[0] * 1.5 < seconds[1] and bool(np.all(whole == floats))


def _seconds(way: Callable[[], None]) -> float:
    start = time.perf_counter()
    way()
    return time.perf_counter() - start
