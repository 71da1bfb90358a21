"""Figures of the page Evidence: correlations measured and published, the variants behind one, ranks of models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np
import plotly.graph_objects as go
from plotly.colors import hex_to_rgb

from blindspot.figures.grids import heatmap
from blindspot.figures.labels import wrapped
from blindspot.figures.theme import DIVERGING, Scheme, Style, apply_layout, ink, looks
from blindspot.numerics.statistics.written import (
    CHANGE,
    SCORE,
    ci_in_words,
    each_written,
    number,
    score_written,
    with_ci,
)
from blindspot.studies.evidence.correlation import Cell, TwoCorrelations
from blindspot.studies.evidence.scores import Measure
from blindspot.studies.evidence.view import Point
from blindspot.variants import Variant

# Widths are characters of a line of a label, heights are pixels.
_GREY = "#8A94A0"  # visible on light and dark

# --- correlations of evaluators with tasks

LABEL_WIDTH = 30
TASK_WIDTH = 10
ROOMY = 4  # so many tasks leave room for an interval in one line on a narrow screen
_LINE = 17
_PLAIN = {Scheme.LIGHT: "#E3E6EA", Scheme.DARK: "#39414B"}  # of cells without a correlation
FIRST, SECOND = "circle", "diamond"  # of two evaluators
# More than variants have, since only symbols distinguish families. None is hollow: those are of published scores.
_SYMBOLS = (
    *("circle", "square", "diamond", "triangle-up", "x", "star", "hexagon", "cross", "triangle-down", "pentagon"),
    *("bowtie", "hourglass", "star-triangle-up", "triangle-left", "star-diamond", "triangle-right", "star-square"),
    *("octagon", "diamond-wide", "diamond-tall"),
)


Changes = Mapping[tuple[Measure, Measure], float]  # of rho, by evaluator and task


def correlation_map(cells: Sequence[Cell], changes: Changes, scheme: Scheme) -> go.Figure:
    """Rho of every evaluator with every task, from blue for 1 to orange for -1.

    Below rho are the numbers of variants and families where cells differ in them, the interval, and the change by what
    was left out. Cells without a correlation are gray and crossed out.

    Args:
        cells: one per evaluator and task, evaluator by evaluator.
    """
    tasks = list(dict.fromkeys(c.task for c in cells))
    grid = [list(cells[start : start + len(tasks)]) for start in range(0, len(cells), len(tasks))]
    rows, columns = [row[0].evaluator.label for row in grid], [task.label for task in tasks]
    roomy = len(columns) <= ROOMY
    rho = np.array([[np.nan if cell.rho is None else cell.rho for cell in row] for row in grid])
    has_size = sizes_differ(cells)
    text = [[_written(cell, changes, roomy=roomy, has_size=has_size) for cell in row] for row in grid]
    tooltips = [[_tooltip(cell, changes) for cell in row] for row in grid]
    figure = go.Figure(heatmap(rho, text, tooltips, scheme, colorscale=DIVERGING[scheme], zmin=-1.0, zmax=1.0))
    if np.isnan(rho).any():
        crosses = [["×" if cell.rho is None else "" for cell in row] for row in grid]
        plain = ((0.0, _PLAIN[scheme]), (1.0, _PLAIN[scheme]))
        missing = np.where(np.isnan(rho), 0.0, np.nan)
        figure.add_trace(heatmap(missing, crosses, tooltips, scheme, size=14, colorscale=plain))
    lines = 1 + has_size + (1 if roomy else 2) * any(cell.interval for cell in cells) + bool(changes)
    labels = [wrapped(name, LABEL_WIDTH) for name in rows]
    height = _LINE * max(lines, *(label.count("<br>") + 1 for label in labels)) + 12
    figure.update_xaxes(
        tickvals=list(range(len(columns))),
        ticktext=[wrapped(name, TASK_WIDTH) if roomy else escape(name, quote=False) for name in columns],
        side="top",
        showgrid=False,
        tickangle=0 if roomy else -90,
        range=[-0.5, len(columns) - 0.5],
    )
    figure.update_yaxes(tickvals=list(range(len(rows))), ticktext=labels, showgrid=False, range=[len(rows) - 0.5, -0.5])
    return apply_layout(figure, scheme, height=80 + height * len(rows))


def sizes_differ(cells: Sequence[Cell]) -> bool:
    """Whether correlations are over different numbers of models or families, so that every cell says its own."""
    return len({(cell.n, cell.families) for cell in cells}) > 1


def _written(cell: Cell, changes: Changes, *, roomy: bool, has_size: bool) -> str:
    """The text of a cell; unless it is roomy, in lines as narrow as a column."""
    if cell.rho is None:
        return ""
    rho = number(cell.rho) if roomy else _short(cell.rho)
    lines = [f"{cell.n} · {cell.families}" if roomy else f"{cell.n}·{cell.families}"] if has_size else []
    if cell.interval:
        low, high = cell.interval.low, cell.interval.high
        lines += [f"{number(low)} to {number(high)}"] if roomy else [f"[{_short(low)}", f"{_short(high)}]"]
    if (change := changes.get((cell.evaluator, cell.task))) is not None:
        lines.append(f"Δ{_short(change, '+')}")
    return "<br>".join([f"<b>{rho}</b>", *(f"<span style='font-size:10px'>{line}</span>" for line in lines)])


def _short(value: float, sign: str = "-") -> str:
    """``.67``, ``−.30``, ``1.0``, ``0``; with ``sign`` "+" also ``+.67``."""
    written = f"{value:{sign}.2f}"
    if float(written) == 0:
        return "0"
    return (written.replace("0.", ".") if abs(float(written)) < 1 else f"{value:{sign}.1f}").replace("-", "−")


def _tooltip(cell: Cell, changes: Changes) -> str:
    lines = [f"{escape(cell.evaluator.label, quote=False)} and {escape(cell.task.label, quote=False)}"]
    if cell.rho is not None:
        lines.append(f"ρ {number(cell.rho, SCORE)}")
    lines.append(f"{cell.n} models of {cell.families} families")
    if cell.interval:
        lines.append(f"{ci_in_words(cell.interval)}, over families")
    if (change := changes.get((cell.evaluator, cell.task))) is not None:
        lines.append(f"change by leaving models out: {number(change, CHANGE)}")
    if cell.why:
        lines += wrapped(cell.why, 60).split("<br>")
    return "<br>".join(lines)


# --- one cell


@dataclass(frozen=True)
class Axis:
    """An axis; it is reversed if less is better, so that better is always up and to the right."""

    title: str
    is_reversed: bool
    is_of_ranks: bool = False


def score_scatter(
    points: Sequence[Point], families: Sequence[str], x: Axis, y: Axis, styles: Mapping[Variant, Style], scheme: Scheme
) -> go.Figure:
    """A point per variant, with the variant's color and its family's symbol.

    Args:
        families: all of them, also those without a point: the place of a family decides its symbol.
    """
    figure = go.Figure()
    drawn = [family for family in families if any(point.family == family for point in points)]
    for family in drawn:
        points_of_family = [point for point in points if point.family == family]
        symbol = _SYMBOLS[families.index(family) % len(_SYMBOLS)]
        name = escape(family, quote=False)
        figure.add_scatter(
            x=[point.x for point in points_of_family],
            y=[point.y for point in points_of_family],
            mode="markers",
            marker={
                "color": [styles[point.variant].color for point in points_of_family],
                "symbol": symbol,
                "size": 13,
                "line": {"color": ink(scheme), "width": 0.7},
            },
            legendgroup=name,
            showlegend=False,
            name=name,
            text=[
                f"{escape(point.variant.label, quote=False)}<br>{_at(point.x, x)} and {_at(point.y, y)}"
                for point in points_of_family
            ],
            hovertemplate=f"%{{text}}<extra>{name}</extra>",
        )
        figure.add_scatter(  # the legend has symbols only
            x=[None],
            y=[None],
            mode="markers",
            marker={"color": ink(scheme), "symbol": symbol, "size": 10},
            legendgroup=name,
            showlegend=True,
            name=name,
        )
    for update, axis in ((figure.update_xaxes, x), (figure.update_yaxes, y)):
        update(title=escape(axis.title, quote=False), autorange="reversed" if axis.is_reversed else True)
    apply_layout(figure, scheme, height=440 + 22 * len(drawn))
    return figure.update_layout(legend={"orientation": "h", "y": -0.18, "yanchor": "top"})


def _at(value: float, axis: Axis) -> str:
    """A score, or a rank, which ties may share: ``2.5``."""
    return f"{value:g}" if axis.is_of_ranks else score_written(value)


# --- two evaluators


def duels(rows: Sequence[TwoCorrelations], scheme: Scheme) -> go.Figure:
    """Two joined marks per task: the correlations of two evaluators, which both must be defined."""
    blue, orange = (look.color for look in looks(2, scheme))
    places = list(range(len(rows)))
    line = {"color": _GREY, "width": 2}
    figure = go.Figure()
    for y, row in enumerate(rows):
        figure.add_shape(type="line", x0=row.first_rho, x1=row.second_rho, y0=y, y1=y, line=line, layer="below")
    for evaluator, color, symbol, values in (
        (rows[0].first, blue, FIRST, [row.first_rho for row in rows]),
        (rows[0].second, orange, SECOND, [row.second_rho for row in rows]),
    ):
        figure.add_scatter(
            x=values,
            y=places,
            mode="markers",
            name=escape(evaluator.label, quote=False),
            marker={"color": color, "symbol": symbol, "size": 12},
            text=[f"{escape(row.task.label, quote=False)}: {_difference(row)}" for row in rows],
            customdata=each_written(np.nan if rho is None else rho for rho in values),
            hovertemplate="%{text}<br>ρ %{customdata}<extra>%{fullData.name}</extra>",
        )
    figure.add_vline(x=0.0, line={"color": ink(scheme), "width": 1, "dash": "dot"})
    figure.update_xaxes(title="correlation with the task (ρ)", range=[-1.05, 1.05])
    figure.update_yaxes(
        tickvals=places,
        ticktext=[wrapped(row.task.label, TASK_WIDTH) for row in rows],
        range=[len(rows) - 0.5, -0.5],
        showgrid=False,
    )
    figure.update_layout(showlegend=True)
    return apply_layout(figure, scheme, height=150 + 40 * len(rows))


def _difference(row: TwoCorrelations) -> str:
    if row.estimate is None or row.interval is None:
        difference = np.nan if row.difference is None else row.difference
        return f"difference {number(difference, '+.2f')}, without an interval"
    return f"difference {with_ci(row.estimate, '+.2f')}"


# --- published correlations

ROW_HEIGHT = 27
PUBLISHED_LABEL_WIDTH, PUBLISHED_TASK_WIDTH = 18, 8
CELL_WIDTH, CELL_HEIGHT = 0.9, 0.8  # of a column and a row, so that frames do not touch
TINT = 0.35  # opacity of the scale's color in a frame
HERE = "↳ here"


@dataclass(frozen=True)
class MapRow:
    """An evaluator's values and further lines for the tooltip, by column; measured ones belong to the row above."""

    name: str
    values: Mapping[str, float]
    said: Mapping[str, str]
    is_published: bool = True


