"""View of pairs on the EvalRank page by AppTest: the table has the rows that a loop over stored rows finds."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from blindspot.diagnostic import find_diagnostic
from blindspot.diagnostics.evalrank.page import pairs as evalrank_pairs
from blindspot.errors import StoreBusy
from blindspot.runs.comparison import headline_tests
from blindspot.store.repository import Repository
from blindspot.texts import counted
from blindspot.ui.widgets.browse_table import ROWS_PER_PAGE
from blindspot.variants import Variant
from tests.support.pages import OpenApp, written
from tests.support.world import World

A, B = Variant("minilm", "none"), Variant("minilm", "center")
PAGE = ROWS_PER_PAGE
Row = dict[str, float | str]


def table(app: AppTest) -> list[Row]:
    (frame,) = [frame.value for frame in app.dataframe if "query" in frame.value]
    return list(frame.to_dict("records"))


@pytest.fixture(scope="module")
def stored(demo_cache: Path) -> list[Row]:
    """A plain row per pair: its ranks and ties under A and B, as they are stored."""
    repository = Repository.at(demo_cache / "results.duckdb")
    runs = {
        r.plan.variant: r.run_id
        for r in repository.runs(diagnostic="evalrank", dataset="demo-pairs")
        if dict(r.plan.params) == {"metric": "cos", "protocol": "definition"}
    }
    rows = []
    sides = [repository.items(find_diagnostic("evalrank"), [runs[v]], texts=True).to_dict("records") for v in (A, B)]
    for a, b in zip(*sides, strict=True):
        row = {"pair": a["item_no"], "query": a["query"], "match": a["match"], "self": a["query_no"] == a["match_no"]}
        for letter, one in (("A", a), ("B", b)):
            row[letter] = 1 + one["greater"] + one["ties"] / 2
            places = range(1 + one["greater"], 2 + one["greater"] + one["ties"])
            row[f"1/rank {letter}"] = sum(1 / place for place in places) / len(places)
            row[f"filtered {letter}"] = 1 + one["greater_filtered"] + one["ties_filtered"] / 2
            row[f"ties {letter}"] = one["ties"]
            row[f"similarity {letter}"] = one["similarity"]
        rows.append(row)
    repository.database.close()
    return rows


def view(open_app: OpenApp, cache: Path, **query: str | list[str]) -> AppTest:
    app = open_app(cache, "evalrank", **({"a": str(A), "b": str(B)} | query))
    assert not app.error
    return app


@pytest.mark.heavy
def test_tabs_hold_what_either_wins_as_compare_counts_it(
    open_app: OpenApp, demo_cache: Path, stored: list[Row]
) -> None:
    lead = {row["pair"]: round(row["1/rank A"] - row["1/rank B"], 12) for row in stored}
    alike = [row for row in stored if lead[row["pair"]] == 0]
    expected = {
        "won-by-a": [pair for pair, gain in lead.items() if gain > 0],
        "won-by-b": [pair for pair, gain in lead.items() if gain < 0],
        "both-wrong": [row["pair"] for row in alike if row["A"] > 1],
        "both-right": [row["pair"] for row in alike if row["A"] == 1],
    }
    repository = Repository.at(demo_cache / "results.duckdb")
    a, b = (
        repository.runs(dataset="demo-pairs", variants=[v], params={"metric": "cos", "protocol": "definition"})[0]
        for v in (A, B)
    )
    (test,) = headline_tests(find_diagnostic("evalrank"), [(a, b)], repository)
    repository.database.close()
    counted_there = (test.wins, test.losses, test.alike)
    assert counted_there == (len(expected["won-by-a"]), len(expected["won-by-b"]), len(alike))
    app = view(open_app, demo_cache)
    tabs = app.segmented_control(key="outcome")
    counts = [len(stored), *(len(pairs) for pairs in expected.values())]
    assert [int(str(option).split()[-1]) for option in tabs.options] == counts
    assert all(f"**{n}**" in written(app) for n in counted_there)
    for name, pairs in expected.items():
        app.segmented_control(key="outcome").set_value(name).run()
        assert {row["pair"] for row in (table(app) if pairs else [])} <= set(pairs)
        assert f"{len(pairs):,} pairs. Choose a row" in written(app) or not pairs
    app = view(open_app, demo_cache, outcome="both-wrong")
    assert {row["pair"] for row in table(app)} <= set(expected["both-wrong"]), "by its link"


def test_what_the_view_cannot_do_stands_in_its_place(
    open_app: OpenApp, demo_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The view is drawn again alone, without the page around it that would say so; the rest of the page stays."""

    def held(*_: object) -> None:
        raise StoreBusy("the store is held by another program")

    monkeypatch.setattr(evalrank_pairs, "two_variants", held)
    app = open_app(demo_cache, "evalrank", a=str(A), b=str(B), view="pairs")
    assert [error.value for error in app.error] == ["the store is held by another program"]
    assert any("How is this computed?" in expander.label for expander in app.expander)


