"""Figures of the view *orderings* of HEROS."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import plotly.graph_objects as go

from core.figures.heros import LEGEND_HEIGHT, ROW_HEIGHT, label
from core.figures.theme import Scheme, Style, dress, ink
from core.types import Variant


def ordering_rates(
    rates: Mapping[Variant, Mapping[str, tuple[float, float, float]]], styles: Mapping[Variant, Style], scheme: Scheme
) -> go.Figure:
    """Share of originals whose one rewrite is more similar than the other, with its interval, a row per ordering.

    Args:
        rates: per variant and ordering (``synonym>antonym``): rate, lower and upper end.
    """
    figure = go.Figure()
    names = list(next(iter(rates.values())))
    for i, (variant, row) in enumerate(rates.items()):
        style = styles[variant]
        rate, low, high = (np.array([row[name][k] for name in names]) for k in range(3))
        offset = (i - (len(rates) - 1) / 2) * 0.7 / len(rates)  # variants stand below each other, not on each other
        figure.add_scatter(
            x=rate,
            y=np.arange(len(names)) + offset,
            error_x={"type": "data", "array": high - rate, "arrayminus": rate - low, "thickness": 1.5},
            mode="markers",
            name=variant.label,
            marker={"color": style.colour, "symbol": style.symbol, "size": 10},
            customdata=[label(name) for name in names],
            hovertemplate="%{customdata}: %{x:.1%}<extra>%{fullData.name}</extra>",
        )
    figure.add_vline(x=0.5, line={"color": ink(scheme), "width": 1, "dash": "dot"})
    figure.update_yaxes(tickvals=list(range(len(names))), ticktext=[label(name) for name in names])
    figure.update_yaxes(autorange="reversed", showgrid=False, zeroline=False)
    figure.update_xaxes(title="share of originals (dotted: chance)", tickformat=".0%", range=[-0.02, 1.02])
    figure.update_layout(showlegend=True)
    return dress(figure, scheme, height=120 + ROW_HEIGHT * len(names) + LEGEND_HEIGHT * len(rates))
