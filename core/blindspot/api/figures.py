"""Figures of results in notebooks."""

from __future__ import annotations

from html import escape
from typing import TypeAlias

import plotly.graph_objects as go

from blindspot.figures.theme import Scheme, apply_layout
from blindspot.numerics.statistics.compare import ItemScores
from blindspot.numerics.statistics.written import SCORE, number

BINS = 40
Figure: TypeAlias = go.Figure


def distribution(items: ItemScores, name: str, model: str) -> Figure:
    """Histogram of the items' values, or of their influences on a correlation, with the score."""
    figure = Figure(go.Histogram(x=items.parts, nbinsx=BINS, hovertemplate="%{x}: %{y:,} items<extra></extra>"))
    axis = f"{name} of an item" if items.is_mean else f"what an item adds to {name}"
    figure.update_layout(title=f"{escape(model)}: {name} {number(items.value, SCORE)}", showlegend=False)
    figure.update_xaxes(title=axis)
    figure.update_yaxes(title="items")
    if items.is_mean:
        figure.add_vline(items.value, line_dash="dash")
    return apply_layout(figure, Scheme.LIGHT, height=360)
