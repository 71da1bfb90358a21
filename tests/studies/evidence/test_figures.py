"""Figures of the page Evidence: numbers in their places, names as text, and what marks the published ones."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from blindspot.figures.theme import Scheme, looks, styles
from blindspot.numerics.statistics.estimate import Estimate, Unit
from blindspot.numerics.statistics.intervals import Interval
from blindspot.studies.evidence import figures
from blindspot.studies.evidence.correlation import Cell, TwoCorrelations
from blindspot.studies.evidence.figures import Axis, Column, Line, MapRow, bump_chart, published_map
from blindspot.studies.evidence.scores import Measure
from blindspot.studies.evidence.view import Point
from blindspot.variants import Variant


def cell(evaluator: str, task: str, rho: float | None = 0.5, *ends: float, why: str = "") -> Cell:
    measures = (
        Measure("evalrank", "", "mrr", evaluator, 1, "text"),
        Measure("transfer", task, "accuracy", "", 1, "text"),
    )
    estimate = Estimate(rho or 0.0, Interval(*ends), "", Unit.FAMILIES, 12, 12.0) if ends else None
    return Cell(*measures, rho, 24, 12, estimate, why)


def test_a_cell_says_rho_n_families_and_interval() -> None:
    cells = [
        cell("a <b>", "t", 0.5, 0.1, 0.8),
        cell("a <b>", "u", None, why="too <few>"),
        *(replace(cell("c", x, 0.5, 0.1, 0.8), n=n) for x, n in (("t", 24), ("u", 23))),
    ]
    figure = figures.correlation_map(cells, {}, Scheme.LIGHT)
    known, missing = figure.data
    assert known.text[0][0] == (
        "<b>0.50</b><br><span style='font-size:10px'>24 · 12</span><br><span style='font-size:10px'>0.10 to 0.80</span>"
    )
    alike = figures.correlation_map([cell("c", "t", 0.5, 0.1, 0.8)], {}, Scheme.LIGHT)
    assert "24" not in alike.data[0].text[0][0], "the page says it once"
    assert list(known.z[0]) == [0.5, None]
    assert (known.zmin, known.zmax) == (-1.0, 1.0)
    assert list(missing.z[0]) == [None, 0.0]
    assert list(missing.text[0]) == ["", "×"]
    assert "too &lt;few&gt;" in missing.hovertext[0][1]
    assert figure.layout.yaxis.ticktext[0] == "a &lt;b&gt;"


def test_many_tasks_have_short_lines() -> None:
    cells = [cell("a", f"task {i}", -0.4, -0.75, 1.0) for i in range(5)]
    changes = {(one.evaluator, one.task): 0.004 for one in cells}
    (heat,) = figures.correlation_map(cells, changes, Scheme.DARK).data
    lines = heat.text[0][0].replace("<span style='font-size:10px'>", "").replace("</span>", "").split("<br>")
    assert lines == ["<b>−.40</b>", "[−.75", "1.0]", "Δ0"]
    assert "+0.004" in heat.hovertext[0][0]


def test_families_keep_their_symbols_when_others_are_left_out() -> None:
    variants = [Variant(f"e{i}", "none") for i in range(3)]
    points = [Point(v, family, i, i) for i, (v, family) in enumerate(zip(variants, "a<c", strict=True))]
    looks = styles(variants, Scheme.LIGHT)
    axes = Axis("x & more", True), Axis("y", False)
    every = figures.score_scatter(points, ["a", "<", "c"], *axes, looks, Scheme.LIGHT)
    part = figures.score_scatter(points[1:], ["a", "<", "c"], *axes, looks, Scheme.LIGHT)
    symbols = {trace.name: trace.marker.symbol for trace in every.data}
    assert len(set(symbols.values())) == 3
    assert {trace.name: trace.marker.symbol for trace in part.data} == {n: symbols[n] for n in ("&lt;", "c")}
    assert every.data[0].marker.color == (looks[variants[0]].color,)
    assert every.layout.xaxis.autorange == "reversed"
    assert every.layout.xaxis.title.text == "x &amp; more"


def test_two_evaluators_differ_in_color_and_symbol() -> None:
    first, second, task = cell("one", "").evaluator, cell("other", "").evaluator, cell("", "cr").task
    apart = Estimate(0.7, Interval(0.5, 0.9), "", Unit.FAMILIES, 12, 12.0)
    figure = figures.duels([TwoCorrelations(first, second, task, 0.9, 0.2, 12, 12, apart)], Scheme.LIGHT)
    one, other = figure.data
    assert (one.x, other.x) == ((0.9,), (0.2,))
    assert one.marker.symbol != other.marker.symbol
    assert one.marker.color != other.marker.color
    assert one.text == ("CR: difference +0.70 (95% CI +0.50 to +0.90)",)


# --- published

ROWS = [
    MapRow("EvalRank <b>", {"MR": 0.834, "TREC": -0.5}, {"MR": "over 67 models\nhere: <i>"}),
    MapRow("EvalRank <b>", {"TREC": 0.25}, {}, is_published=False),
    MapRow("STR", {"MR": -0.084, "gone": 0.1}, {}),
]
COLUMNS = [Column("MR", "pivot"), Column("EvalRank MRR", "ρ 0.50"), Column("STS <b>", "ρ -1.00")]


def lines(scheme: Scheme = Scheme.LIGHT) -> list[Line]:
    places = [(3.0, 2.0, 1.0), (1.0, 2.0, 3.0), (2.0, 2.0, 2.0)]
    return [
        Line(f"model {i} <b>", f"m{i} <b>", p, ["0.1", "0.2", "0.3"], look)
        for i, (p, look) in enumerate(zip(places, looks(3, scheme), strict=True))
    ]


def traces(figure: Any) -> dict[str, Any]:
    return {trace.name: trace for trace in figure.data if trace.name}


@pytest.mark.parametrize("scheme", list(Scheme))
def test_published_cells_are_framed_and_measured_ones_filled(scheme: Scheme) -> None:
    found = traces(published_map(ROWS, ["MR", "TREC"], scheme))
    framed, filled = found["published"], found["measured here"]
    assert list(zip(framed.y, framed.base, strict=True)) == [(0, -0.45), (0, 0.55), (2, -0.45)]
    assert (list(filled.y), list(filled.base)) == ([1], [0.55])
    assert framed.marker.line.width > 0
    assert all(color.startswith("rgba") for color in framed.marker.color)  # a tint
    assert all(not color.startswith("rgba") for color in filled.marker.color)
    assert filled.marker.line.width is None


def test_cells_say_their_numbers_and_names_are_no_markup() -> None:
    figure = published_map(ROWS, ["MR", "TREC"], Scheme.LIGHT)
    said = [text for trace in figure.data if trace.type == "scatter" for text in trace.text]
    assert said == ["0.83", "−0.50", "−0.08", "0.25"]
    assert list(figure.layout.yaxis.ticktext) == ["EvalRank &lt;b&gt;", "<i>↳ here</i>", "STR"]
    framed = traces(figure)["published"]
    assert framed.hovertext[0] == "EvalRank &lt;b&gt;, MR<br>published: 0.83<br>over 67 models<br>here: &lt;i&gt;"


def test_the_same_number_has_the_same_hue_published_or_not() -> None:
    same = [MapRow("a", {"x": 0.6}, {}), MapRow("a", {"x": 0.6}, {}, is_published=False)]
    found = traces(published_map(same, ["x"], Scheme.DARK))
    framed, filled = found["published"].marker.color[0], found["measured here"].marker.color[0]
    assert framed.removeprefix("rgba(").rpartition(",")[0] == filled.removeprefix("rgb(").removesuffix(")")


def test_colors_are_the_scales_at_its_ends_and_halfway() -> None:
    rows = [MapRow("a", {"low": -1.0, "none": 0.0, "high": 1.0, "beyond": 3.0}, {}, is_published=False)]
    (filled,) = traces(published_map(rows, ["low", "none", "high", "beyond"], Scheme.LIGHT)).values()
    # #E08A2E, #F5F5F5 and #5FA0DA
    assert list(filled.marker.color) == ["rgb(224, 138, 46)", "rgb(245, 245, 245)", *["rgb(95, 160, 218)"] * 2]


# --- ranks


def test_lines_go_from_their_name_through_their_places_to_their_number() -> None:
    found = traces(bump_chart(lines(), COLUMNS, Scheme.LIGHT))
    first = found["model 1 &lt;b&gt;"]  # the best by the pivot
    assert list(first.x) == pytest.approx([-0.32, 0, 1, 2, 2.32])
    assert list(first.y) == [1, 1, 2, 3, 3]
    last = found["model 0 &lt;b&gt;"]
    assert list(last.y) == [3, 3, 2, 1, 1]
    assert list(first.marker.size) == [0, 9, 9, 9, 0]  # no mark where there is no score
    assert list(first.customdata[1]) == ["MR", "rank 1 of 3", "0.1"]
    assert list(first.customdata[4]) == ["STS &lt;b&gt;", "rank 3 of 3", "0.3"]


def test_names_stand_in_the_pivots_order_and_numbers_in_the_last_columns() -> None:
    figure = bump_chart(lines(), COLUMNS, Scheme.LIGHT)
    assert [text.partition(" <span")[0] for text in figure.layout.yaxis.ticktext] == [
        "m1 &lt;b&gt;",
        "m2 &lt;b&gt;",
        "m0 &lt;b&gt;",
    ]
    (numbers,) = (trace for trace in figure.data if trace.mode == "text")
    assert [text.partition("<b>")[2][0] for text in numbers.text] == ["3", "2", "1"]
    assert list(numbers.y) == [1, 2, 3]
    assert figure.layout.xaxis.ticktext[2] == "STS &lt;b&gt;<br><b>ρ -1.00</b>"


def test_the_tied_meet_at_one_place_and_part_at_both_ends() -> None:
    tied = [replace(line, places=(2.0, 2.0), said=["", ""]) for line in lines()]
    found = traces(bump_chart(tied, COLUMNS[:2], Scheme.LIGHT))
    assert sorted(trace.y[0] for trace in found.values()) == [1, 2, 3]
    assert sorted(trace.y[-1] for trace in found.values()) == [1, 2, 3]
    assert {tuple(trace.y[1:3]) for trace in found.values()} == {(2.0, 2.0)}


def test_what_is_not_highlighted_stands_back_behind_the_rest() -> None:
    some = [replace(line, is_faint=i != 1) for i, line in enumerate(lines())]
    figure = bump_chart(some, COLUMNS, Scheme.DARK)
    shown = [trace for trace in figure.data if trace.mode == "lines+markers"]
    assert shown[-1].name == "model 1 &lt;b&gt;"
    assert shown[-1].opacity > 0.9
    assert all(trace.opacity < 0.2 for trace in shown[:-1])


def test_published_lines_are_hollow_and_dashed() -> None:
    figure = bump_chart([replace(line, is_hollow=True) for line in lines()], COLUMNS, Scheme.LIGHT)
    shown = [trace for trace in figure.data if trace.mode == "lines+markers"]
    assert all(trace.marker.symbol.endswith("-open") and trace.line.dash == "dash" for trace in shown)


def test_many_variants_have_a_row_each() -> None:
    few, many = (
        [Line(f"{i}", f"{i}", (i + 1.0, n - i), ["", ""], look) for i, look in enumerate(looks(n, Scheme.LIGHT))]
        for n in (4, 48)
    )
    heights = [bump_chart(each, COLUMNS[:2], Scheme.LIGHT).layout.height for each in (few, many)]
    assert heights[1] - heights[0] == 44 * 19