def published_map(rows: Sequence[MapRow], columns: Sequence[str], scheme: Scheme) -> go.Figure:
    """Published values in gray frames with a tint of the scale's color, measured ones on the color itself."""
    figure = go.Figure()
    for published in (True, False):
        cells = [
            (y, columns.index(column), row, column)
            for y, row in enumerate(rows)
            for column in row.values
            if row.is_published == published and column in columns
        ]
        if not cells:
            continue
        shares = [(row.values[column] + 1) / 2 for *_, row, column in cells]
        colors = [_color(share, scheme) for share in shares]
        tinted = [_color(share, scheme, TINT) for share in shares]
        figure.add_bar(
            name="published" if published else "measured here",
            orientation="h",
            y=[y for y, *_ in cells],
            base=[x - CELL_WIDTH / 2 for _, x, *_ in cells],
            x=[CELL_WIDTH] * len(cells),
            width=CELL_HEIGHT,
            marker={"color": tinted, "line": {"color": _GREY, "width": 1.5}} if published else {"color": colors},
            hovertext=[_published_tooltip(row, column) for *_, row, column in cells],
            hovertemplate="%{hovertext}<extra></extra>",
            showlegend=False,
        )
        figure.add_scatter(  # the bars' own text takes a browser half as long again
            mode="text",
            x=[x for _, x, *_ in cells],
            y=[y for y, *_ in cells],
            text=[number(row.values[column], ".2f") for *_, row, column in cells],
            textfont={"size": 12, "color": ink(scheme)},
            hoverinfo="skip",
            showlegend=False,
        )
    figure.update_xaxes(
        tickvals=list(range(len(columns))),
        ticktext=[wrapped(column, PUBLISHED_TASK_WIDTH) for column in columns],
        side="top",
        showgrid=False,
        tickangle=0 if len(columns) <= 8 else -90,
        tickfont={"size": 11},
        range=[-0.5, len(columns) - 0.5],
        fixedrange=True,
    )
    figure.update_yaxes(
        tickvals=list(range(len(rows))),
        ticktext=[wrapped(row.name, PUBLISHED_LABEL_WIDTH) if row.is_published else f"<i>{HERE}</i>" for row in rows],
        tickfont={"size": 12},
        showgrid=False,
        range=[len(rows) - 0.5, -0.5],
        fixedrange=True,
    )
    figure.update_layout(barmode="overlay")
    return apply_layout(figure, scheme, height=80 + ROW_HEIGHT * len(rows))


