"""The Overview: a view per diagnostic that has finished runs, each with its figure, its tables and its way on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import app_store
from blindspot.diagnostic import all_diagnostics, find_diagnostic
from blindspot.runs.comparison import best_of_each, headline_tests
from blindspot.store.records import Leaderboard
from blindspot.store.repository import Repository
from blindspot.types import no_progress
from blindspot.ui.pickers import DEFAULT_DATASET
from blindspot.workspace import overview
from blindspot.workspace.overview import tables
from tests.support.pages import OpenApp, chart, values, written


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with two variants under every diagnostic."""
    return app_store.fill(tmp_path_factory.mktemp("overview"), no_progress, ("random-projection-64",)).cache


@pytest.mark.matrix
@pytest.mark.parametrize("name", all_diagnostics())
def test_a_section_shows_the_stored_scores_and_marks_the_best(open_app: OpenApp, filled: Path, name: str) -> None:
    app = open_app(filled, "overview", data=DEFAULT_DATASET, scores=name)
    repository = Repository.at(filled / "results.duckdb")
    has_picked = bool(repository.runs(diagnostic=name, dataset=DEFAULT_DATASET))
    assert bool(app.info) is not has_picked, "that other datasets are shown than the picked one is said"
    entry = find_diagnostic(name)
    expected = {
        run.plan.variant.label: run.metrics[entry.headline]
        for run in repository.runs(diagnostic=name)
        if run.plan.params == entry.check_params({})
    }
    runs = [run for run in repository.runs(diagnostic=name) if run.plan.params == entry.check_params({})]
    tested = set(best_of_each(entry, runs, repository) or ())
    repository.database.close()
    assert len(expected) == 2
    marks = {trace["name"]: values(trace["x"]) for trace in chart(app, 0)["data"]}
    assert marks == {label: pytest.approx([score]) for label, score in expected.items()}
    (table,) = (frame.value for frame in app.dataframe)
    heading = entry.overview.columns[entry.headline]
    assert dict(zip(table["model"], table[heading], strict=True)) == pytest.approx(expected)
    best = (min if entry.headline_is_lower_better else max)(expected.values())
    assert table[heading].iloc[0] == pytest.approx(best), "the best one first"

    # Of scores that are not tested against the best the Overview says what is highest or lowest.
    cells = app.dataframe[0].proto.arrow_data.styler.display_values.decode(errors="replace")
    said = " ".join(caption.value for caption in app.caption)
    shown = {m.name: m.higher_is_better for m in entry.metrics if m.name in runs[0].metrics.keys() & runs[1].metrics}
    better = {metric: shown[metric] for metric in entry.overview.columns if shown.get(metric) is not None}
    signs = {"★" if metric in tested else {True: "↑", False: "↓"}[b] for metric, b in better.items()}
    assert {sign for sign in "★↑↓" if sign in said} == signs
    assert {sign for sign in "★↑↓" if sign in cells} == signs


