"""Figures of the page Retrieval: scores beside keyword search, and query by query A against B."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from blindspot.figures.theme import Scheme, Style, apply_layout, faint, ink
from blindspot.numerics.statistics.written import SCORE, number
from blindspot.texts import counted
from blindspot.types import Bool, Float64
from blindspot.variants import Variant

KEYWORDS = Variant("BM25", "none")  # as a row of dots
EDGE = 0.02  # between dots and the outline of an area


def keyword_style(scheme: Scheme) -> Style:
    """The look of keyword search, which is not a model: hollow, in the faint color of less important text."""
    return Style(color=faint(scheme), symbol="diamond-open", dash="dot")


def against(
    a: Float64,
    b: Float64,
    numbers: Sequence[int],
    chosen: int | None,
    names: tuple[str, str],
    title: str,
    areas: Sequence[tuple[float, float, float, float]],
    selected: Bool | None,
    scheme: Scheme,
    style: Style,
) -> go.Figure:
    """Every query's score in A and in B, ``[m]`` each, with a ring around the chosen number.

    Queries with the same scores share a dot, larger for more of them; a selection returns the number of one of them.

    Args:
        names: of A and B, escaped.
        title: of the score.
        areas: to outline, each ``(lowest score in A, highest in A, lowest in B, highest in B)``.
        selected: ``[m]``, the queries to highlight, if any are selected; all queries of a dot, or none.
    """
    places, first, counts = np.unique(np.stack([a, b], axis=1), axis=0, return_index=True, return_counts=True)
    figure = go.Figure()
    figure.add_scatter(x=[0, 1], y=[0, 1], mode="lines", line={"color": ink(scheme), "width": 1, "dash": "dot"},
                       hoverinfo="skip", opacity=0.6)  # fmt: skip
    figure.add_scatter(
        x=places[:, 0],
        y=places[:, 1],
        mode="markers",
        cliponaxis=False,
        marker={"color": style.color, "size": np.minimum(6 + 2 * np.sqrt(counts), 30), "opacity": 0.65},
        customdata=np.asarray(numbers)[first],  # all that the server's gate lets a selection return
        text=[
            f"A {number(x, SCORE)}, B {number(y, SCORE)}<br>{counted(count, 'query', 'queries')}"
            for (x, y), count in zip(places.tolist(), counts.tolist(), strict=True)
        ],
        hovertemplate="%{text}, such as %{customdata}<extra></extra>",
        selectedpoints=None if selected is None else np.flatnonzero(selected[first]).tolist(),
        selected={"marker": {"opacity": 0.9}},
        unselected={"marker": {"opacity": 0.15}},
    )
    if chosen is not None and chosen in numbers:
        at = list(numbers).index(chosen)
        figure.add_scatter(
            x=[a[at]],
            y=[b[at]],
            mode="markers",
            marker={"color": "rgba(0,0,0,0)", "size": 18, "line": {"color": ink(scheme), "width": 3}},
            hoverinfo="skip",
        )
    for a_low, a_high, b_low, b_high in areas:
        corners = {"x0": a_low - EDGE, "x1": a_high + EDGE, "y0": b_low - EDGE, "y1": b_high + EDGE}
        figure.add_shape(type="rect", line={"color": ink(scheme), "width": 1.5}, **corners)
    figure.update_xaxes(title=f"{title} in A: {names[0]}", range=[-0.04, 1.04])
    figure.update_yaxes(title=f"{title} in B: {names[1]}", range=[-0.04, 1.04])
    figure.update_layout(showlegend=False, dragmode="select")
    return apply_layout(figure, scheme, height=380)
