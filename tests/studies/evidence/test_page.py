"""The page Evidence by AppTest over made-up runs: its views, and the states with nothing to show."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from blindspot.datasets.vector_sources import VECTOR_FILES
from blindspot.encoders.catalog import ENCODERS
from blindspot.runs import sweeps
from blindspot.runs.sweeps import EVIDENCE_TRANSFORMS, Sweep
from blindspot.store.repository import Repository
from blindspot.studies.evidence.correlation import compare, correlations, in_words
from blindspot.studies.evidence.page.ranks import short_name
from blindspot.studies.evidence.scores import Level, ScoreTable, score_table
from blindspot.studies.evidence.view import cell_in_words, headline_in_words
from blindspot.ui.markdown import as_text
from blindspot.variants import Variant
from tests.conftest import make_settings
from tests.support.evidence_world import Made, many_models, store
from tests.support.pages import OpenApp, charts, table, written

MRR, STSB = "evalrank:evalrank-sent:mrr", "similarity:stsb-test:spearman"


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    settings = make_settings(tmp_path_factory.mktemp("evidence"))
    store(Repository.at(settings.store), many_models(12))
    return settings.cache


@pytest.fixture(scope="module")
def scores(cache: Path) -> ScoreTable:
    return score_table(Repository.at(cache / "results.duckdb")).at(Level.SENTENCE)


def test_the_map_and_its_numbers(open_app: OpenApp, cache: Path, scores: ScoreTable) -> None:
    app = open_app(cache, "evidence")
    assert "36 models of 12 families; 6 benchmark scores, 3 tasks" in written(app)
    numbers = table(app, "benchmark score")
    cells = correlations(scores)
    assert numbers["rho"].tolist() == [round(c.rho, 3) for c in cells if c.rho is not None]
    assert numbers["from"].notna().all()
    assert set(numbers["task"]) == {"MR", "CR", "TREC"}
    assert "change" not in numbers
    app.pills(key="ev_kind").set_value(["similarity"]).run()
    assert len(set(table(app, "benchmark score")["benchmark score"])) == 1


def test_the_headline_is_drawn(open_app: OpenApp, cache: Path, scores: ScoreTable) -> None:
    assert as_text(headline_in_words(correlations(scores))) in written(open_app(cache, "evidence"))


def test_leaving_variants_out_moves_it(open_app: OpenApp, cache: Path, scores: ScoreTable) -> None:
    app = open_app(cache, "evidence", ev_keep="untransformed", ev_family_out="made/model-3")
    assert "11 of 36 models of 11 families" in written(app)
    kept = scores.rows(
        v.transform == "none" and f != "made/model-3" for v, f in zip(scores.variants, scores.families, strict=True)
    )
    before, after = correlations(scores), correlations(kept)
    change = table(app, "benchmark score")["change"].tolist()
    assert change == [round(b.rho - a.rho, 3) for a, b in zip(before, after, strict=True) if a.rho and b.rho]
    app.multiselect(key="ev_family_out").set_value([f"made/model-{i}" for i in range(9)]).run()
    assert "3 models left" in written(app)
    app.multiselect(key="ev_family_out").set_value([f"made/model-{i}" for i in range(4)]).run()
    assert "No cell has an interval" in written(app)


def test_a_cell(open_app: OpenApp, cache: Path, scores: ScoreTable) -> None:
    app = open_app(cache, "evidence", view="cell", ev_evaluator=STSB, ev_task="trec", ev_ranks="true")
    wanted = [scores.find(STSB), scores.find("trec")]
    (cell,) = correlations(scores.columns([m for m in wanted if m]))
    assert as_text(cell_in_words(cell)) in written(app)
    assert len(table(app, "left out")) == 12


def test_two_evaluators(open_app: OpenApp, cache: Path, scores: ScoreTable) -> None:
    app = open_app(cache, "evidence", view="compare", ev_task="cr")
    first, second, task = (scores.find(i) for i in (MRR, STSB, "cr"))
    assert first is not None
    assert second is not None
    assert task is not None
    found = compare(scores, first, second, task)
    assert as_text(in_words(found)) in written(app)
    assert table(app, "difference")["models"].tolist() == [36, 36, 36]


def test_words_have_evaluators_of_their_own_and_all_tasks(open_app: OpenApp, cache: Path) -> None:
    app = open_app(cache, "evidence", ev_level="word")
    numbers = table(app, "benchmark score")
    assert set(numbers["benchmark score"]) == {"similarity, WordSim-353"}
    assert "MRPC" in set(numbers["task"])
    app.segmented_control(key="view").set_value("compare").run()
    assert not charts(app)


def test_with_too_little_the_sweep_is_offered(open_app: OpenApp, tmp_path: Path) -> None:
    app = open_app(make_settings(tmp_path).cache, "evidence")
    assert "blindspot sweep evidence" in [code.value for code in app.code]
    assert "0 models with both kinds of score" in written(app)


def test_what_the_sweep_takes_is_said_before_it_runs(
    open_app: OpenApp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = Sweep(("random-projection",), ("none", "center"), ("demo-pairs", "demo-negation"), ("evalrank", "transfer"))
    monkeypatch.setattr(sweeps, "evidence", lambda *_: small)
    app = open_app(make_settings(tmp_path).cache, "evidence")
    app.button(key="evidence_cost").click().run()
    assert "4 runs" in written(app)
    assert app.button(key="evidence_sweep").label == "Compute 4"


# --- ranks and published tables

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
def ranked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Eight variants of three families with two tasks and four scores."""
    settings = make_settings(tmp_path_factory.mktemp("ranks") / "cache")
    runs = [
        Made(diagnostic, Variant(encoder, transform), dataset, {metric: scores[name] - less} | COUNTS)
        for transform, less in (("none", 0.0), ("center", 0.01))
        for encoder, scores in FOUR.items()
        for name, (diagnostic, dataset, metric) in WHERE.items()
    ]
    store(Repository.at(settings.store), runs)
    return settings.cache


