"""Figures of the page Words: scores by task, accuracy by section, and the confusion of classes and clusters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

import plotly.graph_objects as go

from blindspot.figures.labels import wrapped
from blindspot.figures.theme import SEQUENTIAL, Scheme, Style, apply_layout, ink
from blindspot.types import Float64, Int64
from blindspot.variants import Variant

HOLLOW = ("circle-open", "square-open", "diamond-open", "triangle-up-open", "star-open", "cross-open")
LABEL_WIDTH = 30
ROW_HEIGHT = 30
SIZE = 11  # pixels of a mark
MANY = 30  # classes: cells of more have no numbers


@dataclass(frozen=True)
class Line:
    """Scores as fractions by task, of a variant or, if that is None, of a published embedding."""

    name: str
    values: Mapping[str, float]
    variant: Variant | None = None


def table_dots(
    lines: Sequence[Line], tasks: Mapping[str, str], styles: Mapping[Variant, Style], scheme: Scheme, *, axis: str
) -> go.Figure:
    """A row per task, a mark per line at its score: filled if measured, hollow and without color if published.

    Args:
        tasks: titles of the rows, by the names that the lines have.
    """
    figure = go.Figure()
    titles = {name: escape(title, quote=False) for name, title in tasks.items()}
    hollow = 0
    for line in lines:
        shown = [task for task in tasks if task in line.values]
        if line.variant is None:
            marker = {"symbol": HOLLOW[hollow % len(HOLLOW)], "size": 9, "color": ink(scheme), "line": {"width": 1.2}}
            hollow += 1
        else:
            style = styles[line.variant]
            marker = {"symbol": style.symbol, "size": SIZE, "color": style.color}
        name = escape(line.name, quote=False)
        figure.add_scatter(
            name=name if line.variant else f"{name}, published",
            x=[100 * line.values[task] for task in shown],
            y=[titles[task] for task in shown],
            mode="markers",
            marker=marker,
            opacity=0.65 if line.variant is None else 0.85,
            hovertemplate="%{y}: %{x:.1f}<extra>%{fullData.name}</extra>",
            legendgroup="published" if line.variant is None else "measured",
        )
    figure.update_xaxes(title=axis, rangemode="tozero")
    figure.update_yaxes(type="category", categoryorder="array", categoryarray=list(titles.values())[::-1])
    apply_layout(figure, scheme, height=150 + ROW_HEIGHT * len(tasks))
    return figure.update_layout(
        showlegend=True, legend={"orientation": "h", "yanchor": "bottom", "y": 1.02, "xanchor": "left", "x": 0.0}
    )


def confusion(
    table: Int64, shares: Float64, classes: Sequence[str], clusters: Sequence[int], scheme: Scheme
) -> go.Figure:
    """Words by class and cluster: the counts ``table [clusters, classes]``, colored by their shares of the class."""
    labels = [wrapped(name, LABEL_WIDTH) for name in classes]
    figure = go.Figure()
    figure.add_heatmap(
        z=(100 * shares).T,
        x=[str(c) for c in clusters],
        y=labels,
        customdata=table.T,
        colorscale=SEQUENTIAL[scheme],
        zmin=0,
        zmax=100,
        xgap=1,
        ygap=1,
        colorbar={"title": {"text": "% of class"}, "thickness": 10},
        showscale=len(classes) > MANY,  # numbers in cells need no scale
        hovertemplate="%{y}<br>cluster %{x}: %{customdata} words, %{z:.0f}% of the class<extra></extra>",
    )
    if len(classes) <= MANY:
        figure.update_traces(
            text=[[str(v) if v else "" for v in row] for row in table.T],
            texttemplate="%{text}",
            textfont={"color": ink(scheme)},
        )
    figure.update_xaxes(title="cluster", type="category", showgrid=False)
    figure.update_yaxes(type="category", autorange="reversed", showgrid=False)
    return apply_layout(figure, scheme, height=140 + (22 if len(classes) <= MANY else 15) * len(classes))
