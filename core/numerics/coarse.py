"""Quantized products of vectors (int8): four times as fast as float32 on processors with instructions for them.

The error of a product is bounded by each row's quantization error, which is measured. So screening by such products
misses nothing (``blindspot.numerics.ranking.ranks``).
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING

import numpy as np

from blindspot.types import Float32, Float64, Int8, Int32

if TYPE_CHECKING:
    import torch

# Sizes of the products that are timed, both ways, before one is chosen: about three milliseconds.
_TIMED = (256, 1_024, 384)
_TIMES = 3


@dataclass(frozen=True, eq=False)
class Coded:
    """Quantized rows.

    Attributes:
        codes: ``[k, d]``, -127 to 127.
        steps: ``[k]``, step of each row; ``steps[i] * codes[i]`` approximates row i.
        errors: ``[k]``, upper bounds on the length of the difference.
    """

    codes: Int8
    steps: Float32
    errors: Float64

    def part(self, rows: slice) -> Coded:
        return Coded(self.codes[rows], self.steps[rows], self.errors[rows])

    @cached_property
    def tensor(self) -> torch.Tensor:
        """The codes as a tensor on the same memory; torch is imported already."""
        import torch

        return torch.from_numpy(self.codes)

    @cached_property
    def farthest(self) -> float:
        """The largest of the errors."""
        return float(self.errors.max(initial=0.0))


def coded(rows: Float32) -> Coded:
    """``rows [k, d] float32`` of length at most 1, quantized to 255 steps each."""
    from blindspot.numerics.kernels import code_rows

    found = Coded(np.empty(rows.shape, dtype=np.int8), np.empty(len(rows), dtype=np.float32), np.empty(len(rows)))
    code_rows(rows, found.codes, found.steps, found.errors)
    return found


def multiply(left: Coded, right: Coded, out: Int32) -> None:
    """Codes of ``left [q, d]`` times those of ``right [k, d]`` transposed, exactly, into ``out [q, k]``.

    Slowly where torch is not imported.
    """
    if left.codes.shape[1] == 1:  # torch 2.13 writes nothing for a single column
        np.multiply(left.codes, right.codes.T, out=out, dtype=np.int32)
    elif "torch" not in sys.modules:
        np.matmul(left.codes, right.codes.T, out=out, dtype=np.int32)
    else:
        import torch

        torch._int_mm(left.tensor, right.tensor.t(), out=torch.from_numpy(out))


@contextmanager
def one_thread() -> Iterator[None]:
    """Context in which torch multiplies on the calling thread alone; other threads keep their settings."""
    import torch
    from threadpoolctl import threadpool_limits

    torch.get_num_threads()  # makes torch set this thread's number now rather than over the next line's
    with threadpool_limits(1, user_api="openmp"):
        yield


_may_pay = ContextVar("whether codes may be multiplied", default=True)


@contextmanager
def only_float32() -> Iterator[None]:
    """Context in which codes do not pay, as on processors without instructions for them."""
    before = _may_pay.set(False)
    try:
        yield
    finally:
        _may_pay.reset(before)


def pays() -> bool:
    """Whether products of codes are at least half as fast again as float32 products on this machine.

    Asked only where BLAS has one thread and torch is loaded: importing it takes longer than most rankings.
    """
    return _may_pay.get() and "torch" in sys.modules and _is_faster()


@cache
def _is_faster() -> bool:
    """Time both once per process. Products are checked too, since torch does not document the function."""
    m, n, d = _TIMED
    codes = np.random.default_rng(0).integers(-127, 128, (m + n, d), dtype=np.int8)
    left, right = (Coded(part, np.ones(len(part), np.float32), np.zeros(len(part))) for part in (codes[:m], codes[m:]))
    rows = codes.astype(np.float32)
    whole, floats = np.empty((m, n), dtype=np.int32), np.empty((m, n), dtype=np.float32)

    def of_codes() -> None:
        multiply(left, right, whole)

    def of_floats() -> None:
        np.matmul(rows[:m], rows[m:].T, out=floats)  # exact, too: whole numbers below 2^24

    with one_thread():
        seconds = [min(_seconds(way) for _ in range(_TIMES)) for way in (of_codes, of_floats)]
    return seconds[0] * 1.5 < seconds[1] and bool(np.all(whole == floats))


def _seconds(way: Callable[[], None]) -> float:
    start = time.perf_counter()
    way()
    return time.perf_counter() - start
