"""Ranks by torch: the same counts as the float64 loop and as the processor's own way, in float32 and in float16.

The device is the processor, where there is no GPU; everything but the device is what runs on one.
"""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, assume, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from blindspot.errors import BlindspotError, Cancelled
from blindspot.numerics.devices import full_precision
from blindspot.numerics.ranking import gpu as gpu_ranking
from blindspot.numerics.ranking import problem as rank_problem
from blindspot.numerics.ranking.gpu import PRECISIONS, Precision, rank_pairs_on, slack_of
from blindspot.numerics.ranking.problem import RankCounts
from blindspot.numerics.ranking.ranks import rank_pairs
from blindspot.numerics.similarity import Similarity, row_norms, similarity_of_pairs
from blindspot.types import CancelToken, Float32, no_progress
from tests.support.ranking import Pairs, greater_and_ties, matrices, rank_slowly, vectors_that_round_badly
from tests.support.tables import each

DEVICE = "cuda:0" if torch.cuda.is_available() else "cpu"


def rank(matrix: Float32, pairs: Pairs, metric: Similarity, precision: Precision) -> RankCounts:
    queries, matches = np.array(pairs, dtype=np.int32).reshape(-1, 2).T
    return rank_pairs_on(DEVICE, matrix, queries, matches, metric, no_progress, CancelToken(), precision)


@pytest.mark.heavy
@given(data=st.data(), matrix=matrices(), metric=st.sampled_from(Similarity), precision=st.sampled_from(PRECISIONS))
@hypothesis_settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
def test_ranks_equal_the_float64_loop(
    data: st.DataObject, matrix: Float32, metric: Similarity, precision: Precision
) -> None:
    """Duplicates, zero vectors, near ties, huge and tiny norms, self pairs, several matches, many small tiles."""
    item = st.integers(0, len(matrix) - 1)
    pairs = data.draw(st.lists(st.tuples(item, item), min_size=1, max_size=10))
    expected = rank_slowly(matrix, pairs, metric)
    assume(not any(pair.borderline for pair in expected))
    with pytest.MonkeyPatch.context() as patch:
        for name in ("QUERIES_AT_ONCE", "PAIRS_PER_TILE", "ITEMS_PER_TILE", "VALUES_AT_ONCE"):
            patch.setattr(gpu_ranking, name, data.draw(st.sampled_from([1, 2, 7, 4_096]), label=name))
        counts = rank(matrix, pairs, metric, precision)
    assert greater_and_ties(counts) == [(pair.greater, pair.ties) for pair in expected]
    np.testing.assert_allclose(counts.similarity, [pair.similarity for pair in expected], rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("metric", Similarity)
def test_counts_among_the_first_items_are_those_of_the_processor(metric: Similarity) -> None:
    matrix = np.random.default_rng(6).standard_normal((900, 16)).astype(np.float32)
    queries, matches = np.arange(300, 900, dtype=np.int32), np.arange(600, dtype=np.int32) % 400
    problem = (matrix, queries, matches, metric, no_progress, CancelToken())
    ours, expected = rank_pairs_on(DEVICE, *problem, candidates=400), rank_pairs(*problem, candidates=400)
    assert greater_and_ties(ours) == greater_and_ties(expected)
    assert greater_and_ties(ours) != greater_and_ties(rank_pairs(*problem))


@pytest.mark.heavy
@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("metric", Similarity)
def test_counts_are_those_of_the_processor(metric: Similarity, precision: Precision) -> None:
    """Vectors like an encoder's, more of them than a tile holds, some copies; queries that have several matches."""
    rng = np.random.default_rng(5)
    matrix = rng.standard_normal((gpu_ranking.ITEMS_PER_TILE + 500, 32)).astype(np.float32)
    matrix[1_000:2_000] = matrix[:1_000] + 0.5 * matrix[2_000:3_000]
    matrix[3_000:3_100] = matrix[:100]
    queries, matches = np.arange(1_000, dtype=np.int32) // 2, np.arange(1_000, 2_000, dtype=np.int32)
    ours = rank_pairs_on(DEVICE, matrix, queries, matches, metric, no_progress, CancelToken(), precision)
    expected = rank_pairs(matrix, queries, matches, metric, no_progress, CancelToken())
    np.testing.assert_array_equal(ours.greater, expected.greater)
    np.testing.assert_array_equal(ours.ties, expected.ties)
    np.testing.assert_array_equal(ours.similarity, expected.similarity)
    assert expected.greater.max() > 1_000


@each("dimension", [1, 2, 7, 64, 384, 1_024])
@each("metric", Similarity)
def test_float16_scores_stay_within_the_slack(metric: Similarity, dimension: int) -> None:
    """With tau 0 the thresholds are the exact score -+ slack: every score must lie between."""
    matrix = vectors_that_round_badly(dimension)
    norms = row_norms(matrix)
    factors = rank_problem._factors(norms, metric)
    lengths = norms * factors
    operand = torch.from_numpy(rank_problem.scaled(matrix, np.arange(len(matrix)), factors)).half().to(DEVICE)
    with full_precision():
        scores = (operand @ operand.T).float().cpu().numpy()
    if metric is Similarity.L2:
        scores = scores - (lengths**2 / 2).astype(np.float32)
    queries, matches = np.indices(scores.shape).reshape(2, -1)
    exact = similarity_of_pairs(matrix, queries, matches, metric)
    slack = slack_of("float16", dimension)
    low, high = rank_problem._thresholds(exact, lengths, factors, queries, slack, metric, 0.0)
    assert np.all(scores.ravel() >= low)
    assert np.all(scores.ravel() <= high)
    assert slack < 3e-3, "so that most scores need not be computed again"


def test_the_process_keeps_its_own_precision() -> None:
    matmul = torch.backends.cuda.matmul
    before = matmul.fp32_precision, matmul.allow_fp16_reduced_precision_reduction
    with full_precision():
        assert matmul.fp32_precision == "ieee"
        assert not matmul.allow_fp16_reduced_precision_reduction
    assert (matmul.fp32_precision, matmul.allow_fp16_reduced_precision_reduction) == before


def test_progress_and_cancel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu_ranking, "ITEMS_PER_TILE", 4)
    monkeypatch.setattr(gpu_ranking, "QUERIES_AT_ONCE", 1)
    cancel, seen = CancelToken(), []

    def listen(stage: str, done: int, total: int, fraction: float | None = None) -> None:
        seen.append((stage, done, total))
        if done == limit:
            cancel.cancel()

    two = np.arange(2, dtype=np.int32)
    limit = -1
    rank_pairs_on(DEVICE, np.eye(10, dtype=np.float32), two, two + 1, Similarity.COS, listen, cancel)
    assert seen == [("ranking", done, 20) for done in (0, 4, 8, 10, 14, 18, 20)]
    limit = 4
    with pytest.raises(Cancelled):
        rank_pairs_on(DEVICE, np.eye(10, dtype=np.float32), two, two + 1, Similarity.COS, listen, cancel)


def test_no_pairs_have_no_ranks_and_nan_is_refused() -> None:
    matrix = np.ones((3, 2), dtype=np.float32)
    assert greater_and_ties(rank(matrix, [], Similarity.COS, "float16")) == []
    matrix[1, 1] = np.nan
    with pytest.raises(BlindspotError, match="1 of 3 embeddings"):
        rank(matrix, [(0, 1)], Similarity.COS, "float32")
