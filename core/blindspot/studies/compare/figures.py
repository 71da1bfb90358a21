"""Figures of comparisons: a forest plot of two variants, a matrix of wins, scores against costs."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np
import plotly.graph_objects as go

from blindspot.datasets.catalog import title_of
from blindspot.figures.grids import heatmap
from blindspot.figures.labels import wrapped
from blindspot.figures.theme import DIVERGING, Scheme, Style, apply_layout, faint, ink, log_axis
from blindspot.numerics.statistics.compare import PairedTest, Verdict
from blindspot.numerics.statistics.written import CHANGE, SCORE, ci, number, p_in_words
from blindspot.studies.compare.costs import CostKind
from blindspot.studies.compare.rows import Row
from blindspot.studies.compare.several import Point, Wins
from blindspot.variants import Variant

POINTS = 100.0  # percent
ROW, FOOT = 66, 56  # pixels
SIDE_LINE = 18  # of a line above the plot that says which side is whose
LABEL_LINE = 56  # characters above a row's marker: what a phone has room for
NAME_WIDTH = 24  # of a line of a model's name, at either side of the zero line


def drawn(rows: Sequence[Row]) -> list[Row]:
    """The rows that a forest plot shows: those with a score that says which way is better."""
    return [row for row in rows if row.difference.advantage is not None]


def forest(
    rows: Sequence[Row],
    names: tuple[str, str],
    styles: tuple[Style, Style],
    scheme: Scheme,
) -> go.Figure:
    """Paired differences with 95% intervals, a row each below the heading of its diagnostic; to the right A is better.

    A filled marker in a variant's look says that it is significantly better. A hollow one: no significant difference,
    or not tested (a cross). Small and faint: the score only describes the space.

    Args:
        names, styles: of A and B.
    """
    shown = drawn(rows)
    figure = go.Figure()
    reach = _reach(shown)
    at = [ROW * (i + 0.7) for i in range(len(shown))]
    for row, y in zip(shown, at, strict=True):
        figure.add_trace(_mark(row, y, names, styles, scheme))
    # Above its marker, so that the plot has the whole width of a phone.
    labels = [
        _label(row, reach, y - 0.4 * ROW, scheme, title, styles)
        for row, y, title in zip(shown, at, _titles(shown), strict=True)
    ]
    bottom = ROW * (len(shown) + 0.1)
    sides = _sides(names, styles, reach)
    head = 16 + SIDE_LINE * max(side["text"].count("<br>") + 1 for side in sides)
    figure.update_xaxes(
        title="difference, in % of the score's range",
        range=[-reach, reach],
        tickformat="~g",
        nticks=7,
        fixedrange=True,
    )
    figure.update_yaxes(range=[bottom, 0], tickvals=at, showticklabels=False, fixedrange=True)
    apply_layout(figure, scheme, height=head + round(bottom) + FOOT)
    return figure.update_layout(
        showlegend=False,
        margin={"l": 8, "r": 8, "t": head, "b": 8},
        shapes=[_zero(y, scheme) for y in at],
        annotations=[*labels, *sides],
    )


def _zero(y: float, scheme: Scheme) -> dict[str, Any]:
    """The zero line at a row's marker, not across its label."""
    ends = {"y0": y - 0.16 * ROW, "y1": y + 0.16 * ROW}
    line = {"color": ink(scheme), "width": 1.5}
    return {"type": "line", "layer": "below", "x0": 0, "x1": 0, **ends, "line": line}


def _titles(rows: Sequence[Row]) -> list[str]:
    """The diagnostic of each row, "" if it is the same as in the row above."""
    before = ["", *(row.entry.id for row in rows)]
    return ["" if row.entry.id == last else row.entry.title for row, last in zip(rows, before, strict=False)]


