"""What is not computed is said and offered; what is stored, and what cannot be run, is not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from blindspot.store.repository import Repository
from tests.conftest import make_settings


def offers(name: str, variants: tuple[str, ...]) -> None:
    import streamlit as st

    from blindspot.datasets.catalog import DatasetRef
    from blindspot.diagnostic import find_diagnostic
    from blindspot.ui.pickers import Picks
    from blindspot.ui.widgets import missing_runs
    from blindspot.variants import Variant

    entry = find_diagnostic("evalrank")
    picks = Picks(DatasetRef(name), "cos", "definition", tuple(Variant.parse(name) for name in variants))
    dataset = picks.dataset
    if not missing_runs.fits(entry, dataset):
        st.text("another kind")
        return
    found = missing_runs.stored(entry, picks, dataset, picks.params)
    st.text(f"{len(found)} stored")
    missing_runs.offer(entry, picks, found, dataset, picks.params, "ranks", usual=("minilm", "minilm-cls"))


@pytest.fixture
def opened(demo_cache: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., AppTest]:
    """The offer on the store of the demo, which has runs of EvalRank."""
    monkeypatch.setenv("BLINDSPOT_CACHE", str(demo_cache))
    monkeypatch.setenv("BLINDSPOT_DEVICE", "cpu")

    def of(dataset: str, *variants: str) -> AppTest:
        return AppTest.from_function(offers, args=(dataset, variants), default_timeout=60).run()

    return of


def keys(app: AppTest) -> set[str]:
    return {str(button.key) for button in app.button}


def texts(app: AppTest) -> list[str]:
    return [text.value for text in app.text]


def test_what_is_stored_is_not_offered(opened: Callable[..., AppTest], demo_cache: Path) -> None:
    runs = Repository.at(make_settings(demo_cache).store).runs(diagnostic="evalrank", dataset="demo-pairs")
    picked = str(runs[0].plan.variant)
    assert texts(opened("demo-pairs")) == [f"{len(runs)} stored"]
    app = opened("demo-pairs", picked)
    assert texts(app) == ["1 stored"]
    assert "run_missing" not in keys(app)
    assert "run_new" in keys(app), "another one can be run"
    assert not app.info


def test_picked_variants_without_a_run_are_named_and_offered(opened: Callable[..., AppTest]) -> None:
    app = opened("demo-pairs", "minilm~none", "minilm~zscore", "random-projection~none")
    (info,) = app.info
    assert "`minilm + zscore`" in info.value
    assert "`random-projection`" in info.value
    assert "`minilm`" not in info.value
    assert not app.button(key="run_missing").disabled
    assert any("2 runs, about" in text.value for text in app.markdown), "what it costs"
    assert "run_first" not in keys(app)


def test_an_encoder_that_is_gone_is_said_and_left_out(opened: Callable[..., AppTest]) -> None:
    app = opened("demo-pairs", "no-such-encoder~none")
    assert len(app.warning) == 1
    assert "run_missing" not in keys(app)


def test_a_dataset_without_any_run_is_described(opened: Callable[..., AppTest]) -> None:
    app = opened("demo-words")
    assert texts(app) == ["0 stored"]
    assert app.button(key="run_first").label == "Compare minilm and minilm-cls"
    assert len(app.subheader) == 1
    assert "run_new" in keys(app)


def test_a_file_that_is_gone(opened: Callable[..., AppTest], tmp_path: Path) -> None:
    gone = f"file:{tmp_path / 'gone.csv'}"
    assert texts(opened(gone)) == ["another kind"], "no run tells what it held"
    assert texts(opened("demo-minimal")) == ["another kind"]
