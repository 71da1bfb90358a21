"""Bump chart: the places of models by one score after another (figure 4 of Wang 2022)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import plotly.graph_objects as go

from core.figures.labels import wrapped
from core.figures.theme import Scheme, Style, dress, ink

ROW = 19  # pixels of a line's name
COLUMN_WIDTH = 10  # characters of a column's name in one line
REACH = (
    0.32  # how far lines go on beyond the outer columns, to their names: those of the tied would stand on each other
)
SIZE = 9
FAINT = 0.13
_GREY = "#8A94A0"  # to be seen on light and dark


@dataclass(frozen=True)
class Column:
    """A score that models are ranked by; ``note`` stands below its name."""

    name: str
    note: str


@dataclass(frozen=True)
class Line:
    """A model.

    Attributes:
        name: in full, for pointing at it.
        label: short, at its left end.
        places: one per column, from 1; the tied share the mean of theirs.
        said: one per column: its score.
        is_faint: whether it stands back behind others.
        is_hollow: whether it was published, not computed here.
    """

    name: str
    label: str
    places: Sequence[float]
    said: Sequence[str]
    style: Style
    is_faint: bool = False
    is_hollow: bool = False


def bump_chart(lines: Sequence[Line], columns: Sequence[Column], scheme: Scheme) -> go.Figure:
    """A line per model, the best on top, from the first column, the pivot, to the last.

    At the left stand numbers and names in the pivot's order, at the right the same numbers in the last column's: names
    at both ends would leave a narrow screen no room.

    Args:
        lines: one or more, all with a place in every column.
        columns: two or more.
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
            line={"color": style.colour, "dash": "dash" if line.is_hollow else "solid", "width": 2},
            marker={
                "color": style.colour,
                "symbol": f"{style.symbol}-open" if line.is_hollow else style.symbol,
                "size": [0, *[SIZE] * len(columns), 0],
                "opacity": 1,
                "line": {"width": 2 if line.is_hollow else 0},
            },
            customdata=[
                [escape(column.name, quote=False), f"place {place:g} of {n}", escape(said, quote=False)]
                for column, place, said in _with_ends(columns, line)
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
    return dress(figure, scheme, height=110 + ROW * n)


def _with_ends(columns: Sequence[Column], line: Line) -> list[tuple[Column, float, str]]:
    """Column, place and score per point of a line; its ends say what the outer columns do."""
    points = list(zip(columns, line.places, line.said, strict=True))
    return [points[0], *points, points[-1]]


def _number(line: Line, number: int) -> str:
    colour = _GREY if line.is_faint else line.style.colour
    return f"<span style='color:{colour}'><b>{number}</b></span>"


def _label(line: Line) -> str:
    label = escape(line.label, quote=False)
    return f"<span style='color:{_GREY}'>{label}</span>" if line.is_faint else label
