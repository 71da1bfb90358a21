"""The map figure: which dots, which colors, what is selected, and what a query is tied to."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
import pytest

from blindspot.figures.theme import Scheme
from blindspot.space.maps.colors import Groups, Numbers
from blindspot.space.maps.figures import Dots, Tie, hover_text, map_figure

ITEMS = np.array([3, 5, 8, 9])
PLACES = np.array([[0.0, 0], [1, 0], [0, 1], [1, 1]])
NASTY = ["<b>bold</b> & more", "x" * 300, "a", "b"]


def drawn(colors=None, selected=None, tie=None, texts=NASTY, scheme=Scheme.LIGHT) -> go.Figure:
    return map_figure(Dots(ITEMS, PLACES, texts), colors, "#123456", selected, tie, ("", ""), scheme)


def dots(figure: go.Figure) -> list[go.Scattergl]:
    return [trace for trace in figure.data if trace.type == "scattergl"]


def test_every_item_is_a_dot_with_its_number_and_its_text_is_no_markup() -> None:
    figure = drawn()
    assert figure.layout.yaxis.scaleanchor == "x", "distances are to scale"
    (trace,) = dots(figure)
    assert trace.customdata.tolist() == ITEMS.tolist()
    assert trace.x.tolist() == PLACES[:, 0].tolist()
    assert trace.text[0] == "&lt;b&gt;bold&lt;/b&gt; &amp; more"
    assert len(trace.text[1]) < 120
    assert trace.marker.color == "#123456"
    assert dots(drawn(texts=None))[0].text is None


@pytest.mark.parametrize("scheme", list(Scheme))
def test_numbers_have_a_scale_and_what_has_none_is_grey_and_counted(scheme: Scheme) -> None:
    numbers = Numbers(np.array([1.0, 1_000, np.nan, np.nan]), "rank of <match>", "", True)
    grey, colored = dots(drawn(numbers, scheme=scheme))
    assert (grey.name, grey.customdata.tolist()) == ("no value: 2", [8, 9])
    np.testing.assert_allclose(colored.marker.color, [0.0, 3.0])
    bar = colored.marker.colorbar
    assert bar.title.text == "rank of &lt;match&gt;"
    assert list(bar.ticktext) == ["1", "10", "100", "1,000"]
    assert (colored.marker.cmin, colored.marker.cmax) == (0.0, 3.0)
    few = Numbers(np.array([1.0, 8, 2, 3]), "rank", "", True)
    assert list(dots(drawn(few))[0].marker.colorbar.ticktext)[:3] == ["1", "2", "5"]


def test_one_number_for_all_is_a_scale_too() -> None:
    (trace,) = dots(drawn(Numbers(np.full(4, 2.0), "x", "")))
    assert trace.marker.cmin < trace.marker.cmax


def test_groups_differ_by_color_and_symbol_and_are_counted() -> None:
    found = dots(drawn(Groups(np.array([0, 1, 1, -1]), ("one", "<i>two</i>", "empty"), "", "")))
    assert [trace.name for trace in found] == ["none: 1", "one: 1", "&lt;i&gt;two&lt;/i&gt;: 2"]
    assert len({trace.marker.color for trace in found[1:]}) == len({trace.marker.symbol for trace in found[1:]}) == 2


def test_the_selected_items_stand_out_in_whichever_group_they_are() -> None:
    first, second = dots(drawn(Groups(np.array([0, 1, 0, 1]), ("a", "b"), "", ""), selected=np.array([8, 9])))
    assert (list(first.selectedpoints), list(second.selectedpoints)) == ([1], [1])
    assert dots(drawn())[0].selectedpoints is None
    (none,) = dots(drawn(selected=np.array([77])))
    assert list(none.selectedpoints) == []


def test_a_query_is_tied_to_its_true_neighbors_and_the_torn_ones_look_otherwise() -> None:
    tie = Tie(3, PLACES[0], ITEMS[1:], PLACES[1:], np.array([True, False, False]), ["q <b>", "near", "torn", "far"])
    others = [trace for trace in drawn(tie=tie).data if trace.type == "scatter"]
    kept_line, kept, torn_line, torn, query = others
    assert (kept.name, torn.name) == ("true neighbor, close here too: 1", "true neighbor, far away here: 2")
    assert (list(kept.customdata), list(torn.customdata), list(query.customdata)) == ([5], [8, 9], [3])
    assert list(torn_line.x) == [0.0, 0.0, None, 0.0, 1.0, None]
    assert list(torn_line.y) == [0.0, 1.0, None, 0.0, 1.0, None]
    assert kept_line.line.dash != torn_line.line.dash
    assert kept.marker.symbol != torn.marker.symbol
    assert query.text[0] == "q &lt;b&gt;"


def test_a_long_text_is_cut_at_a_word() -> None:
    shown = hover_text("word " * 60)
    assert shown.endswith(" …")
    assert len(shown) <= 90


@pytest.mark.parametrize("axes", [("", ""), ("component 1", "component 2")])
def test_the_legend_stands_below_the_map_and_the_toolbar_above(axes: tuple[str, str]) -> None:
    colors = Groups(np.arange(len(ITEMS)) % 3, ("a", "b", "c"), "", "")
    figure = map_figure(Dots(ITEMS, PLACES, None), colors, "#123456", None, None, axes, Scheme.LIGHT)
    assert (figure.layout.legend.yanchor, figure.layout.margin.t >= 30) == ("top", True)
    assert figure.layout.legend.y <= (-0.1 if axes[0] else 0.0), "below an axis' title"


def test_without_webgl_the_same_dots_are_drawn() -> None:
    colors = Groups(np.arange(len(ITEMS)) % 3, ("a", "b", "c"), "", "")
    given = Dots(ITEMS, PLACES, None), colors, "#123456", ITEMS[:2], None, ("", ""), Scheme.LIGHT
    quick, plain = (map_figure(*given, with_webgl=with_webgl) for with_webgl in (True, False))
    assert {trace.type for trace in plain.data} == {"scatter"}
    for one, other in zip(quick.data, plain.data, strict=True):
        assert (one.name, one.selectedpoints) == (other.name, other.selectedpoints)
        for part in ("x", "y", "customdata"):
            assert list(one[part]) == list(other[part])
