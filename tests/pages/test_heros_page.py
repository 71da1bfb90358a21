"""The page HEROS by AppTest, on runs of the real model."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from core import pipeline
from core.diagnostics.heros import ENTRY, SUBSETS
from core.store.records import RunRecord
from core.store.repository import Repository
from tests.conftest import make_settings

OpenApp = Callable[..., AppTest]
Store = tuple[Path, dict[str, RunRecord]]


def written(app: AppTest) -> str:
    elements = [*app.subheader, *app.markdown, *app.caption, *app.info, *app.text]
    return "\n".join(str(element.value) for element in elements)


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
    heat = json.loads(app.get("plotly_chart")[0].proto.spec)["data"][0]
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


def test_sentences_are_searched_and_ordered(open_app: OpenApp, store: Store) -> None:
    cache, runs = store
    app = open_app(cache, "heros", data="demo-minimal")
    rows = Repository.at(cache / "results.duckdb").items(ENTRY, [runs["minilm"].run_id], texts=True)
    app.selectbox(key="heros_order").set_value("typo: highest first").run()
    table = app.dataframe[0].value
    typo = rows[rows["subset"] == "typo"].sort_values("similarity", ascending=False)
    assert table["typo"].tolist() == typo["similarity"].head(10).tolist()
    assert table["original"].tolist() == typo["original"].head(10).tolist()
    app.text_input(key="heros_search").set_value("tomatoes").run()
    assert all("tomatoes" in text.lower() for text in app.dataframe[0].value["original"])
    app.text_input(key="heros_search").set_value("no such words").run()
    assert "No original contains this" in written(app)
