"""Rows on one side of products that take a fraction of the time, with bounds on how far the products are off.

Products of 8-bit codes (``blindspot.numerics.coarse``) tell most items apart; the others are multiplied in float32.
Bounds hold for any rounding, so what is multiplied decides only how fast it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from blindspot.numerics import coarse, flagging
from blindspot.numerics.coarse import Coded
from blindspot.types import Float32, Float64, UInt64

_ROUNDING = 1.0 + 2.0**-20  # of bounds
# More than what rounding to float32 adds to a score of rows no longer than 2 (unit rows less their origin), its terms
# and its bounds. Products of codes are exact up to a dimension of 1,040, and rounded once beyond.
_OFF = 2.0**-17


@dataclass(frozen=True, eq=False)
class Side:
    """Rows on one side of a product.

    A score is the product of the rows or, with codes, the products of the codes and of the heads. It is off by at most
    ``rest * rest`` of both sides, plus the left's ``off``; and the left's ``shift`` is still to be added.

    Attributes:
        rows: ``[k, d] float32``.
        codes: multiplied in place of the rows; None for the rows themselves.
        head: ``[k] float32``; the product of heads is added to the product of codes.
        rest: ``[k] float32``.
        off: at least 0.
        shift: ``[k] float64``.
    """

    rows: Float32
    codes: Coded | None
    head: Float32
    rest: Float32
    off: float
    shift: Float64

    @cached_property
    def right_terms(self) -> Float32:
        """The rows' terms of scores where they are columns."""
        if self.codes is None:
            return flagging.right_terms(self.rest)
        return flagging.right_terms(self.rest, self.codes.steps, self.head)

    def flag_products(self, right: Side, low: Float32, high: Float32 | float) -> UInt64:
        """Compare scores of codes with ``right``, without the shift, with two bounds of their row, ``[k]``.

        Returns:
            Flags, see ``flagging.flag_scores``.
        """
        assert self.codes is not None and right.codes is not None  # noqa: S101, PT018 - callers see to it
        terms = flagging.left_terms(low, high, rest=self.rest, step=self.codes.steps, head=self.head)
        return coarse.flag_products(self.codes, right.codes, self.rows.shape[1], terms, right.right_terms)

    def flag_scores(self, right: Side, low: Float32, high: Float32 | float, scores: Float32) -> UInt64:
        """As ``flag_products``, but for ``scores [k, whole strips]`` of rows."""
        return flagging.flag_scores(scores, flagging.left_terms(low, high, rest=self.rest), right.right_terms)


def whole_side(rows: Float32) -> Side:
    """``rows [k, d] float32``, multiplied as they are: no bound is needed."""
    k = len(rows)
    return Side(rows, None, np.empty(0, dtype=np.float32), np.zeros(k, dtype=np.float32), 0.0, np.zeros(k))


def coded_side(rows: Float32, origin: Float32, *, is_left: bool) -> Side:
    """Codes of ``rows [k, d] float32``, no longer than 1, less ``origin [d] float32``, around which they lie.

    With m as origin and x = x' + m, x.y is x'.y' + m.x' + m.y' + |m|^2.
    """
    from blindspot.numerics.kernels import code_around

    k = len(rows)
    codes, along = coarse.no_codes(rows), np.empty(k)
    code_around(rows, origin, codes.codes, codes.steps, codes.errors, codes.lengths, along)
    square = float(origin.astype(np.float64) @ origin.astype(np.float64))
    head, shift = (np.ones(k), along + square) if is_left else (along, np.zeros(k))
    return Side(rows, codes, head.astype(np.float32), _up(codes.bounds), _OFF, shift)


def part_side(rows: Float32, left_out: Float32, slack: float, codes: Coded | None) -> Side:
    """First coordinates of rows, and codes of all but the very first.

    Args:
        rows: ``[k, width] float32``, within ``slack`` of the exact ones.
        left_out: ``[k] float32``, bounds on the lengths of what they leave out.
        codes: of these coordinates, or of more of them.
    """
    head, shift = np.ascontiguousarray(rows[:, 0]), np.zeros(len(rows))
    if codes is None:
        return Side(rows, None, head, left_out, slack, shift)
    return Side(rows, codes.first(rows.shape[1]), head, rest_of(left_out, codes), slack + _OFF, shift)


def rest_of(left_out: Float32, codes: Coded) -> Float32:
    """Bounds for products of codes of rows that leave out lengths ``left_out [k]``: a product of two rows is off by at
    most the product of their bounds, by Cauchy-Schwarz."""
    return _up(np.hypot(left_out, codes.bounds))


def _up(bounds: Float64) -> Float32:
    return (bounds * _ROUNDING).astype(np.float32)
