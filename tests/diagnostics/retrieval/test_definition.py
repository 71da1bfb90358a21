"""Retrieval runs: trec_eval's scores of the same similarities, BM25's of bm25s, what a row holds, and bad inputs."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import bm25s
import numpy as np
import pytest

from blindspot.datasets.kinds.retrieval import RetrievalDataset
from blindspot.diagnostic import DiagnosticResult
from blindspot.diagnostics.retrieval.definition import BM25, ENTRY, column_of
from blindspot.encoders.rankings import bm25
from blindspot.errors import BlindspotError, InputError
from blindspot.numerics.ranking import graded
from blindspot.numerics.ranking.graded import NAMES
from blindspot.numerics.ranking.judged import Judged, Places, order_of_ids
from blindspot.numerics.ranking.rescoring import BEHIND, Twice
from blindspot.types import CancelToken, Float32, Float64, no_progress
from tests.support import retrieval_world as toy
from tests.support.retrieval_world import by_trec_eval
from tests.support.tables import each


def compute(data: RetrievalDataset, vectors: Float32, **params: str) -> DiagnosticResult:
    return ENTRY.compute(vectors, data, ENTRY.check_params(params), no_progress, CancelToken())


def vectors_of(data: RetrievalDataset, seed: int = 3) -> Float32:
    """Random vectors of whole numbers: many similarities are equal."""
    return np.random.default_rng(seed).integers(-2, 3, (len(data.items), 5)).astype(np.float32)


def similarities(data: RetrievalDataset, vectors: Float32, metric: str) -> Float64:
    """All similarities, one by one, in float64."""
    out = np.zeros((len(data.queries), len(data.documents)))
    for q, x in enumerate(vectors[data.queries].astype(np.float64)):
        for d, y in enumerate(vectors[data.documents].astype(np.float64)):
            if metric == "l2":
                out[q, d] = 1 / (1 + np.sqrt(((x - y) ** 2).sum()))
            elif (lengths := np.sqrt((x**2).sum()) * np.sqrt((y**2).sum())) > 0:
                out[q, d] = (x * y).sum() / lengths
    return out


@pytest.mark.parametrize("metric", ["cos", "l2"])
def test_in_its_order_scores_are_those_of_trec_eval(metric: str) -> None:
    data = toy.dataset()
    result = compute(data, vectors_of(data), metric=metric, ties="trec_eval")
    expected = by_trec_eval(data, np.round(similarities(data, vectors_of(data), metric), 6))
    check(result, expected, "")


@pytest.mark.parametrize("metric", ["cos", "l2"])
@pytest.mark.parametrize("depth", [1, 3, 100])
def test_a_rescored_ranking_has_the_scores_of_trec_eval(metric: str, depth: int) -> None:
    """The list of a query is what trec_eval's order has first; others are moved behind it."""
    data = toy.dataset()
    order = order_of_ids(data.document_ids)
    first, second = (np.round(similarities(data, vectors_of(data, seed), metric), 6) for seed in (3, 4))
    scores = first - BEHIND
    for query in range(len(first)):
        best = sorted(range(len(order)), key=lambda i: (-first[query, i], order[i]))[:depth]
        scores[query, best] = second[query, best]
    twice = Twice(vectors_of(data, 3), vectors_of(data, 4), depth)
    params = ENTRY.check_params({"metric": metric, "ties": "trec_eval"})
    assert ENTRY.takes_rescored
    result = ENTRY.compute_twice(twice, data, params, no_progress, CancelToken())
    check(result, by_trec_eval(data, scores), "")
    assert result.metrics["rescored"] == min(depth, len(order))
    expected = {**params, "ties": "expected"}
    all_again = ENTRY.compute_twice(replace(twice, depth=1_000), data, expected, no_progress, CancelToken())
    once = ENTRY.compute(vectors_of(data, 4), data, expected, no_progress, CancelToken()).metrics
    assert {name: all_again.metrics[name] for name in once} == pytest.approx(once)


def check(result: DiagnosticResult, expected: dict[str, dict[int, float]], prefix: str) -> None:
    rows = result.items.to_pandas()
    assert result.item_numbers is not None
    for name, of_queries in expected.items():
        assert list(of_queries) == result.item_numbers.tolist()
        assert rows[column_of(f"{prefix}{name}")].tolist() == pytest.approx(list(of_queries.values()), abs=1e-9), name
        assert result.metrics[f"{prefix}{name}"] == pytest.approx(np.mean(list(of_queries.values())), abs=1e-9)


