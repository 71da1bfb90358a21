"""The page HEROS, on runs of the real model."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from blindspot.diagnostic import find_diagnostic
from blindspot.diagnostics.heros.definition import SUBSETS
from blindspot.numerics.statistics.written import p_in_cell, percent
from blindspot.runs.comparison import paired_tests
from blindspot.settings import Settings
from blindspot.store.records import RunRecord
from blindspot.store.repository import Repository
from blindspot.ui.widgets.browse_table import ROWS_PER_PAGE
from tests.conftest import make_settings
from tests.support.heros_table import FIRST_ROWS, demo_file
from tests.support.heros_world import run_heros, run_small
from tests.support.pages import OpenApp, chart, switch_page, table, written

Store = tuple[Path, dict[str, RunRecord]]


def comparison_of(app: AppTest) -> pd.DataFrame | None:
    return next((d.value for d in app.dataframe if "only A" in d.value), None)


def heat_map(app: AppTest) -> dict[str, Any]:
    return chart(app, 0)["data"][0]


@pytest.fixture(scope="module")
def store(demo_cache: Path, tmp_path_factory: pytest.TempPathFactory) -> Store:
    """The demo's embeddings, with HEROS of two encoders beside."""
    cache = shutil.copytree(demo_cache, tmp_path_factory.mktemp("heros") / "cache")
    settings = make_settings(cache)
    return cache, {encoder: run_heros(settings, encoder, "demo-minimal") for encoder in ("minilm", "minilm-cls")}


def test_an_empty_store_offers_a_first_run(open_app: OpenApp, tmp_path: Path) -> None:
    app = open_app(tmp_path, "heros")
    assert "No HEROS run on Demo minimal pairs yet" in written(app)
    assert not app.button(key="run_first").disabled
    assert not (tmp_path / "results.duckdb").exists(), "looking must not create a store"


def test_the_profile_is_what_is_stored(open_app: OpenApp, store: Store) -> None:
    cache, runs = store
    app = open_app(cache, "heros", data="demo-minimal")
    assert not app.error
    heat = heat_map(app)
    assert heat["y"] == ["minilm", "minilm-cls"]  # the larger lead of synonym over antonym first
    for name, row in zip(heat["y"], heat["text"], strict=True):
        assert row == [f"{runs[name].metrics[subset]:.3f}" for subset in SUBSETS]
    assert len(app.get("plotly_chart")) == 3


def test_a_dataset_of_pairs_gives_way_to_the_built_in_one(open_app: OpenApp, store: Store) -> None:
    app = open_app(store[0], "heros")
    assert app.button(key="pick_shown")
    assert len(app.get("plotly_chart")) == 3
    app.button(key="pick_shown").click().run()
    assert app.sidebar.selectbox(key="data").value == "demo-minimal"
    assert not [button for button in app.button if button.key == "pick_shown"]


def test_intervals_are_printed_when_asked_for(open_app: OpenApp, store: Store) -> None:
    cache, runs = store
    app = open_app(cache, "heros", data="demo-minimal")
    app.toggle(key="heros_intervals").set_value(True).run()
    heat = heat_map(app)
    for name, row in zip(heat["y"], heat["text"], strict=True):
        for subset, cell in zip(SUBSETS, row, strict=True):
            low, high = (runs[name].metrics[f"{subset}_{end}"] for end in ("low", "high"))
            assert f"{low:.3f} –<br>{high:.3f}" in cell
    assert "No interval" not in written(app)


