"""The view *the data* of the HEROS page, the accuracy below its profile, and HEROS's own file."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from blindspot.datasets import fetch
from blindspot.datasets.catalog import find_dataset
from blindspot.datasets.kinds.minimal_pairs import MinimalPairSet
from blindspot.diagnostics.heros.lexical_overlap import mean_of, of_subsets
from blindspot.encoders.transformer.word_pieces import bert_uncased
from blindspot.settings import Settings
from tests.conftest import make_settings
from tests.support.heros_world import run_heros, run_small
from tests.support.pages import OpenApp, chart, written
from tests.support.published_world import load_heros, rows, settings_with_heros


def overlap_table(app: AppTest) -> pd.DataFrame:
    (frame,) = (f.value for f in app.dataframe if "Lev" in f.value)
    return frame.set_index(["pairs of", "from"])


@pytest.mark.heavy
def test_lexical_overlap_beside_what_is_published(
    open_app: OpenApp, environment: Settings, encoders: tuple[str, str]
) -> None:
    run_heros(environment, "trigrams", "demo-minimal")
    app = open_app(environment.cache, "heros", data="demo-minimal", view="the data")
    table = overlap_table(app)
    demo = find_dataset("demo-minimal").load("demo-minimal", ())
    assert isinstance(demo, MinimalPairSet)
    found = of_subsets(demo, bert_uncased)
    mean = mean_of(list(found.values()))
    for name, o in (("synonym", found["synonym"]), ("random word", found["random_mlm"]), ("all subsets", mean)):
        shown = table.loc[(name, "measured here")]
        assert shown.tolist() == pytest.approx(
            [100 * o.rouge_1, 100 * o.rouge_2, 100 * o.rouge_l, o.levenshtein, o.length, o.pairs]
        )
    assert table.loc[("SICK-R", "published"), "R2"] == pytest.approx(37.4)
    assert ("STS-B test", "measured here") not in table.index
    assert f"changes **{mean.levenshtein:.0%}** of the word pieces" in written(app)
    offered = [b.key for b in app.button if str(b.key).startswith("fetch_")]
    assert offered == ["fetch_stsb-test", "fetch_sick-test"]
    assert "(0.2 MB), which is not on this machine yet" in written(app)
    assert not [f for f in app.dataframe if "accuracy" in f.value]


@pytest.mark.realdata
def test_the_test_splits_are_measured_where_they_are(
    open_app: OpenApp, shared_settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = make_settings(tmp_path, shared_settings.mirror)
    for name in ("stsb-test", "sick-test"):
        fetch.load(find_dataset(name), settings)
    run_small(monkeypatch, settings, "own", ["a b.", "c d."], {"mine": ["a c.", "c d."]}, "trigrams")
    app = open_app(tmp_path, "heros", data="own", view="the data")
    table = overlap_table(app)
    assert table.loc[("STS-B test", "measured here"), ["Lev", "length"]].round(2).tolist() == [0.54, 12.15]
    assert table.loc[("SICK-R test", "measured here"), ["Lev", "length"]].round(2).tolist() == [0.53, 10.0]
    assert table.loc[("mine", "measured here"), "R1"] == pytest.approx(75, abs=1e-4)
    assert ("all subsets", "measured here") not in table.index, "it is the only one"
    assert not [b for b in app.button if str(b.key).startswith("fetch_")]


def test_the_accuracy_of_finding_the_paraphrase(
    open_app: OpenApp, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    originals = [f"{word} is not bad at all" for word in "this that it he she we they one".split()]
    rewrites = {
        "paraphrase": [f"{o.split()[0]} seems rather fine" for o in originals],
        "negation": [o.replace(" not", "") for o in originals],
    }
    run_small(monkeypatch, settings, "options", originals, rewrites, "trigrams", "bigrams")
    app = open_app(settings.cache, "heros", data="options", view="the data")
    (frame,) = (f.value for f in app.dataframe if "accuracy" in f.value)
    assert frame["model"].tolist() == ["trigrams", "bigrams"] or frame["accuracy"].is_monotonic_decreasing
    assert set(frame["accuracy"]) == {0.0}, "a rewrite that drops a word is nearer than one that drops them all"
    assert "Chance: 50%; all of these models do worse" in written(app)


@pytest.mark.heavy
def test_the_published_file_runs_from_pipeline_to_page(
    open_app: OpenApp, tmp_path: Path, encoders: tuple[str, str]
) -> None:
    """Nothing but the file is put in its place."""
    settings = settings_with_heros(tmp_path)
    run = run_heros(settings, "trigrams", "heros")
    assert run.metrics["originals"] == 1_000
    assert run.coverage["pairs"] == 6_000
    app = open_app(settings.cache, "heros", data="heros", view="the data")
    heat = chart(app, 0)["data"][0]
    assert heat["x"] == ["synonym", "antonym", "negated clause", "negated word", "random word", "typo"]
    assert overlap_table(app).loc[("all subsets", "measured here"), "pairs"] == 6_000
    heros = load_heros(settings)
    for subset, column in (("negation_main", 3), ("negation_antonym", 6)):
        assert heros.items[heros.rewrites[subset][7]] == rows()[7][column]
