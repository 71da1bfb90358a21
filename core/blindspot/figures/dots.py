"""Dot plots of values with their intervals: a row per name, variants below each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from blindspot.figures.theme import Scheme, Style, apply_layout
from blindspot.numerics.statistics.estimate import check_is_inside
from blindspot.numerics.statistics.intervals import Interval
from blindspot.numerics.statistics.written import ci
from blindspot.variants import Variant

ROW_ROOM = 16  # pixels of a variant in a row of dots
ROW_MARGIN = 24  # and of the room between two rows
LEGEND_LINE = 22
DOT = ["variant", "name", "value", "low", "high"]


def dot(variant: Variant, name: str, value: float, interval: Interval | None) -> dict[str, object]:
    """A row of ``dots``, with the columns ``DOT``; raises ``ValueError`` for the interval of another value."""
    check_is_inside(value, interval)
    low, high = (interval.low, interval.high) if interval else (np.nan, np.nan)
    return dict(zip(DOT, (variant, name, value, low, high), strict=True))


def dots(
    rows: pd.DataFrame,
    styles: Mapping[Variant, Style],
    scheme: Scheme,
    *,
    axis: str,
    names: Sequence[str] = (),
) -> go.Figure:
    """Values with their 95% intervals, a row per name, variants below each other.

    Args:
        rows: columns ``DOT``; low and high are NaN without an interval.
        names: of the rows from top to bottom, also of those without a value; as in ``rows`` if left out.
    """
    figure = go.Figure()
    variants = list(dict.fromkeys(rows["variant"]))
    names = list(names) or list(dict.fromkeys(rows["name"]))
    for i, variant in enumerate(variants):
        style, own = styles[variant], rows[rows["variant"] == variant]
        offset = (i - (len(variants) - 1) / 2) * 0.7 / len(variants)
        figure.add_scatter(
            x=own["value"].tolist(),
            y=[names.index(name) + offset for name in own["name"]],
            error_x=error_bars(own, style.color),
            mode="markers",
            name=escape(variant.label, quote=False),
            marker={"color": style.color, "symbol": style.symbol, "size": 10},
            customdata=[
                [escape(name, quote=False), interval_text(low, high)]
                for name, low, high in zip(own["name"], own["low"], own["high"], strict=True)
            ],
            hovertemplate="%{customdata[0]}: %{x:.4f}%{customdata[1]}<extra>%{fullData.name}</extra>",
        )
    figure.update_yaxes(
        tickvals=list(range(len(names))),
        ticktext=[escape(name, quote=False) for name in names],
        range=[len(names) - 0.5, -0.5],
        showgrid=False,
    )
    figure.update_xaxes(title=axis)
    figure.update_layout(showlegend=True)
    height = 110 + max(ROW_ROOM * len(variants) + ROW_MARGIN, 44) * len(names) + LEGEND_LINE * len(variants)
    return apply_layout(figure, scheme, height=height)


def error_bars(own: pd.DataFrame, color: str) -> dict[str, object]:
    """Error bars as wide as the intervals; none where there is no interval."""
    up, down = (own["high"] - own["value"]).fillna(0.0), (own["value"] - own["low"]).fillna(0.0)
    return {
        "type": "data",
        "symmetric": False,
        "array": up.clip(lower=0.0).tolist(),
        "arrayminus": down.clip(lower=0.0).tolist(),
        "thickness": 1.5,
        "width": 3,
        "color": color,
    }


def interval_text(low: float, high: float) -> str:
    return "" if np.isnan(low) else ci(Interval(low, high), ".4f")
