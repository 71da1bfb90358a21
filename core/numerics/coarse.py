"""Products of vectors in whole steps of 8 bits: four times as fast as float32 where the processor is made for them.

What a product may be off by follows from what the steps leave out of each row, which is measured, so that a screening
by such products misses nothing (``core.numerics.ranking.ranks``).
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING

import numpy as np

from core.types import Float32, Float64, Int8, Int32

if TYPE_CHECKING:
    import torch

# Sizes of the products that are timed, both ways, before one is chosen: about three milliseconds.
_TIMED = (256, 1_024, 384)
_TIMES = 3


@dataclass(frozen=True, eq=False)
class Coded:
    """Rows in whole steps.

    Attributes:
        codes: ``[k, d]``, -127 to 127.
        steps: ``[k]``, of each row; ``steps[i] * codes[i]`` is near row i.
        errors: ``[k]``, how long the difference is at most.
    """

    codes: Int8
    steps: Float32
    errors: Float64

    def part(self, rows: slice) -> Coded:
        return Coded(self.codes[rows], self.steps[rows], self.errors[rows])

    @cached_property
    def tensor(self) -> torch.Tensor:
        """The codes, in the same memory; torch is imported already."""
        import torch

        return torch.from_numpy(self.codes)

    @cached_property
    def farthest(self) -> float:
        """The largest of the errors."""
        return float(self.errors.max(initial=0.0))


def coded(rows: Float32) -> Coded:
    """``rows [k, d] float32``, no longer than 1, in 255 steps each."""
    from core.numerics.kernels import code_rows

    found = Coded(np.empty(rows.shape, dtype=np.int8), np.empty(len(rows), dtype=np.float32), np.empty(len(rows)))
    code_rows(rows, found.codes, found.steps, found.errors)
    return found


@dataclass(frozen=True, eq=False)
class TwoStepCoded:
    """Rows in whole steps, and what these leave out in whole steps that are much narrower.

    Attributes:
        first: as ``coded`` gives it.
        both: codes of the first and of the second steps side by side, ``[k, 2 d]``: on the left of a product in this
            order, on the right the other way round, so that what is multiplied is the first of one with the second of
            the other. Its errors are what both leave out.
    """

    first: Coded
    both: Coded

    def part(self, rows: slice) -> TwoStepCoded:
        return TwoStepCoded(self.first.part(rows), self.both.part(rows))


def two_step_coded(rows: Float32, *, is_right: bool) -> TwoStepCoded:
    """``rows [k, d] float32``, no longer than 1, for one side of a product."""
    from core.numerics.kernels import code_what_is_left

    first = coded(rows)
    second, errors = np.empty(rows.shape, dtype=np.int8), np.empty(len(rows))
    code_what_is_left(rows, first.codes, first.steps, second, errors)
    sides = (second, first.codes) if is_right else (first.codes, second)
    return TwoStepCoded(first, Coded(np.hstack(sides), first.steps, errors))


def slack_of_two_steps(left: TwoStepCoded, right: TwoStepCoded) -> float:
    """By how much a product of two such rows may be off; whole ones are exact.

    What is left out is the product of both second steps, which are no longer than what the first ones leave out and
    their own error, and what ``core.numerics.kernels.slack_of_codes`` says of the errors; rounding as there.
    """
    x, y = left.both.farthest, right.both.farthest
    seconds = (left.first.farthest + x) * (right.first.farthest + y)
    return seconds + x + (1.0 + x) * y + 2.0**-20 * (1.0 + x) * (1.0 + y)


def multiply(left: Coded, right: Coded, out: Int32) -> None:
    """Codes of ``left [q, d]`` times those of ``right [k, d]`` transposed, exactly, into ``out [q, k]``.

    torch is imported already.
    """
    import torch

    if left.codes.shape[1] == 1:  # for one column torch 2.13 writes nothing
        np.multiply(left.codes, right.codes.T, out=out, dtype=np.int32)
    else:
        torch._int_mm(left.tensor, right.tensor.t(), out=torch.from_numpy(out))


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
