"""Ranks of the judged documents of queries among all documents.

Documents with equal scores have no order. There are two ways out: to count the documents above a judged one and those
tied with it, which gives expected values over all orders (``graded``); or to use trec_eval's order, in which the
document with the later id, compared by bytes, is first (``form_res_rels.c``).
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from blindspot.numerics import coarse
from blindspot.numerics.flagging import room_for_scores
from blindspot.numerics.neighbors import screens
from blindspot.numerics.neighbors.exact import QUERIES_OF_SAMPLE, SEED, SPARE, ExactIndex
from blindspot.numerics.ranking.problem import TAU, RankProblem, prepare, scaled, slack_of_float32
from blindspot.numerics.ranking.ranks import FEWEST_PRODUCTS, ITEMS_PER_CODED_TILE, rank_pairs
from blindspot.numerics.ranking.tiles import QueryTile, Screening, Tile, is_to_be_screened, query_tiles
from blindspot.numerics.similarity import Similarity, row_norms
from blindspot.numerics.threads import in_threads, one_blas_thread, shrinking
from blindspot.types import CancelToken, Float32, Float64, Int32, Int64, Progress, no_progress

# Of similarities in trec_eval's order: copies of a text tie, whatever the last bits of their products. trec_eval keeps
# scores in float32, which tells numbers of six decimals up to 1 apart.
DECIMALS = 6
SCORES_AT_ONCE = 1 << 22  # 32 MB of float64
QUERIES_PER_TILE, ITEMS_PER_TILE = 1_024, 832  # a tile's scores stay in the cache, as in ``neighbors.exact``
# To guess which scores the best have: with so many of the documents, one query in a thousand is searched again.
ROWS_OF_SAMPLE, DEVIATIONS = 2_048, 3.5
TOP = 100
NOT_RETRIEVED = 1 << 31  # documents above one that a ranking does not have: more than there are


@dataclass(frozen=True, eq=False)
class Judged:
    """Documents judged for q queries: those of query i are ``documents[starts[i]:starts[i + 1]]``.

    Attributes:
        starts: ``[q + 1]``.
        documents: ``[j]``, numbers of the documents; distinct within a query.
    """

    starts: Int32 | Int64
    documents: Int32 | Int64

    @property
    def queries(self) -> Int64:
        """Number of the query of each judgment, ``[j]``."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))


@dataclass(frozen=True, eq=False)
class Places:
    """Numbers of documents above each judged one and tied with it, ``[j] int64``, and its score, ``[j] float64``."""

    greater: Int64
    ties: Int64
    scores: Float64


@dataclass(frozen=True, eq=False)
class Top:
    """The best documents of q queries, best first.

    Attributes:
        documents: ``[q, k] int64``; -1 after the last of a query with fewer.
        scores: ``[q, k] float64``; there ``-inf``.
        passages: ``[q, k] int64``, the best passage of each where documents are cut (``ranking.passages``).
    """

    documents: Int64
    scores: Float64
    passages: Int64 | None = None


def order_of_ids(ids: Sequence[str]) -> Int64:
    """Places of n documents at a tie in trec_eval's order, ``[n]`` from 0: the last id first, by its UTF-8 bytes."""
    keys = [document_id.encode() for document_id in ids]
    out = np.empty(len(ids), dtype=np.int64)
    out[sorted(range(len(ids)), key=keys.__getitem__, reverse=True)] = np.arange(len(ids))
    return out


# --- by similarity


def places(
    matrix: Float32,
    judged: Judged,
    metric: Similarity,
    progress: Progress,
    cancel: CancelToken,
    tau: float = TAU,
) -> Places:
    """Exact counts of documents above each judged one and tied with it, as a float64 loop would count them.

    Args:
        matrix: ``[n + q, d] float32``, the documents, then the queries.
        tau: two similarities no further apart are tied.

    Raises:
        Cancelled: between two tiles.
        BlindspotError: the embeddings are not all finite.
    """
    n, asked, documents = _pairs(matrix, judged)
    counts = rank_pairs(matrix, asked, documents, metric, progress, cancel, tau, candidates=n)
    return Places(counts.greater, counts.ties, counts.similarity)


def top(matrix: Float32, queries: int, metric: Similarity, k: int = TOP) -> Top:
    """The k most similar documents of every query, or all if there are fewer: exact, compared in float64; among equally
    similar ones the lower number first.

    Args:
        matrix: as for ``places``; its last ``queries`` rows are those of the queries.
    """
    n = len(matrix) - queries
    nearest = ExactIndex(matrix[:n], metric).of_vectors(matrix[n:], min(k, n))
    return Top(nearest.rows, nearest.similarity)


