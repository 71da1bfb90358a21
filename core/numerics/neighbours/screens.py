"""Products that tell most items from the nearest ones of a query.

A query's nearest items have scores of at least a *floor*, which a sample suggests and which rises as items are found.
Products of 8-bit codes (``blindspot.numerics.coarse``) give every item an upper bound of its score; those whose bound
reaches the floor are multiplied in float32 (``blindspot.numerics.kernels.keep_above``). Bounds hold for any rounding,
so the choice decides only how fast it is.

Bounds from first principal coordinates, as for ranks (``blindspot.numerics.ranking.pruning``), do not pay here: the
100th neighbor is so far away that after half of the coordinates 3% to 11% of sentences are undecided, each of which
costs more than five in a large product, and of isotropic vectors all are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from blindspot.numerics import coarse
from blindspot.numerics.coarse import Coded
from blindspot.numerics.ranking.pruning import AGAIN, CODED, FLOAT
from blindspot.numerics.similarity import row_norms
from blindspot.types import Float32, Float64

_NO_PRODUCTS, _NO_STEPS = np.empty((0, 0), dtype=np.int32), np.empty(0, dtype=np.float32)


@dataclass(frozen=True, eq=False)
class Side:
    """Rows on one side of a product.

    Attributes:
        whole: ``[k, d] float32``, the rows.
        codes: what is multiplied in their place; None for the rows themselves.
        rest: ``[k] float32``: a product is off by at most ``rest`` times the other side's, plus the left's ``off``.
            Empty for whole products, which need no bound.
        off: ``[k] float64``.
        shift: ``[k] float32``, with codes: added to a product, for either side.
    """

    whole: Float32
    codes: Coded | None
    rest: Float32
    off: Float64
    shift: Float32


def whole_side(rows: Float32) -> Side:
    """``rows [k, d] float32``, to be multiplied as they are."""
    return Side(rows, None, _NO_STEPS, np.zeros(len(rows)), _NO_STEPS)


def coded_side(rows: Float32, origin: Float32, *, is_left: bool) -> Side:
    """Codes of ``rows [k, d] float32``, no longer than 1, less ``origin [d] float32``, around which they lie.

    With m as origin, x = x' + m and codes x", x.y is x'.y' + m.x' + m.y' + |m|^2, and x'.y' - x".y" at most
    |x' - x"| |y'| + (|x'| + |x' - x"|) |y' - y"|. No y' is longer than 1 + |m|. The last term covers the rounding of
    x', of scores and of bounds, and lengths a little above 1.
    """
    moved = rows - origin
    codes, wide = coarse.coded(moved), origin.astype(np.float64)
    length = float(np.linalg.norm(wide))
    shift = np.asarray(moved @ wide + (length**2 if is_left else 0.0), dtype=np.float32)
    rest = (row_norms(moved) + codes.errors if is_left else codes.errors) * (1.0 + 2.0**-20)
    return Side(rows, codes, rest.astype(np.float32), codes.errors * (1.0 + length) + 2.0**-17, shift)


class Kept:
    """The highest scores of some queries so far.

    Attributes:
        scores, items: ``[q, w]``, min-heaps with the items' numbers; ``filled [q]`` of their places are taken.
        floors: ``[q] float32``; items with lower scores are left out.
    """

    def __init__(self, floors: Float32, width: int) -> None:
        self.floors = floors
        self.scores = np.full((len(floors), width), -np.inf, dtype=np.float32)
        self.items = np.zeros((len(floors), width), dtype=np.int64)
        self.filled = np.zeros(len(floors), dtype=np.int64)

    def add(self, left: Side, right: Side, halves: Float32, first_item: int, memory: Float32) -> None:
        """Keep the highest among the items of ``right``, which begin with ``first_item``.

        Args:
            halves: subtracted from whole products; empty for none.
            memory: for the products.
        """
        from blindspot.numerics.kernels import keep_above

        shape = len(left.whole), len(right.whole)
        scores = memory[: shape[0] * shape[1]].reshape(shape)
        if left.codes is not None and right.codes is not None:
            products = scores.view(np.int32)
            coarse.multiply(left.codes, right.codes, products)
            of_codes = products, left.codes.steps, right.codes.steps, left.shift, right.shift
        else:
            np.matmul(left.whole, right.whole.T, out=scores)
            of_codes = _NO_PRODUCTS, _NO_STEPS, _NO_STEPS, _NO_STEPS, _NO_STEPS
        bounds = left.rest, right.rest, left.off
        heaps = self.scores, self.items, self.filled, self.floors
        keep_above(scores, *of_codes, *bounds, left.whole, right.whole, halves, first_item, *heaps)


def codes_pay(queries: Float32, items: Float32, floors: Float32, origin: Float32) -> bool:
    """Whether codes leave so few items that they are likely to be faster than whole products, by samples of unit rows.

    ``queries`` are ``[s, d]``, ``items [t, d]``; ``floors [s]`` are about the scores of the lowest that are kept.
    """
    dimension = items.shape[1]
    left, right = coded_side(queries, origin, is_left=True), coded_side(items, origin, is_left=False)
    bounds = queries @ items.T + np.outer(left.rest, right.rest) + left.off[:, np.newaxis]
    reached = np.count_nonzero(bounds >= floors[:, np.newaxis]) / bounds.size
    coded = (CODED[0] + AGAIN * reached) * dimension + CODED[1]
    return bool(coded < FLOAT[0] * dimension + FLOAT[1])