@pytest.mark.heavy
def test_expected_scores_are_means_over_the_orders_of_ties() -> None:
    """trec_eval's scores, with ties broken at random many times."""
    data, random = toy.dataset(), np.random.default_rng(5)
    similarity = np.round(similarities(data, vectors_of(data), "cos"), 6)
    orders = [
        by_trec_eval(data, np.round(similarity + 1e-4 * random.random(similarity.shape), 9)) for _ in range(1_500)
    ]
    result = compute(data, vectors_of(data))
    for name in toy.TREC:
        values = [np.mean(list(order[name].values())) for order in orders]
        error = np.std(values) / np.sqrt(len(values))
        assert result.metrics[name] == pytest.approx(np.mean(values), abs=5 * error + 1e-6), name
    assert result.metrics["tied"] > 0


@pytest.mark.parametrize("metric", ["cos", "l2"])
@pytest.mark.parametrize("ties", ["expected", "trec_eval"])
def test_condensed_lists_are_those_of_trec_eval_without_unjudged_documents(metric: str, ties: str) -> None:
    data = toy.dataset()
    vectors = vectors_of(data) if ties == "trec_eval" else vectors_of(data) + np.float32(1e-3) * spread(data)
    exact = similarities(data, vectors, metric)
    keywords = np.concatenate(list(bm25.scores(data, np.arange(len(data.queries)), no_progress, CancelToken())))
    result = compute(data, vectors, metric=metric, ties=ties, judged="condensed")
    whole = compute(data, vectors, metric=metric, ties=ties)
    by_order = toy.by_trec_eval(data, np.round(exact, 6), only_judged=True)
    if ties == "trec_eval":
        check(result, by_order, "")
        check(result, toy.by_trec_eval(data, keywords, only_judged=True), BM25)
    else:  # by a loop: places among the judged documents, then scores expected over ties
        places = slow_places(data, exact)
        check(result, slow_scores(data, places), "")
        check(result, slow_scores(data, slow_places(data, keywords, 0.0)), BM25)
    for name in ("top", "bm25_top", "judged", "unjudged_10"):  # of the whole ranking
        assert result.items[name].to_pylist() == whole.items[name].to_pylist()
    assert result.metrics["ndcg@10"] > whole.metrics["ndcg@10"]
    assert ENTRY.check_params({"judged": "all"}) == ENTRY.check_params({})


def spread(data: RetrievalDataset) -> Float32:
    return np.random.default_rng(8).standard_normal((len(data.items), 5)).astype(np.float32)


def slow_places(data: RetrievalDataset, scores: Float64, tau: float = 1e-6) -> list[tuple[int, int]]:
    out = []
    for q in range(len(data.queries)):
        own = scores[q, data.judgments_of(q)[0]]
        out += [(int((own > s + tau).sum()), int((abs(own - s) <= tau).sum()) - 1) for s in own]
    return out


def slow_scores(data: RetrievalDataset, places: list[tuple[int, int]]) -> dict[str, dict[int, float]]:
    evaluated = np.flatnonzero(np.diff(data.offsets) > 0)
    judged = Judged(np.append(data.offsets[evaluated], data.offsets[-1]), data.judged)
    greater, ties = np.array(places).T
    found = graded.score(judged, Places(greater, ties, np.zeros(len(ties))), data.grades)
    return {name: dict(zip(evaluated.tolist(), values.tolist(), strict=True)) for name, values in found.items()}


def test_without_ties_both_ways_agree() -> None:
    data = toy.dataset()
    vectors = np.random.default_rng(2).standard_normal((len(data.items), 8)).astype(np.float32)
    kept = [i for i in range(len(data.documents)) if i < len(data.documents) - 2]  # without the copies
    assert len({data.documents[i] for i in kept}) == len(kept)
    data = toy.made(
        "distinct",
        data.query_texts,
        [data.document_texts[i] for i in kept],
        [
            {int(d): int(g) for d, g in zip(*data.judgments_of(q), strict=True) if d in kept}
            for q in range(len(data.queries))
        ],
    )
    one, other = (compute(data, vectors[: len(data.items)], ties=ties) for ties in ("expected", "trec_eval"))
    assert {n: one.metrics[n] for n in NAMES} == pytest.approx({n: other.metrics[n] for n in NAMES}, abs=1e-9)
    assert one.items["top"].to_pylist() == other.items["top"].to_pylist()


