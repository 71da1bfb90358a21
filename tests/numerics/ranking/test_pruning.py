"""Ranks from first coordinates: the bounds that exactness rests on, the choice, and equality with whole products."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from benchmarks.ranking import ranking_problem
from blindspot.numerics import coarse
from blindspot.numerics.ranking import pruning
from blindspot.numerics.ranking import ranks as ranking
from blindspot.numerics.ranking.problem import TAU, RankProblem, prepare, slack_of_float32
from blindspot.numerics.similarity import Similarity
from blindspot.types import CancelToken, Float32, Int32, no_progress
from tests.support.ranking import greater_and_ties
from tests.support.tables import each


def of_few_directions(seed: int, n: int, d: int, decay: float) -> Float32:
    """Rows whose spread falls along turned directions, the first of them with a mean."""
    random = np.random.default_rng(seed)
    turn = np.linalg.qr(random.standard_normal((d, d)))[0]
    rows = random.standard_normal((n, d)) * np.arange(1, d + 1) ** -decay
    rows[:, 0] += 1.0
    return (rows @ turn).astype(np.float32)


@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(2, 60),
    d=st.integers(2, 120),
    decay=st.sampled_from([0.0, 0.5, 3.0]),
    tails=st.sampled_from([1.1, 99]),
    own=st.booleans(),
)
@hypothesis_settings(deadline=None, max_examples=150)
def test_no_product_is_farther_off_than_what_is_left_out(
    seed: int, n: int, d: int, decay: float, tails: float, *, own: bool
) -> None:
    """Whether the directions are those of the rows or of others, of lower rank or not; for rows of any length up to 1,
    zeros and copies among them."""
    random = np.random.default_rng(seed)
    rows = of_few_directions(seed, n, d, decay) * random.standard_t(tails, (n, 1)).astype(np.float32)
    rows[0] = 0
    rows[1] = rows[-1]
    rows /= np.float32(np.linalg.norm(rows.astype(np.float64), axis=1).max() * (1 + 1e-6) or 1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pruning, "DEPTHS", (1, 3, 20, 64))
        axes = pruning.axes_of(rows if own else of_few_directions(seed ^ 1, 5, d, 1.0))
    if axes is None:
        assert d < 2
        return
    rotated = axes.rotate(rows, np.linalg.norm(rows.astype(np.float64), axis=1))
    wide = rows.astype(np.float64)
    exact = wide @ wide.T
    for depth, width in enumerate(axes.depths):
        first = rotated.rows[:, :width]
        bounds = np.outer(rotated.left_out[depth], rotated.left_out[depth].astype(np.float64))
        assert np.all(np.abs(first @ first.T - exact) <= bounds + axes.slack)
    assert axes.slack < 1e-3


def test_the_bound_is_narrow_where_nothing_is_left_out() -> None:
    rows = np.zeros((50, 100), dtype=np.float32)
    rows[:, :16] = np.random.default_rng(0).standard_normal((50, 16))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    axes = pruning.axes_of(rows)
    assert axes is not None
    left_out = axes.rotate(rows, np.linalg.norm(rows.astype(np.float64), axis=1)).left_out
    assert left_out.max() ** 2 < 1e-3


def near(matrix: Float32, queries: int, seed: int) -> tuple[Int32, Int32]:
    """Queries with matches that are made to lie near them."""
    random = np.random.default_rng(seed)
    order = random.permutation(len(matrix)).astype(np.int32)
    asked, matches = order[:queries], order[-queries:]
    noise = random.standard_normal((queries, matrix.shape[1])) * random.uniform(0.001, 0.1, (queries, 1))
    matrix[matches] = matrix[asked] + noise.astype(np.float32)
    return asked, matches


def problem_of(matrix: Float32, queries: Int32, matches: Int32, metric: Similarity) -> RankProblem:
    return prepare(matrix, queries, matches, metric, TAU, 1, slack_of_float32(matrix.shape[1]))


@pytest.mark.heavy
@each("metric", Similarity)
@each("has_codes", [False, True])
@each("threads", [1, 3])
def test_counts_of_real_depths_equal_those_of_whole_products(
    metric: Similarity, threads: int, monkeypatch: pytest.MonkeyPatch, *, has_codes: bool
) -> None:
    """More items and queries than a tile holds, several matches per query, easy and hopeless queries; copies tie."""
    matrix = of_few_directions(3, 4_000, 192, 0.7)
    queries, matches = near(matrix, 1_200, 4)
    matrix[:300] = matrix[300:600]
    queries = np.concatenate([queries, queries[:200], queries[:100]])
    matches = np.concatenate([matches, matches[200:400], np.arange(100, dtype=np.int32)])
    monkeypatch.setattr(coarse, "pays", lambda: has_codes)
    monkeypatch.setattr(pruning, "FEWEST_PRODUCTS", 0)
    monkeypatch.setattr(ranking, "QUERIES_PER_SMALL_TILE", 300)
    plans = []
    choose = pruning.plan
    monkeypatch.setattr(pruning, "plan", lambda *args, **named: plans.append(choose(*args, **named)) or plans[-1])

    def counts() -> list[tuple[int, int]]:
        arguments = matrix, queries, matches, metric, no_progress, CancelToken(), TAU, threads
        return greater_and_ties(ranking._rank_pairs(*arguments))

    found = counts()
    assert plans[0] is not None
    assert 0 < plans[0].ends[-1] < len(plans[0].problem.left), "some by parts, some by whole products"
    monkeypatch.setattr(pruning, "may_pay", lambda *_: False)
    assert found == counts()
    assert len(plans) == 1
    assert sum(ties for _, ties in found) > 100


@pytest.mark.parametrize("metric", Similarity)
def test_far_matches_of_isotropic_vectors_are_left_to_whole_products(metric: Similarity) -> None:
    matrix = np.random.default_rng(5).standard_normal((3_000, 256)).astype(np.float32)
    queries, matches = np.random.default_rng(6).permutation(3_000)[:1_000].astype(np.int32).reshape(2, -1)
    problem = problem_of(matrix, queries, matches, metric)
    for has_codes in (False, True):
        assert pruning.plan(problem, 3_000, 1, has_codes=has_codes) is None


def test_small_problems_and_few_dimensions_are_not_looked_at() -> None:
    matrix = of_few_directions(7, 300, 192, 0.7)
    small = problem_of(matrix, *near(matrix, 100, 8), Similarity.COS)
    assert not pruning.may_pay(small, 300)
    assert pruning.may_pay(small, 10**9)
    narrow = problem_of(matrix[:, :100].copy(), *near(matrix, 100, 8), Similarity.COS)
    assert not pruning.may_pay(narrow, 10**9)


def test_queries_are_taken_by_their_depth_and_every_one_once() -> None:
    matrix = of_few_directions(9, 3_000, 192, 0.7)
    problem = problem_of(matrix, *near(matrix, 900, 10), Similarity.COS)
    plan = pruning.plan(problem, 3_000, 2, has_codes=False)
    assert plan is not None
    assert sorted(plan.problem.query_items.tolist()) == problem.query_items.tolist()
    batches = list(plan.batches(128))
    assert [rows.start for rows, _ in batches] == [0, *(rows.stop for rows, _ in batches[:-1])]
    assert batches[-1][0].stop == 900
    depths = [len(plan.axes.depths) if depth is None else depth for _, depth in batches]
    assert depths == sorted(depths)
    back = plan.problem.counts(plan.problem.order, plan.problem.order)
    assert back.greater.tolist() == list(range(900)), "the caller's order is found again"


@pytest.mark.heavy
def test_the_sample_says_how_many_items_a_depth_leaves_undecided() -> None:
    """Isotropic rows in many dimensions: directions hold much of the rows that they are made of, and little of others,
    so a sample of the former promises what no other item keeps."""
    matrix, queries, matches = ranking_problem(768, 3_000, 400)
    plan = pruning.plan(problem_of(matrix, queries, matches, Similarity.COS), 3_000, 1, has_codes=False)
    assert plan is not None
    problem, undecided = plan.problem, []
    units = matrix.astype(np.float64) / np.linalg.norm(matrix, axis=1, keepdims=True)
    for rows, depth in plan.batches(100):
        if depth is None:
            continue
        first = plan.axes.directions[:, : plan.axes.depths[depth]].astype(np.float64)
        inside = units @ first
        outside = np.sqrt(np.maximum(1.0 - np.square(inside).sum(axis=1), 0.0))
        for query in range(rows.start, rows.stop):
            item, match = problem.query_items[query], problem.pair_similarity[problem.pair_starts[query]]
            bound = outside * outside[item] + plan.axes.slack
            undecided.append(np.mean(np.abs(inside @ inside[item] - match) <= bound))
    assert len(undecided) > 300
    assert np.mean(undecided) < 0.02