def search(
    matrix: Float32,
    judged: Judged,
    metric: Similarity,
    progress: Progress,
    cancel: CancelToken,
    tau: float = TAU,
    k: int = TOP,
) -> tuple[Places, Top]:
    """``places`` and ``top`` from the same float32 products, which take most of the time; for l2, one after the other.

    Every query needs a judgment. Memory beyond the inputs: two tiles, and 116 scores per query, for each thread.
    """
    if metric is Similarity.L2:
        ranks = places(matrix, judged, metric, progress, cancel, tau)
        cancel.check()
        return ranks, top(matrix, len(judged.starts) - 1, metric, k)
    if np.prod([*matrix.shape, len(judged.starts) - 1], dtype=np.float64) < FEWEST_PRODUCTS:
        return _search(matrix, judged, progress, cancel, tau, k, threads=1)
    with one_blas_thread() as threads:
        return _search(matrix, judged, progress, cancel, tau, k, threads)


def _pairs(matrix: Float32, judged: Judged) -> tuple[int, Int32, Int32]:
    """The number of documents, and the rows of every judgment's query and document."""
    n = len(matrix) - (len(judged.starts) - 1)
    return n, (n + judged.queries).astype(np.int32), judged.documents.astype(np.int32)


class _Kept:
    """Counts and best documents of one thread.

    Attributes:
        memory: for a tile of scores.
        counts: ``[2, judgments]``, above and tied.
        scores, documents: ``[q, width]``, the highest scores so far in the first ``seen`` places; with codes, scores
            that reach the floors; these may be fewer, and other places have -inf.
        above_floors: with codes, the same for each tile of queries, until ``close``.
    """

    def __init__(
        self, memory: Float32, judgments: int, queries: Sequence[QueryTile], width: int, floors: Float32 | None
    ) -> None:
        self.memory = memory
        self.counts = np.zeros((2, judgments), dtype=np.int64)
        self.seen = 0
        self.above_floors: list[screens.Kept] = []
        if floors is None:
            last = queries[-1].rows.stop if queries else 0
            self.scores = np.full((last, width), -np.inf, dtype=np.float32)
            self.documents = np.zeros((last, width), dtype=np.int64)
        else:
            self.above_floors = [screens.Kept(floors[some.rows].copy(), width) for some in queries]
            self.seen = width

    def close(self) -> None:
        if self.above_floors:
            self.scores = np.concatenate([kept.scores for kept in self.above_floors])
            self.documents = np.concatenate([kept.items for kept in self.above_floors])


def _search(
    matrix: Float32, judged: Judged, progress: Progress, cancel: CancelToken, tau: float, k: int, threads: int
) -> tuple[Places, Top]:
    """``search`` by cosine, on so many threads; by products of codes where these pay."""
    from blindspot.numerics.kernels import keep_highest

    n, asked, documents = _pairs(matrix, judged)
    slack = slack_of_float32(matrix.shape[1])
    problem = prepare(matrix, asked, documents, Similarity.COS, tau, threads, slack)
    queries, width = len(problem.left), min(k + SPARE, n)
    at_once = min(QUERIES_PER_TILE, queries)
    caller, local, every = threading.get_ident(), threading.local(), list[_Kept]()
    guessed, screening = _floors_if_codes_pay(problem, n, width), Screening()
    first_far = 0  # queries before it have no judged document below what is kept: one product serves both
    if guessed is not None:
        is_far = np.minimum.reduceat(problem.low, problem.pair_starts[:-1]) < guessed
        order, first_far = np.argsort(is_far, kind="stable"), int(np.count_nonzero(~is_far))
        problem, guessed = problem.of_queries(order), guessed[order]
    tiles = [*query_tiles(problem, at_once, stop=first_far), *query_tiles(problem, at_once, first_far)]
    none, floors = np.empty(0, dtype=np.float32), np.full(queries, -np.inf, dtype=np.float32)

    def rank_tile(items: slice) -> None:
        if threading.get_ident() == caller:
            progress("ranking", items.start, n)
        if not hasattr(local, "kept"):  # the first tile of a thread is its largest
            memory = room_for_scores(at_once, items.stop - items.start)
            local.kept = _Kept(memory, len(asked), tiles, width, guessed)
            every.append(local.kept)
        kept: _Kept = local.kept
        tile = Tile(problem, items, tau, kept.memory)
        for number, some in enumerate(tiles):
            cancel.check()
            if guessed is not None:
                best_so_far, pays = kept.above_floors[number], screening.pays
                from_same = pays and some.rows.start < first_far
                if pays:
                    above, tied = kept.counts
                    screening.count(tile, some, above, tied, best_so_far if from_same else None)
                else:
                    tile.count(some, *kept.counts)
                if not from_same:
                    best_so_far.add(some.coded, tile.coded, none, items.start, kept.memory)
                continue
            tile.count(some, *kept.counts)
            rows = some.rows.stop - some.rows.start
            scores = kept.memory[: rows * len(tile.right)].reshape(rows, -1)  # that ``count`` left there
            best = kept.scores[some.rows], kept.documents[some.rows]
            keep_highest(scores, none, items.start, *best, kept.seen, floors[some.rows])
        kept.seen = min(kept.seen + len(tile.right), width)

    in_threads(shrinking(n, ITEMS_PER_TILE if guessed is None else ITEMS_PER_CODED_TILE, threads), rank_tile, threads)
    progress("ranking", n, n)
    for kept in every:
        kept.close()
    counts = problem.counts(*np.sum([kept.counts for kept in every], axis=0))
    placed = Places(counts.greater, counts.ties, counts.similarity)
    return placed, _best_of(problem, every, width, min(k, n), slack, threads)


