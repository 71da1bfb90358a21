"""Queries that are documents themselves: their ranking is that of a dataset without the document."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
import pytrec_eval

from blindspot.datasets.kinds.retrieval import RetrievalDataset
from blindspot.datasets.published.retrieval import Document, Judgment, Query, retrieval_dataset
from blindspot.diagnostic import DiagnosticResult
from blindspot.diagnostics.retrieval.definition import ENTRY
from blindspot.encoders.rankings.bm25 import KeywordRanking
from blindspot.types import CancelToken, Float32, no_progress

TEXTS = tuple(f"note {i} tells of bird {i} and {'tree' if i % 2 else 'pond'}" for i in range(9))
JUDGED = {0: 3, 1: 4, 2: 7, 3: 8}


def of(queries: tuple[int, ...], documents: tuple[int, ...], ids: str = "n{}") -> RetrievalDataset:
    """Some of the texts as queries, some as documents; document 5 has a title, which its query lacks."""
    place = {document: number for number, document in enumerate(documents)}
    judged = [Judgment(n, place[JUDGED[query]], 1) for n, query in enumerate(queries)]
    title = {5: "On birds"}
    return retrieval_dataset(
        "notes",
        [Query(ids.format(i), TEXTS[i]) for i in queries],
        [Document(f"n{i}", title.get(i, ""), TEXTS[i]) for i in documents],
        judged,
    )


def scored(data: RetrievalDataset, by_text: Mapping[str, Float32], **params: str) -> DiagnosticResult:
    vectors = np.array([by_text[text] for text in data.items], dtype=np.float32)
    return ENTRY.compute(vectors, data, ENTRY.check_params(params), no_progress, CancelToken())


def vectors() -> dict[str, Float32]:
    """Of few values, so that many documents tie."""
    drawn = np.random.default_rng(5).integers(-1, 2, (len(TEXTS) + 1, 3)).astype(np.float32) + np.float32(0.5)
    return dict(zip([*TEXTS, f"On birds {TEXTS[5]}"], drawn, strict=True))


@pytest.mark.parametrize("ties", ["expected", "trec_eval"])
def test_scores_are_those_of_a_dataset_without_the_document(ties: str) -> None:
    every = tuple(range(len(TEXTS)))
    together = scored(of((0, 1, 2, 3), every), vectors(), ties=ties)
    assert together.metrics["own_documents"] == 4
    for place, query in enumerate((0, 1, 2, 3)):
        alone = scored(of((query,), tuple(i for i in every if i != query)), vectors(), ties=ties)
        for name in ("ndcg@10", "mrr", "map"):
            column = name.replace("@", "_")
            assert together.items.column(column)[place].as_py() == alone.items.column(column)[0].as_py(), name
        listed = together.items.column("top")[place].as_py()
        assert f'"n{query}"' not in listed
    counted = scored(of((0, 1, 2, 3), every), vectors(), ties=ties, own_document="count")
    assert "own_documents" not in counted.metrics
    assert counted.metrics["mrr"] < together.metrics["mrr"]


def test_keyword_search_leaves_them_out_too() -> None:
    every = tuple(range(len(TEXTS)))
    data = of((0, 1, 2, 3), every)
    both = [
        ENTRY.rank(KeywordRanking("bm25"), data, ENTRY.check_params(given), no_progress, CancelToken())
        for given in ({}, {"own_document": "count"})
    ]
    left_out, counted = (one.metrics["mrr"] for one in both)
    assert left_out > counted
    assert both[0].metrics["bm25.mrr"] == left_out


def test_an_equal_id_or_an_equal_text_alone_says_nothing() -> None:
    every = tuple(range(len(TEXTS)))
    other_ids = scored(of((0, 1), every, ids="q{}"), vectors())
    assert "own_documents" not in other_ids.metrics
    data = retrieval_dataset(
        "alike",
        [Query(f"n{i}", f"question {i}") for i in range(2)],
        [Document(f"n{i}", "", TEXTS[i]) for i in range(4)],
        [Judgment(0, 2, 1), Judgment(1, 3, 1)],
    )
    vector = {text: np.ones(3, dtype=np.float32) for text in data.items}
    assert "own_documents" not in scored(data, vector).metrics


def test_a_document_judged_relevant_to_its_own_query_is_never_found_as_in_beir() -> None:
    data = retrieval_dataset(
        "answers",
        [Query("n0", TEXTS[0]), Query("n1", TEXTS[1])],
        [Document(f"n{i}", "", TEXTS[i]) for i in range(4)],
        [Judgment(0, 0, 1), Judgment(1, 1, 0), Judgment(1, 2, 1)],
    )
    result = scored(data, vectors(), ties="trec_eval")
    assert (result.metrics["own_documents"], result.metrics["own_relevant"]) == (2, 1)
    by_text = vectors()
    results = {}
    for query in ("n0", "n1"):
        x = by_text[TEXTS[int(query[1])]]
        found = {
            f"n{i}": float(x @ y / np.linalg.norm(x) / np.linalg.norm(y)) for i in range(4) for y in [by_text[TEXTS[i]]]
        }
        del found[query]  # BEIR's ignore_identical_ids takes it out of the results, and leaves the judgments
        results[query] = found
    judge = pytrec_eval.RelevanceEvaluator(
        {"n0": {"n0": 1}, "n1": {"n1": 0, "n2": 1}}, {"ndcg_cut.10", "map", "recall.100"}
    )
    of_queries = judge.evaluate(results)
    for ours, theirs in (("ndcg@10", "ndcg_cut_10"), ("map", "map"), ("recall@100", "recall_100")):
        assert result.metrics[ours] == pytest.approx(np.mean([of_queries[q][theirs] for q in ("n0", "n1")]))
    assert result.items.column("mrr")[0].as_py() == 0
    counted = scored(data, vectors(), own_document="count")
    assert "own_relevant" not in counted.metrics
    assert counted.items.column("mrr")[0].as_py() > 0
