"""The page Retrieval by AppTest: scores beside BM25, the list of queries, both top tens, and what the address opens."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from blindspot.datasets.entries import SourceFile
from blindspot.diagnostics.retrieval import published
from blindspot.diagnostics.retrieval.definition import ENTRY
from blindspot.diagnostics.retrieval.figures import KEYWORDS
from blindspot.diagnostics.retrieval.outcomes import Side, query_table
from blindspot.errors import InputError
from blindspot.files.writing import sha256_of
from blindspot.runs.comparison import compare_runs
from tests.support import retrieval_world as toy
from tests.support.pages import OpenApp, chart_named, table, values, written
from tests.support.small_world import GramEncoder
from tests.support.world import World, small_world

TWO = ["trigrams~none", "letters~none"]
SIDES = {"a": "trigrams~none", "b": "letters~none"}


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
    app = open_app(made.cache, "retrieval", data=toy.NAME, model=TWO)
    run = made.run(ENTRY.id, "trigrams", toy.NAME)
    rows = table(app, "model", "nDCG@10")
    assert rows["model"].tolist() == ["trigrams", "letters", "BM25 (keyword search)"]
    assert f"{run.metrics['bm25.ndcg@10']:.3f}" in written(app)
    assert KEYWORDS.label in [trace["name"] for trace in chart_named(app, "retrieval_scores")["data"]]


@pytest.mark.heavy
def test_condensed_lists_are_runs_of_their_own(open_app: OpenApp, made: World) -> None:
    whole, run = (made.run(ENTRY.id, "letters", toy.NAME, judged=judged) for judged in ("all", "condensed"))
    assert whole.run_id == made.run(ENTRY.id, "letters", toy.NAME).run_id
    assert run.metrics["ndcg@10"] > whole.metrics["ndcg@10"]
    with pytest.raises(InputError, match="judged"):
        compare_runs(whole, run, made.repository)
    app = open_app(made.cache, "retrieval", data=toy.NAME, model="letters~none", judged="condensed")
    assert table(app, "model", "nDCG@10")["nDCG@10"][0] == pytest.approx(run.metrics["ndcg@10"])
    assert [caption.value for caption in app.caption if "Condensed lists" in caption.value]


def test_the_list_of_queries_is_ordered_and_filtered(open_app: OpenApp, made: World) -> None:
    app = open_app(made.cache, "retrieval", data=toy.NAME, model=TWO, view="queries", **SIDES)
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
    address = {"view": "queries", "item": "3", "with": way, **SIDES}
    app = open_app(made.cache, "retrieval", data=toy.NAME, model=TWO, **address)
    a, b = (made.run(ENTRY.id, name, toy.NAME) for name in ("trigrams", "letters"))
    found = query_table(ENTRY, [a.run_id, b.run_id], made.repository)
    sides = [Side(b.run_id, is_bm25=True) if way == "bm25" else Side(a.run_id), Side(b.run_id)]
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
    app = open_app(made.cache, "retrieval", data=toy.NAME, model=TWO, view="queries", item="9")
    assert any("Query 9" in warning.value for warning in app.warning)


def test_an_area_of_the_figure_lists_its_queries_alone(open_app: OpenApp, made: World) -> None:
    address = {"view": "queries", "retrieval_order": "number", "query_area": "0.5-1,0-0.45", **SIDES}
    app = open_app(made.cache, "retrieval", data=toy.NAME, model=TWO, **address)
    a, b = (made.run(ENTRY.id, name, toy.NAME) for name in ("trigrams", "letters"))
    found = query_table(ENTRY, [a.run_id, b.run_id], made.repository)
    one, other = (found.scores(Side(run.run_id), "ndcg@10") for run in (a, b))
    wanted = found.numbers[(one >= 0.5) & (other <= 0.45)].tolist()
    assert 1 < len(wanted) < len(found)
    assert table(app, "query", "A − B")["query"].tolist() == wanted[:6]
    figure = chart_named(app, "retrieval_scatter")
    dots = next(trace for trace in figure["data"] if trace["mode"] == "markers")
    inside = [x >= 0.5 and y <= 0.45 for x, y in zip(values(dots["x"]), values(dots["y"]), strict=True)]
    assert dots["selectedpoints"] == np.flatnonzero(inside).tolist()
    app.text_input(key="retrieval_search").set_value("the").run()  # it survives another filter
    assert set(table(app, "query", "A − B")["query"]) <= set(wanted)
    app.button(key="clear_query_area").click().run()
    app.text_input(key="retrieval_search").set_value("").run()
    assert len(table(app, "query", "A − B")) == min(6, len(found))


def test_published_tables_are_downloaded_and_shown(
    open_app: OpenApp, made: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = {"Model": "<b>A", "mean_diff": 0.5, "std_diff": 2.0, "n": 25, "ttest_pvalue": 0.2}
    path = tmp_path / "small" / "t.json"
    path.parent.mkdir()
    path.write_text(json.dumps([row]), "utf-8")
    file = SourceFile("small", "t.json", "", path.stat().st_size, sha256_of(path))
    monkeypatch.setattr(published, "FILES", {"brevity": file})
    monkeypatch.setenv("BLINDSPOT_MIRROR", str(tmp_path))
    app = open_app(made.cache, "retrieval", data=toy.NAME, model=TWO, view="published")
    assert not app.error
    app.button(key="fetch_colder").click().run()
    assert not app.error
    shown = table(app, "bias")
    assert shown[["bias", "model", "difference", "in SDs"]].to_numpy().tolist() == [["brevity", "<b>A", 0.5, 0.25]]
    assert values(chart_named(app, "retrieval_published")["data"][0]["x"]) == pytest.approx([0.25])
    cold = open_app(tmp_path / "empty", "retrieval", view="published")
    assert not cold.error
    assert any(button.key == "fetch_colder" for button in cold.button), "published results take no run"