@pytest.mark.matrix
def test_a_diagnostic_without_a_page_is_shown_without_a_way_on(
    open_app: OpenApp, filled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    geometry = find_diagnostic("geometry")
    linked = open_app(filled, "overview", data=DEFAULT_DATASET, scores="geometry").get("page_link")
    monkeypatch.setattr(geometry, "overview", replace(geometry.overview, link="", page=""))
    assert geometry.deeper == ""
    app = open_app(filled, "overview", data=DEFAULT_DATASET, scores="geometry")
    assert len(app.get("page_link")) == len(linked) - 1
    assert len(app.get("plotly_chart")) == 1
    assert not app.error


@pytest.mark.matrix
def test_heros_has_the_negation_that_its_headline_speaks_of(open_app: OpenApp, filled: Path) -> None:
    table = open_app(filled, "overview", data=DEFAULT_DATASET, scores="heros").dataframe[0].value
    run = Repository.at(filled / "results.duckdb").runs(diagnostic="heros")[0]
    asked = {name for name in run.metrics if name.startswith("synonym>") and not name.endswith(("_low", "_high"))}
    shown = {name for name, title in find_diagnostic("heros").overview.columns.items() if title in table}
    assert asked - {"synonym>typo"} <= shown


def test_only_what_was_run_is_offered(open_app: OpenApp, demo_cache: Path) -> None:
    app = open_app(demo_cache, "overview")
    choice = app.segmented_control(key="scores")
    assert choice.options == ["EvalRank"]
    assert choice.value == "evalrank"


def test_the_first_sentence_has_the_best_score_and_its_interval(open_app: OpenApp, demo_cache: Path) -> None:
    app = open_app(demo_cache, "overview", post="true")
    repository = Repository.at(demo_cache / "results.duckdb")
    picked = {"metric": "cos", "protocol": "definition"}
    runs = [r for r in repository.runs(diagnostic="evalrank", dataset="demo-pairs") if r.plan.params == picked]
    best = max(runs, key=lambda run: run.metrics["mrr"])
    pairs = [(best, run) for run in runs if run is not best]
    interval = headline_tests(find_diagnostic("evalrank"), pairs, repository)[0].a_interval
    repository.database.close()
    said = next(part.value for part in app.markdown if best.plan.variant.label in part.value)
    assert f"{best.metrics['mrr']:.3f} (95% CI {interval.low:.3f} to {interval.high:.3f})" in said


@pytest.mark.matrix
def test_of_many_models_the_best_are_drawn_and_the_others_counted(
    open_app: OpenApp, filled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(overview, "DRAWN", 1)
    app = open_app(filled, "overview", data=DEFAULT_DATASET, scores="transfer")
    assert len(chart(app, 0)["data"]) == 1
    assert "2 models; showing the 1 with the highest" in written(app)


@pytest.mark.matrix
def test_scores_are_there_while_many_pairs_are_tested(
    open_app: OpenApp, demo_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once; then the page is as with few pairs."""
    monkeypatch.setattr(tables, "TESTED_PAIRS", 0)
    drawn: list[bool] = []
    table, best_of = tables.board_table, tables.best_of

    def noted(*given: object, test: bool, **rest: object) -> None:
        drawn.append(test)
        table(*given, test=test, **rest)  # type: ignore[arg-type]

    monkeypatch.setattr(tables, "board_table", noted)
    monkeypatch.setattr(tables, "best_of", lambda *given: drawn.append(None) or best_of(*given))
    app = open_app(demo_cache, "overview")
    after = [
        "dots_evalrank" in chart.proto.id and "at_first" not in chart.proto.id for chart in app.get("plotly_chart")
    ]
    assert after == [True]
    assert drawn[:2] == [False, None], "untested before it is compared"
    assert len(app.dataframe) == len(app.get("plotly_chart")) == 1
    drawn.clear()
    app.run()
    assert drawn[0] is None
    assert len(app.dataframe) == len(app.get("plotly_chart")) == 1
    again = written(app)
    monkeypatch.undo()
    assert again == written(open_app(demo_cache, "overview"))


@pytest.mark.matrix
def test_of_many_datasets_the_first_are_shown_and_the_others_on_request(
    open_app: OpenApp, demo_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tables of a store with twenty datasets took half a second."""
    app = open_app(demo_cache, "overview")
    assert not [toggle for toggle in app.toggle if toggle.key == "overview_more"]
    monkeypatch.setattr(overview, "TABLES", 1)
    with monkeypatch.context() as patch:
        boards = tables.leaderboards
        patch.setattr(
            tables,
            "leaderboards",
            lambda *given: [
                replace_dataset(board, f"{board.dataset}{i}") for board in boards(*given) for i in range(3)
            ],
        )
        app = open_app(demo_cache, "overview")
        assert len(app.dataframe) == 1
        app.toggle(key="overview_more").set_value(True).run()
        assert len(app.dataframe) == 3
        assert len(open_app(demo_cache, "overview", overview_more="true").dataframe) == 3


def replace_dataset(board: Leaderboard, dataset: str) -> Leaderboard:
    runs = tuple(replace(run, plan=replace(run.plan, dataset=dataset)) for run in board.runs)
    return replace(board, runs=runs)