def _label(row: Row, reach: float, y: float, scheme: Scheme, title: str, styles: tuple[Style, Style]) -> dict[str, Any]:
    """A row's label at the left edge, after its diagnostic in bold; below it both values in their models' colors."""
    difference = row.difference
    head = f'<b><span style="color:{ink(scheme)}">{escape(title, quote=False)}</span></b>  ' if title else ""
    short = textwrap.shorten(f"{difference.label}, {title_of(row.dataset)}", LABEL_LINE - len(title), placeholder=" …")
    values = [
        f'<span style="color:{style.color}">{number(value, ".3f")}</span>'
        for value, style in zip((difference.a, difference.b), styles, strict=True)
    ]
    return {
        "x": -reach,
        "y": y,
        "text": f"{head}{escape(short, quote=False)}<br>{' vs '.join(values)}",
        "font": {"size": 12, "color": faint(scheme)},
        "align": "left",
        "xanchor": "left",
        "yanchor": "middle",
        "showarrow": False,
    }


def _sides(names: tuple[str, str], styles: tuple[Style, Style], reach: float) -> list[dict[str, Any]]:
    """Labels of the two sides: which model is better there."""
    left, right = (wrapped(f"{name} better", NAME_WIDTH) for name in (names[1], names[0]))
    common = {"y": 1, "yref": "paper", "yshift": 6, "yanchor": "bottom", "showarrow": False}
    return [
        common | {"x": -reach, "text": f"← {left}", "xanchor": "left", "align": "left", "font": _inked(styles[1])},
        common | {"x": reach, "text": f"{right} →", "xanchor": "right", "align": "right", "font": _inked(styles[0])},
    ]


def _inked(style: Style) -> dict[str, object]:
    return {"size": 13, "color": style.color}


def _reach(rows: Sequence[Row]) -> float:
    """How far the axis goes to either side, with zero in the middle."""
    ends = []
    for row in rows:
        interval, advantage = row.difference.advantage_interval, row.difference.advantage or 0.0
        ends += [abs(advantage), *((abs(interval.low), abs(interval.high)) if interval else ())]
    return 1.08 * POINTS * (max(ends, default=0.0) or 0.01)  # none differ where two models are one


def _mark(row: Row, y: float, names: tuple[str, str], styles: tuple[Style, Style], scheme: Scheme) -> go.Scatter:
    """A row's marker with its interval."""
    difference, interval = row.difference, row.difference.advantage_interval
    advantage = POINTS * (difference.advantage or 0.0)
    counts = row.decides and row.verdict in {Verdict.BETTER, Verdict.WORSE}
    style = styles[0] if row.verdict is Verdict.BETTER else styles[1]
    color = style.color if counts else faint(scheme)
    hollow = "circle-open" if row.decides else "diamond-open"
    symbol = "x-thin" if row.verdict is Verdict.UNTESTED else style.symbol if counts else hollow
    up, down = (
        (0.0, 0.0) if interval is None else (POINTS * interval.high - advantage, advantage - POINTS * interval.low)
    )
    return go.Scatter(
        x=[advantage],
        y=[y],
        mode="markers",
        marker={
            "color": color,
            "symbol": symbol,
            "size": 11 if row.decides else 8,
            "line": {"color": color, "width": 2 if symbol.endswith(("open", "thin")) else 0},
        },
        error_x={
            "type": "data",
            "symmetric": False,
            "array": [max(up, 0.0)],
            "arrayminus": [max(down, 0.0)],
            "thickness": 1.5,
            "width": 0 if interval is None else 4,
            "color": color,
        },
        hovertext=[hover(row, names)],
        hovertemplate="%{hovertext}<extra></extra>",
    )


def hover(row: Row, names: tuple[str, str]) -> str:
    """Tooltip of a row; the difference is A minus B."""
    difference = row.difference
    values = [
        f"{number(value, SCORE)} ({name})" for value, name in zip((difference.a, difference.b), names, strict=True)
    ]
    lines = [
        f"{row.entry.title}, {title_of(row.dataset)}",
        f"{difference.label}: {', '.join(values)}",
        f"difference {number(difference.value, CHANGE)}{ci(difference.interval, CHANGE)}",
        f"corrected {p_in_words(row.difference.p_corrected, difference.p)}, {difference.test}"
        if row.difference.p_corrected is not None
        else f"not tested: {difference.refusal}",
        f"{difference.n:,} {difference.unit}",
    ]
    return "<br>".join("<br>".join(escape(part, quote=False) for part in textwrap.wrap(line, 60)) for line in lines)


