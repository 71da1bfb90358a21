"""Ranks: hand-computed cases, equality with the plain float64 loop, bounds on error and memory, cancellation."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from blindspot.errors import BlindspotError, Cancelled
from blindspot.numerics import coarse
from blindspot.numerics.flagging import room_for_scores
from blindspot.numerics.ranking import problem as rank_problem
from blindspot.numerics.ranking import pruning
from blindspot.numerics.ranking import ranks as ranking
from blindspot.numerics.ranking import tiles as rank_tiles
from blindspot.numerics.ranking.problem import TAU, RankCounts
from blindspot.numerics.ranking.ranks import (
    Exclusions,
    expected_hit,
    expected_reciprocal_rank,
    rank_among,
    rank_pairs,
    without,
)
from blindspot.numerics.similarity import Similarity, row_norms, similarity_of_pairs
from blindspot.settings import ROOT
from blindspot.types import CancelToken, Float32, no_progress
from tests.support import evalrank_reference as reference
from tests.support.ranking import SIZES, Pairs, greater_and_ties, matrices, rank_slowly, vectors_that_round_badly
from tests.support.tables import each


def rank(matrix: Float32, pairs: Pairs, metric: Similarity, tau: float = TAU) -> RankCounts:
    """By float32 products, by products of codes, and by first coordinates: the same to the last count."""
    queries, matches = np.array(pairs, dtype=np.int32).reshape(-1, 2).T
    found = rank_pairs(matrix, queries, matches, metric, no_progress, CancelToken(), tau)
    for way in WAYS[1:]:
        with way():
            again = rank_pairs(matrix, queries, matches, metric, no_progress, CancelToken(), tau)
        assert again.similarity.tolist() == found.similarity.tolist()
        assert greater_and_ties(again) == greater_and_ties(found)
    return found


@contextmanager
def screened() -> Iterator[None]:
    """Codes are taken however small the problem is, and whether or not they are faster here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rank_tiles, "FEWEST_CODED", 0)
        patch.setattr(rank_tiles, "FEWEST_DIMENSIONS_CODED", 0)
        patch.setattr(rank_tiles, "FEW_LINES", 1)
        patch.setattr(coarse, "pays", lambda: True)
        yield


