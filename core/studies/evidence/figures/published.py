"""Published correlations as a map: framed cells, and below each row what was measured here, filled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np
import plotly.graph_objects as go
from plotly.colors import hex_to_rgb

from core.figures.labels import wrapped
from core.figures.theme import DIVERGING, Scheme, dress, ink

ROW_HEIGHT = 27
LABEL_WIDTH = 18  # characters of a row's name in one line
TASK_WIDTH = 8
CELL_WIDTH, CELL_HEIGHT = 0.9, 0.8  # of a column and a row, so that frames do not touch
TINT = 0.35  # how much of the scale's colour fills a frame
FRAME = "#8A94A0"  # to be seen on light and dark, around numbers near 0 too
HERE = "↳ here"


@dataclass(frozen=True)
class MapRow:
    """A row of the map.

    Attributes:
        name: of the evaluator.
        values: a number per column; columns that are missing stay empty. From -1 to 1, unless the map is given another
            span.
        said: what pointing at a cell tells on top, by column.
        is_published: whether it is framed; else it is filled, and belongs to the row above it.
    """

    name: str
    values: Mapping[str, float]
    said: Mapping[str, str]
    is_published: bool = True


def published_map(
    rows: Sequence[MapRow],
    columns: Sequence[str],
    scheme: Scheme,
    *,
    span: tuple[float, float] = (-1.0, 1.0),
    decimals: int = 2,
) -> go.Figure:
    """Published numbers in grey frames, with a tint of the scale's colour; measured ones on the colour itself.

    Args:
        rows: from top to bottom.
        columns: from left to right.
        span: the scale's ends.
        decimals: of the numbers that stand in cells.
    """
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
        low, high = span
        shares = [(row.values[column] - low) / (high - low) for *_, row, column in cells]
        colours = [_colour(share, scheme) for share in shares]
        tinted = [_colour(share, scheme, TINT) for share in shares]
        figure.add_bar(
            name="published" if published else "measured here",
            orientation="h",
            y=[y for y, *_ in cells],
            base=[x - CELL_WIDTH / 2 for _, x, *_ in cells],
            x=[CELL_WIDTH] * len(cells),
            width=CELL_HEIGHT,
            marker={"color": tinted, "line": {"color": FRAME, "width": 1.5}} if published else {"color": colours},
            hovertext=[_pointed_at(row, column, decimals) for *_, row, column in cells],
            hovertemplate="%{hovertext}<extra></extra>",
            showlegend=False,
        )
        figure.add_scatter(  # not as the bars' own text, which a browser takes half as long again to lay out
            mode="text",
            x=[x for _, x, *_ in cells],
            y=[y for y, *_ in cells],
            text=[f"{row.values[column]:.{decimals}f}" for *_, row, column in cells],
            textfont={"size": 12, "color": ink(scheme)},
            hoverinfo="skip",
            showlegend=False,
        )
    figure.update_xaxes(
        tickvals=list(range(len(columns))),
        ticktext=[wrapped(column, TASK_WIDTH) for column in columns],
        side="top",
        showgrid=False,
        tickangle=0 if len(columns) <= 8 else -90,
        tickfont={"size": 11},
        range=[-0.5, len(columns) - 0.5],
        fixedrange=True,
    )
    figure.update_yaxes(
        tickvals=list(range(len(rows))),
        ticktext=[wrapped(row.name, LABEL_WIDTH) if row.is_published else f"<i>{HERE}</i>" for row in rows],
        tickfont={"size": 12},
        showgrid=False,
        range=[len(rows) - 0.5, -0.5],
        fixedrange=True,
    )
    figure.update_layout(barmode="overlay")
    return dress(figure, scheme, height=80 + ROW_HEIGHT * len(rows))


def _pointed_at(row: MapRow, column: str, decimals: int) -> str:
    where = "published" if row.is_published else "measured here"
    said = [escape(line, quote=False) for line in row.said.get(column, "").split("\n") if line]
    names = f"{escape(row.name, quote=False)}, {escape(column, quote=False)}"
    return "<br>".join([names, f"{where}: {row.values[column]:.{decimals}f}", *said])


def _colour(share: float, scheme: Scheme, opacity: float | None = None) -> str:
    """Of the scale at a share of it; beyond its ends that of the end."""
    stops = [stop for stop, _ in DIVERGING[scheme]]
    channels = np.array([hex_to_rgb(colour) for _, colour in DIVERGING[scheme]], dtype=np.float64).T
    rgb = [round(float(np.interp(share, stops, channel))) for channel in channels]
    numbers = ", ".join(map(str, rgb))
    return f"rgb({numbers})" if opacity is None else f"rgba({numbers}, {opacity})"