def _published_tooltip(row: MapRow, column: str) -> str:
    where = "published" if row.is_published else "measured here"
    tooltip = [escape(line, quote=False) for line in row.said.get(column, "").split("\n") if line]
    names = f"{escape(row.name, quote=False)}, {escape(column, quote=False)}"
    return "<br>".join([names, f"{where}: {number(row.values[column], '.2f')}", *tooltip])


def _color(share: float, scheme: Scheme, opacity: float | None = None) -> str:
    stops = [stop for stop, _ in DIVERGING[scheme]]
    channels = np.array([hex_to_rgb(color) for _, color in DIVERGING[scheme]], dtype=np.float64).T
    rgb = [round(float(np.interp(share, stops, channel))) for channel in channels]
    numbers = ", ".join(map(str, rgb))
    return f"rgb({numbers})" if opacity is None else f"rgba({numbers}, {opacity})"


# --- ranks of models

ROW = 19
COLUMN_WIDTH = 10
REACH = 0.32  # from the outer columns to the ends of the lines, where tied models have separate names
SIZE = 9
FAINT = 0.13


@dataclass(frozen=True)
class Column:
    """A score that models are ranked by, with a note below its name."""

    name: str
    note: str


@dataclass(frozen=True)
class Line:
    """A model, with a place and a written score (``said``) per column."""

    name: str  # in the tooltip
    label: str  # at the left end of the line
    places: Sequence[float]  # from 1; ties share the mean
    said: Sequence[str]
    style: Style
    is_faint: bool = False
    is_hollow: bool = False  # published


