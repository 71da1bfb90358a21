"""The page HEROS by AppTest, on runs of the real model."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from core.datasets.published.minimal_pairs import minimal_pair_set
from core.diagnostics.heros import comparison
from core.diagnostics.heros.definition import SUBSETS
from core.runs import pipeline
from core.store.records import RunRecord
from core.store.repository import Repository
from core.texts import percent
from tests.conftest import make_settings
from tests.support.pages import OpenApp, chart, written
from tests.support.small_world import GramEncoder, register_dataset, register_encoder

Store = tuple[Path, dict[str, RunRecord]]


def sentences(app: AppTest) -> pd.DataFrame:
    return next(d.value for d in app.dataframe if "original" in d.value)


def comparison_of(app: AppTest) -> pd.DataFrame | None:
    return next((d.value for d in app.dataframe if "only A" in d.value), None)


def heat_map(app: AppTest) -> dict[str, Any]:
    return chart(app, 0)["data"][0]


@pytest.fixture(scope="module")
def store(demo_cache: Path, tmp_path_factory: pytest.TempPathFactory) -> Store:
    """The demo's embeddings, with HEROS of two encoders beside."""
    cache = tmp_path_factory.mktemp("heros") / "cache"
    shutil.copytree(demo_cache, cache)
    settings = make_settings(cache)
    repository = Repository.at(settings.store)
    runs = {}
    for encoder in ("minilm", "minilm-cls"):
        request = pipeline.request("heros", encoder, "none", "demo-minimal", {}, settings)
        runs[encoder] = pipeline.run(request, settings, repository).record
    return cache, runs


def test_an_empty_store_offers_a_first_run(open_app: OpenApp, tmp_path: Path) -> None:
    app = open_app(tmp_path, "heros")
    assert not app.exception
    assert "No HEROS run on Demo minimal pairs yet" in written(app)
    assert not app.button(key="run_first").disabled
    assert not (tmp_path / "results.duckdb").exists(), "looking must not create a store"


def test_the_profile_is_what_is_stored(open_app: OpenApp, store: Store) -> None:
    cache, runs = store
    app = open_app(cache, "heros", data="demo-minimal")
    assert not app.exception
    assert not app.error
    heat = heat_map(app)
    assert heat["y"] == ["minilm", "minilm-cls"]  # the larger lead of synonym over antonym first
    for name, row in zip(heat["y"], heat["text"], strict=True):
        assert row == [f"{runs[name].metrics[subset]:.3f}" for subset in SUBSETS]
    assert len(app.get("plotly_chart")) == 3


def test_a_dataset_of_pairs_gives_way_to_the_built_in_one(open_app: OpenApp, store: Store) -> None:
    app = open_app(store[0], "heros")
    assert "holds no minimal pairs. Shown: Demo minimal pairs" in written(app)
    assert len(app.get("plotly_chart")) == 3
    app.button(key="pick_minimal").click().run()
    assert app.sidebar.selectbox(key="data").value == "demo-minimal"
    assert "holds no minimal pairs" not in written(app)


def test_intervals_are_printed_when_asked_for(open_app: OpenApp, store: Store) -> None:
    cache, runs = store
    app = open_app(cache, "heros", data="demo-minimal")
    app.toggle(key="heros_intervals").set_value(True).run()
    assert not app.exception
    heat = heat_map(app)
    for name, row in zip(heat["y"], heat["text"], strict=True):
        for subset, cell in zip(SUBSETS, row, strict=True):
            low, high = (runs[name].metrics[f"{subset}_{end}"] for end in ("low", "high"))
            assert f"{low:.3f} –<br>{high:.3f}" in cell
    assert "No interval" not in written(app)


def test_two_variants_are_compared(open_app: OpenApp, store: Store) -> None:
    cache, runs = store
    app = open_app(cache, "heros", data="demo-minimal")
    assert "Does A differ from B?" in written(app)
    assert [app.selectbox(key=k).value for k in ("heros_a", "heros_b")] == ["minilm~none", "minilm-cls~none"]
    tests = comparison.compare_orderings(runs["minilm"], runs["minilm-cls"], Repository.at(cache / "results.duckdb"))
    table = comparison_of(app)
    assert table["A"].tolist() == [percent(t.first_rate, 1) for t in tests]
    assert table["A − B"].tolist() == pytest.approx([100 * t.difference for t in tests])
    assert table["only A"].tolist() == [t.test.first_better for t in tests]
    assert table["only B"].tolist() == [t.test.second_better for t in tests]
    assert table["p, Holm"].tolist() == [t.p_corrected for t in tests]
    assert "**minilm** and **minilm-cls** differ by more than chance in" in written(app)
    assert "synonym over negation of the clause: in 83.0% of the sentences with **minilm**" in written(app)

    app.selectbox(key="heros_a").set_value("minilm-cls~none").run()
    assert "Choose two different variants." in written(app)
    assert comparison_of(app) is None
    app.selectbox(key="heros_b").set_value("minilm~none").run()
    assert not app.exception
    turned = comparison_of(app)
    assert turned["only A"].tolist() == table["only B"].tolist()
    assert turned["A − B"].tolist() == (-table["A − B"]).tolist()