def test_keyword_search_is_bm25s_by_hand() -> None:
    data = toy.dataset()
    corpus = bm25s.tokenize(list(data.document_texts), stopwords="en", show_progress=False)
    index = bm25s.BM25()
    index.index(corpus, show_progress=False)
    expected = np.zeros((len(data.queries), len(data.documents)), dtype=np.float32)
    for q, text in enumerate(data.query_texts):
        (words,) = bm25s.tokenize([text], stopwords="en", return_ids=False, show_progress=False)
        expected[q] = index.get_scores(words)
    found = np.concatenate(list(bm25.scores(data, np.arange(len(data.queries)), no_progress, CancelToken())))
    assert found.tolist() == expected.tolist()
    check(compute(data, vectors_of(data), ties="trec_eval"), by_trec_eval(data, expected), BM25)


@each(("query", "document"), [("the and of", "an apple"), ("apple", "the of"), ("!!", "??")])
def test_queries_or_documents_without_words_are_found_by_chance(query: str, document: str) -> None:
    data = toy.made("wordless", [query], [document, "the the"], [{0: 1}])
    result = compute(data, vectors_of(data))
    assert result.metrics["bm25.hits@1"] == 1 / 2


def test_a_row_has_its_judgments_and_its_top_documents() -> None:
    data = toy.dataset()
    result = compute(data, vectors_of(data))
    similarity = similarities(data, vectors_of(data), "cos")
    assert result.item_numbers is not None
    for row, q in zip(result.items.to_pylist(), result.item_numbers.tolist(), strict=True):
        places, grades = data.judgments_of(q)
        for (document, grade, greater, ties), d, g in zip(json.loads(row["judged"]), places, grades, strict=True):
            assert (document, grade) == (data.document_ids[d], g)
            assert greater == (similarity[q] > similarity[q, d] + 1e-6).sum()
            assert ties == (abs(similarity[q] - similarity[q, d]) <= 1e-6).sum() - 1
        top = json.loads(row["top"])
        assert [score for _, score in top] == pytest.approx(sorted(similarity[q], reverse=True), abs=1e-6)
        judged = {data.document_ids[d] for d in places}
        assert row["unjudged_10"] == sum(document not in judged for document, _ in top[:10])
        assert row["relevant"] == (grades >= 1).sum()
    assert 9 not in result.item_numbers  # without judgments
    assert result.metrics["queries"] == 15
    assert result.metrics["unanswerable"] == 1


def test_a_part_of_the_documents_keeps_their_ids() -> None:
    data = toy.dataset()
    covered = np.ones(len(data.items), dtype=np.bool_)
    covered[data.documents[5]] = False
    gone = {data.document_ids[d] for d in np.flatnonzero(data.documents == data.documents[5])}
    part = data.part(covered)
    whole, some = compute(data, vectors_of(data)), compute(part.dataset, vectors_of(data)[part.items])
    assert whole.item_numbers is not None
    assert some.item_numbers is not None
    tops = dict(zip(whole.item_numbers.tolist(), whole.items["top"].to_pylist(), strict=True))
    left = part.rows[some.item_numbers].tolist()
    assert 5 < len(left) < len(tops)
    for query, top in zip(left, some.items["top"].to_pylist(), strict=True):
        assert sorted(one for one in json.loads(tops[query]) if one[0] not in gone) == sorted(json.loads(top))


def test_what_cannot_be_ranked_is_said() -> None:
    data = toy.dataset()
    none = replace(data, offsets=np.zeros_like(data.offsets), judged=data.judged[:0], grades=data.grades[:0])
    with pytest.raises(InputError, match="no query"):
        compute(none, vectors_of(data))
    broken: Any = vectors_of(data)
    broken[3, 0] = np.nan
    for ties in ("expected", "trec_eval"):
        with pytest.raises(BlindspotError, match="NaN"):
            compute(data, broken, ties=ties)