def bump_chart(lines: Sequence[Line], columns: Sequence[Column], scheme: Scheme) -> go.Figure:
    """A line per model, the best on top, through two or more columns; the first column is the pivot.

    On the left are numbers and names in the pivot's order, on the right the same numbers in the last column's order:
    a narrow screen has no room for names at both ends.
    """
    n, last = len(lines), len(columns) - 1
    order = sorted(lines, key=lambda line: (line.places[0], line.name))
    numbers = {id(line): number for number, line in enumerate(order, 1)}
    ends = sorted(order, key=lambda line: (line.places[-1], numbers[id(line)]))
    rows_at_end = {id(line): row for row, line in enumerate(ends, 1)}
    figure = go.Figure()
    for line in sorted(order, key=lambda line: not line.is_faint):  # the others on top
        style, name = line.style, escape(line.name, quote=False)
        figure.add_scatter(
            x=[-REACH, *range(len(columns)), last + REACH],
            y=[numbers[id(line)], *line.places, rows_at_end[id(line)]],
            mode="lines+markers",
            name=name,
            opacity=FAINT if line.is_faint else 0.95,
            line={"color": style.color, "dash": "dash" if line.is_hollow else "solid", "width": 2},
            marker={
                "color": style.color,
                "symbol": f"{style.symbol}-open" if line.is_hollow else style.symbol,
                "size": [0, *[SIZE] * len(columns), 0],
                "opacity": 1,
                "line": {"width": 2 if line.is_hollow else 0},
            },
            customdata=[
                [escape(column.name, quote=False), f"rank {rank:g} of {n}", escape(tooltip, quote=False)]
                for column, rank, tooltip in _with_ends(columns, line)
            ],
            hovertemplate="%{customdata[0]}: %{customdata[1]}<br>%{customdata[2]}<extra>%{fullData.name}</extra>",
            showlegend=False,
        )
    figure.add_scatter(
        x=[last + REACH + 0.06] * n,
        y=list(range(1, n + 1)),
        mode="text",
        text=[_number(line, numbers[id(line)]) for line in ends],
        textposition="middle right",
        textfont={"size": 11, "color": ink(scheme)},
        hovertext=[escape(line.name, quote=False) for line in ends],
        hovertemplate="%{hovertext}<extra></extra>",
        cliponaxis=False,
        showlegend=False,
    )
    figure.update_xaxes(
        tickvals=list(range(len(columns))),
        ticktext=[
            f"{wrapped(column.name, COLUMN_WIDTH)}<br><b>{escape(column.note, quote=False)}</b>" for column in columns
        ],
        side="top",
        tickangle=0,
        tickfont={"size": 11},
        range=[-REACH - 0.03, last + REACH + 0.35],
        fixedrange=True,
    )
    figure.update_yaxes(
        tickvals=list(range(1, n + 1)),
        ticktext=[f"{_label(line)} {_number(line, number)}" for number, line in enumerate(order, 1)],
        tickfont={"size": 11},
        showgrid=False,
        range=[n + 0.7, 0.3],
        fixedrange=True,
    )
    return apply_layout(figure, scheme, height=110 + ROW * n)


def _with_ends(columns: Sequence[Column], line: Line) -> list[tuple[Column, float, str]]:
    """Column, place and score per point of a line; its ends repeat those of the outer columns."""
    points = list(zip(columns, line.places, line.said, strict=True))
    return [points[0], *points, points[-1]]


def _number(line: Line, number: int) -> str:
    color = _GREY if line.is_faint else line.style.color
    return f"<span style='color:{color}'><b>{number}</b></span>"


def _label(line: Line) -> str:
    label = escape(line.label, quote=False)
    return f"<span style='color:{_GREY}'>{label}</span>" if line.is_faint else label
