"""Figures of frequent-vs-rare accuracy and of the frequency of neighbors (Schnabel 2015, figures 3 and 4)."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray

from blindspot.diagnostics.frequency.corpus_ranks import Curve
from blindspot.figures.theme import Scheme, Style, apply_layout, ink, log_axis
from blindspot.numerics.statistics.written import each_written, number, percent
from blindspot.variants import Variant

BAND_OPACITY = 0.16
CHANCE = 0.5
HEIGHT = 460


def accuracy_lines(
    tables: Mapping[Variant, pd.DataFrame],
    counts: str,
    styles: Mapping[Variant, Style],
    scheme: Scheme,
    *,
    guessing: float | None = None,
) -> go.Figure:
    """Accuracy by threshold: a line per variant with a band of one standard deviation, the controls' mean, chance.

    Args:
        tables: columns ``threshold, count, accuracy, accuracy_sd, control``, ascending by count; all variants have the
            same thresholds.
        counts: title of the axis of counts.
        guessing: how far from chance guessing comes; drawn in place of the bands, which mean nothing for few items.
    """
    figure = go.Figure()
    if guessing is not None:
        figure.add_hrect(
            CHANCE - guessing,
            CHANCE + guessing,
            fillcolor=ink(scheme),
            opacity=BAND_OPACITY,
            line_width=0,
            name="guessing, 95% of cases",
            showlegend=True,
        )
    for variant, rows in tables.items():
        style, accuracy, sd = styles[variant], rows["accuracy"], rows["accuracy_sd"]
        if guessing is None:
            _band(figure, rows["count"], accuracy - sd, (accuracy + sd).clip(upper=1.0), style.color)
        figure.add_scatter(
            x=rows["count"],
            y=accuracy,
            customdata=[
                f"{threshold} (from {_count(count)} on): {percent(value, 1)} ± {percent(spread, 1)}"
                for threshold, count, value, spread in zip(rows["threshold"], rows["count"], accuracy, sd, strict=True)
            ],
            hovertemplate="%{customdata}",
            **_line(variant, style),
        )
    every = list(tables.values())
    control = sum((rows["control"] for rows in every[1:]), every[0]["control"]) / len(every)
    figure.add_scatter(
        x=every[0]["count"],
        y=control,
        mode="markers",
        name="shuffled labels" if len(every) == 1 else "shuffled labels, mean",
        marker={"symbol": "circle-open", "size": 7, "color": ink(scheme)},
        text=[percent(value, 1) for value in control],
        hovertemplate="%{text}",
    )
    figure.add_hline(CHANCE, line={"color": ink(scheme), "width": 1}, opacity=0.5)
    lowest = min(float(control.min()), *(float((r["accuracy"] - r["accuracy_sd"]).min()) for r in every), 0.45)
    lowest = min(lowest, CHANCE - (guessing or 0.0))
    figure.update_xaxes(title=counts, **log_axis(every[0]["count"]))
    figure.update_yaxes(title="Accuracy on held-out items", range=[lowest - 0.02, 1.02], tickformat=".0%")
    return _legend_below(apply_layout(figure, scheme, height=HEIGHT))


def rank_curves(
    curves: Mapping[Variant, Curve], null: Curve, styles: Mapping[Variant, Style], scheme: Scheme
) -> go.Figure:
    """Mean corpus rank of the k-th neighbor on logarithmic axes, with 95% bands, and of random items."""
    figure = go.Figure()
    for variant, curve in curves.items():
        style = styles[variant]
        _band(figure, curve.k, curve.low.clip(min=1.0), curve.high, style.color)
        figure.add_scatter(
            x=curve.k,
            y=curve.mean,
            customdata=[
                f"{mean} ({low} to {high})"
                for mean, low, high in zip(
                    *(each_written(line, ",.0f") for line in (curve.mean, curve.low, curve.high)), strict=True
                )
            ],
            hovertemplate="%{customdata}",
            **_line(variant, style),
        )
    _band(figure, null.k, null.low.clip(min=1.0), null.high, ink(scheme))
    figure.add_scatter(
        x=null.k,
        y=null.mean,
        mode="lines",
        name="random items",
        line={"color": ink(scheme), "dash": "dot", "width": 1.5},
        text=each_written(null.mean, ",.0f"),
        hovertemplate="%{text}",
    )
    lines = [*curves.values(), null]
    figure.update_xaxes(
        title="k: place among the nearest neighbors", **log_axis(np.concatenate([line.k for line in lines]))
    )
    ranks = np.concatenate([ends.clip(min=1.0) for line in lines for ends in (line.low, line.high)])
    figure.update_yaxes(title="Mean corpus rank (1 is the most frequent)", **log_axis(ranks))
    figure.update_layout(hovermode="x unified")
    return _legend_below(apply_layout(figure, scheme, height=HEIGHT))


def _count(value: float) -> str:
    """A frequency: ``0.25``, ``1,234``; as many digits as tell thresholds apart."""
    return number(value, ",.0f" if value >= 1_000 else ".3g")


def _legend_below(figure: go.Figure) -> go.Figure:
    """For many variants, and phones without room beside the figure."""
    figure.update_layout(legend={"orientation": "h", "yanchor": "top", "y": -0.2, "xanchor": "left", "x": 0.0})
    return figure


def _band(
    figure: go.Figure,
    x: pd.Series | NDArray[Any],
    low: pd.Series | NDArray[Any],
    high: pd.Series | NDArray[Any],
    color: str,
) -> None:
    figure.add_scatter(
        x=[*x, *x[::-1]],
        y=[*high, *low[::-1]],
        fill="toself",
        fillcolor=color,
        opacity=BAND_OPACITY,
        line={"width": 0},
        mode="lines",
        hoverinfo="skip",
        showlegend=False,
    )


def _line(variant: Variant, style: Style) -> dict[str, Any]:
    return {
        "mode": "lines+markers",
        "name": escape(variant.label, quote=False),
        "line": {"color": style.color, "dash": style.dash, "width": 2},
        "marker": {"symbol": style.symbol, "size": 8},
    }
