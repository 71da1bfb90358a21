"""The Map page: what it draws, ties and colors, and what it says where there is nothing to draw."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from blindspot.datasets.catalog import DatasetRef
from blindspot.datasets.kinds.own_columns import OwnColumn
from blindspot.datasets.published import pairs as loaders
from blindspot.space.maps import maps
from blindspot.space.maps import page as map_view
from blindspot.space.maps.maps import MapRequest, Method
from blindspot.space.maps.projection import Quality
from blindspot.variants import Variant
from tests.support.pages import OpenApp, charts, values, written
from tests.support.small_world import GramEncoder
from tests.support.world import World

WORDS = [f"{a} {b} {c}" for a in ("red", "green", "blue", "grey") for b in ("dog", "cat", "cow") for c in "abcd"]
PRODUCT = ("shoe", "hat")
MANY = loaders.pair_set("many", pairs=[(WORDS[0], WORDS[1]), ("<b>red</b>", WORDS[3])], background=WORDS[2:])
CHINESE = loaders.pair_set("chinese", pairs=[("红色的房子", "房子是红的")], background=list("狗猫牛马羊鸡鸭鱼鸟蛇虎龙"))
WITH_COLUMN = replace(
    MANY, id="with-column", own_columns=(OwnColumn("product", PRODUCT, np.array([0, 1], dtype=np.uint8)),)
)


@pytest.fixture(scope="module")
def world(module_world: World) -> World:
    """Small datasets with runs by two variants, and by an encoder that gives every text the same vector."""
    three = loaders.pair_set("three", pairs=[("red dog", "green dog")], background=["a cow"])
    module_world.add(three, MANY, WITH_COLUMN, CHINESE, GramEncoder(), GramEncoder("constant", constant=True))
    for variant in ("trigrams~none", "trigrams~center", "constant~none"):
        module_world.run("evalrank", variant, MANY.id)
        for few in (three, CHINESE):
            module_world.encode(Variant.parse(variant).encoder, few.id)
    return module_world


@pytest.fixture
def open_map(open_app: OpenApp, world: World) -> OpenApp:
    def opened(**query: str | list[str]) -> AppTest:
        asked = {"data": MANY.id, "model": ["trigrams~none", "trigrams~center"], "picture": "pca"} | query
        app = open_app(world.cache, "map", **asked)
        assert not app.exception
        return app

    return opened


def test_a_map_per_variant_with_what_to_believe(open_map: OpenApp) -> None:
    app = open_map()
    assert len(charts(app)) == 2
    text = written(app)
    assert text.count("Trustworthiness **0.") == 2
    assert text.count("of the 10 nearest neighbors kept") == 2
    assert "variance shown" in text
    assert "Click a dot" in text


def test_umap_that_is_not_computed_is_offered_with_its_time_and_pca_stands_in(open_map: OpenApp) -> None:
    app = open_map(picture="umap")
    assert "UMAP of 2 models is not computed yet: about" in written(app)
    assert "Compute UMAP" in [button.label for button in app.button]
    assert "**trigrams**: PCA" in written(app)
    assert len(charts(app)) == 2


def test_a_finished_umap_is_shown(open_map: OpenApp, world: World) -> None:
    """One that was made before; here its coordinates are drawn by lot."""
    request = MapRequest(Variant("trigrams", "none"), DatasetRef(MANY.id))
    space = maps.space_of(request, MANY, world.settings)
    places = np.random.default_rng(0).normal(size=(len(space.items), 2))
    places[4] = np.nan
    quality = Quality(0.9, 0.4, 10, len(places), len(places))
    made = maps.Map(np.arange(len(places)), places, quality, explained=None, seconds=1.0)
    maps.store(request, space, made, world.settings)
    app = open_map(picture="umap", model="trigrams~none")
    text = written(app)
    assert "**trigrams**: UMAP" in text
    assert "is not computed yet" not in text
    assert "1 texts have no neighbors in the graph" in text
    assert len(charts(app)) == 1, "a single encoder is enough"
    assert map_view.verdict(quality, None) in text
    other = open_map(picture="umap")  # the other one is not computed, and pictures of two methods do not compare
    both = written(other)
    assert "**trigrams**: UMAP" in both
    assert ": PCA" not in both
    assert len(charts(other)) == 1
    assert "UMAP of one model is not computed yet" in both


def test_the_chosen_item_has_its_true_neighbors(open_map: OpenApp) -> None:
    item = MANY.items.index("<b>red</b>")
    app = open_map(item=str(item), map_k="5")
    assert "<b>red</b>" in [block.value for block in app.text]
    assert written(app).count("of 5 are among its 5 nearest in the picture") == 2
    tables = [frame.value for frame in app.dataframe]
    assert [len(table) for table in tables] == [5, 5]
    assert (np.diff(tables[0]["similarity"]) <= 0).all()
    assert "<b>red</b>" not in tables[0]["text"].tolist()


def test_an_item_that_is_not_there_is_said(open_map: OpenApp) -> None:
    assert "No text 999" in written(open_map(item="999"))


@pytest.mark.parametrize(
    ("wanted", "answer"),
    [("   ", ""), ("#######", "spelled like it")],
)
def test_a_search_that_finds_nothing(open_map: OpenApp, wanted: str, answer: str) -> None:
    app = open_map()
    app.text_input(key="map_find").set_value(wanted).run()
    assert not app.exception
    assert answer in written(app)
    assert not any(str(box.key).startswith("found") for box in app.selectbox)


def test_a_search_lists_what_it_finds(open_map: OpenApp) -> None:
    app = open_map()
    app.text_input(key="map_find").set_value("RED DOG").run()
    (box,) = (b for b in app.selectbox if str(b.key).startswith("found"))
    assert sorted(box.options) == [f"red dog {c}" for c in "abcd"]
    box.select_index(box.options.index("red dog c")).run()
    assert app.query_params["item"] == str(MANY.items.index("red dog c"))


@pytest.mark.parametrize("color", ["none", "frequency", "rank of the match", "cluster", "source"])
def test_every_color(open_map: OpenApp, color: str) -> None:
    app = open_map(color=color)
    assert len(charts(app)) == 2
    text = written(app)
    if color == "rank of the match":
        assert "are not queries" in text
    if color == "source":
        assert not any(trace.get("name") for trace in charts(app)[0]["data"]), "it has no source"
    if color == "cluster":
        app.selectbox(key="map_clusters_of").set_value("trigrams~center").run()
        assert not app.exception


def test_an_own_column_of_the_file_colors_the_dots(open_map: OpenApp) -> None:
    app = open_map(data=WITH_COLUMN.id, color="product")
    for chart in charts(app):
        counted = {trace["name"].partition(":")[0] for trace in chart["data"] if trace.get("name")}
        assert counted >= set(PRODUCT)
    other = open_map(data=MANY.id, color="product")
    assert other.selectbox(key="color").value == "frequency"
    assert open_map(data=WITH_COLUMN.id).selectbox(key="color").value == "product", "from the start"


def test_the_rank_of_the_match_needs_a_run(open_map: OpenApp) -> None:
    app = open_map(color="rank of the match", metric="l2")
    assert "similarity l2" in written(app)
    assert len(charts(app)) == 2


@pytest.mark.parametrize("picture", ["pca", "umap"])
def test_constant_vectors_are_said_and_the_others_are_drawn(open_map: OpenApp, picture: str) -> None:
    app = open_map(model=["trigrams~none", "constant~none"], picture=picture, item="3", color="cluster")
    assert "constant gives every text the same vector" in written(app)
    assert len(charts(app)) == 1


def test_three_items(open_map: OpenApp) -> None:
    app = open_map(data="three", picture="umap", model="trigrams~none", color="cluster", item="0")
    assert "needs 17 texts, and there are 3" in written(app)
    assert len(charts(app)) == 1
    assert "**trigrams**: PCA" in written(app)
    assert "Compute UMAP" not in [button.label for button in app.button]


def test_a_dataset_whose_files_are_not_here_is_offered(open_map: OpenApp) -> None:
    app = open_map(data="evalrank-word")
    assert "not on this machine" in written(app)
    assert "Download" in [button.label for button in app.button]


def test_selected_items_are_listed_and_can_be_let_go(open_map: OpenApp) -> None:
    app = open_map(color="frequency")
    app.session_state[map_view.SELECTED] = (MANY.texts_digest, (2, 5))
    app.run()
    assert "**2 texts selected**" in written(app)
    assert app.dataframe[0].value["text"].tolist() == [MANY.items[2], MANY.items[5]]
    app.button(key="map_clear").click().run()
    assert "items selected" not in written(app)


@pytest.mark.parametrize(
    ("kept", "trust", "begins"),
    [
        (0.75, 0.99, "Dots that look close are mostly true"),
        (0.5, 0.9, "Read regions, not single neighbors: about 50% of"),
        (0.3, 0.7, "Do not rely on closeness here: about 70% of"),
        (0.01, 0.7, "Do not rely on closeness here: about 99% of"),
    ],
)
def test_the_verdict(kept: float, trust: float, begins: str) -> None:
    quality = Quality(trust, kept, 10, 100, 100)
    assert map_view.verdict(quality, None).startswith(begins)
    assert "mean nothing" in map_view.verdict(quality, None)
    assert "UMAP" not in map_view.verdict(quality, (0.1, 0.1))


def test_pca_is_kept_between_visits(open_map: OpenApp, world: World) -> None:
    open_map()
    request = MapRequest(Variant("trigrams", "none"), DatasetRef(MANY.id), method=Method.PCA)
    assert maps.find(request, maps.space_of(request, MANY, world.settings), world.settings) is not None


def test_one_color_means_one_rank_in_all_maps(open_map: OpenApp) -> None:
    app = open_map(color="rank of the match")
    scales = []
    for spec in charts(app):
        (marker,) = (trace["marker"] for trace in spec["data"] if "cmin" in trace.get("marker", {}))
        assert marker["cmin"] <= min(values(marker["color"]))
        assert max(values(marker["color"])) <= marker["cmax"] + 1e-6
        scales.append((marker["cmin"], marker["cmax"]))
    assert len(scales) == 2
    assert scales[0] == scales[1]


@pytest.mark.parametrize(("dots", "maps_with_webgl", "expected"), [(8_000, 2, "scatter"), (20, 2, "scattergl")])
def test_webgl_is_for_few_maps_of_many_dots(
    open_map: OpenApp, monkeypatch: pytest.MonkeyPatch, dots: int, maps_with_webgl: int, expected: str
) -> None:
    monkeypatch.setattr(map_view, "DOTS_WITHOUT_WEBGL", dots)
    monkeypatch.setattr(map_view, "MAPS_WITH_WEBGL", maps_with_webgl)
    app = open_map()
    assert {trace["type"] for spec in charts(app) for trace in spec["data"]} == {expected}
    monkeypatch.setattr(map_view, "MAPS_WITH_WEBGL", 1)
    found = charts(open_map())
    assert {trace["type"] for spec in found for trace in spec["data"]} == {"scatter"}, "more maps than that have none"


def test_dots_of_another_language_are_not_gray_at_first(open_map: OpenApp) -> None:
    assert open_map().selectbox(key="color").value == "frequency"
    chinese = open_map(data=CHINESE.id)
    assert chinese.selectbox(key="color").value == "cluster"
    assert "have no word known" not in written(chinese)