@contextmanager
def pruned(again: float = 0.0) -> Iterator[None]:
    """First coordinates are compared however small the problem is; the fewest, where computing the rest ``again`` costs
    nothing, or else as many as pay. Undecided items get the others, then the whole product."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pruning, "DEPTHS", (1, 2, 5, 16))
        patch.setattr(pruning, "may_pay", lambda problem, _: len(problem.left) > 0)
        patch.setattr(pruning, "MOST_COST", np.inf)
        patch.setattr(pruning, "AGAIN", again)
        patch.setattr(pruning, "FOUND", again)
        patch.setattr(pruning._Sample, "best_depths", lambda sample, *_: len(sample._axes.depths))
        yield


@contextmanager
def pruned_by_codes() -> Iterator[None]:
    with screened(), pruned():
        yield


def some_pruned() -> AbstractContextManager[None]:
    return pruned(again=1.0)


WAYS: tuple[Callable[[], AbstractContextManager[None]], ...] = (
    nullcontext,
    screened,
    pruned,
    some_pruned,
    pruned_by_codes,
)


# --- cases small enough to compute by hand ---


def test_cosine_by_hand() -> None:
    matrix = np.array(
        [
            [1, 0],  # 0: the query
            [4, 3],  # 1: its match, cosine 4/5
            [9, 0],  # 2: cosine 1, above the match; its length does not matter
            [8, -6],  # 3: cosine 8/10, tied
            [40, 30],  # 4: cosine 40/50, tied
            [3, 4],  # 5: cosine 3/5, below
            [-1, 0],  # 6: cosine -1, below
            [0, 0],  # 7: no direction, cosine 0 by convention, below
        ],
        dtype=np.float32,
    )
    counts = rank(matrix, [(0, 1)], Similarity.COS)
    assert counts.similarity[0] == pytest.approx(0.8, abs=1e-15)
    assert greater_and_ties(counts) == [(1, 2)]
    assert counts.optimistic.tolist() == [2]
    assert counts.pessimistic.tolist() == [4]
    assert counts.shown.tolist() == [3.0]


def test_l2_by_hand() -> None:
    matrix = np.array(
        [
            [0, 0],  # 0: the query
            [3, 4],  # 1: its match at distance 5, similarity 1/6
            [1, 1],  # 2: nearer
            [0, -2],  # 3: nearer
            [5, 0],  # 4: at distance 5, tied
            [6, 8],  # 5: at distance 10; its cosine with the match would be 1
        ],
        dtype=np.float32,
    )
    counts = rank(matrix, [(0, 1)], Similarity.L2)
    assert counts.similarity[0] == pytest.approx(1 / 6, abs=1e-15)
    assert greater_and_ties(counts) == [(2, 1)]
    assert counts.shown.tolist() == [3.5]


def test_every_pair_gets_the_counts_of_its_own_query_and_match() -> None:
    """Points on a line, in an order of pairs that is not the order of their queries."""
    matrix = np.array([[0], [1], [3], [7]], dtype=np.float32)
    pairs = [(3, 0), (0, 1), (3, 2), (0, 3), (1, 0), (0, 2), (2, 2)]
    # From 7: 3, 1, 0. From 0: 1, 3, 7. From 1: 0, 3, 7. A text is nearest to itself.
    assert greater_and_ties(rank(matrix, pairs, Similarity.L2)) == [
        (2, 0),
        (0, 0),
        (0, 0),
        (2, 0),
        (0, 0),
        (1, 0),
        (0, 0),
    ]


def test_query_and_match_are_no_candidates() -> None:
    matrix = np.array([[1, 0], [0, 1]], dtype=np.float32)
    for metric in Similarity:
        assert greater_and_ties(rank(matrix, [(0, 1), (1, 0), (0, 0)], metric)) == [(0, 0)] * 3


def test_self_pair_is_tied_with_copies_of_the_text() -> None:
    matrix = np.array([[2, 1], [2, 1], [4, 2], [1, 2]], dtype=np.float32)
    assert greater_and_ties(rank(matrix, [(0, 0)], Similarity.COS)) == [(0, 2)], "item 2 has the same direction"
    assert greater_and_ties(rank(matrix, [(0, 0)], Similarity.L2)) == [(0, 1)]


def test_a_zero_query_ties_everything_under_cosine() -> None:
    matrix = np.array([[0, 0], [1, 0], [0, 1], [-1, 0]], dtype=np.float32)
    assert greater_and_ties(rank(matrix, [(0, 1)], Similarity.COS)) == [(0, 2)]


def test_a_zero_vector_is_tied_with_a_match_at_a_right_angle() -> None:
    matrix = np.array([[1, 0], [0, 1], [0, 0]], dtype=np.float32)
    assert greater_and_ties(rank(matrix, [(0, 1), (0, 2)], Similarity.COS)) == [(0, 1), (0, 1)]


@each(
    ("distance_in_tau", "expected"),
    [(2.0, (1, 0)), (1.2, (1, 0)), (0.8, (0, 1)), (0.0, (0, 1)), (-0.8, (0, 1)), (-1.2, (0, 0)), (-2.0, (0, 0))],
)
@each("metric", Similarity)
def test_tau_decides_what_is_tied(metric: Similarity, distance_in_tau: float, expected: tuple[int, int]) -> None:
    """A rival whose similarity differs from the match's by a multiple of tau (rounding to float32 is 0.1 tau)."""
    wanted = 0.5 + distance_in_tau * TAU
    if metric is Similarity.COS:
        matrix = np.array([[1, 0], [0.5, math.sqrt(0.75)], [wanted, -math.sqrt(1 - wanted**2)]])
    else:
        matrix = np.array([[0, 0], [0, 1], [1 / wanted - 1, 0]])
    assert greater_and_ties(rank(matrix.astype(np.float32), [(0, 1)], metric)) == [expected]


def test_tau_can_be_chosen() -> None:
    matrix = np.array([[0], [1], [0.9], [2]], dtype=np.float32)  # similarities 0.5, 0.526, 0.333
    assert greater_and_ties(rank(matrix, [(0, 1)], Similarity.L2, tau=0.1)) == [(0, 1)]
    assert greater_and_ties(rank(matrix, [(0, 1)], Similarity.L2, tau=0.01)) == [(1, 0)]
    assert greater_and_ties(rank(matrix, [(0, 1)], Similarity.L2, tau=0.6)) == [(0, 2)], "tau beyond the similarity"


