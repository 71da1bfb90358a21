"""Exact nearest neighbors in the full space: float32 finds candidates, float64 decides among them.

For few queries faiss finds the candidates, or numpy where faiss is not installed. For many, our own loop does; for
cosine, on processors with int8 instructions, from two-step quantized products, which are nearly as accurate
(``blindspot.numerics.coarse``).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from blindspot.numerics import coarse
from blindspot.numerics.coarse import TwoStepCoded
from blindspot.numerics.ranking.tiles import room_for_scores
from blindspot.numerics.similarity import Similarity, row_norms, unit_vectors
from blindspot.numerics.threads import in_threads, one_blas_thread, shrinking
from blindspot.types import Float32, Float64, Int64

SPARE = 16  # candidates beyond the requested k
# Error bound of float32 for a product of unit vectors, or a squared distance of vectors no longer than 1.
# Over real sentences it is below 1e-6; tests compare it with float64.
SLACK = 1e-5
VALUES_AT_ONCE = 4_000_000  # 32 MB of float64
# Multiplications from which our own loop finds the candidates; below, importing numba does not pay.
COMPILED_FROM = 3_000_000_000
# Largest accepted error of products of codes; with more, too many queries are repeated in float32.
MOST_SLACK = 2.5e-3
FEWEST_DIMENSIONS_CODED = 128  # below, selection rather than the product takes the time
QUERIES_PER_TILE, ITEMS_PER_TILE = 1_024, 784  # whole lines of the cache, no power of two
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
        self._norms = row_norms(matrix)
        if metric is Similarity.COS:
            self._rows = unit_vectors(matrix)
            self._centre, self._scale = np.zeros(matrix.shape[1]), 1.0
        else:  # centered and on one scale, so that float32 keeps small differences
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
        scores, found = self._candidates(self._scaled(vectors), wanted)
        rows = np.empty((len(vectors), k), dtype=np.int64)
        similarity = np.empty((len(vectors), k), dtype=np.float64)
        at_once = max(1, VALUES_AT_ONCE // (wanted * self._matrix.shape[1]))
        for start in range(0, len(vectors), at_once):
            part = slice(start, start + at_once)
            values = self._similarity(vectors[part], found[part])
            if own is not None:
                values[found[part] == own[part, None]] = -np.inf
            order = np.lexsort((found[part], -values), axis=1)[:, :k]
            rows[part] = np.take_along_axis(found[part], order, axis=1)
            similarity[part] = np.take_along_axis(values, order, axis=1)
        nearest = Nearest(rows, similarity)
        if wanted < len(self):
            unsure = np.flatnonzero(self._in_scores(similarity[:, k - 1]) - scores[:, -1] <= SLACK)
            self._settle(unsure, vectors, own, nearest)
        return nearest

    def _candidates(self, asked: Float32, wanted: int) -> tuple[Float32, Int64]:
        """The ``wanted`` highest scores of ``[q, d]``, the highest first, and their rows: ``[q, wanted]`` each."""
        cosine = self.metric is Similarity.COS
        try:
            import faiss
        except ModuleNotFoundError:
            return _highest(asked, self._rows, wanted, None if cosine else self._halves)
        scores, found = faiss.knn(
            asked, self._rows, wanted, metric=faiss.METRIC_INNER_PRODUCT if cosine else faiss.METRIC_L2
        )
        return (scores if cosine else -scores), found

    def _nearest_of_many(
        self, vectors: Float32, k: int, own: Int64 | None, wanted: int, *, may_code: bool = True
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
        slacks = [(d + 8) * 2.0**-24 * (1 if cosine else 6)]

        def search(part: slice) -> None:
            scaled = self._scaled(asked[part])
            kept = np.empty((len(scaled), wanted), dtype=np.float32)
            found = np.empty((len(scaled), wanted), dtype=np.int64)
            if is_coded:
                left = coarse.two_step_coded(scaled, is_right=False)
                slacks.append(coarse.slack_of_two_steps(left, self._fine))
                self._keep_by_codes(left, kept, found)
            else:
                self._keep_by_floats(scaled, kept, found)
            squares = 0.0 if cosine else np.einsum("qd,qd->q", scaled, scaled, dtype=np.float64)
            lowest[part] = kept[:, 0] if cosine else 2.0 * kept[:, 0] - squares
            take_most_similar(
                self._matrix, self._norms, asked[part], found, mine[part], cosine, rows[part], similarity[part]
            )

        with one_blas_thread() as threads:
            may_code = may_code and cosine and d >= FEWEST_DIMENSIONS_CODED
            is_coded = may_code and coarse.pays() and self._is_fine
            if is_coded:
                wanted = min(wanted + k // 4, len(self))  # since the slack is wider
            within = coarse.one_thread if is_coded else nullcontext
            in_threads(shrinking(len(asked), QUERIES_PER_TILE, threads), search, threads, within)
        found = Nearest(rows, similarity)
        if wanted == len(self):
            return found
        unsure = np.flatnonzero(self._in_scores(similarity[:, k - 1]) - lowest <= max(slacks))
        if not is_coded:
            self._settle(unsure, asked, own, found)
        elif len(unsure):
            those = None if own is None else mine[unsure]
            again = self._nearest_of_many(asked[unsure], k, those, wanted, may_code=False)
            rows[unsure], similarity[unsure] = again.rows, again.similarity
        return found

    def _keep_by_floats(self, scaled: Float32, kept: Float32, found: Int64) -> None:
        """The highest products of ``[q, d]`` with all rows, and their rows, ``[q, wanted]``."""
        from blindspot.numerics.kernels import keep_highest

        room = room_for_scores(len(scaled) * min(ITEMS_PER_TILE, len(self)))
        floors = np.full(len(scaled), -np.inf, dtype=np.float32)
        for items in self._tiles():
            tile = self._rows[items]
            scores = room[: len(scaled) * len(tile)].reshape(len(scaled), -1)
            np.matmul(scaled, tile.T, out=scores)
            filled = min(items.start, kept.shape[1])
            keep_highest(scores, self._halves[items], items.start, kept, found, filled, floors)

    def _keep_by_codes(self, left: TwoStepCoded, kept: Float32, found: Int64) -> None:
        """As ``_keep_by_floats``, from products of codes."""
        from blindspot.numerics.kernels import keep_highest_by_codes

        queries, steps = len(left.first.codes), left.first.steps
        rooms = [room_for_scores(queries * min(ITEMS_PER_TILE, len(self))).view(np.int32) for _ in range(2)]
        for items in self._tiles():
            right = self._fine.part(items)
            shape = queries, len(right.first.codes)
            products, crossed = (room[: shape[0] * shape[1]].reshape(shape) for room in rooms)
            coarse.multiply(left.first, right.first, products)
            coarse.multiply(left.both, right.both, crossed)
            filled = min(items.start, kept.shape[1])
            keep_highest_by_codes(products, crossed, steps, right.first.steps, items.start, kept, found, filled)

    def _tiles(self) -> Iterator[slice]:
        for first in range(0, len(self), ITEMS_PER_TILE):
            yield slice(first, min(first + ITEMS_PER_TILE, len(self)))

    @cached_property
    def _halves(self) -> Float32:
        """Amounts subtracted from products so that they rise as the distance falls: x.y - |y|^2/2; none for cosine."""
        if self.metric is Similarity.COS:
            return np.empty(0, dtype=np.float32)
        return np.asarray(row_norms(self._rows) ** 2 / 2, dtype=np.float32)

    @cached_property
    def _fine(self) -> TwoStepCoded:
        """Codes of the rows."""
        return coarse.two_step_coded(self._rows, is_right=True)

    @property
    def _is_fine(self) -> bool:
        """Whether products of codes are accurate enough, at least among the rows."""
        return coarse.slack_of_two_steps(self._fine, self._fine) <= MOST_SLACK

    def _scaled(self, vectors: Float32) -> Float32:
        """Vectors prepared for multiplication with the rows."""
        if self.metric is Similarity.L2:
            return np.ascontiguousarray((vectors - self._centre) / self._scale, dtype=np.float32)
        return unit_vectors(vectors)

    def _settle(self, unsure: Int64, vectors: Float32, own: Int64 | None, found: Nearest) -> None:
        """Search all items for queries where a non-candidate might be among the k nearest, as with many near-ties."""
        k = found.rows.shape[1]
        for i in unsure:
            values = self._to_all(np.asarray(vectors[i], dtype=np.float64))
            if own is not None:
                values[own[i]] = -np.inf
            found.rows[i] = np.lexsort((np.arange(len(self)), -values))[:k]
            found.similarity[i] = values[found.rows[i]]

    def _in_scores(self, similarity: Float64) -> Float64:
        """Similarities on the scale of the scores that select candidates."""
        if self.metric is Similarity.COS:
            return similarity
        return np.asarray(-(((1.0 / similarity - 1.0) / self._scale) ** 2))

    def _similarity(self, vectors: Float32, found: Int64) -> Float64:
        """Similarity in float64 of each of ``[q, d]`` to its candidates ``[q, c]``, as ``[q, c]``."""
        asked = np.asarray(vectors, dtype=np.float64)
        return np.stack(
            [
                self._of(one, np.asarray(self._matrix[those], dtype=np.float64), self._norms[those])
                for one, those in zip(asked, found, strict=True)
            ]
        )

    def _to_all(self, one: Float64) -> Float64:
        """Similarity of one vector to every row, ``[n] float64``."""
        out = np.empty(len(self))
        for start in range(0, len(self), ROWS_AT_ONCE):
            block = slice(start, start + ROWS_AT_ONCE)
            out[block] = self._of(one, np.asarray(self._matrix[block], dtype=np.float64), self._norms[block])
        return out

    def _of(self, one: Float64, others: Float64, norms: Float64) -> Float64:
        """Similarity of one vector to others of known lengths."""
        if self.metric is Similarity.L2:
            difference = others - one
            return np.asarray(1.0 / (1.0 + np.sqrt(np.einsum("nd,nd->n", difference, difference))))
        lengths = norms * np.sqrt(one @ one)
        products = np.einsum("nd,d->n", others, one)
        return np.asarray(np.divide(products, lengths, out=np.zeros_like(products), where=lengths > 0))


def _highest(asked: Float32, rows: Float32, wanted: int, halves: Float32 | None) -> tuple[Float32, Int64]:
    """As ``ExactIndex._candidates``; ``halves [n]`` are half the squared lengths, for distances instead of products."""
    scores = np.empty((len(asked), wanted), dtype=np.float32)
    found = np.empty((len(asked), wanted), dtype=np.int64)
    at_once = max(1, VALUES_AT_ONCE // len(rows))
    for start in range(0, len(asked), at_once):
        part = slice(start, start + at_once)
        every = asked[part] @ rows.T
        if halves is not None:
            every = 2 * (every - halves) - np.einsum("qd,qd->q", asked[part], asked[part])[:, None]
        first = np.argpartition(-every, wanted - 1, axis=1)[:, :wanted]
        order = np.argsort(-np.take_along_axis(every, first, axis=1), axis=1, kind="stable")
        found[part] = np.take_along_axis(first, order, axis=1)
        scores[part] = np.take_along_axis(every, found[part], axis=1)
    return scores, found
