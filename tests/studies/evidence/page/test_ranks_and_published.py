"""The page Evidence's views *ranks* and *published*, over made runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core.datasets.vector_sources import VECTOR_FILES
from core.encoders.catalog import ENCODERS
from core.runs.sweeps import EVIDENCE_TRANSFORMS
from core.store.repository import Repository
from core.studies.evidence.page.ranks import short_name
from core.types import Variant
from tests.conftest import make_settings
from tests.support import evidence_world
from tests.support.evidence_world import Made
from tests.support.pages import OpenApp, charts, written

COUNTS = {"pairs": 1.0, "background": 2.0}  # which the page Overview, on which the app opens, shows
WHERE = {  # diagnostic, dataset, metric
    "trec": ("transfer", "trec", "accuracy"),
    "cr": ("transfer", "cr", "accuracy"),
    "mrr": ("evalrank", "evalrank-sent", "mrr"),
    "stsb-test": ("similarity", "stsb-test", "spearman"),
    "str": ("similarity", "str", "spearman"),
    "uniform": ("geometry", "evalrank-sent", "uniform"),
}
FOUR = {  # encoders of three families; every score has an order of its own
    "minilm": {"trec": 0.9, "cr": 0.8, "mrr": 0.7, "stsb-test": 0.8, "str": 0.7, "uniform": -3.0},
    "minilm-cls": {"trec": 0.8, "cr": 0.7, "mrr": 0.6, "stsb-test": 0.5, "str": 0.8, "uniform": -2.0},
    "random-projection": {"trec": 0.7, "cr": 0.7, "mrr": 0.4, "stsb-test": 0.6, "str": 0.5, "uniform": -2.5},
    "lsa": {"trec": 0.6, "cr": 0.6, "mrr": 0.5, "stsb-test": 0.4, "str": 0.4, "uniform": -1.0},
}


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Eight variants of three families with two tasks and four scores."""
    settings = make_settings(tmp_path_factory.mktemp("ranks") / "cache")
    runs = [
        Made(diagnostic, Variant(encoder, transform), dataset, {metric: scores[name] - less} | COUNTS)
        for transform, less in (("none", 0.0), ("center", 0.01))
        for encoder, scores in FOUR.items()
        for name, (diagnostic, dataset, metric) in WHERE.items()
    ]
    evidence_world.store(Repository.at(settings.store), runs)
    return settings.cache


def lines_of(chart: Any) -> dict[str, Any]:
    return {trace["name"]: trace for trace in chart["data"] if trace.get("mode") == "lines+markers"}


def heads(chart: Any) -> list[str]:
    return [text.partition("<br><b>")[0].replace("<br>", " ") for text in chart["layout"]["xaxis"]["ticktext"]]


def bright(app: AppTest) -> set[str]:
    return {name for name, trace in lines_of(charts(app)[0]).items() if trace["opacity"] > 0.5}


def test_ranks_are_figure_4s_as_far_as_it_is_there_and_a_family_stands_out(open_app: OpenApp, cache: Path) -> None:
    app = open_app(cache, "evidence", evidence_view="ranks")
    assert not app.exception
    (chart,) = charts(app)
    assert heads(chart)[0] == "CR"  # neither mr nor sst2 is there
    assert set(heads(chart)[1:]) == {"TREC", "EvalRank MRR", "stsb-test", "str"}
    found = lines_of(chart)
    assert len(found) == 8
    assert found["minilm"]["y"][1] == 1.0
    # Of cr: minilm, minilm + center, then minilm-cls and random-projection tied, then both with center.
    assert found["minilm-cls"]["y"][1] == found["random-projection"]["y"][1] == 3.5
    assert "8 variants of 3 families" in written(app)
    assert bright(app) == set(found)

    (box,) = (box for box in app.selectbox if box.key == "ev_highlight")
    box.set_value(box.options[0]).run()
    assert bright(app) == {"minilm", "minilm-cls", "minilm + center", "minilm-cls + center"}


