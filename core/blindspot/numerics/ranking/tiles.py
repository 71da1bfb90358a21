"""Counts of items above a match or tied with it, one tile of queries and items at a time (``ranks``)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np

from blindspot.numerics import flagging
from blindspot.numerics.neighbors.screens import Kept
from blindspot.numerics.ranking.problem import RankProblem
from blindspot.numerics.ranking.pruning import MOST_UNSURE, Part, Plan, Rotated
from blindspot.numerics.sides import Side, coded_side
from blindspot.numerics.similarity import Similarity
from blindspot.types import Float32, Int64, UInt64

# When to count by codes first: multiplications below which finding out whether codes are faster takes as long;
# dimensions below which counting rather than the product takes the time; and the largest share of items (one in so
# many) to recompute before a query is multiplied in float32.
FEWEST_CODED = 2_000_000_000
FEWEST_DIMENSIONS_CODED = 128
FEW_LINES = 32  # not multiplied together in float32: preparing the items for that would take longer than their products
_NO_SCORES, _NOTHING = np.empty((0, 0), dtype=np.float32), np.empty(0, dtype=np.float32)
_NO_COORDINATES = _NOTHING, _NOTHING, 0, 0.0, _NO_SCORES, _NO_SCORES, _NOTHING, _NOTHING


class QueryTile:
    """Some queries of a problem: ``rows`` of them, with their ``pairs``.

    Attributes:
        known: arguments for the counting kernels, in their order.
        part: the coordinates to compare by; None for whole products.
    """

    def __init__(self, problem: RankProblem, rows: slice, part: Part | None = None) -> None:
        self.rows = rows
        self.part = part
        self.pairs = slice(int(problem.pair_starts[rows.start]), int(problem.pair_starts[rows.stop]))
        starts = problem.pair_starts[rows.start : rows.stop + 1]
        low, high = problem.low[self.pairs], problem.high[self.pairs]
        matches, similarity = problem.pair_matches[self.pairs], problem.pair_similarity[self.pairs]
        self.known = (problem.query_items[rows], starts, matches, similarity, low, high)
        self._pairs = low, high, starts
        self._problem = problem

    def bounds(self, left: Side) -> tuple[Float32, Float32]:
        """Two bounds on each query's scores by products of ``left``, its side: below the first an item is certainly
        below all matches, above the second certainly above them."""
        from blindspot.numerics.kernels import bounds_of_pairs

        low, high = np.empty((2, len(left.rows)), dtype=np.float32)
        bounds_of_pairs(*self._pairs, left.shift, left.off, low, high)
        return low, high

    @cached_property
    def coded(self) -> Side:
        """Codes of the queries."""
        return coded_side(self._problem.left[self.rows], self._problem.origin, is_left=True)


class Tile:
    """Some items to compare queries with.

    Attributes:
        right: ``[items, d] float32``, their rows, prepared for multiplication.
        memory: for scores; at least the number of queries at a time, times the items.
    """

    def __init__(
        self, problem: RankProblem, items: slice, tau: float, memory: Float32, plan: Plan | None = None
    ) -> None:
        self.problem, self.items, self.memory = problem, items, memory
        self._plan, self._parts = plan, dict[int, Part]()
        self.right = problem.operand(items)
        self._half_squares = problem.half_squares(items)
        self._tau = tau

    def count(self, queries: QueryTile, above: Int64, tied: Int64, among: Int64 | None = None) -> None:
        """Add exact counts of the queries' pairs, using float32 products.

        Args:
            above, tied: ``[all pairs]``, added to.
            among: if given, count only these queries.
        """
        from blindspot.numerics.kernels import count_above_and_tied

        problem, left = self.problem, self.problem.left[queries.rows]
        if among is None:
            among = np.arange(len(left))
        else:
            left = left[among]
        scores = self.memory[: len(left) * len(self.right)].reshape(len(left), -1)
        np.matmul(left, self.right.T, out=scores)
        count_above_and_tied(
            scores,
            among,
            self._half_squares,
            self.items.start,
            problem.matrix,
            problem.norms,
            problem.metric is Similarity.COS,
            self._tau,
            *queries.known,
            above[queries.pairs],
            tied[queries.pairs],
        )

    @cached_property
    def _rotated(self) -> Rotated:
        assert self._plan is not None  # noqa: S101 - queries have parts only where there is a plan
        return self._plan.axes.rotate(self.right, self.problem.norms[self.items] * self.problem.factors[self.items])

    def count_by_part(self, queries: QueryTile, part: Part, above: Int64, tied: Int64) -> None:
        """As ``count``, from the product of the queries' ``part`` with the items' part of the same depth."""
        if part.depth not in self._parts:
            self._parts[part.depth] = Part(part.plan, self._rotated, part.depth)
        right = self._parts[part.depth]
        low, high = queries.bounds(part.side)
        if part.plan.has_codes:
            scores, flags = _NO_SCORES, part.side.flag_products(right.side, low, high)
        else:
            scores = flagging.in_room(self.memory, len(low), len(self.right))
            products = np.matmul(part.side.rows, right.side.rows.T, out=scores[:, : len(self.right)])
            if len(self._half_squares):
                products -= self._half_squares
            flags = part.side.flag_scores(right.side, low, high, scores)
        of_scores = part.side.rest, right.side.rest, part.side.rows.shape[1], part.plan.axes.slack
        of_all = part.all, right.all, part.left_out, right.left_out
        self._count_by_bounds(queries, flags, scores, (*of_scores, *of_all), len(self.right), above, tied)

    def count_coded(self, queries: QueryTile, above: Int64, tied: Int64, kept: Kept | None = None) -> Int64:
        """As ``count``, using products of codes of whole rows; ``kept`` takes the highest from the same products.

        Returns the queries that codes cannot decide; these are not counted.
        """
        left, right = queries.coded, self.coded
        low, high = queries.bounds(left)
        if kept is not None:
            low = np.minimum(low, kept.low(left))
        flags = left.flag_products(right, low, high)
        if kept is not None:
            kept.take(left, right, self.items.start, flags)
        most = len(self.right) // MOST_UNSURE
        return self._count_by_bounds(queries, flags, _NO_SCORES, _NO_COORDINATES, most, above, tied)

    @cached_property
    def coded(self) -> Side:
        """Codes of the items."""
        return coded_side(self.right, self.problem.origin, is_left=False)

    def _count_by_bounds(
        self,
        queries: QueryTile,
        flags: UInt64,
        scores: Float32,
        coordinates: tuple[Any, ...],
        most: int,
        above: Int64,
        tied: Int64,
    ) -> Int64:
        """Count the items that scores decide and compare the others; returns the queries with over ``most`` others.

        Args:
            flags, scores, coordinates: see ``kernels.count_by_bounds``.
        """
        from blindspot.numerics.kernels import count_by_bounds

        problem, unsure = self.problem, np.empty(flags.shape[1], dtype=np.int64)
        n_unsure = count_by_bounds(
            flags,
            scores,
            *coordinates,
            problem.left[queries.rows],
            self.right,
            self._half_squares,
            self.items.start,
            problem.matrix,
            problem.norms,
            problem.metric is Similarity.COS,
            self._tau,
            *queries.known,
            most,
            FEW_LINES,
            above[queries.pairs],
            tied[queries.pairs],
            unsure,
        )
        return unsure[:n_unsure]


def query_tiles(problem: RankProblem, most: int, start: int = 0, stop: int | None = None) -> Iterator[QueryTile]:
    """The queries of a problem from ``start`` to ``stop``, in batches of at most so many."""
    end = len(problem.left) if stop is None else stop
    for first in range(start, end, most):
        yield QueryTile(problem, slice(first, min(first + most, end)))


def planned_tiles(plan: Plan, most: int) -> Iterator[QueryTile]:
    """All queries of a plan, in batches of at most so many, each with its part."""
    for rows, depth in plan.batches(most):
        yield QueryTile(plan.problem, rows, None if depth is None else Part(plan, plan.left.of(rows), depth))


def is_to_be_screened(problem: RankProblem) -> bool:
    (queries, dimension), items = problem.left.shape, len(problem.matrix)
    return (
        problem.metric is Similarity.COS
        and dimension >= FEWEST_DIMENSIONS_CODED
        and queries * items * dimension >= FEWEST_CODED
    )


class Screening:
    """Counting by fast products of codes where they are accurate enough; the counts are the same.

    Attributes:
        unsure: number of queries that had to be multiplied in float32 after all.
    """

    def __init__(self) -> None:
        self._seen = 0
        self.unsure = 0

    @property
    def pays(self) -> bool:
        """Whether codes have decided most queries so far."""
        return self.unsure <= self._seen // 2

    def count(self, tile: Tile, queries: QueryTile, above: Int64, tied: Int64, kept: Kept | None = None) -> None:
        """As ``Tile.count``; ``kept`` takes the highest from the same products of codes."""
        unsure = tile.count_coded(queries, above, tied, kept)
        self._seen, self.unsure = self._seen + len(queries.coded.rows), self.unsure + len(unsure)
        if len(unsure):
            tile.count(queries, above, tied, unsure)
