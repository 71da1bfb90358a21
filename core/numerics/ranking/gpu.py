"""Exact ranks of matches on a GPU with torch, equal to those of ``blindspot.numerics.ranking.ranks`` on the CPU.

Products are float32 (never TF32) or float16; every score too close to the match's to decide is recomputed in float64 on
the same device. The error of a product is bounded for the worst case, so the counts are those of a float64 loop
whatever the precision; a lower one only means more recomputation.

Runs on any torch device with float64: ``cuda:N``, and ``cpu`` for tests.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

import numpy as np

from blindspot.numerics.ranking.problem import TAU, RankCounts, RankProblem, prepare, slack_of_float32
from blindspot.numerics.similarity import Similarity
from blindspot.types import CancelToken, Float32, Int32, Progress

if TYPE_CHECKING:
    import torch

Precision = Literal["float32", "float16"]
PRECISIONS: tuple[Precision, ...] = ("float32", "float16")

QUERIES_AT_ONCE = 65_536  # whose vectors stay on the device: 400 MB of 768 dimensions
PAIRS_PER_TILE = 4_096
ITEMS_PER_TILE = 16_384  # 256 MB of scores
VALUES_AT_ONCE = 1 << 25  # to recompute: 256 MB of float64


def slack_of(precision: Precision, dimension: int) -> float:
    """Error bound of a product of two vectors no longer than 1.

    float16: both operands are rounded (relative error 2^-11 each, absolute error 2^-25 for smaller coordinates),
    products are summed in float32, at worst truncated (2^-23 per term), and the sum is rounded again; the last two
    terms also cover products of those errors. For l2 the bound is multiplied by the squared length of the longest
    vector, which is at least 1/4.
    """
    if precision == "float32":
        return slack_of_float32(dimension)
    return 3 * 2.0**-11 + (dimension + 8) * 2.0**-23 + 8 * float(np.sqrt(dimension)) * 2.0**-25 + 2.0**-19


def rank_pairs_on(
    device: str,
    matrix: Float32,
    queries: Int32,
    mates: Int32,
    metric: Similarity,
    progress: Progress,
    cancel: CancelToken,
    precision: Precision = "float32",
    tau: float = TAU,
    candidates: int | None = None,
) -> RankCounts:
    """``blindspot.numerics.ranking.ranks.rank_pairs`` on a torch device; the counts are the same.

    Memory on the device: at most about 1.5 GB, whatever the number of items and pairs.

    Raises:
        Cancelled: between two tiles.
        BlindspotError: the embeddings are not all finite.
    """
    import torch

    matrix = np.asarray(matrix)
    problem = prepare(matrix, queries, mates, metric, tau, 1, slack_of(precision, matrix.shape[1]))
    pairs = len(problem.order)
    greater, ties = np.zeros((2, pairs), dtype=np.int64)
    queries_at_once = [
        slice(start, min(start + QUERIES_AT_ONCE, len(problem.left)))
        for start in range(0, len(problem.left), QUERIES_AT_ONCE)
    ]
    ranked = len(matrix) if candidates is None else candidates
    total = len(queries_at_once) * ranked
    with torch.inference_mode(), _full_precision():
        for part, rows in enumerate(queries_at_once):
            asked = _Asked(problem, rows, torch.device(device), precision)
            for first in range(0, ranked, ITEMS_PER_TILE):
                progress("ranking", part * ranked + first, total)
                items = slice(first, min(first + ITEMS_PER_TILE, ranked))
                asked.count(items, tau, cancel)
            greater[asked.pairs], ties[asked.pairs] = asked.greater.cpu().numpy(), asked.ties.cpu().numpy()
    progress("ranking", total, total)
    return problem.counts(greater, ties)


@contextmanager
def _full_precision() -> Iterator[None]:
    """Context without TF32 for float32 and without float16 sums; restores the process's settings."""
    import torch

    matmul = torch.backends.cuda.matmul
    before = matmul.fp32_precision, matmul.allow_fp16_reduced_precision_reduction
    matmul.fp32_precision, matmul.allow_fp16_reduced_precision_reduction = "ieee", False
    try:
        yield
    finally:
        matmul.fp32_precision, matmul.allow_fp16_reduced_precision_reduction = before


