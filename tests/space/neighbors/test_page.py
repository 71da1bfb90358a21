"""The page Neighbors by AppTest: lists, own texts, overlaps, and every state that has something to say."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from blindspot.datasets.published import pairs as loaders
from blindspot.numerics.similarity import Similarity
from blindspot.runs.spaces import open_spaces
from blindspot.space.neighbors import lists as neighbors
from blindspot.space.neighbors.lists import Agreement
from blindspot.space.neighbors.page import lists as neighbors_lists
from blindspot.space.neighbors.page import overlap
from blindspot.ui.widgets.item_search import NOTHING
from blindspot.variants import Variant
from tests.conftest import make_settings
from tests.support.pages import OpenApp, chart_named, table, written
from tests.support.small_world import CAT, DOG, SMALL_PAIRS, GramEncoder
from tests.support.world import World

THREE = loaders.pair_set("three", pairs=[("a dog", "the dog")], background=["some cat"])
UNKNOWN = SMALL_PAIRS.items[2:5]  # to the encoder that lacks them
SMALL = {"data": "small-pairs"}


@pytest.fixture(scope="module")
def world(module_world: World) -> Path:
    """A store with runs of four encoders on two datasets."""
    lacks = GramEncoder("lacks", lacks=lambda text: text in UNKNOWN or text == "unheard of")
    constant = GramEncoder("constant", constant=True)
    module_world.add(SMALL_PAIRS, THREE, GramEncoder(), GramEncoder("bigrams", size=2), lacks, constant)
    for encoder in ("trigrams", "bigrams", "constant", "lacks"):
        module_world.run("evalrank", encoder, "small-pairs", protocol="toolkit")  # which needs no compiled kernels
    for encoder in ("trigrams", "bigrams"):
        module_world.encode(encoder, "three")
    module_world.repository.database.close()
    return module_world.cache


def by_rank(app: AppTest) -> Any:
    """The table of neighbors, a column per model; None where there is none."""
    return next((frame.value for frame in app.dataframe if list(frame.value.columns)[:1] == ["rank"]), None)


def models(app: AppTest) -> list[str]:
    found = by_rank(app)
    return [] if found is None else list(found.columns[1:])


def test_the_lists_are_those_of_the_spaces(open_app: OpenApp, world: Path) -> None:
    number = SMALL_PAIRS.items.index(DOG)
    app = open_app(
        world, "neighbors", **SMALL, model=["trigrams~none", "bigrams~none"], item=str(number), statistics="true"
    )
    assert not app.exception
    variants = [Variant("trigrams", "none"), Variant("bigrams", "none")]
    spaces = open_spaces(variants, SMALL_PAIRS, make_settings(world))
    expected = [neighbors.of_item(space, Similarity.COS, number, 5) for space in spaces]
    table_of_lists = by_rank(app)
    assert table_of_lists["rank"].tolist() == [1, 2, 3, 4, 5]
    matches = 0
    for name, one, other in zip(models(app), expected, expected[::-1], strict=True):
        assert name == one.variant.label
        for cell, item, similarity in zip(table_of_lists[name], one.items.tolist(), one.similarity, strict=True):
            value, _, shown = cell.partition(" ")
            assert float(value) == pytest.approx(similarity, abs=5e-4)
            assert shown.startswith("✓") == (item in other.items)
            shown = shown.removeprefix("✓ ")
            assert shown.startswith("●") == (item in SMALL_PAIRS.related(number))
            matches += shown.startswith("●")
            assert shown.removeprefix("● ") == SMALL_PAIRS.items[item]
    assert matches
    (found,) = neighbors.overlaps(expected, 5)
    here = table(app, "Jaccard@5").iloc[0]
    assert here["shared"] == f"{found.shared} of 5"
    assert here["Jaccard@5"] == pytest.approx(found.jaccard)
    assert here["rank-biased overlap"] == pytest.approx(found.rbo)
    (ranks,) = [element.proto.body for element in app.get("html") if "<table" in element.proto.body]
    assert all(f">{rank}</th>" in ranks for rank in (1, 5))
    assert chart_named(app, "cka_matrix")["data"][0]["text"][0][0] == "1.00"
    assert "all 18 texts" in written(app)


def test_the_table_of_disagreements_begins_with_the_least_overlap(open_app: OpenApp, world: Path) -> None:
    app = open_app(world, "neighbors", **SMALL, model=["trigrams~none", "bigrams~none"], k="5")
    rows = table(app, "nearest in A")
    assert len(rows) == 10
    pairs = list(zip(rows["shared"].str.split().str[0].astype(int), rows["RBO"], rows["item"], strict=True))
    assert pairs == sorted(pairs)
    shared = [count for count, *_ in pairs]
    assert shared.count(min(shared)) < len(rows), "those in the table are all that share the fewest"
    assert re.search(rf"\b{shared.count(min(shared))} quer\S+ shares? no more than {min(shared)}\b", written(app))
    app.selectbox(key="a").set_value("bigrams~none").run()
    assert "Choose two different models" in written(app)
    assert not app.exception


def test_only_of_three_models_or_more_it_is_said_that_all_share_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """One query in 20 may share fewer: of 21 counts, the 5% quantile is the second lowest."""
    captions: list[str] = []
    monkeypatch.setattr("blindspot.space.neighbors.page.overlap.st.caption", captions.append)
    a, b, c = (Variant(name, "none") for name in ("a", "b", "c"))

    def agreements(least: int) -> list[Agreement]:
        counts = np.array([0, *[least] * 20])
        return [Agreement(*names, 10, counts / 10, counts / 10, counts) for names in ((a, b), (a, c), (b, c))]

    overlap._built_in(agreements(3)[:1])
    overlap._built_in(agreements(2))
    assert captions == []
    overlap._built_in(agreements(3))
    assert [re.findall(r"\d+", caption) for caption in captions] == [["3", "7", "10"]]


def test_a_walk_and_the_way_back(open_app: OpenApp, world: Path) -> None:
    app = open_app(world, "neighbors", **SMALL, model="trigrams~none")
    assert "**Text 0**" in written(app)
    assert app.button(key="walk_back").disabled
    app.number_input(key="item").set_value(3).run()
    app.text_input(key="q").set_value("a dog").run()
    assert "Your text" in written(app)
    app.number_input(key="item").set_value(4).run()
    assert app.text_input(key="q").value == ""
    assert "**Text 4**" in written(app)
    app.button(key="walk_back").click().run()
    assert (app.text_input(key="q").value, app.query_params["q"]) == ("a dog", "a dog")
    app.button(key="walk_back").click().run()
    assert "**Text 3**" in written(app)
    app.button(key="walk_back").click().run()
    assert app.button(key="walk_back").disabled
    assert not app.exception


def test_a_search_finds_items_also_misspelt(open_app: OpenApp, world: Path) -> None:
    app = open_app(world, "neighbors", **SMALL, model="trigrams~none")
    app.text_input(key="find").set_value("cat sleeps").run()
    (box,) = (b for b in app.selectbox if str(b.key).startswith("found"))
    assert box.label.startswith("3 ")
    assert CAT in box.options
    box.select_index(box.options.index(CAT)).run()
    assert app.query_params["item"] == str(SMALL_PAIRS.items.index(CAT))
    assert CAT in written(app)
    app.text_input(key="find").set_value("cat slepes").run()
    (box,) = (b for b in app.selectbox if str(b.key).startswith("found"))
    assert "spelling" in box.label
    assert CAT in box.options
    app.text_input(key="find").set_value("qqqqqqqq").run()
    assert NOTHING in written(app)


@pytest.mark.parametrize("length", [1, 10_000])
def test_an_own_text_is_encoded(open_app: OpenApp, world: Path, length: int) -> None:
    text = ("A dog rests. " * 800)[:length] if length > 1 else "x"
    app = open_app(world, "neighbors", **SMALL, model=["trigrams~none", "bigrams~none"], q=text, k="10")
    assert not app.exception
    assert len(models(app)) == 2
    assert len(by_rank(app)) == 10


@pytest.mark.parametrize(("text", "said"), [("   ", "The text is empty"), ("x" * 20_001, "has 20,001 characters")])
def test_a_text_that_cannot_be_asked_about(open_app: OpenApp, world: Path, text: str, said: str) -> None:
    app = open_app(world, "neighbors", **SMALL, model=["trigrams~none", "bigrams~none"], q=text, statistics="true")
    assert not app.exception
    assert said in written(app)
    assert models(app) == []
    assert chart_named(app, "overlap_boxes")["data"], "what is not about the query is shown"


@pytest.mark.heavy
def test_what_has_no_vector_is_said_and_by_whom(open_app: OpenApp, world: Path) -> None:
    unknown = SMALL_PAIRS.items.index(UNKNOWN[0])
    both = ["trigrams~none", "lacks~none"]
    app = open_app(world, "neighbors", **SMALL, model=both, item=str(unknown))
    assert not app.exception
    assert "No vector: lacks" in written(app)
    assert "15 of 18 texts" in written(app)
    app = open_app(world, "neighbors", **SMALL, model=both, q="unheard of")
    assert "No vector: lacks does not know this text" in written(app)
    assert len(models(app)) == 1
    app = open_app(world, "neighbors", **SMALL, model=both, item="99999")
    assert "99999" in written(app)
    assert not app.exception


def test_a_dataset_of_three_items(open_app: OpenApp, world: Path) -> None:
    app = open_app(world, "neighbors", data="three", model=["trigrams~none", "bigrams~none"], statistics="true")
    assert not app.exception
    assert (len(models(app)), len(by_rank(app))) == (2, 2)
    assert "CKA is not defined for fewer than four" in written(app)


def test_a_single_encoder(open_app: OpenApp, world: Path) -> None:
    app = open_app(world, "neighbors", **SMALL, model="trigrams~none")
    assert not app.exception
    assert len(models(app)) == 1
    assert "✓" not in "".join(by_rank(app).iloc[:, 1])
    assert "Only one model is shown" in written(app)


def test_constant_vectors(open_app: OpenApp, world: Path) -> None:
    app = open_app(world, "neighbors", **SMALL, model=["constant~none", "trigrams~none"], statistics="true")
    assert not app.exception
    assert "these are all equally similar to the query" in written(app)
    assert "nor for a space whose vectors are all the same" in written(app)
    assert chart_named(app, "cka_matrix")["data"][0]["text"][0] == ["–", "–"]


def test_without_picks_the_first_four_that_are_encoded(
    open_app: OpenApp, world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("blindspot.space.page.MOST_SIDE_BY_SIDE", 3)
    app = open_app(world, "neighbors", **SMALL)
    assert not app.exception
    assert len(models(app)) == 3
    assert "Shown: the first 3 of 4 models that this dataset is encoded with." in written(app)


def test_what_is_picked_and_not_encoded_is_offered(open_app: OpenApp, world: Path) -> None:
    app = open_app(world, "neighbors", data="three", model=["trigrams~none", "constant~none"])
    assert not app.exception
    assert "is not encoded by constant yet" in written(app)
    assert not app.button(key="encode_here").disabled
    assert len(models(app)) == 1


def test_an_empty_store_is_offered_an_encoder_and_the_offer_works(open_app: OpenApp, tmp_path: Path) -> None:
    app = open_app(tmp_path, "neighbors", data="demo-minimal")
    assert not app.exception
    assert "is not encoded by minilm yet" in written(app)
    assert app.button(key="encode_here").label == "Encode it"
    assert not (tmp_path / "results.duckdb").exists(), "looking must not create a store"


def test_the_approximate_index_says_what_it_misses(
    open_app: OpenApp, world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(neighbors_lists, "APPROXIMATE_FROM", 10)
    app = open_app(world, "neighbors", **SMALL, model=["trigrams~none", "bigrams~none"], k="5")
    assert "recall" not in written(app)
    app.toggle(key="approx").set_value(True).run()
    assert not app.exception
    assert written(app).count("recall@5") == 2
    assert "over 18 random" in written(app)


def test_texts_are_shown_as_text(open_app: OpenApp, world: Path) -> None:
    app = open_app(world, "neighbors", **SMALL, model="trigrams~none", q="**bold** <b>tag</b> $x$")
    assert not app.exception
    assert "**bold** <b>tag</b> $x$" in [element.value for element in app.text]
