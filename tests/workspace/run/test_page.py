"""The page Run by AppTest: the choice and its cost, the history, manifests, repeat and delete."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from urllib.parse import unquote

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Button, ButtonGroup

from blindspot.diagnostic import find_diagnostic, parameters
from blindspot.diagnostics.evalrank.definition import ENTRY
from blindspot.runs.cluster import sweeps
from blindspot.store.records import RunState
from blindspot.store.repository import Repository
from blindspot.ui import resources
from blindspot.workspace.overview import TABLES
from blindspot.workspace.run import history
from tests.support.cluster_calls import Calls
from tests.support.loopback import free_port
from tests.support.pages import OpenApp, table, written
from tests.support.run_history import choose_rows
from tests.support.small_world import wait_until
from tests.support.store_samples import pair_set, plan, store_many


def finished(app: AppTest) -> AppTest:
    """The page once the queue is empty."""
    wait_until(lambda: not resources.jobs().active())
    return app.run()


def history_table(app: AppTest) -> pd.DataFrame:
    return table(app, "time", "score")


def test_an_empty_store_offers_what_needs_no_download(open_app: OpenApp, tmp_path: Path) -> None:
    app = open_app(tmp_path, "run")
    assert "**2 runs** to compute: about" in written(app)
    assert app.multiselect(key="run_transforms").value == ["none"]
    assert not [frame for frame in app.dataframe if "score" in frame.value], "there are no past runs"
    assert app.button(key="run_all").label == "Run 2"
    assert not (tmp_path / "results.duckdb").exists(), "looking must not create a store"


def test_what_is_stored_is_not_computed_again(open_app: OpenApp, demo_copy: Path) -> None:
    app = open_app(demo_copy, "run")
    assert "1 already available" in written(app)
    assert app.button(key="run_all").label == "Run 1"  # HEROS
    app.multiselect(key="run_diagnostics").set_value(["evalrank"]).run()
    assert not starts(app), "a link to the results instead"
    assert "Skipped: Demo minimal pairs" in written(app)
    assert "of its kind" in written(app)
    app.multiselect(key="run_datasets").set_value(["demo-minimal"]).run()
    assert app.multiselect(key="run_diagnostics").value == ["heros"], "only what fits is ticked"
    assert "Skipped" not in written(app)
    assert "of its kind" not in written(app)
    app.multiselect(key="run_diagnostics").set_value(["evalrank"]).run()
    assert "nothing to run: none of the diagnostics fits demo-minimal" in written(app)


def pills(app: AppTest, key: str) -> ButtonGroup[str]:
    return next(group for group in app.get("button_group") if group.key == key)


def on_cluster(app: AppTest) -> list[Button]:
    return [button for button in app.button if button.key == "run_on_cluster"]


@pytest.mark.matrix
def test_runs_are_sent_to_the_cluster_that_is_set(
    open_app: OpenApp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not on_cluster(open_app(tmp_path, "run"))
    resources.shared_settings.clear()
    monkeypatch.setenv("BLINDSPOT_RAY", "local")
    monkeypatch.setattr(sweeps, "engine_of", lambda *_: Calls())
    app = open_app(tmp_path, "run")
    app.multiselect(key="run_encoders").set_value(["random-projection"])
    app.multiselect(key="run_datasets").set_value(["demo-minimal"]).run()
    (button,) = on_cluster(app)
    assert not button.disabled
    button.click().run()
    (job,) = [job for job in resources.jobs().jobs() if job.on_cluster]
    assert job.requests
    app = finished(app)
    assert [job.state.value for job in resources.jobs().jobs() if job.on_cluster] == ["done"]
    assert len(history_table(app)) == len(job.requests)
    assert not on_cluster(app), "all is stored"


def test_without_ray_the_page_says_how_to_install_it(
    open_app: OpenApp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BLINDSPOT_RAY", "ray://head:10001")
    monkeypatch.setitem(sys.modules, "ray", None)
    app = open_app(tmp_path, "run")
    (button,) = on_cluster(app)
    assert button.disabled
    assert "requirements-cluster.txt" in written(app)
    assert not app.button(key="run_all").disabled


@pytest.mark.server
def test_a_cluster_that_cannot_be_reached_is_one_line(
    open_app: OpenApp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("ray")
    address = f"ray://127.0.0.1:{free_port()}"
    monkeypatch.setenv("BLINDSPOT_RAY", address)
    app = open_app(tmp_path, "run")
    told = [error.value for error in on_cluster(app)[0].click().run().error]
    app = finished(app)
    (error,) = {*told, *(error.value for error in app.error)}
    assert address.rpartition(":")[2] in error
    assert not on_cluster(app)[0].disabled, "it can be sent again"


def test_on_a_demo_no_cluster_is_offered(open_app: OpenApp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BLINDSPOT_RAY", "local")
    monkeypatch.setenv("BLINDSPOT_MODE", "demo")
    monkeypatch.setenv("BLINDSPOT_PREPARE", "no")
    app = open_app(tmp_path, "run")
    assert starts(app)
    assert not on_cluster(app)


@pytest.mark.parametrize(
    ("dataset", "diagnostic"), [("demo-pairs", "evalrank"), ("demo-retrieval", "retrieval"), ("demo-words", "analogy")]
)
def test_every_parameter_that_a_diagnostic_declares_is_offered_with_it(
    open_app: OpenApp, tmp_path: Path, dataset: str, diagnostic: str
) -> None:
    app = open_app(tmp_path, "run")
    app.multiselect(key="run_datasets").set_value([dataset]).run()
    app.multiselect(key="run_diagnostics").set_value([diagnostic]).run()
    declared = {f"run_{one.name}": one for one in find_diagnostic(diagnostic).parameters}
    offered = {str(group.key) for group in app.get("button_group")}
    assert offered & {f"run_{name}" for name in parameters()} == set(declared)
    for key, parameter in declared.items():
        assert pills(app, key).value == [parameter.default]
        assert pills(app, key).options == [parameter.as_shown(value) for value in parameter.choices]
        assert parameter.when in written(app)
    if dataset == "demo-words":
        assert not starts(app), "it has no analogies"
        return
    one = int(app.button(key="run_all").label.split()[-1])
    last = list(declared.values())[-1]
    pills(app, f"run_{last.name}").set_value(list(last.choices)).run()
    assert int(app.button(key="run_all").label.split()[-1]) == len(last.choices) * one
    pills(app, f"run_{last.name}").set_value([]).run()
    assert last.name in app.error[0].value.replace("\\", "")


def starts(app: AppTest) -> list[Button]:
    return [button for button in app.button if button.key == "run_all"]


def test_the_form_takes_over_what_is_picked_elsewhere_and_leads_to_the_result(
    open_app: OpenApp, demo_copy: Path
) -> None:
    app = open_app(demo_copy, "evalrank", data="demo-pairs", model="minilm~center")
    app.switch_page("pages/run.py").run()
    assert "model" not in app.query_params, "there are no pickers that it would be for"
    assert app.multiselect(key="run_encoders").value == ["minilm"]
    assert app.multiselect(key="run_transforms").value == ["center"]
    assert app.multiselect(key="run_datasets").value == ["demo-pairs"]
    assert app.multiselect(key="run_diagnostics").value == ["evalrank"]
    assert "Skipped" not in written(app)
    queries = [unquote(element.proto.query_string) for element in app.get("page_link")]
    assert any("model=minilm~center" in query and "on=demo-pairs" in query for query in queries)
    app.multiselect(key="run_transforms").set_value(["none"]).run()
    assert app.multiselect(key="run_transforms").value == ["none"], "the reader's own choice stays"


@pytest.mark.parametrize(
    ("widget", "values", "part"),
    [
        ("run_encoders", [], "names no encoder"),
        ("run_encoders", ["minilm", "minilmm"], "did you mean"),
        ("run_transforms", ["abtt:x"], "abtt"),
        ("run_datasets", [], "names no dataset"),
        ("run_diagnostics", [], "names no diagnostic"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(
    open_app: OpenApp, tmp_path: Path, widget: str, values: list[str], part: str
) -> None:
    app = open_app(tmp_path, "run")
    app.multiselect(key=widget).set_value(values).run()
    (error,) = app.error
    assert part in error.value.lower()
    assert not starts(app)


@pytest.mark.matrix
def test_chosen_runs_are_computed_and_appear(open_app: OpenApp, demo_copy: Path) -> None:
    app = open_app(demo_copy, "run")
    app.button(key="run_all").click().run()
    finished(app)
    assert not starts(app)
    repository = Repository.at(demo_copy / "results.duckdb")
    assert len(repository.runs(diagnostic="heros", state=RunState.DONE)) == 1
    shown = history_table(app)
    assert shown["diagnostic"].tolist()[0] == "HEROS"
    assert [run.run_id[:8] for run in repository.runs(limit=15)] == shown["run"].tolist()


@pytest.mark.matrix
def test_one_chosen_run_shows_its_manifest_and_can_be_repeated(open_app: OpenApp, demo_copy: Path) -> None:
    run = Repository.at(demo_copy / "results.duckdb").runs(dataset="demo-pairs")[0]
    app = choose_rows(open_app(demo_copy, "run"), run.run_id)
    scores = table(app, "score", "meaning")
    assert dict(zip(scores["score"], scores["value"], strict=True)) == run.metrics
    assert scores["score"].iloc[0] == ENTRY.headline
    assert json.loads(app.json[0].value) == dict(run.manifest)
    app.button(key="repeat").click().run()
    finished(app)
    assert f"All {len(run.metrics)} scores" in written(app)


def test_two_chosen_runs_are_compared(open_app: OpenApp, demo_copy: Path) -> None:
    runs = [
        r
        for r in Repository.at(demo_copy / "results.duckdb").runs(dataset="demo-pairs")
        if r.plan.params["metric"] == "cos"
    ]
    first, second = runs[0], runs[1]
    app = choose_rows(open_app(demo_copy, "run"), first.run_id, second.run_id)
    assert "They differ in: **Transform**." in written(app)
    scores = table(app, "score", "B - A")
    row = scores[scores["score"] == "mrr"].iloc[0]
    assert row["B - A"] == second.metrics["mrr"] - first.metrics["mrr"]
    different = table(app, "setting", "A", "B")
    assert {first.plan.variant.transform, second.plan.variant.transform} == set(
        different[different["setting"] == "Transform chain"][["A", "B"]].iloc[0]
    )


@pytest.mark.matrix
def test_deleting_asks_first(open_app: OpenApp, demo_copy: Path) -> None:
    repository = Repository.at(demo_copy / "results.duckdb")
    before = repository.runs()
    app = choose_rows(open_app(demo_copy, "run"), before[0].run_id)
    app.button(key="delete").click().run()
    app.button(key="delete_no").click().run()
    assert len(repository.runs()) == len(before)
    app.button(key="delete").click().run()
    app.button(key="delete_yes").click().run()
    assert "1 run was deleted." in written(app)
    assert [r.run_id for r in repository.runs()] == [r.run_id for r in before[1:]]
    assert not [b for b in app.button if b.key == "repeat"], "nothing is chosen any more"


@pytest.mark.matrix
def test_a_run_that_this_version_cannot_repeat_says_so(open_app: OpenApp, demo_copy: Path) -> None:
    repository = Repository.at(demo_copy / "results.duckdb")
    repository.abandon(repository.begin(plan("f" * 16, pair_set(2, "gone"))))
    app = choose_rows(open_app(demo_copy, "run"), "f" * 16)
    assert "interrupted" in written(app)
    app.button(key="repeat").click().run()
    assert any("gone" in error.value for error in app.error)


@pytest.mark.matrix
def test_ten_thousand_runs_are_shown_a_page_at_a_time(open_app: OpenApp, tmp_path: Path) -> None:
    repository = Repository.at(tmp_path / "results.duckdb")
    store_many(repository, 10_000, variants=500)
    app = open_app(tmp_path, "run")
    assert "10,000 runs" in written(app)
    shown = history_table(app)
    assert len(shown) == history.PER_PAGE
    app.selectbox(key="history_dataset").set_value("dataset-3").run()
    assert "\n500 runs" in written(app)

    overview = open_app(tmp_path, "overview")
    assert len(overview.dataframe) == TABLES
    overview.toggle(key="overview_more").set_value(True).run()
    assert len(overview.dataframe) == 20
    assert all(len(frame.value) == 25 for frame in overview.dataframe)
    assert "500 models; showing the 25" in written(overview)
