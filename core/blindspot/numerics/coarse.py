"""Quantized products of vectors (int8): four times as fast as float32 on processors with instructions for them.

The error of a product is bounded by each row's quantization error, which is measured. So screening by such products
misses nothing (``blindspot.numerics.ranking.ranks``).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np

from blindspot.numerics import flagging
from blindspot.types import Float32, Float64, Int8, Int32, UInt8, UInt64

# Sizes of the products that are timed, both ways, before one is chosen: about three milliseconds.
_TIMED = (256, 1_024, 384)
_TIMES = 3
_QUAD = 4  # codes of a row that are multiplied and added at once
_BALANCE = 1 / 12  # any number is valid; the square root of a usual row's error over its length gives narrow bounds


@dataclass(frozen=True, eq=False)
class Coded:
    """Quantized rows.

    Attributes:
        codes: ``[k, d]``, -127 to 127.
        steps: ``[k]``, step of each row; ``steps[i] * codes[i]`` approximates row i.
        errors: ``[k]``, upper bounds on the length of the difference.
        lengths: ``[k]``, of the rows.
    """

    codes: Int8
    steps: Float32
    errors: Float64
    lengths: Float64

    def first(self, width: int) -> Coded:
        """Rows with at least the first ``width`` codes, for products of just that many.

        Codes are multiplied four at a time. If ``width`` is a multiple of four, further codes are kept, so that rows
        are packed once for all such widths; else they are left out.
        """
        if width % _QUAD == 0:
            return self
        return Coded(np.ascontiguousarray(self.codes[:, :width]), self.steps, self.errors, self.lengths)

    @cached_property
    def shifted(self) -> UInt8:
        """The codes plus 128, as the left side of a product: ``[k, d rounded up to a multiple of 4]``."""
        k, d = self.codes.shape
        codes = np.zeros((k, -(-d // _QUAD) * _QUAD), dtype=np.uint8)
        np.bitwise_xor(self.codes.view(np.uint8), np.uint8(128), out=codes[:, :d])
        return codes

    @cached_property
    def packed(self) -> Int8:
        """The codes as the right side of a product, see ``flag_kernels.flag_products``: ``[strips, quads, 64, 4]``."""
        k, d = self.codes.shape
        strips, quads = flagging.strips(k), -(-d // _QUAD)
        rows = np.zeros((strips * flagging.STRIP, quads * _QUAD), dtype=np.int8)
        rows[:k, :d] = self.codes
        by_quad = rows.view(np.int32).reshape(strips, flagging.STRIP, quads).transpose(0, 2, 1)
        return np.ascontiguousarray(by_quad).view(np.int8).reshape(strips, quads, flagging.STRIP, _QUAD)

    def starts(self, width: int) -> Int32:
        """Start values for sums of products with the first ``width`` of ``shifted``, whose codes are 128 too large."""
        from blindspot.numerics.kernels import sum_codes

        sums = np.zeros(flagging.strips(len(self.codes)) * flagging.STRIP, dtype=np.int32)
        sum_codes(self.codes, width, sums)
        sums *= -128
        return sums

    @cached_property
    def bounds(self) -> Float64:
        """``[k]``; a product of two rows' codes, times the rows' steps, is off by at most the product of their bounds.

        ``x.y - x'.y'`` is ``(x - x').y + x'.(y - y')``, and ``x'`` is no longer than x plus its error: at most ``e_x
        (l_y + e_y) + (l_x + e_x) e_y``. By Cauchy-Schwarz that is at most the length of ``(e_x / b, b (l_x + e_x))``
        times that of y, for any b. Products of fewer codes are off by no more.
        """
        longest = self.lengths * (1.0 + 2.0**-20) + self.errors
        return np.hypot(self.errors / _BALANCE, longest * _BALANCE)


def coded(rows: Float32) -> Coded:
    """``rows [k, d] float32`` of length at most 1, quantized to 255 steps each."""
    from blindspot.numerics.kernels import code_rows

    codes = no_codes(rows)
    code_rows(rows, codes.codes, codes.steps, codes.errors, codes.lengths)
    return codes


def no_codes(rows: Float32) -> Coded:
    """Memory for the codes of rows."""
    k = len(rows)
    return Coded(np.empty(rows.shape, dtype=np.int8), np.empty(k, dtype=np.float32), np.empty(k), np.empty(k))


def flag_products(left: Coded, right: Coded, width: int, left_terms: Float32, right_terms: Float32) -> UInt64:
    """As ``flagging.flag_scores``, for scores by the first ``width`` codes; the scores are not kept."""
    from blindspot.numerics import flag_kernels

    flags = flagging.no_flags(len(left_terms), right_terms.shape[1] // flagging.STRIP)
    starts, quads = right.starts(width), -(-width // _QUAD)
    flag_kernels.flag_products(left.shifted, right.packed, starts, left_terms, right_terms, flags, quads)
    return flags


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

    Asked only where BLAS has one thread.
    """
    return _may_pay.get() and _is_faster()


@cache
def _is_faster() -> bool:
    """Time both once per process."""
    m, n, d = _TIMED
    codes = np.random.default_rng(0).integers(-127, 128, (m + n, d), dtype=np.int8)
    left, right = (
        Coded(part, np.ones(len(part), np.float32), *np.zeros((2, len(part)))) for part in (codes[:m], codes[m:])
    )
    rows, floats = codes.astype(np.float32), np.empty((m, n), dtype=np.float32)
    terms = flagging.left_terms(np.zeros(m, np.float32)), flagging.right_terms(np.zeros(n, np.float32))

    def of_codes() -> None:
        flag_products(left, right, d, *terms)

    def of_floats() -> None:
        np.matmul(rows[:m], rows[m:].T, out=floats)

    seconds = [min(_seconds(way) for _ in range(_TIMES)) for way in (of_codes, of_floats)]
    return seconds[0] * 1.5 < seconds[1]


def _seconds(way: Callable[[], None]) -> float:
    start = time.perf_counter()
    way()
    return time.perf_counter() - start