def _floors_if_codes_pay(problem: RankProblem, n: int, width: int) -> Float32 | None:
    """For each query a score that ``width`` of the first n rows are likely to reach; None where whole products are as
    fast as those of codes."""
    if not is_to_be_screened(problem) or not coarse.pays():
        return None
    random = np.random.default_rng(SEED)
    items = scaled(problem.matrix, np.sort(random.permutation(n)[:ROWS_OF_SAMPLE]), problem.factors)
    none = np.empty(0, dtype=np.float32)
    floors = screens.guessed_floors(problem.left, items, none, width, n, DEVIATIONS)
    some = random.permutation(len(floors))[:QUERIES_OF_SAMPLE]
    pays = np.isfinite(floors).all() and screens.codes_pay(
        problem.left[some], items[: len(items) // 4], floors[some], problem.origin
    )
    return floors if pays else None


def _best_of(problem: RankProblem, every: Sequence[_Kept], width: int, k: int, slack: float, threads: int) -> Top:
    """The k most similar documents, compared in float64, from what the threads kept.

    A document that no thread kept has at most the lowest kept score. Where such a document could still belong to the
    best, or where too few reached a floor, all documents are compared.
    """
    from blindspot.numerics.kernels import take_most_similar

    n = len(problem.matrix) - len(problem.left)
    vectors = problem.matrix[problem.query_items]
    rows, similarity = np.empty((len(vectors), k), dtype=np.int64), np.empty((len(vectors), k))
    lowest, nobody = np.empty(len(vectors), dtype=np.float32), np.full(len(vectors), -1, dtype=np.int64)

    def compare(some: slice) -> None:
        scores = np.concatenate([kept.scores[some, : kept.seen] for kept in every], axis=1)
        documents = np.concatenate([kept.documents[some, : kept.seen] for kept in every], axis=1)
        highest = np.argpartition(-scores, width - 1, axis=1)[:, :width]
        lowest[some] = np.take_along_axis(scores, highest, axis=1).min(axis=1)
        documents_of_highest = np.ascontiguousarray(np.take_along_axis(documents, highest, axis=1))
        queries = vectors[some], documents_of_highest, nobody[some]
        take_most_similar(problem.matrix, problem.norms, *queries, True, rows[some], similarity[some])

    in_threads(shrinking(len(vectors), -(-len(vectors) // threads), threads), compare, threads)
    close = (similarity[:, k - 1] - lowest <= 2 * slack) | np.isneginf(lowest)
    unsure = np.flatnonzero(close) if width < n else np.empty(0, dtype=np.int64)
    for at in range(0, len(unsure), at_once := max(1, SCORES_AT_ONCE // n)):
        some = unsure[at : at + at_once]
        scores = (problem.matrix[:n] @ problem.left[some].T).T * problem.factors[:n].astype(np.float32)
        for query, line in zip(some, scores, strict=True):
            near = np.flatnonzero(line >= np.partition(line, n - k)[n - k] - 4 * slack)
            this_query = slice(query, query + 1)
            queries = vectors[this_query], near[np.newaxis], nobody[this_query]
            take_most_similar(problem.matrix, problem.norms, *queries, True, rows[this_query], similarity[this_query])
    back = np.argsort(problem.query_items)
    return Top(rows[back], similarity[back])


def rounded_similarities(
    documents: Float32, queries: Float32, metric: Similarity, cancel: CancelToken, progress: Progress = no_progress
) -> Iterator[Float64]:
    """Similarities of the queries to all documents in float64, rounded to six decimals, as blocks ``[some, n]``."""
    cosine = metric is Similarity.COS
    right = _unit(documents) if cosine else documents.astype(np.float64)
    squares = row_norms(documents) ** 2
    at_once = max(1, SCORES_AT_ONCE // max(1, len(documents)))
    for start in range(0, len(queries), at_once):
        cancel.check()
        progress("ranking", start, len(queries))
        some = queries[start : start + at_once]
        if cosine:
            yield np.round(_unit(some) @ right.T, DECIMALS)
            continue
        left = some.astype(np.float64)
        squared = (row_norms(some) ** 2)[:, np.newaxis] + squares - 2 * (left @ right.T)
        yield np.round(1.0 / (1.0 + np.sqrt(np.maximum(squared, 0.0))), DECIMALS)


def _unit(matrix: Float32) -> Float64:
    norms = row_norms(matrix)[:, np.newaxis]
    return np.divide(matrix, norms, out=np.zeros(matrix.shape), where=norms > 0)


# --- condensed lists


def condensed(judged: Judged, scores: Float64, tau: float = 0.0) -> Places:
    """Places among the judged documents of the same query alone: unjudged ones are removed (Sakai 2007, *Alternatives
    to Bpref*, section 2.3).

    Args:
        scores: ``[j]``, higher is better.
        tau: two scores no further apart are tied.
    """
    greater, ties = np.zeros((2, len(scores)), dtype=np.int64)
    for start, stop in pairwise(judged.starts.tolist()):
        sorted_scores = np.sort(scores[start:stop])
        above = len(sorted_scores) - np.searchsorted(sorted_scores, scores[start:stop] + tau, side="right")
        greater[start:stop] = above
        ties[start:stop] = (
            len(sorted_scores) - np.searchsorted(sorted_scores, scores[start:stop] - tau, side="left") - above - 1
        )
    return Places(greater, ties, scores)


# --- by any score


def rank_by_scores(
    scores: Iterable[Float64] | Iterable[Float32],
    judged: Judged,
    order: Int64 | None = None,
    k: int = TOP,
    tau: float = 0.0,
) -> tuple[Places, Top]:
    """Places and top documents by the scores of all documents, higher is better.

    Args:
        scores: of the queries in their order, in blocks ``[some, n]``. A document of the score ``-inf`` is not
            retrieved: ``NOT_RETRIEVED`` documents are above it, it is tied with none, and it is not in the top.
        order: ``[n]``, distinct places at a tie, such as ``order_of_ids``: then there are no ties. If None, ties are
            counted, and the top documents have the lower number first.
        tau: without ``order``, two scores no further apart are tied.
    """
    greater, ties = np.zeros((2, len(judged.documents)), dtype=np.int64)
    scored = np.zeros(len(judged.documents))
    documents, values = [], []
    for query, line in enumerate(line for block in scores for line in block):
        for at in range(int(judged.starts[query]), int(judged.starts[query + 1])):
            document = judged.documents[at]
            scored[at] = score = line[document]
            if score == -np.inf:
                greater[at] = NOT_RETRIEVED
                continue
            greater[at] = np.count_nonzero(line > score + tau)
            if order is None:
                ties[at] = np.count_nonzero(line >= score - tau) - greater[at] - 1
            else:
                same = line == score
                greater[at] += np.count_nonzero(order[same] < order[document])
        best = _best(line, order, k)
        empty = min(k, len(line)) - len(best)
        documents.append(np.append(best, np.full(empty, -1)))
        values.append(np.append(line[best], np.full(empty, -np.inf)))
    return Places(greater, ties, scored), Top(np.array(documents, dtype=np.int64), np.array(values, dtype=np.float64))


def _best(line: Float64 | Float32, order: Int64 | None, k: int) -> Int64:
    """Numbers of the k highest scores, highest first, without ``-inf``."""
    candidates = at_least_kth(line, k)
    at_tie = candidates if order is None else order[candidates]
    return np.asarray(candidates[np.lexsort((at_tie, -line[candidates]))[:k]])


def at_least_kth(line: Float64 | Float32, k: int) -> Int64:
    """Numbers of the scores that have fewer than k above them, ascending, without ``-inf``."""
    lowest = np.partition(line, len(line) - k)[len(line) - k] if k < len(line) else -np.inf
    return np.flatnonzero(line > -np.inf if lowest == -np.inf else line >= lowest).astype(np.int64)
