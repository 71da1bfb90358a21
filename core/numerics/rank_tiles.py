"""Counting what is above and tied with a mate, one tile of queries and items at a time (``core.numerics.ranking``)."""

from __future__ import annotations

import sys

import numpy as np

from core.numerics import coarse
from core.numerics.coarse import Coded
from core.numerics.rank_problem import RankProblem
from core.numerics.similarity import Metric
from core.types import Float32, Float64, Int32, Int64

# Whether to count by codes first: multiplications below which it takes as long to find out whether they are faster,
# dimensions below which the counting and not the product takes the time, and one item in how many may be computed again
# before all of a query's are multiplied in float32.
FEWEST_CODED = 2_000_000_000
FEWEST_DIMENSIONS_CODED = 128
MOST_UNSURE = 32


class Tile:
    """Some items against which queries are counted.

    Attributes:
        right: ``[items, d] float32``, their rows as they are multiplied.
        memory: for scores; at least the problem's ``queries_at_once`` times the items.
    """

    def __init__(self, problem: RankProblem, items: slice, tau: float, memory: Float32) -> None:
        self.problem, self.items, self.memory = problem, items, memory
        self.right = problem.operand(items)
        self._half_squares = problem.half_squares(items)
        self._tau = tau

    def count(self, rows: slice, among: Int64 | None = None) -> tuple[Int64, Int64]:
        """Exact counts of the rows' pairs, above and tied, by float32 products.

        Args:
            among: if given, count only these of the rows.
        """
        left = self.problem.left[rows]
        if among is not None:
            left = left[among]
        scores = self.memory[: len(left) * len(self.right)].reshape(len(left), -1)
        np.matmul(left, self.right.T, out=scores)
        nothing = np.empty(0, dtype=np.float32)
        above, tied, _ = self._count(
            scores, scores[:0].view(np.int32), nothing, nothing, rows, among, np.float64(0.0), sys.maxsize
        )
        return above, tied

    def count_coded(
        self, left: Coded, right: Coded, rows: slice, pairs_of_rows: Int64, most_unsure: int
    ) -> tuple[Int64, Int64, Int64]:
        """Exact counts of the rows' pairs by products of codes, and the rows that they say too little of.

        Args:
            left, right: codes of the rows and of the items.
            pairs_of_rows: how many pairs each row has.
            most_unsure: items of a row that may be computed again; with more of them nothing of it is counted.
        """
        products = self.memory.view(np.int32)[: len(left.codes) * len(right.codes)].reshape(len(left.codes), -1)
        coarse.multiply(left.codes, right.codes, products)
        slack = np.repeat(coarse.slack_of_codes(left, right), pairs_of_rows)
        scores = products[:0].view(np.float32)
        return self._count(scores, products, left.steps, right.steps, rows, None, slack, most_unsure)

    def _count(
        self,
        scores: Float32,
        products: Int32,
        left_steps: Float32,
        right_steps: Float32,
        rows: slice,
        among: Int64 | None,
        slack: Float64 | np.float64,
        most_unsure: int,
    ) -> tuple[Int64, Int64, Int64]:
        """Items above and tied, per pair of the rows, and which rows were left out as too unsure.

        Args:
            slack: ``[pairs]``, by how much scores may be off beyond what float32 products are.
        """
        from core.numerics.kernels import count_above_and_tied

        problem = self.problem
        pairs = slice(problem.pair_starts[rows.start], problem.pair_starts[rows.stop])
        above, tied = np.zeros((2, pairs.stop - pairs.start), dtype=np.int64)
        if among is None:
            among = np.arange(rows.stop - rows.start)
        unsure = np.zeros(len(among), dtype=np.bool_)
        low, high = problem.low[pairs], problem.high[pairs]
        if np.any(slack):
            low = np.nextafter((low - slack).astype(np.float32), np.float32(-np.inf))
            high = np.nextafter((high + slack).astype(np.float32), np.float32(np.inf))
        count_above_and_tied(
            scores,
            products,
            left_steps,
            right_steps,
            among,
            self._half_squares,
            self.items.start,
            problem.matrix,
            problem.norms,
            problem.metric is Metric.COS,
            self._tau,
            problem.query_items[rows],
            problem.pair_starts[rows.start : rows.stop + 1],
            problem.pair_mates[pairs],
            problem.pair_similarity[pairs],
            low,
            high,
            most_unsure,
            above,
            tied,
            unsure,
        )
        return above, tied, among[unsure]


def is_to_be_screened(problem: RankProblem) -> bool:
    (queries, dimension), items = problem.left.shape, len(problem.matrix)
    return (
        problem.metric is Metric.COS
        and dimension >= FEWEST_DIMENSIONS_CODED
        and queries * items * dimension >= FEWEST_CODED
    )


class Screening:
    """Counting by products of codes, which are fast, where they are near enough; the counts are the same.

    Attributes:
        unsure: how many queries had to be multiplied in float32 after all.
    """

    def __init__(self, problem: RankProblem) -> None:
        self._codes = coarse.coded(problem.left)
        self._pairs_of_rows = np.diff(problem.pair_starts)
        self._seen = 0
        self.unsure = 0

    @property
    def pays(self) -> bool:
        """Whether most queries were decided so far."""
        return self.unsure <= self._seen // 2

    def count(self, tile: Tile, right: Coded, rows: slice) -> tuple[Int64, Int64]:
        """Exact counts of the rows' pairs among the items of the tile, whose codes are ``right``."""
        left = self._codes.part(rows)
        most = len(right.codes) // MOST_UNSURE
        above, tied, unsure = tile.count_coded(left, right, rows, self._pairs_of_rows[rows], most)
        self._seen, self.unsure = self._seen + len(left.codes), self.unsure + len(unsure)
        if len(unsure):
            more_above, more_tied = tile.count(rows, unsure)
            above, tied = above + more_above, tied + more_tied
        return above, tied