def test_pivot_columns_and_highlight_stand_in_the_address(open_app: OpenApp, cache: Path) -> None:
    chosen = {"ev_pivot": "similarity:str:spearman", "ev_columns": ["trec", "geometry:evalrank-sent:uniform"]}
    app = open_app(cache, "evidence", evidence_view="ranks", ev_highlight="lsa~center", **chosen)
    assert not app.exception
    (chart,) = charts(app)
    assert heads(chart) == ["str", "TREC", "uniformity"]
    assert bright(app) == {"lsa + center"}
    found = lines_of(chart)
    assert found["minilm-cls"]["y"][1] == 1.0
    assert found["minilm + center"]["y"][3] == 1.0  # uniformity is better where it is less: -3.01


def test_published_tables_have_ours_below_and_say_what_they_are_evidence_of(open_app: OpenApp, cache: Path) -> None:
    app = open_app(cache, "evidence", evidence_view="published")
    assert not app.exception
    (chart,) = charts(app)
    framed, filled = ([t for t in chart["data"] if t.get("name") == name] for name in ("published", "measured here"))
    assert len(framed[0]["y"]) == 11 * 8
    assert len(filled[0]["y"]) == 3 * 2  # EvalRank MRR, STS-Benchmark and STR on CR and TREC
    (cell,) = (text for text in framed[0]["hovertext"] if text.startswith("EvalRank MRR, TREC"))
    assert "published: 0.77 over 67 models of 11 names<br>here: " in cell
    assert "over 8 variants of 3 families" in cell
    assert "33 of them" in written(app)
    assert "no intervals" in written(app)

    def look_at(table: str) -> AppTest:
        app.segmented_control(key="ev_published").set_value(table).run()
        assert not app.exception
        return app

    hint = "keep *untransformed* above"
    assert hint not in written(app)
    assert hint in written(look_at("table 11"))
    look_at("table 3")
    assert "choose *word* above" in written(app)
    assert [trace["name"] for trace in charts(app)[0]["data"] if trace.get("name")] == ["published"]
    look_at("table 7")
    assert len(charts(app)[0]["layout"]["yaxis"]["ticktext"]) == 9  # none of its three tasks was measured here
    assert "foretells 3 of the 3 tasks best" in written(app)

    look_at("Schnabel")
    found = lines_of(charts(app)[0])
    assert list(found["CBOW, published"]["y"][1:-1]) == [1, 1, 1, 1, 4.5, 1]  # 93.93, tied with GloVe, then 75.78
    assert list(found["C&amp;W, published"]["y"][1:-1])[-2:] == [1, 4]
    assert "too few for a correlation" in written(app)
    notes = [str(note) for frame in app.dataframe if "note" in frame.value for note in frame.value["note"]]
    assert sum("doubtful as printed" in note for note in notes) == 2


def test_published_tables_stand_there_before_anything_is_measured(open_app: OpenApp, tmp_path: Path) -> None:
    app = open_app(tmp_path / "cache", "evidence")
    assert not app.exception
    (chart,) = charts(app)
    assert [trace["name"] for trace in chart["data"] if trace.get("name")] == ["published"]
    assert "Nothing here has the same evaluator and task yet" in written(app)


def test_short_names_tell_the_ready_sweeps_variants_apart_and_are_short() -> None:
    files = [f"vectors:/a/long/way/to/{Path(file.path).name}" for file in VECTOR_FILES]
    variants = [Variant(e, t) for e in (*ENCODERS, *files) for t in EVIDENCE_TRANSFORMS]
    names = [short_name(variant) for variant in variants]
    assert len(set(names)) == len(names)
    assert max(map(len, names)) <= 18 + len(" + ") + 12
    assert short_name(Variant("minilm", "none")) == "minilm"
    assert short_name(Variant(files[1], "abtt:2")) == "word2vec_…_300d_8k + abtt:2"
    assert short_name(Variant("random-projection-1024", "center+whiten:128")) == "random-pr…ion-1024 + center…n:128"