def wins_matrix(wins: Wins, names: Sequence[str], scheme: Scheme) -> go.Figure:
    """On how many scores the row's variant is better than the column's, and worse: blue where it wins more often."""
    n = len(names)
    net = (wins.wins - wins.wins.T).astype(np.float64)
    np.fill_diagonal(net, np.nan)
    text = [["" if i == j else f"{wins.wins[i, j]} : {wins.wins[j, i]}" for j in range(n)] for i in range(n)]
    shown = [escape(name, quote=False) for name in names]
    tooltips = [
        [
            f"{shown[i]} is better than {shown[j]} on {wins.wins[i, j]}, worse on {wins.wins[j, i]}<br>"
            f"of {wins.shared[i, j]} scores that both have"
            for j in range(n)
        ]
        for i in range(n)
    ]
    most = max(1.0, float(np.nanmax(np.abs(net)))) if n > 1 else 1.0
    scale: dict[str, Any] = {"colorscale": DIVERGING[scheme], "zmin": -most, "zmax": most}
    figure = go.Figure(heatmap(net, text, tooltips, scheme, size=13, **scale))
    ticks = {"tickvals": list(range(n)), "ticktext": [wrapped(name, 14) for name in names], "showgrid": False}
    figure.update_xaxes(**ticks, side="top", tickangle=0)
    figure.update_yaxes(**ticks, autorange="reversed")
    return apply_layout(figure, scheme, height=110 + 46 * n)


def pareto(
    points: Sequence[Point],
    score: PairedTest,
    kind: CostKind,
    styles: Mapping[Variant, Style],
    names: Mapping[Variant, str],
    scheme: Scheme,
) -> go.Figure:
    """A score with its 95% intervals against a cost; a line joins the models that no other one beats in both."""
    figure = go.Figure()
    best = sorted((point for point in points if point.on_front), key=lambda point: point.cost)
    figure.add_scatter(
        x=[point.cost for point in best],
        y=[point.score for point in best],
        mode="lines",
        # A staircase: what one gets at this cost at most.
        line={"color": faint(scheme), "width": 1.5, "dash": "dot", "shape": "hv"},
        name="no model is better at both",
        hoverinfo="skip",
    )
    for point in points:
        style = styles[point.variant]
        low, high = (point.interval.low, point.interval.high) if point.interval else (point.score, point.score)
        score_text = f"{number(point.score, SCORE)}{ci(point.interval, SCORE)}"
        figure.add_scatter(
            x=[point.cost],
            y=[point.score],
            mode="markers",
            name=escape(names[point.variant], quote=False),
            marker={"color": style.color, "symbol": style.symbol, "size": 12 if point.on_front else 9},
            error_y={
                "type": "data",
                "symmetric": False,
                "array": [high - point.score],
                "arrayminus": [point.score - low],
                "thickness": 1.5,
                "width": 3,
                "color": style.color,
            },
            hovertemplate=f"{score_text}, {kind} {number(point.cost, ',.0f')}<extra>%{{fullData.name}}</extra>",
        )
    positive = all(point.cost > 0 for point in points)
    title = {CostKind.MEMORY: "MB per million texts"}
    figure.update_xaxes(title=title.get(kind, str(kind)), **(log_axis(p.cost for p in points) if positive else {}))
    direction = "higher is better" if score.higher_is_better else "lower is better"
    figure.update_yaxes(title=f"{escape(score.label, quote=False)} ({direction})")
    figure.update_layout(showlegend=True)
    apply_layout(figure, scheme, height=400 + 22 * len(points))
    return figure.update_layout(legend={"orientation": "h", "y": -0.22, "yanchor": "top"})
