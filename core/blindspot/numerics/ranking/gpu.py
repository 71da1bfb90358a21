"""Exact ranks of matches on a GPU with torch, equal to those of ``blindspot.numerics.ranking.ranks`` on the CPU.

Products are float32 (never TF32) or float16; every score too close to the match's to decide is recomputed in float64 on
the same device. The error of a product is bounded for the worst case, so the counts are those of a float64 loop
whatever the precision; a lower one only means more recomputation.

Runs on any torch device with float64: ``cuda:N``, and ``cpu`` for tests. Where one fails, the CPU counts.
"""

from __future__ import annotations

import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from blindspot.numerics.devices import first_line, full_precision, is_of_device, kind_of, release
from blindspot.numerics.ranking.problem import TAU, RankCounts, RankProblem, prepare, slack_of_float32
from blindspot.numerics.ranking.ranks import rank_pairs
from blindspot.numerics.similarity import Similarity
from blindspot.numerics.threads import cores
from blindspot.types import CancelToken, Float32, Int32, Int64, Progress

if TYPE_CHECKING:
    import torch

Precision = Literal["float32", "float16"]
PRECISIONS: tuple[Precision, ...] = ("float32", "float16")

QUERIES_AT_ONCE = 65_536
QUERY_VALUES = 1 << 25  # coordinates of the queries on the device, raw and prepared: 128 MB each
PAIRS_PER_TILE = 4_096
ITEMS_PER_TILE = 16_384  # 256 MB of scores
ITEM_VALUES = 1 << 24  # likewise of a tile's items: 64 MB each, and of the following tile's
UPLOADS_AHEAD = 3
THREADS = 4  # threads of the processor, while another copies vectors; more of them wait for each other
VALUES_AT_ONCE = 1 << 23  # in float64: 64 MB
UNSURE_AT_ONCE = 1 << 21  # scores to recompute, as two indices each: 32 MB
COLUMNS_AT_ONCE = 1_024  # to count
ROWS_AT_ONCE = 512  # with some: 32 MB of scores

Fallback = Callable[[str], None]


def warn_of_fallback(sentence: str) -> None:
    warnings.warn(sentence, stacklevel=3)


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
    matches: Int32,
    metric: Similarity,
    progress: Progress,
    cancel: CancelToken,
    precision: Precision = "float32",
    tau: float = TAU,
    candidates: int | None = None,
    fallback: Fallback = warn_of_fallback,
) -> RankCounts:
    """``blindspot.numerics.ranking.ranks.rank_pairs`` on a torch device; the counts are the same.

    Memory on the device: at most about 1 GB, whatever the number of items, their dimension and the number of ties; and
    50 bytes for each pair of ``QUERIES_AT_ONCE`` queries.

    Args:
        fallback: called with an error of the device or its memory, before all pairs are ranked on the CPU.

    Raises:
        Cancelled: between two tiles.
        BlindspotError: the embeddings are not all finite.
    """
    matrix = np.asarray(matrix)
    try:
        return _rank_pairs_on(device, matrix, queries, matches, metric, progress, cancel, precision, tau, candidates)
    except Exception as error:
        if not is_of_device(error):
            raise
        fallback(f"ranks were counted on the CPU, since {device} failed: {first_line(error)}")
    release(device)  # outside the handler, which keeps the failed tile's memory alive
    return rank_pairs(matrix, queries, matches, metric, progress, cancel, tau, candidates)


def _rank_pairs_on(
    device: str,
    matrix: Float32,
    queries: Int32,
    matches: Int32,
    metric: Similarity,
    progress: Progress,
    cancel: CancelToken,
    precision: Precision,
    tau: float,
    candidates: int | None,
) -> RankCounts:
    import torch

    dimension, ranked = matrix.shape[1], len(matrix) if candidates is None else candidates
    items = np.unique(queries.astype(np.int64))
    at_once = _rows(QUERIES_AT_ONCE, QUERY_VALUES, dimension)
    parts = [slice(start, min(start + at_once, len(items))) for start in range(0, len(items), at_once)]
    width = _rows(ITEMS_PER_TILE, ITEM_VALUES, dimension)
    tiles = [slice(start, min(start + width, ranked)) for start in range(0, ranked, width)]
    wanted: list[slice | Int64] = []
    for part in parts:
        wanted += [items[part], *tiles]
    with _uploaded(matrix, wanted, device) as uploaded, torch.inference_mode(), full_precision():
        # Meanwhile the first vectors are copied to the device.
        slack = slack_of(precision, dimension)
        problem = prepare(matrix, queries, matches, metric, tau, min(THREADS, cores()), slack, with_left=False)
        greater, ties = np.zeros((2, len(problem.order)), dtype=np.int64)
        for number, part in enumerate(parts):
            asked = _Asked(problem, part, next(uploaded), precision)
            for tile in tiles:
                progress("ranking", number * ranked + tile.start, len(parts) * ranked)
                asked.count(tile, next(uploaded), tau, cancel)
            greater[asked.pairs], ties[asked.pairs] = asked.greater.cpu().numpy(), asked.ties.cpu().numpy()
    progress("ranking", len(parts) * ranked, len(parts) * ranked)
    return problem.counts(greater, ties)


