"""Products that tell most items from the nearest ones of a query.

A query's nearest items have scores of at least a *floor*, which a sample suggests and which rises as items are found.
Products of 8-bit codes (``blindspot.numerics.coarse``) give every item an upper bound of its score; those whose bound
reaches the floor are multiplied in float32 (``blindspot.numerics.kernels.keep_above``). Bounds hold for any rounding,
so the choice decides only how fast it is.

Bounds from first principal coordinates, as for ranks (``blindspot.numerics.ranking.pruning``), do not pay here: the
100th neighbor is so far away that after half of the coordinates 3% to 11% of sentences are undecided, each of which
costs more than five in a large product; with isotropic vectors all items are undecided.
"""

from __future__ import annotations

import numpy as np

from blindspot.numerics import flagging
from blindspot.numerics.ranking.pruning import AGAIN, CODED, FLOAT
from blindspot.numerics.sides import Side, coded_side
from blindspot.types import Float32, UInt64

_NO_SCORES = np.empty((0, 0), dtype=np.float32)


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

    def low(self, left: Side) -> Float32:
        """Scores without the shift, ``[q]``, that only items at or above the floor can have."""
        return np.asarray(np.nextafter((self.floors - left.off - left.shift).astype(np.float32), np.float32(-np.inf)))

    def add(self, left: Side, right: Side, halves: Float32, first_item: int, memory: Float32) -> None:
        """Keep the highest among the items of ``right``, which begin with ``first_item``.

        Args:
            halves: subtracted from whole products; empty for none.
            memory: for scores of rows.
        """
        if left.codes is not None:
            self.take(left, right, first_item, left.flag_products(right, self.low(left), np.inf))
            return
        scores = flagging.in_room(memory, len(left.rows), len(right.rows))
        products = np.matmul(left.rows, right.rows.T, out=scores[:, : len(right.rows)])
        if len(halves):
            products -= halves
        self.take(left, right, first_item, left.flag_scores(right, self.low(left), np.inf, scores), scores)

    def take(self, left: Side, right: Side, first_item: int, flags: UInt64, scores: Float32 = _NO_SCORES) -> None:
        """Keep the highest of the items that ``flags`` name; ``scores`` are of the rows, or empty."""
        from blindspot.numerics.kernels import keep_above

        heaps = self.scores, self.items, self.filled, self.floors
        keep_above(scores, flags, left.rows, right.rows, first_item, *heaps)


def guessed_floors(
    queries: Float32, sample: Float32, halves: Float32, wanted: int, n: int, deviations: float = 2.5
) -> Float32:
    """Scores ``[q]`` that more than ``wanted`` of n items are likely to reach; -inf where no guess pays.

    Args:
        deviations: standard deviations by which the sample may have more of the wanted items than expected; with 2.5,
            the floors of one query in a hundred are reached by too few items.
        queries: ``[q, d]``, prepared for multiplication.
        sample: ``[s, d]``, some of the items.
        halves: ``[s]``, subtracted from their products; empty for none.
    """
    expected = wanted * len(sample) / n  # wanted items in the sample
    last = int(expected + deviations * np.sqrt(expected)) + 1
    if 4 * last > len(sample):
        return np.full(len(queries), -np.inf, dtype=np.float32)
    scores = queries @ sample.T
    if len(halves):
        scores -= halves
    scores.partition(len(sample) - last, axis=1)
    return np.ascontiguousarray(scores[:, len(sample) - last])


def codes_pay(queries: Float32, items: Float32, floors: Float32, origin: Float32) -> bool:
    """Whether codes leave so few items that they are likely to be faster than whole products, by samples of unit rows.

    ``queries`` are ``[s, d]``, ``items [t, d]``; ``floors [s]`` are about the lowest scores that are kept.
    """
    dimension = items.shape[1]
    left, right = coded_side(queries, origin, is_left=True), coded_side(items, origin, is_left=False)
    bounds = queries @ items.T + np.outer(left.rest, right.rest) + left.off
    reached = np.count_nonzero(bounds >= floors[:, np.newaxis]) / bounds.size
    coded = (CODED[0] + AGAIN * reached) * dimension + CODED[1]
    return bool(coded < FLOAT[0] * dimension + FLOAT[1])
