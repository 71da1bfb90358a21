"""Counts of items above a match or tied with it, one tile of queries and items at a time (``ranks``)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from blindspot.numerics import coarse
from blindspot.numerics.coarse import Coded
from blindspot.numerics.ranking.problem import RankProblem
from blindspot.numerics.ranking.pruning import MOST_UNSURE, Part, Plan, Rotated
from blindspot.numerics.similarity import Similarity
from blindspot.types import Float32, Int64

# When to count by codes first: multiplications below which finding out whether codes are faster takes as long;
# dimensions below which counting rather than the product takes the time; and the largest share of items (one in so
# many) to recompute before a query is multiplied in float32.
FEWEST_CODED = 2_000_000_000
FEWEST_DIMENSIONS_CODED = 128
_NO_STEPS, _NO_ERRORS = np.empty(0, dtype=np.float32), np.empty(0)


def room_for_scores(count: int) -> Float32:
    """Memory for so many scores, aligned with the processor's cache lines, which speeds up writing by up to half."""
    line = 64
    room = np.empty(count * 4 + line, dtype=np.uint8)
    start = -room.ctypes.data % line
    return room[start : start + count * 4].view(np.float32)


class QueryTile:
    """Some queries of a problem: ``rows`` of them, with their ``pairs``.

    Attributes:
        known: arguments of the counting, in its order.
        part: what to compare them by; None for whole products.
    """

    def __init__(self, problem: RankProblem, rows: slice, part: Part | None = None) -> None:
        self.rows = rows
        self.part = part
        self.pairs = slice(int(problem.pair_starts[rows.start]), int(problem.pair_starts[rows.stop]))
        self.known = (
            problem.query_items[rows],
            problem.pair_starts[rows.start : rows.stop + 1],
            problem.pair_mates[self.pairs],
            problem.pair_similarity[self.pairs],
            problem.low[self.pairs],
            problem.high[self.pairs],
        )
        self._left = problem.left[rows]

    @cached_property
    def coded(self) -> Coded:
        """Their codes."""
        return coarse.coded(self._left)


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
        """As ``count``, from the product of ``part``, which is that of the queries, with the items' of its depth."""
        from blindspot.numerics.kernels import count_by_part

        problem, columns = self.problem, len(self.right)
        if part.depth not in self._parts:
            self._parts[part.depth] = Part(part.plan, self._rotated, part.depth)
        right = self._parts[part.depth]
        scores = self.memory[: len(part.rows) * columns].reshape(-1, columns)
        products = scores.view(np.int32)
        if part.codes is not None and right.codes is not None:
            coarse.multiply(part.codes, right.codes, products)
            scores = scores[:0]
            steps = part.codes.steps, part.codes.errors, right.codes.steps, right.codes.farthest
        else:
            np.matmul(part.rows, right.rows.T, out=scores)
            products = products[:0]
            steps = _NO_STEPS, _NO_ERRORS, _NO_STEPS, 0.0
        count_by_part(
            scores,
            products,
            *steps,
            part.left_out,
            right.left_out,
            part.plan.axes.slack,
            part.rows.shape[1],
            part.all,
            right.all,
            part.all_left_out,
            right.all_left_out,
            problem.left[queries.rows],
            self.right,
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

    def count_coded(self, queries: QueryTile, right: Coded, above: Int64, tied: Int64) -> Int64:
        """As ``count``, using products with ``right``, the codes of the items.

        Returns the queries that codes cannot decide; these are not counted.
        """
        from blindspot.numerics.kernels import count_by_codes

        problem, left = self.problem, queries.coded
        products = self.memory.view(np.int32)[: len(left.codes) * len(right.codes)].reshape(len(left.codes), -1)
        coarse.multiply(left, right, products)
        unsure = np.empty(len(products), dtype=np.int64)
        n_unsure = count_by_codes(
            products,
            left.steps,
            left.errors,
            right.steps,
            right.farthest,
            problem.left[queries.rows],
            self.right,
            self.items.start,
            problem.matrix,
            problem.norms,
            self._tau,
            *queries.known,
            len(right.codes) // MOST_UNSURE,
            above[queries.pairs],
            tied[queries.pairs],
            unsure,
        )
        return unsure[:n_unsure]


def query_tiles(problem: RankProblem, most: int) -> Iterator[QueryTile]:
    """All queries of a problem, in batches of at most so many."""
    for first in range(0, len(problem.left), most):
        yield QueryTile(problem, slice(first, min(first + most, len(problem.left))))


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

    def count(self, tile: Tile, right: Coded, queries: QueryTile, above: Int64, tied: Int64) -> None:
        """As ``Tile.count``; ``right`` are the codes of the tile's items."""
        unsure = tile.count_coded(queries, right, above, tied)
        self._seen, self.unsure = self._seen + len(queries.coded.codes), self.unsure + len(unsure)
        if len(unsure):
            tile.count(queries, above, tied, unsure)