def lines_of(chart: Any) -> dict[str, Any]:
    return {trace["name"]: trace for trace in chart["data"] if trace.get("mode") == "lines+markers"}


def heads(chart: Any) -> list[str]:
    return [text.partition("<br><b>")[0].replace("<br>", " ") for text in chart["layout"]["xaxis"]["ticktext"]]


def bright(app: AppTest) -> set[str]:
    return {name for name, trace in lines_of(charts(app)[0]).items() if trace["opacity"] > 0.5}


def test_ranks_are_figure_4s_as_far_as_it_is_there_and_a_family_stands_out(open_app: OpenApp, ranked: Path) -> None:
    app = open_app(ranked, "evidence", view="ranks")
    (chart,) = charts(app)
    assert heads(chart)[0] == "CR"  # neither mr nor sst2 is there
    assert set(heads(chart)[1:]) == {"TREC", "EvalRank MRR", "stsb-test", "str"}
    found = lines_of(chart)
    assert len(found) == 8
    assert found["minilm"]["y"][1] == 1.0
    # Of cr: minilm, minilm + center, then minilm-cls and random-projection tied, then both with center.
    assert found["minilm-cls"]["y"][1] == found["random-projection"]["y"][1] == 3.5
    assert "8 models of 3 families" in written(app)
    assert bright(app) == set(found)

    (box,) = (box for box in app.selectbox if box.key == "ev_highlight")
    box.set_value(box.options[0]).run()
    assert bright(app) == {"minilm", "minilm-cls", "minilm + center", "minilm-cls + center"}


