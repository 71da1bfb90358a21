"""The view *spread* of the HEROS page, on small runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from blindspot.diagnostics.heros.definition import SUBSETS
from blindspot.store.records import RunState
from tests.support.heros_world import HerosWorld, heros_world
from tests.support.pages import OpenApp, chart, written
from tests.support.small_world import wait_until


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HerosWorld]:
    with heros_world(tmp_path_factory.mktemp("spread")) as built:
        built.compute("six", "bigrams~none", "bigrams~zscore", "bigrams~center", "trigrams~none")
        built.compute("alike", "bigrams~none")
        built.compute("alone", "unigrams~none", "unigrams~center")
        built.compute("twenty", *(f"{name}~none" for name in ("unigrams", "bigrams", "trigrams", "quadgrams")))
        yield built


def spread(app: AppTest) -> dict[str, dict[str, Any]]:
    """Per variant its trace of dots, which carry the quantiles; after the profile comes the spread."""
    return {t["name"]: t for t in chart(app, 1)["data"] if "customdata" in t}


def test_the_mark_of_raw_cosines_is_that_of_unrelated_sentences(open_app: OpenApp, small: HerosWorld) -> None:
    app = open_app(small.cache, "heros", data="six", view="spread", heros_scale="raw cosine", post="true")
    assert set(spread(app)) == {"bigrams", "bigrams + zscore", "bigrams + center", "trigrams"}
    (mark,) = [t for t in chart(app, 1)["data"] if t["name"] == "bigrams + center" and "dash" in t.get("line", {})]
    cos_avg = small.runs["six", "bigrams~center"].metrics["cos_avg"]
    assert {x for x in mark["x"] if x is not None} == {round(cos_avg, 5)}
    assert "cos_avg" in written(app)


def test_zooming_in_leaves_the_baseline_out(open_app: OpenApp, small: HerosWorld) -> None:
    app = open_app(small.cache, "heros", data="alike", view="spread")
    whole = chart(app, 1)["layout"]["xaxis"]["range"]
    app.toggle(key="heros_near").set_value(True).run()
    near = chart(app, 1)["layout"]["xaxis"]["range"]
    assert whole[0] < 0 < near[0]


@pytest.mark.parametrize("scale", ["normalized", "raw cosine"])
def test_similarities_that_are_all_alike_are_drawn(open_app: OpenApp, small: HerosWorld, scale: str) -> None:
    app = open_app(small.cache, "heros", data="alike", view="spread", heros_scale=scale)
    (dots,) = spread(app).values()
    assert dots["x"] == pytest.approx([1.0, 1.0])


def test_the_profile_per_transform_is_of_all_that_is_stored(open_app: OpenApp, small: HerosWorld) -> None:
    """Also of variants that the sidebar leaves out."""
    app = open_app(small.cache, "heros", data="six", view="spread", model="bigrams~center")
    assert list(spread(app)) == ["bigrams + center"]
    figure = chart(app, 2)
    chains = ["none", "center", "zscore"]
    assert figure["layout"]["yaxis"]["ticktext"] == chains
    *lines, rate = figure["data"]
    runs = [small.runs["six", f"bigrams~{chain}"].metrics for chain in chains]
    for subset, line in zip(SUBSETS, lines, strict=True):
        assert line["x"] == pytest.approx([metrics[subset] for metrics in runs])
    assert rate["x"] == pytest.approx([metrics["synonym>antonym"] for metrics in runs])
    assert app.button(key="run_chains").label.endswith("bigrams: abtt:2, whiten")


def test_one_subset_has_no_rate_beside(open_app: OpenApp, small: HerosWorld) -> None:
    app = open_app(small.cache, "heros", data="alone", view="spread")
    (line,) = chart(app, 2)["data"]
    assert len(line["x"]) == 2


@pytest.mark.heavy
def test_transforms_not_run_yet_can_be_run_from_here(open_app: OpenApp, small: HerosWorld) -> None:
    app = open_app(small.cache, "heros", data="six", view="spread", model="trigrams~none")
    assert "trigrams was run on this dataset with only one post-processing" in written(app)
    assert len(app.get("plotly_chart")) == 2
    button = app.button(key="run_chains")
    assert button.label.endswith("trigrams: center, zscore, abtt:2, whiten")
    button.click().run()

    def stored() -> set[str]:
        runs = small.repository.runs(diagnostic="heros", dataset="six", encoder="trigrams", state=RunState.DONE)
        return {run.plan.variant.transform for run in runs}

    wait_until(lambda: len(stored()) == 5)
    app.run()
    assert chart(app, 2)["layout"]["yaxis"]["ticktext"] == ["none", "center", "zscore", "abtt:2", "whiten"]
    assert not [b for b in app.button if b.key == "run_chains"], "nothing is left to run"


@pytest.mark.heavy
def test_twenty_subsets_are_chosen_from(open_app: OpenApp, small: HerosWorld) -> None:
    app = open_app(small.cache, "heros", data="twenty", view="spread")
    picker = app.multiselect(key="heros_spread_subsets")
    assert "at most 16" in picker.label
    assert len(chart(app, 1)["layout"]["yaxis"]["ticktext"]) == 16
    picker.set_value(["column_3", "column_19"]).run()
    assert chart(app, 1)["layout"]["yaxis"]["ticktext"] == ["column 3", "column 19"]
    app.multiselect(key="heros_spread_subsets").set_value([]).run()
    assert "Choose a kind of rewrite" in written(app)
