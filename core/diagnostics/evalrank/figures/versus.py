"""The figure of EvalRank's A against B: differences to a baseline with their intervals (a forest plot)."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
import plotly.graph_objects as go

from core.figures.theme import Scheme, Style, dress, ink
from core.types import Variant

ROW_HEIGHT = 18  # pixels of a difference
GROUP_HEIGHT = 26  # and of the room between two scores


def difference_forest(
    rows: pd.DataFrame, baseline: Variant, styles: Mapping[Variant, Style], scheme: Scheme
) -> go.Figure:
    """Per score a group of rows, in it per variant its difference to the baseline; right of 0 is better.

    Args:
        rows: columns ``variant, score, difference, low, high, verdict``; low and high are NaN without an interval.
    """
    figure = go.Figure()
    scores, variants = list(dict.fromkeys(rows["score"])), list(dict.fromkeys(rows["variant"]))
    for place, variant in enumerate(variants):
        own = rows[rows["variant"] == variant]
        style = styles[variant]
        step = 0.8 / len(variants)
        offset = (place - (len(variants) - 1) / 2) * step
        figure.add_scatter(
            x=own["difference"].tolist(),
            y=[scores.index(score) + offset for score in own["score"]],
            mode="markers",
            name=variant.label,
            marker={"color": style.colour, "symbol": style.symbol, "size": 9},
            error_x={
                "type": "data",
                "symmetric": False,
                "array": (own["high"] - own["difference"]).tolist(),
                "arrayminus": (own["difference"] - own["low"]).tolist(),
                "color": style.colour,
                "thickness": 2,
                "width": 4,
            },
            customdata=own[["score", "low", "high", "verdict"]].to_numpy(),
            hovertemplate="%{customdata[0]}: %{x:+.4f} [%{customdata[1]:+.4f}, %{customdata[2]:+.4f}]<br>"
            "%{customdata[3]}<extra>%{fullData.name}</extra>",
        )
    figure.add_vline(x=0, line={"color": ink(scheme), "width": 1.5, "dash": "dot"})
    for between in range(1, len(scores)):
        figure.add_hline(y=between - 0.5, line={"color": ink(scheme), "width": 0.5}, opacity=0.3)
    figure.update_layout(showlegend=True)
    figure.update_yaxes(
        range=[len(scores) - 0.5, -0.5], tickvals=list(range(len(scores))), ticktext=scores, showgrid=False
    )
    figure.update_xaxes(title=f"difference to {baseline.label}", tickformat="+.3~f")
    height = 110 + len(scores) * (ROW_HEIGHT * len(variants) + GROUP_HEIGHT)
    figure = dress(figure, scheme, height=height)
    # Below the figure: names are long, and beside it they would take a narrow screen's room.
    return figure.update_layout(legend={"orientation": "h", "yanchor": "bottom", "y": 1.0, "x": 0})