@pytest.mark.parametrize(
    ("show", "keeps"),
    [
        ("worst for A", lambda r: r["A"] > 1),
        ("text with itself", lambda r: r["self"]),
    ],
)
def test_a_filter_shows_the_pairs_that_a_loop_finds(
    open_app: OpenApp, demo_cache: Path, stored: list[Row], show: str, keeps: Callable[[Row], bool]
) -> None:
    """Every filter: ``test_browsing``."""
    app = view(open_app, demo_cache, show=show, order="pair", direction="low to high")
    expected = [row for row in stored if keeps(row)]
    if not expected:
        assert "No pairs match" in written(app)
        return
    assert f"{len(expected):,} pairs." in written(app)
    got = table(app)
    assert [row["pair"] for row in got] == [row["pair"] for row in expected[:PAGE]]
    assert [(row["rank in A"], row["rank in B"], row["A − B"]) for row in got] == [
        (row["A"], row["B"], row["A"] - row["B"]) for row in expected[:PAGE]
    ]


@pytest.mark.parametrize(("ranks", "direction"), [("raw", "high to low"), ("filtered", "low to high")])
def test_the_order_is_that_of_a_plain_sort(
    open_app: OpenApp, demo_cache: Path, stored: list[Row], ranks: str, direction: str
) -> None:
    way = "" if ranks == "raw" else "filtered "
    app = view(open_app, demo_cache, order="rank difference", direction=direction, ranks=ranks)
    sign = -1 if direction == "high to low" else 1
    expected = sorted(stored, key=lambda row: sign * (row[f"{way}A"] - row[f"{way}B"]))
    assert [row["pair"] for row in table(app)] == [row["pair"] for row in expected[:PAGE]]
    app.selectbox(key="order").set_value("similarity in B").run()
    expected = sorted(stored, key=lambda row: sign * row["similarity B"])
    got = table(app)
    assert [row["pair"] for row in got] == [row["pair"] for row in expected[:PAGE]]
    assert [row["similarity in B"] for row in got] == [row["similarity B"] for row in expected[:PAGE]]


def test_choosing_a_filter_puts_the_telling_pairs_first(open_app: OpenApp, demo_cache: Path, stored: list[Row]) -> None:
    app = view(open_app, demo_cache)
    app.selectbox(key="show").set_value("B worse than A").run()
    worse = sorted((row for row in stored if row["B"] > row["A"]), key=lambda row: row["A"] - row["B"])
    assert [row["A − B"] for row in table(app)] == [row["A"] - row["B"] for row in worse[:PAGE]]


@pytest.mark.heavy
def test_an_area_of_the_figure_filters_and_survives_a_sort_and_is_cleared(
    open_app: OpenApp, demo_cache: Path, stored: list[Row]
) -> None:
    app = view(open_app, demo_cache, area="1-1,2-40; 3-4,1-2")
    expected = [
        row["pair"]
        for row in stored
        if (row["A"] == 1 and 2 <= row["B"] <= 40) or (3 <= row["A"] <= 4 and row["B"] <= 2)
    ]
    assert expected
    said = f"**{counted(len(expected), 'pair')} selected**"
    assert said in written(app)
    app.selectbox(key="order").set_value("pair").run()
    app.segmented_control(key="direction").set_value("low to high").run()
    assert said in written(app)
    assert [row["pair"] for row in table(app)] == expected[:PAGE]
    app.button(key="clear_area").click().run()
    assert f"{len(stored)} pairs." in written(app)
    app.text_input(key="area").set_value("somewhere").run()
    assert "is no area" in written(app)
    assert f"{len(stored)} pairs." in written(app)