@each("metric", Similarity)
@each("row", [[1.0, 2.0], [0.0, 0.0], [3.0], [0.0]])
def test_one_item_is_first_among_nobody(row: list[float], metric: Similarity) -> None:
    assert greater_and_ties(rank(np.array([row], dtype=np.float32), [(0, 0)], metric)) == [(0, 0)]


def test_no_pairs_have_no_ranks() -> None:
    counts = rank(np.ones((3, 2), dtype=np.float32), [], Similarity.COS)
    assert greater_and_ties(counts) == []


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_embeddings_that_are_not_finite_are_refused(value: float) -> None:
    """A NaN compares as neither above nor tied: it would make its pairs rank first."""
    matrix = np.ones((3, 2), dtype=np.float32)
    matrix[1, 1] = value
    with pytest.raises(BlindspotError, match="1 of 3 embeddings"):
        rank(matrix, [(0, 1)], Similarity.COS)


# --- equality with the loop ---


@given(data=st.data(), matrix=matrices(), metric=st.sampled_from(Similarity))
@hypothesis_settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
def test_ranks_equal_the_float64_loop(data: st.DataObject, matrix: Float32, metric: Similarity) -> None:
    """Duplicates, zero vectors, near ties, huge and tiny norms, self pairs, several matches, many tiles, threads."""
    item = st.integers(0, len(matrix) - 1)
    pairs = data.draw(st.lists(st.tuples(item, item), min_size=1, max_size=10))
    expected = rank_slowly(matrix, pairs, metric)
    assume(not any(pair.borderline for pair in expected))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ranking, "ITEMS_PER_TILE", data.draw(st.sampled_from([1, 2, 3, 7, 4_096])))
        patch.setattr(ranking, "QUERIES_PER_TILE", data.draw(st.sampled_from([1, 2, 3, 1_024])))
        for name in (
            "ITEMS_PER_SMALL_TILE",
            "QUERIES_PER_SMALL_TILE",
            "ITEMS_PER_CODED_TILE",
            "QUERIES_PER_CODED_TILE",
        ):
            patch.setattr(ranking, name, data.draw(st.sampled_from([1, 3, 1_024])))
        patch.setattr(rank_problem, "ROWS_PER_PART", data.draw(st.sampled_from([1, 2, 512])))
        patch.setattr(ranking, "FEWEST_PRODUCTS", data.draw(st.sampled_from([0, ranking.FEWEST_PRODUCTS])))
        counts = rank(matrix, pairs, metric)
    assert greater_and_ties(counts) == [(pair.greater, pair.ties) for pair in expected]
    np.testing.assert_allclose(counts.similarity, [pair.similarity for pair in expected], rtol=1e-12, atol=1e-14)


@each("size", SIZES)
@each("metric", Similarity)
def test_norms_of_every_size(metric: Similarity, size: float) -> None:
    """Products of such vectors overflow or vanish in float32; every size is tried, not only those drawn above."""
    random = np.random.default_rng(7)
    matrix = (random.uniform(-1, 1, (30, 16)) * size).astype(np.float32)
    matrix[5] = matrix[6]
    matrix[7] = 0
    matrix[8] = matrix[9] / 2
    pairs = [(i, (i + 1) % 30) for i in range(30)]
    expected = rank_slowly(matrix, pairs, metric)
    assert greater_and_ties(rank(matrix, pairs, metric)) == [(pair.greater, pair.ties) for pair in expected]


@pytest.mark.heavy
@pytest.mark.parametrize("metric", Similarity)
def test_scores_that_float32_cannot_tell_from_the_edges_of_tau(metric: Similarity) -> None:
    """400 items whose similarity is within 0.3 tau of match + tau or match - tau, in 2,048 dimensions."""
    random = np.random.default_rng(1)
    dimension = 2_048
    x = np.ones(dimension) / math.sqrt(dimension)  # the products are mostly of one sign, so that errors add up
    directions = random.standard_normal((401, dimension))
    others = directions - np.outer(directions @ x, x)
    others /= np.linalg.norm(others, axis=1, keepdims=True)
    wanted = 0.5 + np.append(0, random.choice([-TAU, TAU], 400) + random.uniform(-0.3, 0.3, 400) * TAU)
    if metric is Similarity.COS:
        rows = wanted[:, None] * x + np.sqrt(1 - wanted[:, None] ** 2) * others
    else:
        rows = x + (1 / wanted[:, None] - 1) * others
    matrix = np.vstack([x, rows]).astype(np.float32)
    (expected,) = rank_slowly(matrix, [(0, 1)], metric)
    assert expected.greater > 40
    assert expected.ties > 40
    assert expected.greater + expected.ties < 370
    assert greater_and_ties(rank(matrix, [(0, 1)], metric)) == [(expected.greater, expected.ties)]


