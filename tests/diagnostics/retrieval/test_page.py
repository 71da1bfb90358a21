"""The page Retrieval by AppTest: scores beside BM25, the list of queries, both top tens, and what the address opens."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.diagnostics.retrieval.definition import ENTRY
from core.diagnostics.retrieval.figures import KEYWORDS
from core.diagnostics.retrieval.kinds import kinds_of
from core.diagnostics.retrieval.outcomes import QueryTable, Side, query_table
from tests.support import retrieval_world as toy
from tests.support.pages import OpenApp, chart_named, table, written
from tests.support.small_world import GramEncoder
from tests.support.world import World, small_world

TWO = ["trigrams~none", "letters~none"]
SIDES = {"retrieval_a": "trigrams~none", "retrieval_b": "letters~none"}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with small_world(tmp_path_factory.mktemp("world")) as world:
        hostile = toy.dataset()
        world.add(GramEncoder("trigrams", 3), GramEncoder("letters", 1), hostile)
        for name in ("trigrams", "letters"):
            world.run(ENTRY.id, name, toy.NAME)
        yield world


def test_an_empty_store_offers_a_run(open_app: OpenApp, tmp_path: Path) -> None:
    app = open_app(tmp_path / "empty", "retrieval", data="demo-retrieval")
    assert "No retrieval scores" in written(app)
    other = open_app(tmp_path / "empty", "retrieval", data="demo-pairs")
    assert other.button(key="pick_demo-retrieval")


def test_scores_are_those_of_the_runs_and_of_keyword_search(open_app: OpenApp, made: World) -> None:
    app = open_app(made.cache, "retrieval", data=toy.NAME, enc=TWO)
    run = made.run(ENTRY.id, "trigrams", toy.NAME)
    rows = table(app, "model", "nDCG@10").set_index("model")
    assert rows.loc["trigrams", "nDCG@10"] == pytest.approx(run.metrics["ndcg@10"])
    assert rows.loc["BM25 (keyword search)", "MAP"] == pytest.approx(run.metrics["bm25.map"])
    assert f"{run.metrics['bm25.ndcg@10']:.3f}" in written(app)
    assert KEYWORDS.label in [trace["name"] for trace in chart_named(app, "retrieval_scores")["data"]]


def test_the_list_of_queries_is_ordered_and_filtered(open_app: OpenApp, made: World) -> None:
    app = open_app(made.cache, "retrieval", data=toy.NAME, enc=TWO, retrieval_view="queries", **SIDES)
    a, b = (made.run(ENTRY.id, name, toy.NAME) for name in ("trigrams", "letters"))
    found = query_table(ENTRY, [a.run_id, b.run_id], made.repository)
    gain = found.scores(Side(a.run_id), "ndcg@10") - found.scores(Side(b.run_id), "ndcg@10")
    listed = table(app, "query", "A − B")
    assert listed["query"].tolist() == found.numbers[np.argsort(-gain, kind="stable")][: len(listed)].tolist()
    app.text_input(key="retrieval_search").set_value("the APPLE").run()
    asked = toy.dataset().query_texts
    wanted = [number for number in found.numbers if "the apple" in asked[number].lower()]
    assert sorted(table(app, "query", "A − B")["query"]) == wanted
    assert 1 < len(wanted) < 4


@pytest.mark.parametrize("way", ["model", "bm25"])
def test_a_query_shows_both_top_tens(open_app: OpenApp, made: World, way: str) -> None:
    address = {"retrieval_view": "queries", "query": "3", "with": way, **SIDES}
    app = open_app(made.cache, "retrieval", data=toy.NAME, enc=TWO, **address)
    a, b = (made.run(ENTRY.id, name, toy.NAME) for name in ("trigrams", "letters"))
    found = query_table(ENTRY, [a.run_id, b.run_id], made.repository)
    sides = [Side(a.run_id), Side(a.run_id, is_bm25=True) if way == "bm25" else Side(b.run_id)]
    row = int(np.flatnonzero(found.numbers == 3)[0])
    data = toy.dataset()
    shown = [str(element.proto.body) for element in app.get("html") if "<table" in str(element.proto.body)]
    for side, html in zip(sides, shown, strict=True):
        texts = [data.document_texts[data.document_ids.index(one)] for one, _ in found.top(side, row)[:10]]
        places = [html.find(text) for text in texts]
        assert -1 not in places
        assert places == sorted(places) or len(set(texts)) < len(texts)
        relevant = {one.document for one in found.judged(a.run_id, row) if one.grade >= 1}
        assert html.count("●") == sum(one in relevant for one, _ in found.top(side, row)[:10])


def test_a_query_without_judgments_is_said_to_be_left_out(open_app: OpenApp, made: World) -> None:
    app = open_app(made.cache, "retrieval", data=toy.NAME, enc=TWO, retrieval_view="queries", query="9")
    assert any("Query 9" in warning.value for warning in app.warning)


def test_kinds_of_queries_have_their_means(open_app: OpenApp, made: World) -> None:
    app = open_app(made.cache, "retrieval", data=toy.NAME, enc=TWO, retrieval_view="kinds")
    run = made.run(ENTRY.id, "trigrams", toy.NAME)
    found = query_table(ENTRY, [run.run_id], made.repository)
    scores = found.scores(Side(run.run_id), "ndcg@10")
    expected: dict[str, list[float]] = {}
    for way, groups in kinds_of(found, toy.dataset()).items():
        app.session_state["retrieval_by"] = way
        app.run()
        (trace,) = [t for t in chart_named(app, "retrieval_kinds")["data"] if t["name"] == "trigrams"]
        expected[way] = [
            float(np.mean([s for s, own in zip(scores, mask, strict=True) if own])) for mask in groups.values()
        ]
        assert trace["x"] == pytest.approx(expected[way])
    assert expected


def test_kinds_by_hand() -> None:
    texts = ["not this apple", "a b c d e f g h i j k"] + ["red apple", "one two three four five"] * 5
    documents = ["The RED house.", "one two three four"]
    data = toy.made("kinds", texts[:4], documents, [{0: 1}, {0: 1}, {0: 2}, {0: 1, 1: 1}])
    about = pd.DataFrame({"item_no": range(12), "query_id": [f"q{i}" for i in range(12)], "query": texts})
    judged = ['[["d0", 1, 0, 0]]'] * 3 + ['[["d0", 1, 0, 0], ["d1", 1, 1, 0]]'] * 9
    table = QueryTable(about.assign(relevant=[1] * 3 + [2] * 9), {"run": pd.DataFrame({"judged": judged})})
    found = kinds_of(table, data)
    lengths = {name: mask.tolist().count(True) for name, mask in found["words of the query"].items()}
    assert lengths == {"1 to 4 words": 6, "5 to 9 words": 5}
    assert "negation" not in found  # only one has any
    shared = found["words shared with a relevant document"]
    assert shared["a third to two thirds"].tolist() == [False, False, *[True, False] * 5]  # 1 of 2
    assert shared["two thirds or more"].tolist() == [False, False, *[False, True] * 5]  # 4 of 5
