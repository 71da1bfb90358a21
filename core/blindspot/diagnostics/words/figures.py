"""Figures of the page Words: scores by task, accuracy by section, and the confusion of classes and clusters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

import plotly.graph_objects as go

from blindspot.figures.dots import Dots, dots
from blindspot.figures.labels import wrapped
from blindspot.figures.theme import SEQUENTIAL, Scheme, Style, apply_layout, ink
from blindspot.numerics.statistics.written import number, percent
from blindspot.texts import counted
from blindspot.types import Float64, Int64
from blindspot.variants import Variant

HOLLOW = ("circle-open", "square-open", "diamond-open", "triangle-up-open", "star-open", "cross-open")
LABEL_WIDTH = 30
MANY = 30  # classes: with more, cells have no numbers


def task_dots(
    measured: Dots,
    published: Mapping[str, Mapping[str, float]],
    styles: Mapping[Variant, Style],
    scheme: Scheme,
    *,
    axis: str,
    specs: Mapping[str, str],
) -> go.Figure:
    """A row per task: measured scores filled, with their intervals; published ones hollow and without color.

    Args:
        measured: named by task.
        published: scores by name of the embedding and by task.
        specs: formats of scores, by task from top to bottom.
    """
    tasks = list(specs)
    figure = dots(measured, styles, scheme, axis=axis, names=tasks, spec=specs)
    for place, (name, scores) in enumerate(published.items()):
        figure.add_scatter(
            name=f"{escape(name, quote=False)}, published",
            x=list(scores.values()),
            y=[tasks.index(task) for task in scores],
            mode="markers",
            marker={
                "symbol": HOLLOW[place % len(HOLLOW)],
                "size": 9,
                "color": ink(scheme),
                "line": {"width": 1.2},
            },
            opacity=0.65,
            text=[f"{escape(task, quote=False)}: {number(score, specs[task])}" for task, score in scores.items()],
            hovertemplate="%{text}<extra>%{fullData.name}</extra>",
        )
    figure.update_xaxes(rangemode="tozero")
    return figure.update_layout(
        legend={"orientation": "h", "yanchor": "bottom", "y": 1.02, "xanchor": "left", "x": 0.0}
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
        customdata=[
            [f"{counted(count, 'word')}, {percent(share)} of the class" for count, share in zip(*row, strict=True)]
            for row in zip(table.T.tolist(), shares.T.tolist(), strict=True)
        ],
        colorscale=SEQUENTIAL[scheme],
        zmin=0,
        zmax=100,
        xgap=1,
        ygap=1,
        colorbar={"title": {"text": "% of class"}, "thickness": 10},
        showscale=len(classes) > MANY,  # numbers in cells need no scale
        hovertemplate="%{y}<br>cluster %{x}: %{customdata}<extra></extra>",
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