@pytest.mark.heavy
@pytest.mark.parametrize("metric", Similarity)
def test_more_items_and_queries_than_a_tile_holds(metric: Similarity) -> None:
    """Real tile sizes; rivals, ties and matches stand on both sides of the seams, and pairs on both of theirs."""
    n = 2 * ranking.ITEMS_PER_TILE + 3
    random = np.random.default_rng(2)
    matrix = random.integers(-3, 4, (n, 2)).astype(np.float32)  # a small grid: many exact ties
    seams = [0, 511, 512, *(ranking.ITEMS_PER_TILE * k + offset for k in (1, 2) for offset in (-1, 0, 1)), n - 1]
    checked = [(query, match) for query in seams[:4] for match in seams]
    others = [(query, (7 * query) % n) for query in range(ranking.QUERIES_PER_TILE + 50)]
    counts = rank(matrix, checked + others, metric)
    # The same in plain numpy, over the few distinct points: exact as the grid is.
    points, number = np.unique(matrix, axis=0, return_inverse=True)
    sizes = np.bincount(number.ravel())
    for pair, (query, match) in enumerate(checked + others):
        x, y = points[number[query]].tolist(), points[number[match]].tolist()
        s = reference.SIMILARITIES[metric.value]
        scores = np.array([s(x, point) for point in points.tolist()])
        match_score = s(x, y)
        greater, tied = scores > match_score + TAU, np.abs(scores - match_score) <= TAU
        own = {query, match}
        expected_greater = sizes[greater].sum() - sum(greater[number[item]] for item in own)
        expected_ties = sizes[tied].sum() - sum(tied[number[item]] for item in own)
        assert (counts.greater[pair], counts.ties[pair]) == (expected_greater, expected_ties), (query, match)


