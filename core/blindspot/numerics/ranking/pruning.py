"""Ranks from the first coordinates: most items are decided by a fraction of the product, on any processor.

Rows are rotated into the principal directions of a sample, where the first few coordinates hold most of their length.
By Cauchy-Schwarz, ``x.y`` differs from the product of the first k coordinates by at most ``|x_rest| |y_rest|``. Where
that does not tell an item from the match, more coordinates are added; if these are not enough, the whole product is
computed (``blindspot.numerics.kernels.count_by_bounds``). For l2, half of ``|y|^2`` is subtracted on both sides.

The bounds hold for any directions and any rounding: how far the directions are from orthonormal is measured. So the
sample decides only how fast it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from blindspot.numerics import coarse
from blindspot.numerics.coarse import Coded
from blindspot.numerics.ranking.problem import RankProblem, scaled
from blindspot.numerics.sides import coded_side, part_side, rest_of
from blindspot.numerics.threads import in_threads
from blindspot.types import Float32, Float64, Int64

DEPTHS = (16, 32, 64, 96, 128, 192, 256)  # numbers of coordinates to choose from, at most two thirds of all
FEWEST_DIMENSIONS = 128  # below, counting rather than the product takes the time
FEWEST_PRODUCTS = 5_000_000_000  # multiplications below which choosing takes as long as it saves
ROWS_OF_SAMPLE, ITEMS_OF_SAMPLE, QUERIES_OF_SAMPLE = 1_024, 256, 256
SEED = 7
QUERIES_AT_ONCE = 256
# Costs of one score, in multiplications of a large float32 product (20 ps here): per dimension of the product, and for
# counting it; of codes; and of computing one by itself, per dimension, and for finding it.
FLOAT, CODED = (1.0, 5.0), (0.22, 6.0)
AGAIN, FOUND = 3.0, 1_500.0
MOST_UNSURE = 8  # if codes of whole rows leave more than one item in so many undecided, products are in float32
MOST_COST = 0.75  # share of the cost without pruning; choosing takes the rest
FARTHEST_FROM_ORTHONORMAL = 1e-3


@dataclass(frozen=True, eq=False)
class Rotated:
    """The first coordinates of rows.

    Attributes:
        rows: ``[k, K] float32``.
        left_out: ``[depths, k] float32``, upper bounds on the length of what each depth leaves out.
    """

    rows: Float32
    left_out: Float32

    @cached_property
    def codes(self) -> Coded:
        """Codes of all coordinates but the first: all rows may point along that, which would make the steps wide."""
        rows = self.rows.copy()
        rows[:, 0] = 0.0
        return coarse.coded(rows)

    def of(self, rows: slice | Int64) -> Rotated:
        return Rotated(self.rows[rows], self.left_out[:, rows])


@dataclass(frozen=True, eq=False)
class Axes:
    """Directions to rotate into.

    Attributes:
        directions: ``[d, K] float32``.
        depths: ascending numbers of them, up to K.
        error: upper bound on the distance of a rotated row, no longer than 1, from its coordinates along the nearest
            orthonormal directions.
    """

    directions: Float32
    depths: Int64
    error: float

    @property
    def slack(self) -> float:
        """Error bound of a product of rotated rows, without what they leave out, with rounding in the comparison."""
        width = self.directions.shape[1]
        rounding = (width + 16) * 2.0**-24 * (1.0 + self.error) ** 2 + 2.0**-20
        return float((2.0 + self.error) * self.error + rounding)

    def first(self, depths: int) -> Axes:
        """The same with only so many depths."""
        width = int(self.depths[depths - 1])
        return Axes(np.ascontiguousarray(self.directions[:, :width]), self.depths[:depths], self.error)

    def rotate(self, rows: Float32, lengths: Float64) -> Rotated:
        """Rotate ``rows [k, d]`` of these lengths, at most about 1."""
        from blindspot.numerics.kernels import lengths_left_out

        rotated = np.matmul(rows, self.directions)
        left_out = np.empty((len(self.depths), len(rows)), dtype=np.float32)
        lengths_left_out(rotated, lengths, self.depths, self.error, left_out)
        return Rotated(rotated, left_out)


def axes_of(rows: Float32) -> Axes | None:
    """Principal directions of ``rows [k, d] float32``, no longer than 1; None if there are too few, or if they are not
    close to orthonormal.

    With u = 2^-24, rounding of a product with column a adds at most ``(d + 2) u |a|``, and with K columns together
    sqrt(K) times as much. The singular values of the columns are within ``|A'A - I|`` of 1, and so is A from the
    nearest orthonormal columns.
    """
    from scipy.linalg import eigh

    d = rows.shape[1]
    depths = [depth for depth in DEPTHS if 3 * depth <= 2 * d]
    if not depths:
        return None
    width = depths[-1]
    moment = np.matmul(rows.T, rows)
    _, vectors = eigh(moment, driver="evd", check_finite=False)  # all of them: twice as fast as the last ones alone
    directions = np.ascontiguousarray(vectors[:, : d - width - 1 : -1], dtype=np.float32)
    wide = directions.astype(np.float64)
    off = float(np.linalg.norm(wide.T @ wide - np.eye(width))) * (1.0 + 2.0**-20) + 2.0**-40
    if not off <= FARTHEST_FROM_ORTHONORMAL:
        return None
    return Axes(
        directions, np.array(depths, dtype=np.int64), off + (d + 8) * 2.0**-24 * float(np.sqrt(width)) * (1 + off)
    )


@dataclass(frozen=True, eq=False)
class Plan:
    """Which queries to compare by how many coordinates.

    Attributes:
        problem: has its queries sorted by that number, those with whole products last.
        left: the rotated rows of all queries, including those with whole products.
        ends: ``[depths] int64``, where the queries of each depth end.
        has_codes: whether to multiply codes of the coordinates.
    """

    problem: RankProblem
    axes: Axes
    left: Rotated
    ends: Int64
    has_codes: bool

    def batches(self, most: int) -> Iterator[tuple[slice, int | None]]:
        """Queries in batches of at most ``most``, with the index of their depth, or None for whole products."""
        start = 0
        for depth, end in [*enumerate(self.ends.tolist()), (None, len(self.problem.left))]:
            for first in range(start, end, most):
                yield slice(first, min(first + most, end)), depth
            start = end


class Part:
    """The first coordinates of some rows, as many as a depth has.

    Attributes:
        depth: its index in the plan.
        side: what is multiplied.
        all: ``[k, K] float32``, all coordinates that there are.
        left_out: ``[k] float32``, bounds on the length of what all coordinates leave out.
    """

    def __init__(self, plan: Plan, rotated: Rotated, depth: int) -> None:
        self.plan, self.depth = plan, depth
        first, left_out = rotated.rows[:, : plan.axes.depths[depth]], np.ascontiguousarray(rotated.left_out[depth])
        self.side = part_side(first, left_out, plan.axes.slack, rotated.codes if plan.has_codes else None)
        self.all, self.left_out = rotated.rows, np.ascontiguousarray(rotated.left_out[-1])


def may_pay(problem: RankProblem, ranked: int) -> bool:
    """Whether the problem is large enough to look at a sample."""
    queries, dimension = problem.left.shape
    return bool(dimension >= FEWEST_DIMENSIONS and queries * ranked * dimension >= FEWEST_PRODUCTS)


def plan(problem: RankProblem, ranked: int, threads: int, *, has_codes: bool) -> Plan | None:
    """The cheapest depth of every query by the shares of undecided items in a sample; None if pruning does not pay.

    Args:
        ranked: number of first items that are ranked.
        has_codes: products of codes are at hand.
    """
    random = np.random.default_rng(SEED)
    drawn = random.permutation(ranked)[: ROWS_OF_SAMPLE + ITEMS_OF_SAMPLE].astype(np.int64)
    few = min(ITEMS_OF_SAMPLE, (len(drawn) + 1) // 2)
    items, turning = np.sort(drawn[:few]), np.sort(drawn[few:])
    axes = axes_of(scaled(problem.matrix, turning, problem.factors))
    if axes is None:
        return None
    rows = scaled(problem.matrix, items, problem.factors)  # others: directions have more of the rows they come from
    sample = _Sample(problem, axes, rows, items, has_codes=has_codes)
    queries = np.sort(random.permutation(len(problem.left))[:QUERIES_OF_SAMPLE])
    _, shares, whole = sample.shares(problem.of_queries(queries))
    depths = sample.best_depths(shares, whole, len(problem.left))
    if depths == 0:
        return None

    axes = axes.first(depths)
    sample = _Sample(problem, axes, rows, items, has_codes=has_codes)
    n = len(problem.left)
    left = Rotated(np.empty((n, axes.depths[-1]), dtype=np.float32), np.empty((depths, n), dtype=np.float32))
    chosen = np.empty(n, dtype=np.int64)

    def choose(part: slice) -> None:
        rotated, shares, whole = sample.shares(problem.of_queries(np.arange(part.start, part.stop)))
        left.rows[part], left.left_out[:, part] = rotated.rows, rotated.left_out
        chosen[part] = sample.costs(shares, whole).argmin(axis=0)

    in_threads((slice(at, min(at + QUERIES_AT_ONCE, n)) for at in range(0, n, QUERIES_AT_ONCE)), choose, threads)
    order = np.argsort(chosen, kind="stable")
    ends = np.searchsorted(chosen[order], np.arange(depths), side="right")
    return Plan(problem.of_queries(order), axes, left.of(order), ends.astype(np.int64), has_codes)


class _Sample:
    """Some items, to estimate what queries cost."""

    def __init__(self, problem: RankProblem, axes: Axes, rows: Float32, items: Int64, *, has_codes: bool) -> None:
        self._axes = axes
        self._rotated = axes.rotate(rows, problem.norms[items] * problem.factors[items])
        self._halves = problem.half_squares(items)
        self._dimension = rows.shape[1]
        self._has_codes = has_codes
        self._each, self._besides = CODED if has_codes else FLOAT
        self._origin = problem.origin
        self._whole = coded_side(rows, self._origin, is_left=False) if has_codes else None

    def shares(self, queries: RankProblem) -> tuple[Rotated, Float64, Float64]:
        """The rotated queries; the share of items that each depth leaves undecided, ``[depths, q]``; and the cost of a
        score by whole products, ``[q]``."""
        from blindspot.numerics.kernels import count_undecided

        axes, items = self._axes, self._rotated
        rotated = axes.rotate(queries.left, queries.norms[queries.query_items] * queries.factors[queries.query_items])
        pairs = queries.pair_starts, queries.low, queries.high
        shares = np.empty((len(axes.depths), len(queries.left)))
        scores = np.zeros((len(queries.left), len(items.rows)), dtype=np.float32)
        if len(self._halves):
            scores -= self._halves
        counts = np.empty(len(scores), dtype=np.int64)
        start = 0
        for depth, end in enumerate(axes.depths.tolist()):
            scores += np.matmul(rotated.rows[:, start:end], items.rows[:, start:end].T)
            rest, rests = self._rest(rotated, depth), self._rest(items, depth)
            count_undecided(scores, rest, rests, axes.slack, *pairs, counts)
            shares[depth] = counts / len(items.rows)
            start = end
        if self._whole is None:
            return rotated, shares, np.full(len(queries.left), FLOAT[0] * self._dimension + FLOAT[1])
        left = coded_side(queries.left, self._origin, is_left=True)
        count_undecided(scores, left.rest, self._whole.rest, left.off, *pairs, counts)
        return rotated, shares, self._cost_of_codes(counts / len(items.rows))

    def _rest(self, rows: Rotated, depth: int) -> Float32:
        return rest_of(rows.left_out[depth], rows.codes) if self._has_codes else rows.left_out[depth]

    def _cost_of_codes(self, shares: Float64) -> Float64:
        """Cost of a score by codes of whole rows that leave such shares undecided."""
        d = self._dimension
        again = np.where(shares > 1.0 / MOST_UNSURE, FLOAT[0] * d + FLOAT[1], (AGAIN * d + FOUND) * shares)
        return np.asarray(CODED[0] * d + CODED[1] + again)

    def costs(self, shares: Float64, whole: Float64) -> Float64:
        """Cost of a score by every depth of ``shares`` (the last one has all coordinates), and by whole products,
        ``[depths + 1, q]``."""
        widths = self._axes.depths[: len(shares), np.newaxis]
        missing = widths[-1] - widths
        closer = np.where(missing > 0, AGAIN * missing + FOUND, 0.0) * shares
        again = (AGAIN * self._dimension + FOUND) * shares[-1]
        return np.vstack([self._each * widths + self._besides + closer + again, whole])

    def best_depths(self, shares: Float64, whole: Float64, queries: int) -> int:
        """The number of depths to offer, by the shares of some queries; 0 if pruning does not pay.

        Each item is rotated once for all ``queries``.
        """
        mean = [float(whole.mean()) * MOST_COST]
        for depth, width in enumerate(self._axes.depths.tolist()):
            chosen = self.costs(shares[: depth + 1], whole).min(axis=0)
            mean.append(float(chosen.mean()) + self._dimension * width / queries)
        return int(np.argmin(mean))
