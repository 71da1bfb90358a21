"""Retrieval scores: equality with trec_eval, with the mean over all orders of ties, and with slow float64 loops."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise, permutations
from typing import Any

import numpy as np
import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from blindspot.errors import Cancelled
from blindspot.numerics import coarse
from blindspot.numerics.neighbors import screens
from blindspot.numerics.ranking import judged as judged_module
from blindspot.numerics.ranking import tiles
from blindspot.numerics.ranking.graded import NAMES, score
from blindspot.numerics.ranking.judged import (
    Judged,
    condensed,
    order_of_ids,
    places,
    rank_by_scores,
    rounded_similarities,
    search,
    top,
)
from blindspot.numerics.ranking.problem import TAU
from blindspot.numerics.similarity import Similarity
from blindspot.types import CancelToken, Float64, no_progress
from tests.support.retrieval_world import TREC


def of_order(grades: Sequence[int], relevant: Sequence[int]) -> dict[str, float]:
    """Scores of one ranking, by their definitions.

    Args:
        grades: in the order of the ranking.
        relevant: grades of all relevant documents.
    """
    ranks = [rank for rank, grade in enumerate(grades, start=1) if grade >= 1]
    best = sorted(relevant, reverse=True)

    def dcg(some: Sequence[int], k: int) -> float:
        return sum(max(g, 0) / math.log2(i + 1) for i, g in enumerate(some[:k], start=1))

    out = dict.fromkeys(NAMES, 0.0)
    if not relevant:
        return out
    for k in (10, 100):
        out[f"ndcg@{k}"] = dcg(grades, k) / dcg(best, k)
        out[f"recall@{k}"] = sum(rank <= k for rank in ranks) / len(relevant)
    out["mrr"] = 1 / ranks[0]
    out["mrr@10"] = 1 / ranks[0] if ranks[0] <= 10 else 0.0
    out["map"] = sum((i + 1) / rank for i, rank in enumerate(ranks)) / len(relevant)
    out["p@10"] = sum(rank <= 10 for rank in ranks) / 10
    out |= {f"hits@{k}": float(ranks[0] <= k) for k in (1, 3, 5, 10)}
    return out


@st.composite
def runs(draw: st.DrawFn, most: int = 130) -> tuple[Float64, list[str], Judged, np.ndarray[Any, Any]]:
    """Scores ``[q, n]`` with ties, ids of documents, judgments and their grades."""
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, q = draw(st.integers(1, most)), draw(st.integers(1, 4))
    different = draw(st.sampled_from([1, 2, 5, 40, 10_000]))
    scores = random.integers(0, different, (q, n)) / 8.0
    ids = [f"{draw(st.sampled_from(['', 'd', 'é', 'Z-']))}{i}" for i in range(n)]
    judged, grades, starts = [], [], [0]
    for _ in range(q):
        some = np.sort(random.choice(n, int(random.integers(1, min(n, 15) + 1)), replace=False))
        judged.append(some)
        grades.append(random.integers(-1, draw(st.sampled_from([1, 2, 5])), len(some)))
        starts.append(starts[-1] + len(some))
    return scores, ids, Judged(np.array(starts), np.concatenate(judged)), np.concatenate(grades)


@given(runs())
@hypothesis_settings(max_examples=200, deadline=None)
def test_scores_in_its_order_are_those_of_trec_eval(run: Any) -> None:
    scores, ids, judged, grades = run
    found_places, best = rank_by_scores([scores], judged, order_of_ids(ids))
    assert not found_places.ties.any()
    found = score(judged, found_places, grades)
    of = [slice(judged.starts[i], judged.starts[i + 1]) for i in range(len(scores))]
    qrels = {
        str(i): {ids[d]: int(g) for d, g in zip(judged.documents[own], grades[own], strict=True)}
        for i, own in enumerate(of)
    }
    given_run = {str(i): dict(zip(ids, line.tolist(), strict=True)) for i, line in enumerate(scores)}
    measures = {"ndcg_cut.10,100", "recall.10,100", "recip_rank", "map", "P.10", "success.1,3,5,10"}
    expected = pytrec_eval.RelevanceEvaluator(qrels, measures).evaluate(given_run)
    for i, line in enumerate(scores):
        for name, theirs in TREC.items():
            assert found[name][i] == pytest.approx(expected[str(i)][theirs], abs=1e-9), name
        order = sorted(range(len(ids)), key=lambda d, line=line: (line[d], ids[d].encode()), reverse=True)
        assert best.documents[i].tolist() == order[:100]


@given(runs(7))
@hypothesis_settings(max_examples=60, deadline=None)
def test_expected_scores_are_means_over_all_orders_of_ties(run: Any) -> None:
    scores, _, judged, grades = run
    found = score(judged, rank_by_scores([scores], judged)[0], grades)
    for i, line in enumerate(scores):
        own = slice(judged.starts[i], judged.starts[i + 1])
        grade = dict.fromkeys(range(len(line)), 0) | dict(
            zip(judged.documents[own].tolist(), grades[own].tolist(), strict=True)
        )
        orders = [o for o in permutations(range(len(line))) if all(line[a] >= line[b] for a, b in pairwise(o))]
        relevant = [g for g in grade.values() if g >= 1]
        each = [of_order([grade[d] for d in order], relevant) for order in orders]
        for name in NAMES:
            assert found[name][i] == pytest.approx(np.mean([one[name] for one in each]), abs=1e-12), name


@given(runs())
@hypothesis_settings(max_examples=100, deadline=None)
def test_condensed_lists_are_runs_of_the_judged_documents(run: Any) -> None:
    """trec_eval on runs without their unjudged documents; then a loop over all orders of ties, by places."""
    scores, ids, judged, grades = run
    in_order, tied = (rank_by_scores([scores], judged, order)[0] for order in (order_of_ids(ids), None))
    found = score(judged, condensed(judged, -in_order.greater.astype(np.float64)), grades)
    qrels, filtered = {}, {}
    for i, line in enumerate(scores):
        own = judged.documents[judged.starts[i] : judged.starts[i + 1]].tolist()
        qrels[str(i)] = {ids[d]: int(g) for d, g in zip(own, grades[judged.starts[i] :], strict=False)}
        filtered[str(i)] = {ids[d]: float(line[d]) for d in own}
    measures = {"ndcg_cut.10,100", "recall.10,100", "recip_rank", "map", "P.10", "success.1,3,5,10"}
    expected = pytrec_eval.RelevanceEvaluator(qrels, measures).evaluate(filtered)
    for i in range(len(scores)):
        for name, theirs in TREC.items():
            assert found[name][i] == pytest.approx(expected[str(i)][theirs], abs=1e-9), name
    for tau, among in ((0.0, condensed(judged, -tied.greater.astype(np.float64))),
                       (0.125, condensed(judged, tied.scores, 0.125))):  # fmt: skip
        for place, (i, d) in enumerate(zip(judged.queries, judged.documents, strict=True)):
            others = [scores[i, o] for o in judged.documents[judged.starts[i] : judged.starts[i + 1]] if o != d]
            assert among.greater[place] == sum(one > scores[i, d] + tau for one in others)
            assert among.ties[place] == sum(abs(one - scores[i, d]) <= tau for one in others)


def test_by_hand() -> None:
    """Of four documents the relevant ones, of grades 2 and 1, are second and third; then these two are tied."""
    judged = Judged(np.array([0, 2]), np.array([1, 2]))
    grades = np.array([2, 1])
    apart = score(judged, rank_by_scores([np.array([[4.0, 3.0, 2.0, 1.0]])], judged)[0], grades)
    best = 2 + 1 / math.log2(3)
    assert apart["ndcg@10"][0] == pytest.approx((2 / math.log2(3) + 1 / 2) / best)
    assert (apart["mrr"][0], apart["map"][0], apart["hits@1"][0]) == (1 / 2, pytest.approx((1 / 2 + 2 / 3) / 2), 0)
    tied = score(judged, rank_by_scores([np.array([[3.0, 3.0, 2.0, 1.0]])], judged)[0], grades)
    assert tied["mrr"][0] == pytest.approx((1 + 1 / 2) / 2)
    assert tied["hits@1"][0] == 1 / 2
    assert tied["ndcg@10"][0] == pytest.approx((2 * (1 + 1 / math.log2(3)) / 2 + 1 / 2) / best)


def test_a_document_beyond_the_first_ten_by_hand() -> None:
    """The relevant one is tenth, eleventh, and tied with three others over places 9 to 12."""
    judged = Judged(np.array([0, 1]), np.array([0]))
    for above, others_tied, expected in ((9, 0, 1 / 10), (10, 0, 0.0), (8, 3, (1 / 9 + 1 / 10) / 4)):
        line = np.array([[2.0, *[3.0] * above, *[2.0] * others_tied, *[1.0] * 20]])
        found = score(judged, rank_by_scores([line], judged)[0], np.array([1]))
        assert found["mrr@10"][0] == pytest.approx(expected)
        assert found["mrr"][0] == pytest.approx(np.mean([1 / (above + 1 + i) for i in range(others_tied + 1)]))


def test_many_tied_documents_keep_their_accuracy() -> None:
    """All of 100,000 documents tied, one or two of them relevant."""
    n = 100_000
    for found in (1, 2):
        judged = Judged(np.array([0, found]), np.arange(found))
        scores = score(judged, rank_by_scores([np.zeros((1, n))], judged)[0], np.ones(found, dtype=np.int64))
        ranks = np.arange(1.0, n + 1)
        first = np.full(n, 1 / n) if found == 1 else 2 * (n - ranks) / n / (n - 1)
        assert scores["mrr"][0] == pytest.approx(float((first / ranks).sum()), rel=1e-9)
        assert scores["hits@10"][0] == pytest.approx(float(first[:10].sum()), rel=1e-9)
        assert scores["recall@100"][0] == pytest.approx(100 / n)


def test_a_query_without_relevant_documents_scores_nothing() -> None:
    judged = Judged(np.array([0, 1, 1, 2]), np.array([0, 0]))
    scores = score(judged, rank_by_scores([np.ones((3, 2))], judged)[0], np.array([0, 1]))
    assert all(values[:2].tolist() == [0, 0] for values in scores.values())
    assert scores["hits@10"][2] == 1


def test_ties_within_the_tolerance_are_one_group_even_if_their_ends_are_further_apart() -> None:
    """Similarities 0, 0.8 and 1.6 tolerances apart: the middle one is tied with both others."""
    cosines = np.array([0.5, 0.5 - 0.8 * TAU, 0.5 - 1.6 * TAU])
    documents = np.stack([cosines, np.sqrt(1 - cosines**2)], axis=1)
    judged = Judged(np.array([0, 2]), np.array([0, 2]))
    query = np.array([[1.0, 0.0]])
    exact = 1 / np.sqrt((documents.astype(np.float32) ** 2).sum(axis=1)) * documents.astype(np.float32)[:, 0]
    matrix = np.concatenate([documents, query]).astype(np.float32)
    found = places(matrix, judged, Similarity.COS, no_progress, CancelToken())
    assert np.diff(exact) == pytest.approx([-0.8 * TAU] * 2, rel=0.2)
    assert found.greater.tolist() == [0, 1]
    assert found.ties.tolist() == [1, 1]
    scores = score(judged, found, np.array([1, 1]))
    assert scores["hits@1"][0] == pytest.approx(2 / 3)  # three in one group, two of them relevant
    assert scores["mrr"][0] == pytest.approx(2 / 3 * 1 + 1 / 3 * 1 / 2)


# --- by similarity


@given(st.integers(0, 2**32 - 1), st.sampled_from(list(Similarity)))
@hypothesis_settings(max_examples=40, deadline=None)
def test_places_are_those_of_a_float64_loop(seed: int, metric: Similarity) -> None:
    random = np.random.default_rng(seed)
    n, q, d = int(random.integers(1, 60)), int(random.integers(1, 6)), int(random.integers(1, 20))
    documents = np.round(2 * random.standard_normal((n, d))).astype(np.float32)  # with copies and zeros
    queries = np.concatenate([documents[:1], random.standard_normal((q - 1, d)).astype(np.float32)])
    counts = random.integers(1, min(n, 5) + 1, q)
    judged = Judged(
        np.concatenate([[0], np.cumsum(counts)]),
        np.concatenate([np.sort(random.choice(n, c, replace=False)) for c in counts]).astype(np.int64),
    )
    matrix, most = np.concatenate([documents, queries]), int(random.choice([3, 100]))
    found = places(matrix, judged, metric, no_progress, CancelToken())
    together, same = search(matrix, judged, metric, no_progress, CancelToken(), k=most)
    assert (together.greater.tolist(), together.ties.tolist()) == (found.greater.tolist(), found.ties.tolist())
    exact = np.array([[similarity(x, y, metric) for y in documents] for x in queries])
    for at, (query, document) in enumerate(zip(judged.queries, judged.documents, strict=True)):
        line, own = exact[query], exact[query, document]
        assert found.greater[at] == sum(value > own + TAU for value in line)
        assert found.ties[at] == sum(abs(value - own) <= TAU for value in line) - 1
    best = top(matrix, q, metric, most)
    assert best.documents.shape == (q, min(n, most))
    assert same.documents.tolist() == best.documents.tolist()
    assert same.scores == pytest.approx(best.scores, abs=1e-12)
    for query, line in enumerate(exact):
        assert best.scores[query] == pytest.approx(np.sort(line)[::-1][:most], abs=1e-12)
        assert line[best.documents[query]] == pytest.approx(best.scores[query], abs=1e-12)
    rounded = np.concatenate(list(rounded_similarities(documents, queries, metric, CancelToken())))
    assert rounded == pytest.approx(exact, abs=6e-7)


@pytest.mark.parametrize("threads", [1, 3])
def test_tiles_and_threads_change_nothing(monkeypatch: pytest.MonkeyPatch, threads: int) -> None:
    """Several tiles of queries and of documents; many copies, so that places at the end of the top are tied."""
    monkeypatch.setattr(judged_module, "ITEMS_PER_TILE", 32)
    monkeypatch.setattr(judged_module, "QUERIES_PER_TILE", 4)
    random = np.random.default_rng(threads)
    matrix = random.standard_normal((511, 24)).astype(np.float32)
    matrix[100:300] = matrix[random.integers(0, 100, 200)]
    matrix[300:320] = 0
    judged = Judged(np.arange(0, 23, 2), np.concatenate([np.sort(random.choice(500, 2, False)) for _ in range(11)]))
    found, best = judged_module._search(matrix, judged, no_progress, CancelToken(), TAU, 50, threads)
    expected = places(matrix, judged, Similarity.COS, no_progress, CancelToken())
    assert (found.greater.tolist(), found.ties.tolist()) == (expected.greater.tolist(), expected.ties.tolist())
    exact = np.array([[similarity(x, y, Similarity.COS) for y in matrix[:500]] for x in matrix[500:]])
    for line, documents, scores in zip(exact, best.documents, best.scores, strict=True):
        assert scores == pytest.approx(np.sort(line)[::-1][:50], abs=1e-12)
        assert line[documents] == pytest.approx(scores, abs=1e-12)
        assert len(set(documents.tolist())) == 50


@pytest.mark.parametrize("threads", [1, 3])
def test_products_of_codes_change_nothing(monkeypatch: pytest.MonkeyPatch, threads: int) -> None:
    """Queries near their judged documents and far from them, a zero query, copies at the end of the top, and floors
    that are guessed too high."""
    monkeypatch.setattr(tiles, "FEWEST_CODED", 0)
    monkeypatch.setattr(tiles, "FEWEST_DIMENSIONS_CODED", 0)
    monkeypatch.setattr(coarse, "_is_faster", lambda: True)
    monkeypatch.setattr(screens, "codes_pay", lambda *_: True)
    monkeypatch.setattr(judged_module, "ITEMS_PER_CODED_TILE", 448)
    monkeypatch.setattr(judged_module, "QUERIES_PER_TILE", 16)
    guess = screens.guessed_floors
    random = np.random.default_rng(threads)
    n, q, k = 3_000, 40, 10
    matrix = random.standard_normal((n + q, 40)).astype(np.float32) + 0.5
    matrix[100:1_000] = matrix[random.integers(0, 100, 900)]
    matrix[1_000:1_020] = 0
    matrix[n : n + 20] = matrix[40:60] + 0.2 * matrix[n : n + 20]
    matrix[n + 20] = 0
    near = np.arange(40, 60)[:, np.newaxis]
    far = np.sort([random.choice(n, 1) for _ in range(20)])
    mixed = random.permutation(q)
    judged = Judged(np.arange(q + 1), np.concatenate([near, far]).ravel()[mixed])
    matrix[n:] = matrix[n:][mixed]
    for shift in (0.0, 2.0):  # of the floors: above every score
        monkeypatch.setattr(screens, "guessed_floors", lambda *given, up=shift: guess(*given) + np.float32(up))
        found, best = judged_module._search(matrix, judged, no_progress, CancelToken(), TAU, k, threads)
        expected = places(matrix, judged, Similarity.COS, no_progress, CancelToken())
        assert (found.greater.tolist(), found.ties.tolist()) == (expected.greater.tolist(), expected.ties.tolist())
        nearest = top(matrix, q, Similarity.COS, k)
        assert best.documents.tolist() == nearest.documents.tolist()
        assert best.scores == pytest.approx(nearest.scores, abs=1e-12)


def similarity(x: Any, y: Any, metric: Similarity) -> float:
    a, b = [float(v) for v in x], [float(v) for v in y]
    if metric is Similarity.L2:
        return 1 / (1 + math.sqrt(sum((v - w) ** 2 for v, w in zip(a, b, strict=True))))
    lengths = math.sqrt(sum(v * v for v in a)) * math.sqrt(sum(v * v for v in b))
    return sum(v * w for v, w in zip(a, b, strict=True)) / lengths if lengths else 0.0


def test_it_can_be_cancelled() -> None:
    token = CancelToken()
    token.cancel()
    documents = np.eye(3, dtype=np.float32)
    with pytest.raises(Cancelled):
        search(np.eye(6, dtype=np.float32), Judged(np.arange(4), np.arange(3)), Similarity.COS, no_progress, token)
    with pytest.raises(Cancelled):
        next(rounded_similarities(documents, documents, Similarity.COS, token))