@pytest.mark.heavy
def test_previous_and_next_follow_the_table(open_app: OpenApp, demo_cache: Path, stored: list[Row]) -> None:
    app = view(open_app, demo_cache, order="rank in A")
    order = [row["pair"] for row in sorted(stored, key=lambda row: -row["A"])]
    app.button(key="next_pair").click().run()
    assert app.number_input(key="item").value == order[0]
    assert app.button(key="previous_pair").disabled
    app.number_input(key="item").set_value(int(order[PAGE - 1])).run()
    app.button(key="next_pair").click().run()
    assert app.number_input(key="item").value == order[PAGE]
    assert [row["pair"] for row in table(app)] == order[PAGE : 2 * PAGE], "the table was turned to its page"
    assert f"{PAGE + 1} of {len(order)} in the table" in written(app)
    app.number_input(key="item").set_value(int(order[-1])).run()
    assert app.button(key="next_pair").disabled
    app.button(key="previous_pair").click().run()
    assert app.number_input(key="item").value == order[-2]


@pytest.mark.heavy
def test_the_two_best_are_compared_at_first_and_the_address_names_them(open_app: OpenApp, demo_cache: Path) -> None:
    app = open_app(demo_cache, "evalrank")
    repository = Repository.at(demo_cache / "results.duckdb")
    runs = [r for r in repository.runs(dataset="demo-pairs") if r.plan.params["metric"] == "cos"]
    best = [str(r.plan.variant) for r in sorted(runs, key=lambda r: -r.metrics["mrr"])]
    assert [app.selectbox(key=key).value for key in ("a", "b")] == best
    assert [app.query_params[key] for key in ("a", "b")] == best
    app.selectbox(key="a").set_value(best[1]).run()
    app.selectbox(key="b").set_value(best[0]).run()
    assert [app.selectbox(key=key).value for key in ("a", "b")] == best[::-1]


def test_a_stale_choice_of_a_falls_back_to_the_best(open_app: OpenApp, demo_cache: Path) -> None:
    app = view(open_app, demo_cache, a="gone~none")
    assert app.selectbox(key="a").value in {str(A), str(B)}


def test_one_variant_alone_has_no_figure_and_no_filters_that_need_two(open_app: OpenApp, demo_cache: Path) -> None:
    app = open_app(demo_cache, "evalrank", model=str(A))
    assert all(element.proto.id.find("scatter") < 0 for element in app.get("plotly_chart"))
    assert app.selectbox(key="show").options == ["all", "worst for A", "tied", "text with itself"]
    assert "rank in B" not in app.selectbox(key="order").options
    axes = [json.loads(chart.proto.spec)["layout"].get("yaxis", {}) for chart in app.get("plotly_chart")]
    assert all("rank in B" not in axis.get("title", {}).get("text", "") for axis in axes)


def test_columns_can_be_added(open_app: OpenApp, demo_cache: Path) -> None:
    app = view(open_app, demo_cache, cols=["overlap", "ties in B", "words in match"])
    assert {"overlap", "ties in B", "words in match"} <= set(table(app)[0])
    assert "similarity in A" not in table(app)[0]


@pytest.mark.heavy
def test_the_drill_down_says_why_an_item_may_be_near(open_app: OpenApp, demo_cache: Path) -> None:
    app = view(open_app, demo_cache, item="7", hubs="true")
    tables = [element.proto.body for element in app.get("html") if "<table" in element.proto.body]
    assert len(tables) == 2
    for body in tables:
        assert " words" in body
    assert app.toggle(key="hubs").value
    app.toggle(key="hubs").set_value(False).run()


def test_encode_again_is_offered_in_this_view(open_app: OpenApp, demo_copy: Path) -> None:
    shutil.rmtree(demo_copy / "embeddings")
    app = view(open_app, demo_copy, item="0", hubs="true")
    assert any("again_" in (button.key or "") for button in app.button)


@pytest.mark.heavy
def test_words_have_frequencies(open_app: OpenApp, world: World) -> None:
    for transform in ("none", "center"):
        world.run("evalrank", f"random-projection~{transform}", "demo-words")
    app = open_app(world.cache, "evalrank", data="demo-words", order="frequency of match")
    zipf = [row["frequency of match"] for row in table(app)]
    assert zipf == sorted(zipf, reverse=True)
    assert zipf[0] > 6
    app.button(key="next_pair").click().run()
    assert any("frequent word" in element.proto.body for element in app.get("html"))
