"""Rows on one side of products that take a fraction of the time, with bounds on how far these are off.

Products of 8-bit codes (``blindspot.numerics.coarse``) tell most items apart; those that they do not are multiplied in
float32. Bounds hold for any rounding, so what is multiplied decides only how fast it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from blindspot.numerics import coarse, flagging
from blindspot.numerics.coarse import Coded
from blindspot.types import Float32, Float64, UInt64

_ROUNDING = 1.0 + 2.0**-20


@dataclass(frozen=True, eq=False)
class Side:
    """Rows on one side of a product.

    A product's score is that of the rows or, with codes, of these and of the heads. It is off by at most
    ``rest * rest`` of both sides, plus the left's ``off``, plus its ``gain`` times the right's ``farthest``; and the
    left's ``shift`` is still to be added.

    Attributes:
        rows: ``[k, d] float32``.
        codes: what is multiplied in their place; None for the rows themselves.
        head: ``[k] float32``, the product of which is added to that of codes.
        rest: ``[k] float32``.
        off, gain, shift: ``[k] float64``.
        farthest: at least 0.
    """

    rows: Float32
    codes: Coded | None
    head: Float32
    rest: Float32
    off: Float64
    gain: Float64
    shift: Float64
    farthest: float = 0.0

    @cached_property
    def right_terms(self) -> Float32:
        """What the rows have to do with scores as columns."""
        if self.codes is None:
            return flagging.right_terms(self.rest)
        return flagging.right_terms(self.rest, self.codes.steps, self.head)

    def offs(self, right: Side) -> Float64:
        """How far scores with ``right`` are off beside the rests, ``[k]``."""
        return self.off + self.gain * right.farthest if right.farthest else self.off

    def flag_products(self, right: Side, low: Float32, high: Float32 | float) -> UInt64:
        """Compare scores of codes with ``right``, without the shift, with two bounds of their row, ``[k]``.

        Returns:
            Flags, see ``flagging.flag_scores``.
        """
        assert self.codes is not None and right.codes is not None  # noqa: S101, PT018 - callers see to it
        terms = flagging.left_terms(low, high, rest=self.rest, step=self.codes.steps, head=self.head)
        return coarse.flag_products(self.codes, right.codes, self.rows.shape[1], terms, right.right_terms)

    def flag_scores(self, right: Side, low: Float32, high: Float32 | float, scores: Float32) -> UInt64:
        """The same of ``scores [k, whole strips]`` of rows."""
        return flagging.flag_scores(scores, flagging.left_terms(low, high, rest=self.rest), right.right_terms)


def whole_side(rows: Float32) -> Side:
    """``rows [k, d] float32``, multiplied as they are: no bound is needed."""
    nothing = np.zeros(len(rows))
    return Side(rows, None, np.empty(0, dtype=np.float32), nothing.astype(np.float32), nothing, nothing, nothing)


def coded_side(rows: Float32, origin: Float32, *, is_left: bool) -> Side:
    """Codes of ``rows [k, d] float32``, no longer than 1, less ``origin [d] float32``, around which they lie.

    With m as origin, x = x' + m and codes x", x.y is x'.y' + m.x' + m.y' + |m|^2, and x'.y' - x".y" at most
    |x' - x"| |y'| + (|x'| + |x' - x"|) |y' - y"|. No y' is longer than 1 + |m|. The last term covers the rounding of
    x', of scores and of bounds, and lengths a little above 1.
    """
    from blindspot.numerics.kernels import code_around

    k = len(rows)
    codes = Coded(np.empty(rows.shape, dtype=np.int8), np.empty(k, dtype=np.float32), np.empty(k))
    lengths, along = np.empty((2, k))
    code_around(rows, origin, codes.codes, codes.steps, codes.errors, lengths, along)
    square = float(origin.astype(np.float64) @ origin.astype(np.float64))
    if is_left:
        rest, head, shift = lengths + codes.errors, np.ones(k), along + square
    else:
        rest, head, shift = codes.errors, along, np.zeros(k)
    off = codes.errors * (1.0 + square**0.5) + 2.0**-17
    bound = (rest * _ROUNDING).astype(np.float32)
    return Side(rows, codes, head.astype(np.float32), bound, off, np.zeros(k), shift)


def part_side(rows: Float32, left_out: Float32, slack: float, codes: Coded | None) -> Side:
    """First coordinates of rows, and codes of all but the very first.

    Args:
        rows: ``[k, width] float32``, within ``slack`` of the exact ones.
        left_out: ``[k] float32``, bounds on the lengths of what they leave out.
        codes: of these coordinates, or of more of them: their errors are only larger.
    """
    k = len(rows)
    off, gain, farthest = np.full(k, slack), np.zeros(k), 0.0
    if codes is not None:
        codes, farthest = codes.first(rows.shape[1]), codes.farthest
        own, each = coarse.slack_of_codes(codes.errors)
        off, gain = off + own * (1.0 + slack), each * (1.0 + slack)
    return Side(rows, codes, np.ascontiguousarray(rows[:, 0]), left_out, off, gain, np.zeros(k), farthest)
