"""Figure of the Overview: one row per model, best first, with its headline score and interval."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

import pandas as pd
import plotly.graph_objects as go

from blindspot.figures.dots import error_bars, interval_text
from blindspot.figures.labels import wrapped
from blindspot.figures.theme import Scheme, Style, apply_layout
from blindspot.numerics.statistics.written import SCORE, number
from blindspot.variants import Variant

ROW = 26  # pixels of a model whose name takes one line
LINE = 16  # of each further line
FRAME = 62  # of the axis
NAME_WIDTH = 24  # characters of a line of a name: what a phone has room for
AXIS_WIDTH = 40  # and of the axis's title


def score_dots(
    scores: pd.DataFrame,
    axis: str,
    styles: Mapping[Variant, Style],
    scheme: Scheme,
    *,
    is_at_most_one: bool = True,
) -> go.Figure:
    """A row per model at its score, its name beside it: no two overlap, and no legend is needed.

    Args:
        scores: columns ``variant, score, low, high``, first on top; low and high are NaN without an interval. At least
            one row.
        axis: its title.
        is_at_most_one: the score cannot exceed 1.
    """
    figure = go.Figure()
    names = [wrapped(variant.label, NAME_WIDTH) for variant in scores["variant"]]
    for place, variant in enumerate(scores["variant"]):
        rows, style = scores.iloc[[place]].rename(columns={"score": "value"}), styles[variant]
        row = rows.iloc[0]
        figure.add_scatter(
            x=[row["value"]],
            y=[place],
            error_x=error_bars(rows, style.color),
            mode="markers",
            name=escape(variant.label, quote=False),
            marker={"color": style.color, "symbol": style.symbol, "size": 11},
            hovertemplate=f"{number(row['value'], SCORE)}{interval_text(row['low'], row['high'])}"
            "<extra>%{fullData.name}</extra>",
        )
    low = float(scores["low"].fillna(scores["score"]).min())
    high = float(scores["high"].fillna(scores["score"]).max())
    room = 0.05 * (high - low) or 0.05
    end = min(high + room, 1.0 + room / 4) if is_at_most_one else high + room
    title = wrapped(axis, AXIS_WIDTH)
    figure.update_xaxes(title=title, range=[max(0.0, low - room) if low >= 0 else low - room, end], fixedrange=True)
    figure.update_yaxes(
        tickvals=list(range(len(names))), ticktext=names, range=[len(names) - 0.5, -0.5], fixedrange=True
    )
    lines = max(name.count("<br>") for name in names)
    apply_layout(figure, scheme, height=FRAME + LINE * title.count("<br>") + (ROW + LINE * lines) * len(names))
    return figure.update_layout(showlegend=False, margin={"l": 8, "r": 8, "t": 8, "b": 8})
