"""Figure of a score per group, such as kinds of pair or query, and model, with intervals."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from blindspot.figures.labels import wrapped
from blindspot.figures.panels import axes, panel, side_by_side
from blindspot.figures.theme import Scheme, Style, apply_layout, set_properties
from blindspot.numerics.statistics.estimate import check_is_inside
from blindspot.numerics.statistics.groups import FEW
from blindspot.numerics.statistics.intervals import Interval
from blindspot.numerics.statistics.written import SCORE, ci_in_words, number
from blindspot.variants import Variant

FIGURE_HEIGHT = 420
LABEL_WIDTH = 20
SPREAD = 0.5  # share of the distance of two groups over which the variants are spread


def group_lines(
    scores: Mapping[Variant, pd.DataFrame],
    axis: Mapping[str, str],
    measure: str,
    title: str,
    unit: str,
    styles: Mapping[Variant, Style],
    scheme: Scheme,
    *,
    joined: bool,
) -> go.Figure:
    """A score per group with its interval, a color and symbol per variant, a panel per side.

    Args:
        scores: for each variant, a row per group (``blindspot.numerics.statistics.groups.scores``): ``side, label``,
            ``unit``, the measure, its ``_low`` and ``_high``; the same groups in the same order for all.
        axis: titles by side.
        title: of the measure.
        unit: what is counted, such as "pairs"; means over fewer than ``FEW`` are hollow.
        joined: whether lines join the groups.
    """
    figure = side_by_side(len(axis), scheme)
    highest = max((float(rows[f"{measure}_high"].max()) for rows in scores.values()), default=1.0)
    for column, (side, of_axis) in enumerate(axis.items(), 1):
        tables = {variant: rows[rows["side"] == side] for variant, rows in scores.items()}
        for place, (variant, rows) in enumerate(tables.items()):
            offset = SPREAD * ((place + 0.5) / len(tables) - 0.5)
            figure.add_scatter(
                **_points(rows, measure, title, unit, offset, styles[variant], joined=joined),
                name=variant.label,
                legendgroup=str(variant),
                showlegend=False,
                **panel(column),
            )
        first = next(iter(tables.values()))
        set_properties(
            figure.layout[axes(column)[0]],
            title={"text": escape(of_axis, quote=False)},
            tickvals=list(range(len(first))),
            ticktext=_ticks(list(tables.values()), unit),
            range=[-0.6, len(first) - 0.4],
            showgrid=False,
        )
    for variant in scores:  # legends of their own: a trace's would look like its first point
        style = styles[variant]
        figure.add_scatter(
            x=[None],
            y=[None],
            name=variant.label,
            legendgroup=str(variant),
            mode="lines+markers" if joined else "markers",
            line={"color": style.color, "dash": style.dash, "width": 1.5},
            marker={"symbol": style.symbol, "size": 9, "color": style.color},
        )
    figure.update_yaxes(range=[0, min(1.04, 1.1 * highest + 0.01) if np.isfinite(highest) else 1.04], tickformat=".2f")
    set_properties(figure.layout.yaxis, title={"text": title})
    return apply_layout(figure, scheme, height=FIGURE_HEIGHT, variants=len(scores))


def _points(
    rows: pd.DataFrame, measure: str, title: str, unit: str, offset: float, style: Style, *, joined: bool
) -> dict[str, object]:
    values = rows[measure].to_numpy()
    low, high = rows[f"{measure}_low"].to_numpy(), rows[f"{measure}_high"].to_numpy()
    hollow = (rows[unit] < FEW).to_numpy()
    notes = [_note(*row, unit) for row in zip(rows[unit], values, low, high, strict=True)]
    labels = [escape(label, quote=False) for label in rows["label"]]
    return {
        "x": np.arange(len(rows)) + offset,
        "y": values,
        "customdata": [
            [label, note, number(value, SCORE)] for label, note, value in zip(labels, notes, values, strict=True)
        ],
        "mode": "lines+markers" if joined else "markers",
        "line": {"color": style.color, "dash": style.dash, "width": 1.5},
        "marker": {
            "symbol": [f"{style.symbol}-open" if few_pairs else style.symbol for few_pairs in hollow],
            "size": 9,
            "color": style.color,
            "line": {"width": 1.5, "color": style.color},
        },
        "error_y": {
            "array": np.nan_to_num(high - values),  # a missing interval is not drawn; the hover says so
            "arrayminus": np.nan_to_num(values - low),
            "color": style.color,
            "thickness": 1.2,
            "width": 3,
        },
        "hovertemplate": f"%{{customdata[0]}}: {title} %{{customdata[2]}}<br>%{{customdata[1]}}"
        "<extra>%{fullData.name}</extra>",
    }


def _note(count: int, value: float, low: float, high: float, unit: str) -> str:
    check_is_inside(value, Interval(low, high))
    interval = ci_in_words(Interval(low, high), SCORE) if np.isfinite(low) else "no interval can be given"
    return f"{interval}, {count:,} {unit}" + (", which are few" if count < FEW else "")


def _ticks(tables: list[pd.DataFrame], unit: str) -> list[str]:
    """Names of the groups, with the number of rows of each if that is the same for all variants."""
    labels = [wrapped(label, LABEL_WIDTH) for label in tables[0]["label"]]
    if len({tuple(rows[unit]) for rows in tables}) > 1:
        return labels
    return [f"{label}<br>{count:,}" for label, count in zip(labels, tables[0][unit], strict=True)]
