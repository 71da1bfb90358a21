"""Pages with rankings without vectors, by AppTest: Retrieval shows them as models, others say what they lack."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from blindspot.diagnostics.retrieval.definition import ENTRY
from blindspot.diagnostics.retrieval.evidence import evidence
from blindspot.diagnostics.retrieval.exports import trec_run
from blindspot.diagnostics.retrieval.figures import KEYWORDS
from blindspot.diagnostics.retrieval.outcomes import Side, query_table
from blindspot.runs.findings import Material
from tests.support import retrieval_world as toy
from tests.support.pages import OpenApp, chart_named, table, written
from tests.support.small_world import GramEncoder
from tests.support.world import World, small_world

FUSION = "fuse:trigrams+bm25"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with small_world(tmp_path_factory.mktemp("world")) as world:
        world.add(GramEncoder("trigrams", 3), toy.dataset())
        runs = [world.run(ENTRY.id, name, toy.NAME) for name in ("trigrams", "bm25", FUSION)]
        text = trec_run(query_table(ENTRY, [runs[0].run_id], world.repository), Side(runs[0].run_id), "x")
        file = tmp_path_factory.mktemp("engine") / "engine.run"
        some = [line for line in text.splitlines(keepends=True) if int(line.split()[3]) <= 5 and line[:3] != "q1 "]
        file.write_text("".join(some) + "q77 Q0 d0 1 1 x\n")
        world.run(ENTRY.id, f"run:{file}", toy.NAME)
        yield world


def models(made: World) -> list[str]:
    return [str(variant) for variant in made.repository.variants()]


def test_scores_have_them_beside_the_models(open_app: OpenApp, made: World) -> None:
    app = open_app(made.cache, "retrieval", data=toy.NAME, model=models(made))
    assert not app.exception
    labels = {run.plan.variant.label for run in made.repository.finished(ENTRY)}
    assert set(table(app, "model", "nDCG@10")["model"]) == {*labels, "BM25 (keyword search)"}
    drawn = [trace["name"] for trace in chart_named(app, "retrieval_scores")["data"]]
    assert KEYWORDS.label not in drawn  # it is one of the models
    assert any("engine" in caption.value and "15" in caption.value for caption in app.caption)


def test_findings_count_queries_without_a_ranking(made: World) -> None:
    runs = made.repository.finished(ENTRY)
    found = [one for one in evidence(Material(runs, [], made.repository, made.settings)) if one.kind == "unranked"]
    (engine,) = [run for run in runs if run.plan.variant.encoder.startswith("run:")]
    assert [(one.value, one.n) for one in found] == [(engine.metrics["unranked"] / 15, 15)]
    assert engine.metrics["unranked"] == 1


@pytest.mark.heavy
@pytest.mark.parametrize("view", ["queries", "kinds"])
@pytest.mark.parametrize("way", ["model", "bm25"])
def test_views_compare_them(open_app: OpenApp, made: World, view: str, way: str) -> None:
    sides = {"a": f"{FUSION}~none", "b": models(made)[0], "with": way}
    app = open_app(made.cache, "retrieval", data=toy.NAME, model=models(made), view=view, item="1", **sides)
    assert not app.exception
    assert not app.error
    if view == "queries":
        assert len(table(app, "query", "A − B")) > 0
    else:
        assert chart_named(app, "retrieval_kinds")


def test_why_says_that_there_are_no_vectors(open_app: OpenApp, made: World) -> None:
    address = {
        "view": "queries",
        "item": "1",
        "why": "true",
        "with": "bm25",
        "b": f"{FUSION}~none",
    }
    app = open_app(made.cache, "retrieval", data=toy.NAME, model=models(made), **address)
    assert not app.exception
    assert [box.value for box in app.info if "no vectors" in box.value]


@pytest.mark.parametrize("page", ["neighbors", "map", "evalrank", "compare", "findings", "overview", "models", "run"])
def test_no_page_breaks(open_app: OpenApp, made: World, page: str) -> None:
    picked = ["bm25~none", f"{FUSION}~none"]
    app = open_app(made.cache, page, data=toy.NAME if page != "evalrank" else "demo-pairs", model=picked)
    assert not app.exception
    if page in {"neighbors", "map", "evalrank"}:
        assert "vectors" in written(app) + " ".join(box.value for box in app.warning)