@pytest.mark.heavy
def test_two_variants_are_compared(open_app: OpenApp, store: Store) -> None:
    cache, runs = store
    app = open_app(cache, "heros", data="demo-minimal")
    assert "Does A differ from B?" in written(app)
    assert [app.selectbox(key=k).value for k in ("a", "b")] == ["minilm~none", "minilm-cls~none"]
    both = (runs["minilm"], runs["minilm-cls"])
    (tests,) = paired_tests(find_diagnostic("heros"), [both], Repository.at(cache / "results.duckdb"))
    rows = comparison_of(app)
    assert rows["A"].tolist() == [percent(t.a, 1) for t in tests]
    assert rows["A − B"].tolist() == pytest.approx([t.value for t in tests])
    assert rows["only A"].tolist() == [t.wins for t in tests]
    assert rows["only B"].tolist() == [t.losses for t in tests]
    assert rows["p, Holm"].tolist() == [p_in_cell(t.p_corrected, t.p) for t in tests]
    least = min(tests, key=lambda test: test.p or 0.0)
    (together,) = re.findall(r"Holm-corrected for (\d+) orderings", written(app))
    assert least.p_corrected == pytest.approx(min(1.0, int(together) * (least.p or 0.0)))

    app.selectbox(key="a").set_value("minilm-cls~none").run()
    assert "A and B are the same model. Choose two different models." in written(app)
    assert comparison_of(app) is None
    app.selectbox(key="b").set_value("minilm~none").run()
    turned = comparison_of(app)
    assert turned["only A"].tolist() == rows["only B"].tolist()
    assert turned["A − B"].tolist() == (-rows["A − B"]).tolist()


@pytest.mark.parametrize(
    ("subsets", "orderings"),
    [
        (("synonym", "typo"), ["synonym over typo"]),
        (("antonym",), []),
        (("<b>of* my own", "formal"), ["<b>of* my own over formal"]),
    ],
)
def test_a_dataset_with_some_of_the_subsets(
    open_app: OpenApp,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    subsets: tuple[str, ...],
    orderings: list[str],
) -> None:
    originals = ["the cat is big", "it rains", "a dog runs", "nobody came"]
    rewrites = {s: [f"{text} {s}" for text in originals] for s in subsets}
    run_small(monkeypatch, settings, "some", originals, rewrites, "trigrams", "bigrams")
    app = open_app(settings.cache, "heros", data="some")
    app.toggle(key="heros_intervals").set_value(True).run()
    assert not app.error
    has_matrix = len(subsets) > 2
    assert len(app.get("plotly_chart")) == 1 + bool(orderings) + has_matrix, "of two it repeats the only ordering"
    rows = comparison_of(app)
    assert (rows is not None and rows["ordering"].tolist() == orderings) if orderings else rows is None


@pytest.mark.heavy
@pytest.mark.parametrize("subsets", [("typo",), ("antonym", "negation_main"), ("synonym", "negation_antonym", "typo")])
def test_a_users_file_with_some_of_the_subsets(
    open_app: OpenApp, settings: Settings, encoders: tuple[str, str], tmp_path: Path, subsets: tuple[str, ...]
) -> None:
    path = demo_file(tmp_path, subsets)
    runs = {encoder: run_heros(settings, encoder, f"file:{path}") for encoder in encoders}
    app = open_app(settings.cache, "heros", data=f"file:{path}")
    assert not app.error
    heat = heat_map(app)
    assert set(heat["y"]) == set(runs)
    for name, row in zip(heat["y"], heat["text"], strict=True):
        assert [cell[:5] for cell in row] == [f"{runs[name].metrics[subset]:.3f}" for subset in subsets]
    app = open_app(settings.cache, "heros", data=f"file:{path}", view="sentences")
    rows = table(app, "original")
    assert rows["original"].tolist() == [row["original"] for row in FIRST_ROWS][:ROWS_PER_PAGE]
    assert list(rows.columns) == ["no", "original", *(f"A: {subset}" for subset in subsets)]
    app.switch_page("pages/evalrank.py").run()
    assert "is a minimal-pair set. Pick another dataset" in app.info[0].value
    switch_page(app, "overview")
    app.run()


def test_where_there_can_be_no_interval_it_is_said(
    open_app: OpenApp, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Originals that differ in nothing but their spaces: n-grams of letters do not tell them apart."""
    originals = ["the cat is big", "it rains", "the  cat is big"]
    rewrites = {"typo": ["teh cat", "it rians", "big"]}
    run_small(monkeypatch, settings, "some", originals, rewrites, "trigrams")
    app = open_app(settings.cache, "heros", data="some")
    app.toggle(key="heros_intervals").set_value(True).run()
    assert "No interval for trigrams" in written(app)
    assert "–" not in heat_map(app)["text"][0][0]