@given(data=st.data(), matrix=matrices(), metric=st.sampled_from(Similarity))
@hypothesis_settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
def test_ranks_among_some_equal_the_float64_loop(data: st.DataObject, matrix: Float32, metric: Similarity) -> None:
    """Queries may be candidates or not; matches always are."""
    item = st.integers(0, len(matrix) - 1)
    pairs = data.draw(st.lists(st.tuples(item, item), min_size=1, max_size=10))
    candidates = np.array(data.draw(st.lists(st.booleans(), min_size=len(matrix), max_size=len(matrix))))
    candidates[[match for _, match in pairs]] = True
    vectors, left_out = matrix.astype(np.float64).tolist(), set(np.flatnonzero(~candidates).tolist())
    expected = [reference.count(vectors, query, match, metric.value, left_out) for query, match in pairs]
    assume(not any(pair.borderline for pair in expected))
    queries, matches = np.array(pairs, dtype=np.int32).reshape(-1, 2).T
    for way in WAYS:
        with way():
            found = rank_among(candidates, matrix, queries, matches, metric, no_progress, CancelToken())
        assert greater_and_ties(found) == [(pair.greater, pair.ties) for pair in expected]
        np.testing.assert_allclose(found.similarity, [pair.similarity for pair in expected], rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("metric", Similarity)
def test_the_number_of_threads_decides_nothing(metric: Similarity) -> None:
    """One, two and more threads than there are tiles, on vectors with many near ties; BLAS has its threads after."""
    random = np.random.default_rng(8)
    matrix = np.round(random.standard_normal((5_000, 16)), 1).astype(np.float32)
    queries, matches = random.integers(0, 5_000, (2, 600)).astype(np.int32)
    found = [
        ranking._rank_pairs(matrix, queries, matches, metric, no_progress, CancelToken(), TAU, threads)
        for threads in (1, 2, 40)
    ]
    for other in found[1:]:
        assert greater_and_ties(other) == greater_and_ties(found[0])
        assert other.similarity.tolist() == found[0].similarity.tolist()


def test_queries_that_codes_cannot_decide_are_multiplied_in_float32() -> None:
    """A query with one large coordinate has wide steps: codes cannot place it, but they place the others."""
    random = np.random.default_rng(9)
    matrix = random.standard_normal((3_000, 128)).astype(np.float32)
    matrix[2_000:, 0] = 300.0
    pairs = [(i, i + 1) for i in range(0, 300, 3)] + [(2_000 + i, 1_000 + i) for i in range(100)]
    queries, matches = np.array(pairs, dtype=np.int32).T
    matrix[matches[:100]] += 2 * matrix[queries[:100]]  # near their queries, far from what is not
    problem = rank_problem.prepare(matrix, queries, matches, Similarity.COS, TAU, 1, rank_problem.slack_of_float32(128))
    tile = rank_tiles.Tile(problem, slice(0, 2_000), TAU, room_for_scores(200, 2_000))
    screening = rank_tiles.Screening()
    (asked,) = rank_tiles.query_tiles(problem, 200)
    found, exact = np.zeros((2, 2, 200), dtype=np.int64)
    screening.count(tile, asked, *found)
    assert 60 <= screening.unsure <= 110, "all but those whose match is far from most items"
    tile.count(asked, *exact)
    assert found.tolist() == exact.tolist()


def test_codes_that_decide_little_are_given_up() -> None:
    """In one dimension everything is tied: after the first tile no more products of codes are made."""
    matrix = np.ones((4_000, 64), dtype=np.float32)
    with screened(), pytest.MonkeyPatch.context() as patch:
        made = []
        patch.setattr(ranking, "ITEMS_PER_CODED_TILE", 500)
        multiply = coarse.flag_products
        patch.setattr(coarse, "flag_products", lambda *arguments: (made.append(1), multiply(*arguments))[1])
        counts = ranking._rank_pairs(
            matrix,
            *np.array([[0, 1], [2, 3]], dtype=np.int32),
            Similarity.COS,
            no_progress,
            CancelToken(),
            TAU,
            1,
        )
    assert len(made) == 1
    assert counts.ties.tolist() == [3_998, 3_998]


def test_embeddings_may_be_a_read_only_memory_map(tmp_path: Path) -> None:
    matrix = np.random.default_rng(3).standard_normal((50, 8)).astype(np.float32)
    np.save(tmp_path / "matrix.npy", matrix)
    mapped = np.load(tmp_path / "matrix.npy", mmap_mode="r")
    pairs = [(i, 49 - i) for i in range(50)]
    for metric in Similarity:
        assert greater_and_ties(rank(mapped, pairs, metric)) == greater_and_ties(rank(matrix, pairs, metric))


@given(data=st.data(), matrix=matrices(), metric=st.sampled_from(Similarity))
@hypothesis_settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
def test_filtered_counts_equal_the_loop(data: st.DataObject, matrix: Float32, metric: Similarity) -> None:
    """``without`` any set of items gives what the loop gives over the candidates that are left."""
    item = st.integers(0, len(matrix) - 1)
    pairs = data.draw(st.lists(st.tuples(item, item), min_size=1, max_size=6))
    left_out = [data.draw(st.sets(item)) - {query, match} for query, match in pairs]
    vectors = matrix.astype(np.float64).tolist()
    expected = [
        reference.count(vectors, query, match, metric.value, out)
        for (query, match), out in zip(pairs, left_out, strict=True)
    ]
    assume(not any(pair.borderline for pair in rank_slowly(matrix, pairs, metric)))
    exclusions = Exclusions(
        np.array([pair for pair, out in enumerate(left_out) for _ in out], dtype=np.int64),
        np.array([j for out in left_out for j in out], dtype=np.int64),
    )
    queries = np.array([query for query, _ in pairs], dtype=np.int32)
    filtered = without(rank(matrix, pairs, metric), exclusions, matrix, queries, metric)
    assert greater_and_ties(filtered) == [(pair.greater, pair.ties) for pair in expected]


# --- the error bound that the exactness rests on ---


@each("dimension", [1, 2, 7, 64, 384, 1_024, 4_096])
@each("metric", Similarity)
def test_float32_scores_stay_within_the_slack(metric: Similarity, dimension: int) -> None:
    """With tau 0 the thresholds are the exact score -+ slack: every float32 score must lie between."""
    matrix = vectors_that_round_badly(dimension)
    norms = row_norms(matrix)
    factors = rank_problem._factors(norms, metric)
    lengths = norms * factors
    operand = rank_problem.scaled(matrix, np.arange(len(matrix)), factors)
    half_squares = (lengths**2 / 2 if metric is Similarity.L2 else np.zeros(len(matrix))).astype(np.float32)
    scores = operand @ operand.T - half_squares
    queries, matches = np.indices(scores.shape).reshape(2, -1)
    exact = similarity_of_pairs(matrix, queries, matches, metric)
    slack = rank_problem.slack_of_float32(dimension)
    low, high = rank_problem._thresholds(exact, lengths, factors, queries, slack, metric, 0.0)
    assert np.all(scores.ravel() >= low)
    assert np.all(scores.ravel() <= high)
    assert np.all(np.isfinite(low) & np.isfinite(high))


@pytest.mark.parametrize("dimension", [64, 384])
def test_float32_products_round_and_the_slack_is_small(dimension: int) -> None:
    """The bound is no formality (float32 does differ), and not so wide that everything is computed twice."""
    matrix = vectors_that_round_badly(dimension)[:-1]
    norms = row_norms(matrix)
    operand = rank_problem.scaled(matrix, np.arange(len(matrix)), rank_problem._factors(norms, Similarity.COS))
    wide = matrix.astype(np.float64) / norms[:, None]
    error = np.abs(operand @ operand.T - wide @ wide.T).max()
    slack = rank_problem.slack_of_float32(dimension)
    assert 1e-9 < error < slack
    assert slack < 1e-4


@pytest.mark.heavy
def test_the_matches_own_score_is_exact_to_a_quarter_of_tau() -> None:
    """The match's similarity differs from float64's by less than tau / 4."""
    matrix = vectors_that_round_badly(384)
    pairs = [(i, len(matrix) - 1 - i) for i in range(len(matrix))]
    for metric in Similarity:
        similarity = rank(matrix, pairs, metric).similarity
        exact = [pair.similarity for pair in rank_slowly(matrix, pairs, metric)]
        assert np.abs(similarity - exact).max() < TAU / 4


# --- expectation under random tie order ---


@each("ties", range(6))
@each("greater", range(5))
def test_expected_scores_are_means_over_every_tie_order(greater: int, ties: int) -> None:
    ranks = reference.ranks_in_every_order(greater, ties)
    assert len(ranks) == math.factorial(ties + 1)
    g, t = np.array([greater]), np.array([ties])
    mean_reciprocal = float(sum(Fraction(1, r) for r in ranks) / len(ranks))
    assert expected_reciprocal_rank(g, t)[0] == pytest.approx(mean_reciprocal, abs=1e-14)
    for k in (1, 2, 3, 5, 10, 20):
        share = sum(r <= k for r in ranks) / len(ranks)
        assert expected_hit(g, t, k)[0] == pytest.approx(share, abs=1e-14)
    counts = RankCounts(np.zeros(1), g, t)
    assert (counts.optimistic[0], counts.pessimistic[0]) == (min(ranks), max(ranks))
    assert counts.shown[0] == pytest.approx(sum(ranks) / len(ranks), abs=1e-12)


def test_expected_scores_by_hand() -> None:
    """One item above and two tied: the match is 2nd, 3rd or 4th."""
    g, t = np.array([1]), np.array([2])
    assert expected_reciprocal_rank(g, t)[0] == pytest.approx((1 / 2 + 1 / 3 + 1 / 4) / 3, abs=1e-15)
    assert [expected_hit(g, t, k)[0] for k in (1, 2, 3, 4, 5)] == pytest.approx([0, 1 / 3, 2 / 3, 1, 1], abs=1e-15)


@each(("greater", "ties"), [(0, 24_955), (24_955, 0), (10_000, 14_000), (3, 1_000_000)])
def test_expected_reciprocal_rank_of_large_counts(greater: int, ties: int) -> None:
    exact = math.fsum(1 / r for r in range(greater + 1, greater + ties + 2)) / (ties + 1)
    assert expected_reciprocal_rank(np.array([greater]), np.array([ties]))[0] == pytest.approx(exact, rel=1e-11)


@given(st.integers(0, 10**6), st.integers(0, 10**6), st.integers(1, 100))
def test_expected_scores_lie_between_the_optimistic_and_the_pessimistic(greater: int, ties: int, k: int) -> None:
    g, t = np.array([greater]), np.array([ties])
    reciprocal, hit = expected_reciprocal_rank(g, t)[0], expected_hit(g, t, k)[0]
    assert 1 / (1 + greater + ties) * (1 - 1e-9) <= reciprocal <= 1 / (1 + greater) * (1 + 1e-9)
    assert (1 + greater + ties <= k) <= hit <= (1 + greater <= k)


# --- tiles: progress, cancellation, memory ---


def test_progress_names_every_tile_and_ends_at_the_total(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranking, "ITEMS_PER_TILE", 4)
    seen: list[tuple[str, int, int]] = []

    def listen(stage: str, done: int, total: int, fraction: float | None = None) -> None:
        seen.append((stage, done, total))

    one = np.zeros(1, dtype=np.int32)
    rank_pairs(np.eye(10, dtype=np.float32), one, one + 1, Similarity.COS, listen, CancelToken())
    assert seen == [("ranking", done, 10) for done in (0, 4, 8, 10)]


def test_cancel_stops_before_the_next_tile(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranking, "ITEMS_PER_TILE", 4)
    cancel, seen = CancelToken(), []

    def cancel_at_the_second_tile(stage: str, done: int, total: int, fraction: float | None = None) -> None:
        seen.append(done)
        if done == 4:
            cancel.cancel()

    one = np.zeros(1, dtype=np.int32)
    with pytest.raises(Cancelled):
        rank_pairs(np.eye(10, dtype=np.float32), one, one + 1, Similarity.COS, cancel_at_the_second_tile, cancel)
    assert seen == [0, 4]


def test_cancel_is_looked_at_between_tiles_of_queries(monkeypatch: pytest.MonkeyPatch) -> None:
    """With one tile of items there is still a look at the token for each tile of queries."""

    class CountingToken(CancelToken):
        looks = 0

        def check(self) -> None:
            self.looks += 1
            if self.looks == 3:
                self.cancel()
            super().check()

    monkeypatch.setattr(ranking, "QUERIES_PER_TILE", 2)
    queries = np.arange(10, dtype=np.int32)
    token = CountingToken()
    with pytest.raises(Cancelled):
        rank_pairs(np.eye(10, dtype=np.float32), queries, queries[::-1].copy(), Similarity.COS, no_progress, token)
    assert token.looks == 3


MEASURE_MEMORY = """
import json, resource, sys
from pathlib import Path
import numpy as np, psutil
from blindspot.diagnostics.evalrank import definition as evalrank
from blindspot.datasets.kinds.pairs import PairSet
from blindspot.types import CancelToken, no_progress

def peak_bytes():
    if sys.platform != "linux":
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    # ru_maxrss would start at the peak of the process that started this one
    status = Path("/proc/self/status").read_text()
    return 1024 * int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1])

random = np.random.default_rng(0)
matrix = random.standard_normal((24_957, 384), dtype=np.float32)
dataset = PairSet(
    id="random",
    items=tuple(f"item {i // 2}{'!' * (i % 2)}" for i in range(24_957)),
    queries=random.integers(0, 24_957, 6_989, dtype=np.int32),
    matches=random.integers(0, 24_957, 6_989, dtype=np.int32),
)
before = psutil.Process().memory_info().rss
params = {"metric": sys.argv[1], "protocol": "definition"}
result = evalrank.compute(matrix, dataset, params, no_progress, CancelToken())
print(json.dumps({"above": peak_bytes() - before, "mean_rank": result.metrics["mean_rank"]}))
"""


@pytest.mark.process
@pytest.mark.parametrize("metric", Similarity)
def test_ranking_the_size_of_evalrank_needs_at_most_600_mb(metric: Similarity) -> None:
    """24,957 items, 6,989 pairs, in a process of its own: its peak above its resident size before ranking.

    All the scores at once would be 700 MB in float32; filtered ranks are part of it.
    """
    done = subprocess.run(
        [sys.executable, "-c", MEASURE_MEMORY, metric.value], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    measured = json.loads(done.stdout)
    assert 11_000 < measured["mean_rank"] < 14_000, "random matches stand in the middle"
    assert measured["above"] <= 600e6, f"{measured['above'] / 1e6:.0f} MB"
