"""Figures of the page Evidence."""

from __future__ import annotations

from core.figures.theme import Scheme, styles
from core.studies.evidence.figures import correlations as figures
from core.studies.evidence.figures.correlations import Axis, Duel, MapCell, Point
from core.types import Variant


def cell(evaluator: str, task: str, rho: float | None = 0.5, **more: object) -> MapCell:
    known = {"n": 24, "families": 12, "low": 0.1, "high": 0.8, "change": None, "why": ""} | more
    return MapCell(evaluator, task, rho, **known)  # type: ignore[arg-type]


def test_a_cell_says_rho_n_families_and_interval() -> None:
    cells = [
        cell("a <b>", "t"),
        cell("a <b>", "u", None, low=None, high=None, why="too <few>"),
        *(cell("c", x) for x in "tu"),
    ]
    figure = figures.correlation_map(cells, Scheme.LIGHT)
    known, missing = figure.data
    assert known.text[0][0] == (
        "<b>0.50</b><br><span style='font-size:10px'>24 · 12</span><br><span style='font-size:10px'>0.10 to 0.80</span>"
    )
    assert list(known.z[0]) == [0.5, None]
    assert (known.zmin, known.zmax) == (-1.0, 1.0)
    assert list(missing.z[0]) == [None, 0.0]
    assert list(missing.text[0]) == ["", "×"]
    assert "too &lt;few&gt;" in missing.hovertext[0][1]
    assert figure.layout.yaxis.ticktext[0] == "a &lt;b&gt;"


def test_many_tasks_have_short_lines() -> None:
    cells = [cell("a", f"task {i}", -0.4, low=-0.75, high=1.0, change=0.004) for i in range(5)]
    (heat,) = figures.correlation_map(cells, Scheme.DARK).data
    lines = heat.text[0][0].replace("<span style='font-size:10px'>", "").replace("</span>", "").split("<br>")
    assert lines == ["<b>-.40</b>", "24·12", "[-.75", "1.0]", "Δ0"]
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
    assert every.data[0].marker.color == (looks[variants[0]].colour,)
    assert every.layout.xaxis.autorange == "reversed"
    assert every.layout.xaxis.title.text == "x &amp; more"


def test_two_evaluators_differ_in_colour_and_symbol() -> None:
    figure = figures.duels([Duel("CR", 0.9, 0.2, "difference +0.70")], "one", "other", Scheme.LIGHT)
    one, other = figure.data
    assert (one.x, other.x) == ((0.9,), (0.2,))
    assert one.marker.symbol != other.marker.symbol
    assert one.marker.color != other.marker.color
    assert one.text == ("CR: difference +0.70",)