class _Asked:
    """Some queries and their pairs on the device, with the pairs' counts so far.

    Attributes:
        pairs: their indices among the problem's pairs.
        greater, ties: ``[pairs] int64``.
    """

    def __init__(self, problem: RankProblem, rows: slice, device: torch.device, precision: Precision) -> None:
        import torch

        self._problem, self._device = problem, device
        self._dtype = torch.float16 if precision == "float16" else torch.float32
        starts = problem.pair_starts[rows.start : rows.stop + 1]
        self.pairs = slice(int(starts[0]), int(starts[-1]))
        items = problem.query_items[rows]
        self._items = self._there(items)
        self._raw = self._there(np.asarray(problem.matrix[items]))
        self._left = self._there(problem.left[rows]).to(self._dtype)
        self._norms = self._there(problem.norms[items])
        self._row = self._there(np.repeat(np.arange(len(items)), np.diff(starts)))  # of each pair
        self._mates = self._there(problem.pair_mates[self.pairs])
        self._similarity = self._there(problem.pair_similarity[self.pairs])
        self._low, self._high = self._there(problem.low[self.pairs]), self._there(problem.high[self.pairs])
        self.greater = torch.zeros(len(self._row), dtype=torch.int64, device=device)
        self.ties = torch.zeros_like(self.greater)

    def _there(self, array: np.ndarray) -> torch.Tensor:
        import torch

        return torch.from_numpy(np.require(array, requirements=["C", "W"])).to(self._device)

    def count(self, items: slice, tau: float, cancel: CancelToken) -> None:
        """Add one tile of items to the counts."""
        raw = self._there(np.asarray(self._problem.matrix[items]))
        norms = self._there(self._problem.norms[items])
        right = self._there(self._problem.operand(items)).to(self._dtype)
        halves = self._there(self._problem.half_squares(items))
        for start in range(0, len(self._row), PAIRS_PER_TILE):
            cancel.check()
            pairs = slice(start, start + PAIRS_PER_TILE)
            scores = (self._left[self._row[pairs]] @ right.T).float()
            if self._problem.metric is Similarity.L2:
                scores -= halves
            own = self._items[self._row[pairs]] - items.start
            here = ((own >= 0) & (own < len(raw))).nonzero()[:, 0]
            scores[here, own[here]] = -np.inf  # the query is not its own candidate
            high = self._high[pairs, None]
            self.greater[pairs] += (scores > high).sum(dim=1)
            self._settle(
                ((scores >= self._low[pairs, None]) & (scores <= high)).nonzero(), start, items, raw, norms, tau
            )

    def _settle(
        self, unsure: torch.Tensor, first_pair: int, items: slice, raw: torch.Tensor, norms: torch.Tensor, tau: float
    ) -> None:
        """Recompute scores near the match's: ``unsure [k, 2]`` are a pair (from ``first_pair`` on) and a column of the
        tile."""
        import torch

        for some in unsure.split(max(1, VALUES_AT_ONCE // raw.shape[1])):
            pair, column = some[:, 0] + first_pair, some[:, 1]
            row = self._row[pair]
            x, y = self._raw[row].double(), raw[column].double()
            if self._problem.metric is Similarity.L2:
                exact = 1.0 / (1.0 + (x - y).square().sum(dim=1).sqrt())
            else:
                lengths = self._norms[row] * norms[column]
                exact = torch.where(lengths > 0, (x * y).sum(dim=1) / lengths, 0.0)
            mate = self._similarity[pair]
            other = column + items.start != self._mates[pair]
            above = exact > mate + tau
            self.greater.index_add_(0, pair, (above & other).long())
            self.ties.index_add_(0, pair, (~above & (exact >= mate - tau) & other).long())