def test_pivot_columns_and_highlight_stand_in_the_address(open_app: OpenApp, ranked: Path) -> None:
    chosen = {"ev_pivot": "similarity:str:spearman", "ev_columns": ["trec", "geometry:evalrank-sent:uniform"]}
    app = open_app(ranked, "evidence", view="ranks", ev_highlight="lsa~center", **chosen)
    (chart,) = charts(app)
    assert heads(chart) == ["str", "TREC", "uniformity"]
    assert bright(app) == {"lsa + center"}
    found = lines_of(chart)
    assert found["minilm-cls"]["y"][1] == 1.0
    assert found["minilm + center"]["y"][3] == 1.0  # uniformity is better where it is less: -3.01


def test_published_tables_have_ours_below_and_say_what_they_are_evidence_of(open_app: OpenApp, ranked: Path) -> None:
    app = open_app(ranked, "evidence", view="published")
    (chart,) = charts(app)
    framed, filled = ([t for t in chart["data"] if t.get("name") == name] for name in ("published", "measured here"))
    assert len(framed[0]["y"]) == 11 * 8
    assert len(filled[0]["y"]) == 3 * 2  # EvalRank MRR, STS-Benchmark and STR on CR and TREC
    (cell,) = (text for text in framed[0]["hovertext"] if text.startswith("EvalRank MRR, TREC"))
    assert "published: 0.77 over 67 models of 11 names<br>here: " in cell
    assert "over 8 models of 3 families" in cell
    assert "33 of them" in written(app)
    assert "no intervals" in written(app)

    def look_at(table: str) -> AppTest:
        app.segmented_control(key="ev_published").set_value(table).run()
        return app

    hint = "*untransformed*"
    assert hint not in written(app)
    assert hint in written(look_at("table 11"))
    look_at("table 3")
    assert "*word*" in written(app)
    assert [trace["name"] for trace in charts(app)[0]["data"] if trace.get("name")] == ["published"]
    look_at("table 7")
    assert len(charts(app)[0]["layout"]["yaxis"]["ticktext"]) == 9  # none of its three tasks was measured here
    assert "predicts 3 of the 3 tasks best" in written(app)

    look_at("Schnabel")
    found = lines_of(charts(app)[0])
    assert list(found["CBOW, published"]["y"][1:-1]) == [1, 1, 1, 1, 4.5, 1]  # 93.93, tied with GloVe, then 75.78
    assert list(found["C&amp;W, published"]["y"][1:-1])[-2:] == [1, 4]
    assert "too few for a correlation" in written(app)
    rows = table(app, "embedding", "rg").set_index("embedding")
    assert rows.loc["CBOW", ["rg", "men"]].tolist() == [74.0, 70.7], "percents, as in the paper"
    notes = [str(note) for frame in app.dataframe if "note" in frame.value for note in frame.value["note"]]
    assert sum("doubtful as printed" in note for note in notes) == 2


def test_published_tables_stand_there_before_anything_is_measured(open_app: OpenApp, tmp_path: Path) -> None:
    app = open_app(tmp_path / "cache", "evidence")
    (chart,) = charts(app)
    assert [trace["name"] for trace in chart["data"] if trace.get("name")] == ["published"]
    assert not any("rho here" in frame.value for frame in app.dataframe)


def test_short_names_tell_the_ready_sweeps_variants_apart_and_are_short() -> None:
    files = [f"vectors:/a/long/way/to/{Path(file.path).name}" for file in VECTOR_FILES]
    variants = [Variant(e, t) for e in (*ENCODERS, *files) for t in EVIDENCE_TRANSFORMS]
    names = [short_name(variant) for variant in variants]
    assert len(set(names)) == len(names)
    assert max(map(len, names)) <= 18 + len(" + ") + 12
    assert short_name(Variant("minilm", "none")) == "minilm"
    assert short_name(Variant(files[1], "abtt:2")) == "word2vec_…_300d_8k + abtt:2"
    assert short_name(Variant("random-projection-1024", "center+whiten:128")) == "random-pr…ion-1024 + center…n:128"
