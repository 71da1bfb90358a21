"""The page Compare by AppTest, its figures, and the command."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from blindspot.figures.theme import Scheme, looks
from blindspot.numerics.statistics.intervals import Interval
from blindspot.studies.compare import figures
from blindspot.studies.compare.rows import Comparison, Verdict, compare, headline, method_in_words
from blindspot.ui.widgets.browse_table import ROWS_PER_PAGE
from blindspot.variants import Variant
from tests.studies.compare.conftest import A, B, C
from tests.support.commands import Command
from tests.support.pages import OpenApp, chart_named, table, values, written
from tests.support.world import World

SIDES = {"a": str(A), "b": str(B)}


def test_the_headline_the_forest_and_the_numbers_agree(open_app: OpenApp, filled: World) -> None:
    app = open_app(filled.cache, "compare", view="numbers", **SIDES)
    found = compare(A, B, filled.repository, {})
    assert headline(found, A.label, B.label) in written(app)
    forest = chart_named(app, "forest")
    shown = [values(trace["x"])[0] for trace in forest["data"]]
    assert shown == pytest.approx([100 * (row.difference.advantage or 0.0) for row in found.rows])
    numbers = table(app, f"{A.label} is", "p (Holm)")
    assert numbers["diagnostic"].tolist() == [row.entry.title for row in found.rows]
    assert numbers[A.label].tolist() == [f"{row.difference.a:.3f}" for row in found.rows]
    costs = table(app, "cost")
    assert costs.loc[costs["cost"] == "dimension", A.label].item() == "96"


def test_an_item_is_chosen_in_the_address_and_shown_whole(open_app: OpenApp, filled: World) -> None:
    app = open_app(filled.cache, "compare", item="0", **SIDES)
    listed = table(app, "texts", "gain")
    assert len(listed) == ROWS_PER_PAGE
    (details,) = (str(html.proto.body) for html in app.get("html") if "The chosen item" in str(html.proto.body))
    assert all(part.replace("&", "&amp;") in details for part in listed["texts"].iloc[0].split(" · "))
    other = open_app(filled.cache, "compare", changed_side="won-by-b", **SIDES)
    assert table(other, "texts", "gain")["texts"].tolist() != listed["texts"].tolist()


def test_what_is_missing_has_its_button(open_app: OpenApp, filled: World) -> None:
    app = open_app(filled.cache, "compare", a=str(A), b=str(C))
    buttons = {button.key for button in app.button if "compute" in str(button.key)}
    assert buttons == {"compute_all", "compute_0", "compute_1"}


def test_several_models_are_a_matrix_and_a_front(open_app: OpenApp, filled: World) -> None:
    app = open_app(filled.cache, "overview", view="all tests", pareto_score="heros:demo-minimal")
    assert len(chart_named(app, "wins")["data"][0]["z"]) == 3
    drawn = chart_named(app, "pareto")["data"]
    assert {trace.get("name") for trace in drawn[1:]} == {A.label, B.label}, "C has no HEROS"


def test_one_model_is_told_what_to_do(open_app: OpenApp, filled: World, tmp_path: Path) -> None:
    app = open_app(filled.cache, "compare", model=str(A))
    assert not app.get("plotly_chart")
    assert "second model" in written(app)
    assert chart_named(app.button(key="all_models").click().run(), "forest")
    nothing = open_app(tmp_path / "cache", "compare")
    assert nothing.button(key="run_demo")


@pytest.mark.heavy
@pytest.mark.parametrize(
    "link",
    [
        {"a": "gone~none"},
        {"b": str(A)},
        {"changed": "99999"},
        {"view": "several models"},
    ],
)
def test_a_link_to_what_is_not_there_is_survived(open_app: OpenApp, filled: World, link: dict[str, str]) -> None:
    open_app(filled.cache, "compare", **(SIDES | link))


def test_favoring_a_is_to_the_right_and_chance_is_hollow(filled: World) -> None:
    rows = compare(A, B, filled.repository, {}).rows
    one, other = looks(2, Scheme.LIGHT)
    figure = figures.forest(rows, ("A", "<i>B</i>"), (one, other), Scheme.LIGHT)
    low, high = figure.layout.xaxis.range
    assert low == -high
    for row, trace in zip(rows, figure.data, strict=True):
        symbol, color = trace.marker.symbol, trace.marker.color
        if not row.decides:
            assert symbol == "diamond-open"
        elif row.verdict is Verdict.ALIKE:
            assert symbol == "circle-open"
        else:
            winner = one if row.verdict is Verdict.BETTER else other
            assert (symbol, color) == (winner.symbol, winner.color)
            assert (trace.x[0] > 0) == (winner is one)
    assert "<i>" not in str(figure.layout.annotations), "names are text"


def test_figure_table_and_command_are_from_the_side_of_the_sentence(
    blindspot: Command, filled: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An own model as B is the one that the sentence is about: all is B less A, and JSON stays A less B."""
    before = blindspot.json("compare", A.encoder, B.encoder)
    found = replace(compare(A, B, filled.repository, {}), b=Variant("dir:mine", "none"))
    assert found.is_about_b
    told = found.told
    assert (told.a, told.b, told.is_about_b, told.told) == (found.b, found.a, False, told)
    assert headline(told, "B", "A") == headline(found, "A", "B")
    assert told.count(Verdict.BETTER) == found.count(Verdict.WORSE)
    for one, other in zip(found.rows, told.rows, strict=True):
        test, turned = one.difference, other.difference
        assert (turned.value, turned.wins, turned.p_corrected) == (-test.value, test.losses, test.p_corrected)
        assert turned.turned == test
        assert test.interval is None or turned.interval == Interval(-test.interval.high, -test.interval.low)
        assert other.holds == one.holds
    figure = figures.forest(told.rows, ("B", "A"), looks(2, Scheme.LIGHT), Scheme.LIGHT)
    assert [note.text for note in figure.layout.annotations][-2:] == ["← A better", "B better →"]
    assert [trace.x[0] for trace in figure.data] == [100 * (row.difference.advantage or 0.0) for row in told.rows]
    assert "To the right, mine is better" in method_in_words(found)
    monkeypatch.setattr(Comparison, "is_about_b", property(lambda comparison: comparison.a == A))
    said = blindspot.out("compare", A.encoder, B.encoder)
    assert "B - A" in said
    assert "B is" in said
    assert blindspot.json("compare", A.encoder, B.encoder)["rows"] == before["rows"]


def test_the_command_says_the_same(blindspot: Command, filled: World) -> None:
    found = blindspot.json("compare", A.encoder, B.encoder)
    expected = compare(A, B, filled.repository, {})
    assert [row["diagnostic"] for row in found["rows"]] == [row.entry.id for row in expected.rows]
    assert [row["p_corrected"] for row in found["rows"]] == [row.difference.p_corrected for row in expected.rows]
    assert (found["better"], found["worse"]) == (expected.count(Verdict.BETTER), expected.count(Verdict.WORSE))
    assert found["a"]["megabytes_per_million"] == 4 * 96
    assert "MRR" in blindspot.out("compare", A.encoder, B.encoder)
    assert "did you mean 'trigrams'" in blindspot.error("compare", "trigrms", B.encoder)
    assert "both" in blindspot.error("compare", A.encoder, f"{A.encoder}~none")


def test_the_command_on_an_empty_store_says_how_to_begin(
    blindspot: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BLINDSPOT_CACHE", str(tmp_path))
    said = blindspot.error("compare", "minilm", "lsa")
    assert "no runs yet" in said
    assert "blindspot run evalrank --dataset demo-pairs --encoder minilm --encoder lsa" in said
