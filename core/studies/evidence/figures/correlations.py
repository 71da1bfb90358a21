"""Figures of the page Evidence: evaluators against tasks, one cell's variants, two evaluators side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

import plotly.graph_objects as go

from core.figures.labels import wrapped
from core.figures.theme import DIVERGING, Scheme, Style, dress, ink, looks
from core.types import Variant

LABEL_WIDTH = 22  # characters of a line of an evaluator's name, and of a task's
TASK_WIDTH = 10
ROOMY = 4  # tasks up to which there is room for an interval in one line on a narrow screen
_LINE = 17  # pixels
_PLAIN = {Scheme.LIGHT: "#E3E6EA", Scheme.DARK: "#39414B"}  # of cells without a correlation
_GREY = "#8A94A0"  # to be seen on light and dark
FIRST, SECOND = "circle", "diamond"  # of two evaluators
# More than variants have: families are told apart by them alone. None is hollow, as published scores are.
_SYMBOLS = (
    *("circle", "square", "diamond", "triangle-up", "x", "star", "hexagon", "cross", "triangle-down", "pentagon"),
    *("bowtie", "hourglass", "star-triangle-up", "triangle-left", "star-diamond", "triangle-right", "star-square"),
    *("octagon", "diamond-wide", "diamond-tall"),
)


@dataclass(frozen=True)
class MapCell:
    """A cell of the map.

    Attributes:
        rho: None where there is no correlation; ``why`` says why.
        low, high: ends of the interval; None where there is none.
        change: of rho by what the reader left out; None where nothing was.
    """

    evaluator: str
    task: str
    rho: float | None
    n: int
    families: int
    low: float | None
    high: float | None
    change: float | None
    why: str

    @property
    def interval(self) -> str:
        return "" if self.low is None or self.high is None else f"{self.low:.2f} to {self.high:.2f}"


def correlation_map(cells: Sequence[MapCell], scheme: Scheme) -> go.Figure:
    """Rho of every evaluator with every task: blue where it foretells the task, orange where it is the other way round.

    Below rho stand the numbers of variants and families, the interval where there is one, and the change where variants
    were left out. Cells without a correlation are grey, crossed out, and tell why when pointed at.

    Args:
        cells: one per evaluator and task, evaluator by evaluator.
    """
    rows, columns = (list(dict.fromkeys(names)) for names in zip(*((c.evaluator, c.task) for c in cells), strict=True))
    known = {(c.evaluator, c.task): c for c in cells}
    grid = [[known[row, column] for column in columns] for row in rows]
    roomy = len(columns) <= ROOMY
    axes = {"x": list(range(len(columns))), "y": list(range(len(rows)))}
    figure = go.Figure(
        go.Heatmap(
            **axes,
            z=[[cell.rho for cell in row] for row in grid],
            text=[[_written(cell, roomy) for cell in row] for row in grid],
            hovertext=[[_pointed_at(cell) for cell in row] for row in grid],
            texttemplate="%{text}",
            textfont={"size": 12, "color": ink(scheme)},
            hovertemplate="%{hovertext}<extra></extra>",
            hoverongaps=False,
            colorscale=DIVERGING[scheme],
            zmin=-1.0,
            zmax=1.0,
            showscale=False,
            xgap=2,
            ygap=2,
        )
    )
    if any(cell.rho is None for cell in cells):
        plain = _PLAIN[scheme]
        figure.add_heatmap(
            **axes,
            z=[[0.0 if cell.rho is None else None for cell in row] for row in grid],
            text=[["×" if cell.rho is None else "" for cell in row] for row in grid],
            hovertext=[[_pointed_at(cell) for cell in row] for row in grid],
            texttemplate="%{text}",
            textfont={"size": 14, "color": ink(scheme)},
            hovertemplate="%{hovertext}<extra></extra>",
            hoverongaps=False,
            colorscale=((0.0, plain), (1.0, plain)),
            showscale=False,
            xgap=2,
            ygap=2,
        )
    lines = 2 + (1 if roomy else 2) * any(cell.interval for cell in cells) + any(c.change is not None for c in cells)
    labels = [wrapped(name, LABEL_WIDTH) for name in rows]
    height = _LINE * max(lines, *(label.count("<br>") + 1 for label in labels)) + 12
    figure.update_xaxes(
        tickvals=axes["x"],
        ticktext=[wrapped(name, TASK_WIDTH) if roomy else escape(name, quote=False) for name in columns],
        side="top",
        showgrid=False,
        tickangle=0 if roomy else -90,
        range=[-0.5, len(columns) - 0.5],
    )
    figure.update_yaxes(
        tickvals=axes["y"],
        ticktext=labels,
        showgrid=False,
        range=[len(rows) - 0.5, -0.5],
    )
    return dress(figure, scheme, height=80 + height * len(rows))


def _written(cell: MapCell, roomy: bool) -> str:
    """In as few characters per line as go into a column."""
    if cell.rho is None:
        return ""
    rho = f"{cell.rho:.2f}" if roomy else _short(cell.rho)
    lines = [f"{cell.n} · {cell.families}" if roomy else f"{cell.n}·{cell.families}"]
    if cell.low is not None and cell.high is not None:
        lines += [cell.interval] if roomy else [f"[{_short(cell.low)}", f"{_short(cell.high)}]"]
    if cell.change is not None:
        lines.append(f"Δ{_short(cell.change, '+')}")
    return "<br>".join([f"<b>{rho}</b>", *(f"<span style='font-size:10px'>{line}</span>" for line in lines)])


def _short(value: float, sign: str = "-") -> str:
    """``.67``, ``-.30``, ``1.0``, ``0``; with a ``+`` for ``sign`` both signs are written."""
    written = f"{value:{sign}.2f}"
    if float(written) == 0:
        return "0"
    return written.replace("0.", ".") if abs(float(written)) < 1 else f"{value:{sign}.1f}"


def _pointed_at(cell: MapCell) -> str:
    lines = [f"{escape(cell.evaluator, quote=False)} and {escape(cell.task, quote=False)}"]
    if cell.rho is not None:
        lines.append(f"rho {cell.rho:.3f}")
    lines.append(f"{cell.n} variants of {cell.families} families")
    if cell.interval:
        lines.append(f"95% interval {cell.interval}, over families")
    if cell.change is not None:
        lines.append(f"by what was left out: {cell.change:+.3f}")
    if cell.why:
        lines += wrapped(cell.why, 60).split("<br>")
    return "<br>".join(lines)


# --- one cell


@dataclass(frozen=True)
class Point:
    """A variant by its two scores, or its places by them."""

    variant: Variant
    family: str
    x: float
    y: float


@dataclass(frozen=True)
class Axis:
    """What an axis shows; ``is_reversed`` where less is better, so that better is always up and to the right."""

    title: str
    is_reversed: bool


def score_scatter(
    points: Sequence[Point],
    families: Sequence[str],
    x: Axis,
    y: Axis,
    styles: Mapping[Variant, Style],
    scheme: Scheme,
) -> go.Figure:
    """A point per variant: its colour is the variant's, its symbol the family's.

    Args:
        families: all that there are, also those that are left out: a family's symbol is by its place.
    """
    figure = go.Figure()
    drawn = [family for family in families if any(point.family == family for point in points)]
    for family in drawn:
        own = [point for point in points if point.family == family]
        symbol = _SYMBOLS[families.index(family) % len(_SYMBOLS)]
        name = escape(family, quote=False)
        figure.add_scatter(
            x=[point.x for point in own],
            y=[point.y for point in own],
            mode="markers",
            marker={
                "color": [styles[point.variant].colour for point in own],
                "symbol": symbol,
                "size": 13,
                "line": {"color": ink(scheme), "width": 0.7},
            },
            legendgroup=name,
            showlegend=False,
            name=name,
            text=[escape(point.variant.label, quote=False) for point in own],
            hovertemplate=f"%{{text}}<br>%{{x:.4~f}} and %{{y:.4~f}}<extra>{name}</extra>",
        )
        figure.add_scatter(  # the legend speaks of symbols only
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
    dress(figure, scheme, height=440 + 22 * len(drawn))
    return figure.update_layout(legend={"orientation": "h", "y": -0.18, "yanchor": "top"})


# --- two evaluators


@dataclass(frozen=True)
class Duel:
    """What two evaluators reach on a task, over the same variants; ``said`` is their difference in words."""

    task: str
    first: float
    second: float
    said: str


def duels(rows: Sequence[Duel], first: str, second: str, scheme: Scheme) -> go.Figure:
    """Two marks per task, joined: how well either evaluator foretells it."""
    blue, orange = (look.colour for look in looks(2, scheme))
    places = list(range(len(rows)))
    figure = go.Figure()
    for y, row in enumerate(rows):
        figure.add_shape(
            type="line", x0=row.first, x1=row.second, y0=y, y1=y, line={"color": _GREY, "width": 2}, layer="below"
        )
    for name, colour, symbol, values in (
        (first, blue, FIRST, [row.first for row in rows]),
        (second, orange, SECOND, [row.second for row in rows]),
    ):
        figure.add_scatter(
            x=values,
            y=places,
            mode="markers",
            name=escape(name, quote=False),
            marker={"color": colour, "symbol": symbol, "size": 12},
            text=[f"{escape(row.task, quote=False)}: {escape(row.said, quote=False)}" for row in rows],
            hovertemplate="%{text}<br>rho %{x:.3f}<extra>%{fullData.name}</extra>",
        )
    figure.add_vline(x=0.0, line={"color": ink(scheme), "width": 1, "dash": "dot"})
    figure.update_xaxes(title="correlation with the task (rho)", range=[-1.05, 1.05])
    figure.update_yaxes(
        tickvals=places,
        ticktext=[wrapped(row.task, TASK_WIDTH) for row in rows],
        range=[len(rows) - 0.5, -0.5],
        showgrid=False,
    )
    figure.update_layout(showlegend=True)
    return dress(figure, scheme, height=150 + 40 * len(rows))