def test_one_variant_is_compared_with_nothing(open_app: OpenApp, store: Store) -> None:
    """And when the other one is picked again, the comparison is back."""
    app = open_app(store[0], "heros", data="demo-minimal")
    app.selectbox(key="heros_a").set_value("minilm-cls~none").run()
    app.sidebar.multiselect(key="enc").set_value(["minilm~none"]).run()
    assert not app.exception
    assert "Does A differ from B?" not in written(app)
    app.sidebar.multiselect(key="enc").set_value([]).run()
    assert not app.exception
    assert "Does A differ from B?" in written(app)


def test_a_variant_that_the_sidebar_leaves_out_gives_way_to_another(
    open_app: OpenApp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rewrites = {"synonym": ["a big cat", "it pours"], "antonym": ["a small cat", "it is dry"]}
    register_dataset(monkeypatch, minimal_pair_set("some", ["a large cat", "it rains"], rewrites))
    settings = make_settings(tmp_path / "cache")
    for size in (1, 2, 3):
        name = register_encoder(monkeypatch, GramEncoder(f"{size}-grams", size)).reference
        request = pipeline.request("heros", name, "none", "some", {}, settings)
        pipeline.run(request, settings, Repository.at(settings.store))
    app = open_app(settings.cache, "heros", data="some")
    app.selectbox(key="heros_a").set_value("3-grams~none").run()
    app.selectbox(key="heros_b").set_value("1-grams~none").run()
    app.sidebar.multiselect(key="enc").set_value(["1-grams~none", "2-grams~none"]).run()
    assert not app.exception
    assert app.selectbox(key="heros_a").value == "2-grams~none", "not the one that B has"
    assert app.selectbox(key="heros_b").value == "1-grams~none"
    assert comparison_of(app) is not None


@pytest.mark.parametrize(
    ("subsets", "orderings"),
    [
        (("synonym", "typo"), ["synonym over typo"]),
        (("antonym",), []),
        (("<b>of* my own", "formal"), ["<b>of* my own over formal"]),
    ],
)
def test_a_dataset_with_some_of_the_subsets(
    open_app: OpenApp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, subsets: tuple[str, ...], orderings: list[str]
) -> None:
    originals = ["the cat is big", "it rains", "a dog runs", "nobody came"]
    rewrites = {s: [f"{text} {s}" for text in originals] for s in subsets}
    register_dataset(monkeypatch, minimal_pair_set("some", originals, rewrites))
    settings = make_settings(tmp_path / "cache")
    for name, size in (("trigrams", 3), ("bigrams", 2)):
        register_encoder(monkeypatch, GramEncoder(name, size))
        request = pipeline.request("heros", name, "none", "some", {}, settings)
        pipeline.run(request, settings, Repository.at(settings.store))
    app = open_app(settings.cache, "heros", data="some")
    app.toggle(key="heros_intervals").set_value(True).run()
    assert not app.exception
    assert not app.error
    assert len(app.get("plotly_chart")) == (3 if orderings else 1)
    table = comparison_of(app)
    assert (table is not None and table["ordering"].tolist() == orderings) if orderings else table is None


def test_where_there_can_be_no_interval_it_is_said(
    open_app: OpenApp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Originals that differ in nothing but their spaces: n-grams of letters do not tell them apart."""
    originals = ["the cat is big", "it rains", "the  cat is big"]
    register_dataset(monkeypatch, minimal_pair_set("some", originals, {"typo": ["teh cat", "it rians", "big"]}))
    register_encoder(monkeypatch, GramEncoder())
    settings = make_settings(tmp_path / "cache")
    request = pipeline.request("heros", "trigrams", "none", "some", {}, settings)
    pipeline.run(request, settings, Repository.at(settings.store))
    app = open_app(settings.cache, "heros", data="some")
    app.toggle(key="heros_intervals").set_value(True).run()
    assert not app.exception
    assert "No interval for trigrams: so many originals have one vector" in written(app)
    assert "–" not in heat_map(app)["text"][0][0]
