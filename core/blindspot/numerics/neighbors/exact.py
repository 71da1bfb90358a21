"""Exact nearest neighbors in the full space: float32 finds candidates, float64 decides among them.

For few queries faiss finds the candidates, or numpy where faiss is not installed. For many, our own loop does; for
cosine, on processors with instructions for them, from 8-bit codes (``blindspot.numerics.neighbors.screens``).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from blindspot.numerics import coarse
from blindspot.numerics.flagging import room_for_scores
from blindspot.numerics.neighbors.screens import Kept, codes_pay, guessed_floors
from blindspot.numerics.sides import Side, coded_side, whole_side
from blindspot.numerics.similarity import Similarity, lengths_and_units, row_norms, unit_vectors
from blindspot.numerics.threads import cores, in_threads, one_blas_thread, shrinking
from blindspot.types import Float32, Float64, Int64

SPARE = 16  # candidates beyond the requested k
# Error bound of float32 for a product of unit vectors, or a squared distance of vectors no longer than 1.
# Over real sentences it is below 1e-6; tests compare it with float64.
SLACK = 1e-5
VALUES_AT_ONCE = 4_000_000  # 32 MB of float64
# Multiplications from which our own loop finds the candidates; below, importing numba does not pay.
COMPILED_FROM = 3_000_000_000
CODED_FROM = 10_000_000_000  # multiplications below which coding all items does not pay
FEWEST_DIMENSIONS_CODED = 128  # below, selection rather than the product takes the time
ROWS_OF_SAMPLE, QUERIES_OF_SAMPLE = 512, 128
SEED = 7
QUERIES_PER_TILE, ITEMS_PER_TILE = 1_024, 832  # whole strips of flags, no power of two
ROWS_AT_ONCE = 8_192


@dataclass(frozen=True, eq=False)
class Nearest:
    """Neighbors of q queries, most similar first; among equally similar ones, lower number first.

    Attributes:
        rows: ``[q, k] int64``, rows of the matrix.
        similarity: ``[q, k] float64``, by the metric, computed in float64.
    """

    rows: Int64
    similarity: Float64


class ExactIndex:
    """Rows prepared for many searches.

    Args:
        matrix: ``[n, d] float32``, finite. It is kept, with a copy scaled for the products.
    """

    def __init__(self, matrix: Float32, metric: Similarity) -> None:
        self.metric = metric
        self._matrix = matrix
        self._coded: list[Side] = []
        if metric is Similarity.COS:
            self._norms, self._rows = lengths_and_units(matrix, cores())
            self._centre, self._scale = np.zeros(matrix.shape[1]), 1.0
        else:  # centered and on one scale, so that float32 keeps small differences
            self._norms = row_norms(matrix)
            self._centre = matrix.mean(axis=0, dtype=np.float64)
            moved = matrix - self._centre
            self._scale = float(np.sqrt(np.einsum("nd,nd->n", moved, moved).max(initial=0.0))) or 1.0
            self._rows = np.ascontiguousarray(moved / self._scale, dtype=np.float32)

    def __len__(self) -> int:
        return len(self._matrix)

    def of_rows(self, rows: Int64, k: int) -> Nearest:
        """The ``k`` nearest (1 to n - 1) of the matrix's items ``rows [q] int64``, excluding themselves."""
        self._check(k, len(self) - 1)
        return self._nearest(np.asarray(self._matrix[rows], dtype=np.float32), k, rows)

    def of_vectors(self, vectors: Float32, k: int) -> Nearest:
        """The ``k`` nearest of vectors that are not in the matrix, ``[q, d] float32``; k is 1 to n."""
        self._check(k, len(self))
        return self._nearest(vectors, k, None)

    def _check(self, k: int, most: int) -> None:
        if not 1 <= k <= most:
            raise ValueError(f"k is {k}, with {len(self)} items it must be 1 to {most}")

    def _nearest(self, vectors: Float32, k: int, own: Int64 | None) -> Nearest:
        wanted = min(k + SPARE + (own is not None), len(self))
        if len(vectors) * self._rows.size >= COMPILED_FROM:
            return self._nearest_of_many(vectors, k, own, wanted)
        scores, neighbors = self._candidates(self._scaled(vectors), wanted)
        rows = np.empty((len(vectors), k), dtype=np.int64)
        similarity = np.empty((len(vectors), k), dtype=np.float64)
        at_once = max(1, VALUES_AT_ONCE // (wanted * self._matrix.shape[1]))
        for start in range(0, len(vectors), at_once):
            part = slice(start, start + at_once)
            values = self._similarity(vectors[part], neighbors[part])
            if own is not None:
                values[neighbors[part] == own[part, None]] = -np.inf
            order = np.lexsort((neighbors[part], -values), axis=1)[:, :k]
            rows[part] = np.take_along_axis(neighbors[part], order, axis=1)
            similarity[part] = np.take_along_axis(values, order, axis=1)
        nearest = Nearest(rows, similarity)
        if wanted < len(self):
            unsure = np.flatnonzero(self._in_scores(similarity[:, k - 1]) - scores[:, -1] <= SLACK)
            self._settle(unsure, vectors, own, nearest, SLACK)
        return nearest

    def _candidates(self, asked: Float32, wanted: int) -> tuple[Float32, Int64]:
        """The ``wanted`` highest scores of ``[q, d]``, the highest first, and their rows: ``[q, wanted]`` each."""
        cosine = self.metric is Similarity.COS
        try:
            import faiss
        except ModuleNotFoundError:
            return _highest(asked, self._rows, wanted, None if cosine else self._halves)
        scores, rows = faiss.knn(
            asked, self._rows, wanted, metric=faiss.METRIC_INNER_PRODUCT if cosine else faiss.METRIC_L2
        )
        return (scores if cosine else -scores), rows

    def _nearest_of_many(
        self, vectors: Float32, k: int, own: Int64 | None, wanted: int, *, may_guess: bool = True
    ) -> Nearest:
        """As ``_nearest``, compiled and on all cores; the last bit of a similarity may differ."""
        from blindspot.numerics.kernels import take_most_similar

        d = self._matrix.shape[1]
        cosine = self.metric is Similarity.COS
        asked = np.ascontiguousarray(vectors, dtype=np.float32)
        mine = np.full(len(asked), -1, dtype=np.int64) if own is None else np.asarray(own, dtype=np.int64)
        rows = np.empty((len(asked), k), dtype=np.int64)
        similarity = np.empty((len(asked), k))
        lowest = np.empty(len(asked))  # score of the last candidate
        is_full = np.empty(len(asked), dtype=np.bool_)
        slack = (d + 8) * 2.0**-24 * (1 if cosine else 6)

        def search(part: slice) -> None:
            scaled = self._scaled(asked[part])
            kept = Kept(self._floors(scaled, wanted, may_guess=may_guess), wanted)
            left = coded_side(scaled, self._origin, is_left=True) if is_coded else whole_side(scaled)
            memory = room_for_scores(len(scaled), min(ITEMS_PER_TILE, len(self)))
            for items, right in zip(self._tiles, self._coded if is_coded else self._whole, strict=True):
                kept.add(left, right, self._halves[items], items.start, memory)
            squares = 0.0 if cosine else np.einsum("qd,qd->q", scaled, scaled, dtype=np.float64)
            lowest[part] = kept.scores[:, 0] if cosine else 2.0 * kept.scores[:, 0] - squares
            is_full[part] = kept.filled == wanted
            take_most_similar(
                self._matrix, self._norms, asked[part], kept.items, mine[part], cosine, rows[part], similarity[part]
            )

        with one_blas_thread() as threads:
            if is_coded := self._may_code(asked, wanted):
                self._code(threads)
            in_threads(shrinking(len(asked), QUERIES_PER_TILE, threads), search, threads)
        nearest = Nearest(rows, similarity)
        if wanted < len(self):
            unsure = np.flatnonzero(is_full & (self._in_scores(similarity[:, k - 1]) - lowest <= slack))
            self._settle(unsure, asked, own, nearest, slack)
        if len(few := np.flatnonzero(~is_full)):  # queries with floors that were guessed too high
            again = self._nearest_of_many(asked[few], k, None if own is None else mine[few], wanted, may_guess=False)
            rows[few], similarity[few] = again.rows, again.similarity
        return nearest

    def _floors(self, scaled: Float32, wanted: int, *, may_guess: bool) -> Float32:
        """Scores that more than ``wanted`` items are likely to reach; -inf where no guess pays."""
        if not may_guess:
            return np.full(len(scaled), -np.inf, dtype=np.float32)
        sample = np.sort(np.random.default_rng(SEED).permutation(len(self))[:ROWS_OF_SAMPLE])
        halves = self._halves if self.metric is Similarity.COS else self._halves[sample]
        return guessed_floors(scaled, self._rows[sample], halves, wanted, len(self))

    def _may_code(self, asked: Float32, wanted: int) -> bool:
        """Whether products of codes are faster; never where a guess of floors does not pay."""
        n, d = self._rows.shape
        products = float(len(asked)) * n * d
        if self.metric is not Similarity.COS or d < FEWEST_DIMENSIONS_CODED or products < CODED_FROM:
            return False
        if not coarse.pays():
            return False
        random = np.random.default_rng(SEED)
        queries = self._scaled(asked[np.sort(random.permutation(len(asked))[:QUERIES_OF_SAMPLE])])
        floors = self._floors(queries, wanted, may_guess=True)
        items = self._rows[np.sort(random.permutation(n)[:ROWS_OF_SAMPLE])]
        return codes_pay(queries, items, floors, self._origin)

    @cached_property
    def _origin(self) -> Float32:
        """Mean of the rows."""
        return np.asarray(self._rows.mean(axis=0, dtype=np.float64), dtype=np.float32)

    @cached_property
    def _whole(self) -> list[Side]:
        """The rows, a tile at a time."""
        return [whole_side(self._rows[items]) for items in self._tiles]

    def _code(self, threads: int) -> None:
        """Code the rows, a tile at a time, unless that is done already."""
        if self._coded:
            return
        sides: dict[int, Side] = {}

        def code(items: slice) -> None:
            sides[items.start] = coded_side(self._rows[items], self._origin, is_left=False)

        in_threads(self._tiles, code, threads)
        self._coded = [sides[items.start] for items in self._tiles]

    @property
    def _tiles(self) -> list[slice]:
        return [slice(first, min(first + ITEMS_PER_TILE, len(self))) for first in range(0, len(self), ITEMS_PER_TILE)]

    @cached_property
    def _halves(self) -> Float32:
        """Amounts subtracted from products so that they rise as the distance falls: x.y - |y|^2/2; none for cosine."""
        if self.metric is Similarity.COS:
            return np.empty(0, dtype=np.float32)
        return np.asarray(row_norms(self._rows) ** 2 / 2, dtype=np.float32)

    def _scaled(self, vectors: Float32) -> Float32:
        """Vectors prepared for multiplication with the rows."""
        if self.metric is Similarity.L2:
            return np.ascontiguousarray((vectors - self._centre) / self._scale, dtype=np.float32)
        return unit_vectors(vectors)

    def _settle(self, unsure: Int64, vectors: Float32, own: Int64 | None, nearest: Nearest, slack: float) -> None:
        """Search all items for queries where a non-candidate might be among the k nearest, as with many near-ties.

        By cosine, only items that come close to the k-th one found; ``slack`` is the error bound of a score.
        """
        k = nearest.rows.shape[1]
        cosine, at_once = self.metric is Similarity.COS, max(1, VALUES_AT_ONCE // len(self))
        for start in range(0, len(unsure), at_once):
            some = unsure[start : start + at_once]
            scores = self._scaled(vectors[some]) @ self._rows.T if cosine else None
            for at, i in enumerate(some):
                near = np.arange(len(self))
                if scores is not None:
                    near = np.flatnonzero(scores[at] >= nearest.similarity[i, k - 1] - 2.0 * slack)
                values = self._to(np.asarray(vectors[i], dtype=np.float64), near)
                if own is not None:
                    values[near == own[i]] = -np.inf
                order = np.lexsort((near, -values))[:k]
                nearest.rows[i], nearest.similarity[i] = near[order], values[order]

    def _in_scores(self, similarity: Float64) -> Float64:
        """Similarities on the scale of the scores that select candidates."""
        if self.metric is Similarity.COS:
            return similarity
        return np.asarray(-(((1.0 / similarity - 1.0) / self._scale) ** 2))

    def _similarity(self, vectors: Float32, rows: Int64) -> Float64:
        """Similarity in float64 of each of ``[q, d]`` to its candidates ``[q, c]``, as ``[q, c]``."""
        asked = np.asarray(vectors, dtype=np.float64)
        return np.stack(
            [
                self._of(vector, np.asarray(self._matrix[those], dtype=np.float64), self._norms[those])
                for vector, those in zip(asked, rows, strict=True)
            ]
        )

    def _to(self, vector: Float64, rows: Int64) -> Float64:
        """Similarity of one vector to these rows, ``[len(rows)] float64``."""
        out = np.empty(len(rows))
        for start in range(0, len(rows), ROWS_AT_ONCE):
            those = rows[start : start + ROWS_AT_ONCE]
            wide = np.asarray(self._matrix[those], dtype=np.float64)
            out[start : start + ROWS_AT_ONCE] = self._of(vector, wide, self._norms[those])
        return out

    def _of(self, vector: Float64, others: Float64, norms: Float64) -> Float64:
        """Similarity of one vector to others of known lengths."""
        if self.metric is Similarity.L2:
            difference = others - vector
            return np.asarray(1.0 / (1.0 + np.sqrt(np.einsum("nd,nd->n", difference, difference))))
        lengths = norms * np.sqrt(vector @ vector)
        products = np.einsum("nd,d->n", others, vector)
        return np.asarray(np.divide(products, lengths, out=np.zeros_like(products), where=lengths > 0))


def _highest(asked: Float32, rows: Float32, wanted: int, halves: Float32 | None) -> tuple[Float32, Int64]:
    """As ``ExactIndex._candidates``; ``halves [n]`` are half the squared lengths, for distances instead of products."""
    scores = np.empty((len(asked), wanted), dtype=np.float32)
    best = np.empty((len(asked), wanted), dtype=np.int64)
    at_once = max(1, VALUES_AT_ONCE // len(rows))
    for start in range(0, len(asked), at_once):
        part = slice(start, start + at_once)
        every = asked[part] @ rows.T
        if halves is not None:
            every = 2 * (every - halves) - np.einsum("qd,qd->q", asked[part], asked[part])[:, None]
        first = np.argpartition(-every, wanted - 1, axis=1)[:, :wanted]
        order = np.argsort(-np.take_along_axis(every, first, axis=1), axis=1, kind="stable")
        best[part] = np.take_along_axis(first, order, axis=1)
        scores[part] = np.take_along_axis(every, best[part], axis=1)
    return scores, best
