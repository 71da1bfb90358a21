"""Dot plots of values with their intervals: a row per name, variants below each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from blindspot.figures.theme import Scheme, Style, apply_layout, set_properties
from blindspot.numerics.statistics.estimate import Measured
from blindspot.numerics.statistics.intervals import Interval
from blindspot.numerics.statistics.written import SCORE, ci, number
from blindspot.variants import Variant

ROW_ROOM = 16  # pixels of a variant in a row of dots
ROW_MARGIN = 24  # and pixels between two rows
LEGEND_LINE = 22
LETTER = 6  # pixels of a letter of a label
MOST_LABELED = 30  # marks with their numbers beside them
DOT = ["variant", "name", "value", "low", "high"]
Dots = pd.DataFrame | Sequence[Mapping[str, object]]


def dot(variant: Variant, name: str, score: Measured | float) -> dict[str, object]:
    """A row of ``dots``, with the columns ``DOT``: a score and its interval, if it has one."""
    interval = None if isinstance(score, float) else score.interval
    low, high = (interval.low, interval.high) if interval else (np.nan, np.nan)
    return dict(zip(DOT, (variant, name, score if isinstance(score, float) else score.value, low, high), strict=True))


def dots(
    rows: Dots,
    styles: Mapping[Variant, Style],
    scheme: Scheme,
    *,
    axis: str,
    names: Sequence[str] = (),
    spec: str | Mapping[str, str] = SCORE,
) -> go.Figure:
    """Values with their 95% intervals, a row per name, variants below each other.

    Args:
        rows: columns ``DOT``; low and high are NaN without an interval.
        names: of the rows from top to bottom, also of rows without a value; as in ``rows`` if left out.
        spec: format of the numbers, or by name of the row; numbers beside the marks are shown only for a few marks.
    """
    figure, rows = go.Figure(), pd.DataFrame(rows, columns=DOT)
    labels: list[tuple[float, float, str]] = []
    variants = list(dict.fromkeys(rows["variant"]))
    names = list(names) or list(dict.fromkeys(rows["name"]))
    specs = dict.fromkeys(names, spec) if isinstance(spec, str) else spec
    for i, variant in enumerate(variants):
        style, rows_here = styles[variant], rows[rows["variant"] == variant]
        offset = (i - (len(variants) - 1) / 2) * 0.7 / len(variants)
        places = [names.index(name) + offset for name in rows_here["name"]]
        ends = rows_here["high"].fillna(rows_here["value"])
        written = [
            number(value, specs[name]) for value, name in zip(rows_here["value"], rows_here["name"], strict=True)
        ]
        labels += zip(ends, places, written, strict=True)
        figure.add_scatter(
            x=rows_here["value"].tolist(),
            y=places,
            error_x=error_bars(rows_here, style.color),
            mode="markers",
            name=escape(variant.label, quote=False),
            marker={"color": style.color, "symbol": style.symbol, "size": 10},
            customdata=[
                [escape(name, quote=False), text + interval_text(low, high, specs[name])]
                for text, (name, low, high) in zip(written, rows_here[["name", "low", "high"]].to_numpy(), strict=True)
            ],
            hovertemplate="%{customdata[0]}: %{customdata[1]}<extra>%{fullData.name}</extra>",
        )
    figure.update_yaxes(
        tickvals=list(range(len(names))),
        ticktext=[escape(name, quote=False) for name in names],
        range=[len(names) - 0.5, -0.5],
        showgrid=False,
    )
    figure.update_xaxes(title=axis)
    if all(spec.endswith("%") for spec in specs.values()):
        figure.update_xaxes(tickformat=".0%")
    figure.update_layout(showlegend=True)
    height = 110 + max(ROW_ROOM * len(variants) + ROW_MARGIN, 44) * len(names) + LEGEND_LINE * len(variants)
    apply_layout(figure, scheme, height=height)
    if len(labels) <= MOST_LABELED:
        label_ends(figure, labels)
    return figure


def label_ends(figure: go.Figure, labels: Sequence[tuple[float, float | str, str]]) -> None:
    """Numbers to the right of the intervals' ends (x, y), as annotations, which need no room within the axes."""
    look = {"showarrow": False, "xanchor": "left", "xshift": 8, "font": {"size": 11}}
    annotations = [annotation.to_plotly_json() for annotation in figure.layout.annotations]
    annotations += [{"x": x, "y": y, "text": text, **look} for x, y, text in labels]
    room = 14 + LETTER * max((len(text) for *_, text in labels), default=0)
    set_properties(figure.layout, annotations=annotations, margin={"r": max(56, room)})


def error_bars(dots_shown: pd.DataFrame, color: str) -> dict[str, object]:
    """Error bars as wide as the intervals; none where there is no interval."""
    up, down = (
        (dots_shown["high"] - dots_shown["value"]).fillna(0.0),
        (dots_shown["value"] - dots_shown["low"]).fillna(0.0),
    )
    return {
        "type": "data",
        "symmetric": False,
        "array": up.clip(lower=0.0).tolist(),
        "arrayminus": down.clip(lower=0.0).tolist(),
        "thickness": 1.5,
        "width": 3,
        "color": color,
    }


def interval_text(low: float, high: float, spec: str = SCORE) -> str:
    return "" if np.isnan(low) else ci(Interval(low, high), spec)