def _rows(most: int, values: int, dimension: int) -> int:
    """How many rows of so many dimensions have about ``values`` values; at most ``most``."""
    return max(1, min(most, values // max(1, dimension)))


@contextmanager
def _uploaded(matrix: Float32, wanted: Sequence[slice | Int64], device: str) -> Iterator[Iterator[torch.Tensor]]:
    """Rows of the matrix on the device, each ``[k, d] float32``; a thread copies them ahead, while others compute.

    It copies straight from the matrix: by way of pinned memory it took half as long again (H100, 25,000 items).
    """
    import torch

    stream = _stream_of_uploads(device) if kind_of(device) == "cuda" else None

    def upload(rows: slice | Int64) -> tuple[torch.Tensor, Any]:
        here = torch.from_numpy(np.require(np.asarray(matrix[rows]), requirements=["C", "W"]))
        if stream is None:
            return here.to(device), None
        with torch.cuda.stream(stream):
            there, done = here.to(device), torch.cuda.Event()
            done.record(stream)
        return there, done

    with ThreadPoolExecutor(1, "blindspot-upload") as pool:
        ahead = deque(pool.submit(upload, rows) for rows in wanted[:UPLOADS_AHEAD])
        following = iter(wanted[UPLOADS_AHEAD:])

        def take() -> Iterator[torch.Tensor]:
            while ahead:
                rows, done = ahead.popleft().result()
                if done is not None:
                    current = torch.cuda.current_stream(device)
                    current.wait_event(done)
                    rows.record_stream(current)  # its memory stays in use until the computations on it are done
                if (more := next(following, None)) is not None:
                    ahead.append(pool.submit(upload, more))
                yield rows

        try:
            yield take()
        finally:
            pool.shutdown(cancel_futures=True)


@cache
def _stream_of_uploads(device: str) -> torch.cuda.Stream:
    """One stream for all calls: torch keeps a stream's memory for later use by that stream alone."""
    import torch

    return torch.cuda.Stream(device)


class _Asked:
    """Some queries and their pairs on the device, with the pairs' counts so far.

    Attributes:
        pairs: their indices among the problem's pairs.
        greater, ties: ``[pairs] int64``.
    """

    def __init__(self, problem: RankProblem, rows: slice, raw: torch.Tensor, precision: Precision) -> None:
        """``raw [k, d] float32`` are the queries' vectors, on the device."""
        import torch

        self._problem, self._device = problem, raw.device
        self._dtype = torch.float16 if precision == "float16" else torch.float32
        starts = problem.pair_starts[rows.start : rows.stop + 1]
        self.pairs = slice(int(starts[0]), int(starts[-1]))
        items = problem.query_items[rows]
        self._items = self._there(items)
        self._raw, self._left = raw, self._operand(raw, items)
        self._norms = self._there(problem.norms[items])
        self._row = self._there(np.repeat(np.arange(len(items)), np.diff(starts)))  # of each pair
        self._matches = self._there(problem.pair_matches[self.pairs])
        self._similarity = self._there(problem.pair_similarity[self.pairs])
        self._low, self._high = self._there(problem.low[self.pairs]), self._there(problem.high[self.pairs])
        self.greater = torch.zeros(len(self._row), dtype=torch.int64, device=raw.device)
        self.ties = torch.zeros_like(self.greater)

    def _there(self, array: np.ndarray) -> torch.Tensor:
        import torch

        return torch.from_numpy(np.require(array, requirements=["C", "W"])).to(self._device)

    def _operand(self, raw: torch.Tensor, items: slice | Int64) -> torch.Tensor:
        """``RankProblem.operand`` of rows on the device, to the same bit before they are rounded to float16."""
        import torch

        factors, operand = self._there(self._problem.factors[items]), torch.empty_like(raw, dtype=self._dtype)
        at_once = _rows(len(raw), VALUES_AT_ONCE, raw.shape[1])
        for start in range(0, len(raw), at_once):
            some = slice(start, start + at_once)
            operand[some] = (raw[some].double() * factors[some, None]).float()
        return operand

    def count(self, items: slice, raw: torch.Tensor, tau: float, cancel: CancelToken) -> None:
        """Add one tile of items, ``raw [k, d] float32`` on the device, to the counts."""
        norms = self._there(self._problem.norms[items])
        right = self._operand(raw, items)
        halves = self._there(self._problem.half_squares(items))
        for start in range(0, len(self._row), PAIRS_PER_TILE):
            cancel.check()
            pairs = slice(start, start + PAIRS_PER_TILE)
            row = self._row[pairs]
            scores = self._left[row] @ right.T
            if self._problem.metric is Similarity.L2:
                scores = scores.float().sub_(halves)
            _drop(scores, self._items[row] - items.start)  # neither the query nor the match is a candidate
            _drop(scores, self._matches[pairs] - items.start)
            above = _counted(scores > self._high[pairs, None])
            unsure = _counted(scores >= self._low[pairs, None]) - above
            self.greater[pairs] += above
            self._settle_rows(scores, unsure.cpu().numpy(), start, raw, norms, tau)

    def _settle_rows(
        self, scores: torch.Tensor, unsure: Int64, first_pair: int, raw: torch.Tensor, norms: torch.Tensor, tau: float
    ) -> None:
        """Recompute scores ``[pairs, items]`` near the match's, ``unsure [pairs]`` of each pair (from ``first_pair``
        on), a few rows at a time: where all scores tie, all are near."""
        rows = np.flatnonzero(unsure)
        for some in _groups(rows, unsure[rows]):
            row = self._there(some)
            part, pair = scores[row], row + first_pair
            is_near = (part >= self._low[pair, None]) & (part <= self._high[pair, None])
            rows_near, column = is_near.nonzero().unbind(dim=1)
            at_once = _rows(len(rows_near), VALUES_AT_ONCE, raw.shape[1])
            for which, at in zip(pair[rows_near].split(at_once), column.split(at_once), strict=True):
                self._settle(which, at, raw, norms, tau)

    def _settle(
        self, pair: torch.Tensor, column: torch.Tensor, raw: torch.Tensor, norms: torch.Tensor, tau: float
    ) -> None:
        """Compare pairs with items of the tile in float64."""
        import torch

        row = self._row[pair]
        x, y = self._raw[row].double(), raw[column].double()
        if self._problem.metric is Similarity.L2:
            exact = 1.0 / (1.0 + (x - y).square().sum(dim=1).sqrt())
        else:
            lengths = self._norms[row] * norms[column]
            exact = torch.where(lengths > 0, (x * y).sum(dim=1) / lengths, 0.0)
        match = self._similarity[pair]
        above = exact > match + tau
        self.greater.index_add_(0, pair, above.long())
        self.ties.index_add_(0, pair, (~above & (exact >= match - tau)).long())


def _counted(mask: torch.Tensor) -> torch.Tensor:
    """How many of each row of ``[k, n] bool`` are true, ``[k] int64``.

    Torch adds one byte after the other. Words of eight are added here as wholes: of 128 words no byte overflows.
    """
    import torch

    whole = mask.shape[1] // COLUMNS_AT_ONCE * COLUMNS_AT_ONCE
    rest = mask[:, whole:].sum(dim=1)
    if not whole:
        return rest
    words = mask[:, :whole].contiguous().view(torch.int64).unflatten(1, (-1, COLUMNS_AT_ONCE // 8))
    return words.sum(dim=2).view(torch.uint8).sum(dim=1) + rest


def _drop(scores: torch.Tensor, columns: torch.Tensor) -> None:
    """Put row i's score in ``columns[i]`` below all others, if it has such a column; does not wait for the device."""
    import torch

    last = scores.shape[1] - 1
    places = columns.clamp(0, last)[:, None]
    is_there = ((columns >= 0) & (columns <= last))[:, None]
    scores.scatter_(1, places, torch.where(is_there, -torch.inf, scores.gather(1, places)))


def _groups(rows: Int64, counts: Int64) -> Iterator[Int64]:
    """Consecutive ``rows``, few enough for their ``counts`` to be at most about ``UNSURE_AT_ONCE`` together."""
    start, ends = 0, np.cumsum(counts)
    while start < len(rows):
        limit = UNSURE_AT_ONCE + (ends[start - 1] if start else 0)
        end = max(start + 1, min(int(np.searchsorted(ends, limit, side="right")), start + ROWS_AT_ONCE))
        yield rows[start:end]
        start = end
