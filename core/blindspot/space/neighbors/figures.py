"""Figures of the page Neighbors: overlap of neighbor lists over queries, and a number per two models."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from blindspot.figures.theme import SEQUENTIAL, Scheme, apply_layout, ink, shade
from blindspot.numerics.statistics.written import SCORE, each_written
from blindspot.types import Float64

_BAR = {Scheme.LIGHT: "#0072B2", Scheme.DARK: "#4FA8E0"}
CELL_HEIGHT = 56
ROW_HEIGHT = 46


def overlap_boxes(
    values: Mapping[str, Float64], values_here: Mapping[str, float], measure: str, scheme: Scheme
) -> go.Figure:
    """The distribution of an overlap over queries: a box from quartile to quartile, whiskers from 5% to 95%.

    Args:
        values: by the name of a pair of encoders (``1·2``), ``[q]`` from 0 to 1.
        values_here: the overlap of the chosen query, by the same names; empty without a query.
    """
    figure = go.Figure()
    names = list(values)
    for name, overlaps in values.items():
        low, first, median, third, high = np.percentile(overlaps, [5, 25, 50, 75, 95]).tolist()
        figure.add_box(
            y=[name],
            q1=[first],
            median=[median],
            q3=[third],
            lowerfence=[low],
            upperfence=[high],
            mean=[float(overlaps.mean())],
            boxmean=True,
            orientation="h",
            showlegend=False,
            line={"color": _BAR[scheme], "width": 1.5},
            fillcolor=shade(SEQUENTIAL[scheme], 0.5),
            hoverinfo="x+y",
        )
    shown = [name for name in names if name in values_here]
    if shown:
        figure.add_scatter(
            x=[values_here[name] for name in shown],
            y=shown,
            mode="markers",
            name="this query",
            marker={"symbol": "diamond", "size": 12, "color": ink(scheme)},
            text=each_written(values_here[name] for name in shown),
            hovertemplate="this query: %{text}<extra>%{y}</extra>",
        )
    figure.update_xaxes(range=[-0.02, 1.02], title=measure, tickformat=".1f", hoverformat=SCORE)
    figure.update_yaxes(categoryorder="array", categoryarray=names[::-1], type="category")
    figure = apply_layout(figure, scheme, height=110 + ROW_HEIGHT * len(names))
    return figure.update_layout(showlegend=bool(shown))


def encoder_matrix(grid: Float64, names: Sequence[str], scheme: Scheme, what: str) -> go.Figure:
    """A heatmap of ``[v, v]`` numbers from 0 to 1, each written into its cell; NaN is a dash."""
    written = [each_written(row, ".2f") for row in grid]
    figure = go.Figure(
        go.Heatmap(
            z=[[None if math.isnan(v) else v for v in row] for row in grid.tolist()],
            x=list(names),
            y=list(names),
            zmin=0,
            zmax=1,
            colorscale=SEQUENTIAL[scheme],
            showscale=False,
            xgap=2,
            ygap=2,
            text=written,
            texttemplate="%{text}",
            textfont={"size": 14, "color": ink(scheme)},
            hovertemplate=f"%{{y}} and %{{x}}: %{{text}} {what}<extra></extra>",
            hoverongaps=False,
        )
    )
    for i, j in np.argwhere(np.isnan(grid)).tolist():  # an empty cell has no text of its own
        # x and y are positions: plotly would take a name like "1" for one.
        figure.add_annotation(x=j, y=i, text="–", showarrow=False, font={"color": ink(scheme), "size": 14})
    figure.update_xaxes(type="category", showgrid=False, side="top")
    figure.update_yaxes(type="category", showgrid=False, autorange="reversed")
    return apply_layout(figure, scheme, height=60 + CELL_HEIGHT * len(names))
