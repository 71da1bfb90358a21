"""Figures of the page Similarity: the order by each correlation, predicted against given scores, bands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from blindspot.figures.dots import DOT, Dots, error_bars, interval_text
from blindspot.figures.theme import Scheme, Style, apply_layout, ink
from blindspot.numerics.statistics.written import SCORE, number
from blindspot.types import Float64
from blindspot.variants import Variant

NAMES = {"pearson": "Pearson", "spearman": "Spearman", "kendall": "Kendall"}
LEGEND_LINE = 22


def against_gold(
    similarity: Float64,
    gold: Float64,
    fitted: Float64,
    numbers: Sequence[int],
    chosen: int | None,
    style: Style,
    scheme: Scheme,
) -> go.Figure:
    """Every pair's similarity and gold score, ``[m]`` each, with the fit and a ring around the chosen number."""
    figure = go.Figure()
    figure.add_trace(
        go.Scattergl(
            x=similarity,
            y=gold,
            mode="markers",
            name="a pair",
            marker={"color": style.color, "size": 5, "opacity": 0.45},
            customdata=np.stack([np.asarray(numbers), np.round(fitted - gold, 2) + 0.0], axis=1),  # no -0.00
            # Written by the browser: a text for each of many thousand dots would be most of the page.
            hovertemplate="pair %{customdata[0]}: similarity %{x:.3f}, score %{y:.2f}, residual %{customdata[1]:.2f}"
            "<extra></extra>",
        )
    )
    order = np.argsort(similarity, kind="stable")
    figure.add_trace(
        go.Scattergl(
            x=similarity[order],
            y=fitted[order],
            mode="lines",
            name="the fit",
            line={"color": ink(scheme), "width": 2},
            hoverinfo="skip",
        )
    )
    if chosen is not None and chosen in numbers:
        at = list(numbers).index(chosen)
        figure.add_scatter(
            x=[similarity[at]],
            y=[gold[at]],
            mode="markers",
            name=f"pair {chosen}",
            marker={"color": "rgba(0,0,0,0)", "size": 16, "line": {"color": ink(scheme), "width": 3}},
            hoverinfo="skip",
        )
    figure.update_xaxes(title="similarity")
    figure.update_yaxes(title="score given by people")
    figure.update_layout(showlegend=True)
    return apply_layout(figure, scheme, height=420)


def with_zero(figure: go.Figure, scheme: Scheme) -> go.Figure:
    """A figure of correlations with a line at none."""
    figure.add_vline(0, line={"color": ink(scheme), "width": 1, "dash": "dot"}, opacity=0.6)
    return figure


def band_lines(rows: Dots, styles: Mapping[Variant, Style], scheme: Scheme, *, kind: str) -> go.Figure:
    """A correlation in every band with its 95% interval, a line per variant; ``rows`` as for ``dots``, by band."""
    figure, rows = go.Figure(), pd.DataFrame(rows, columns=DOT)
    for variant in dict.fromkeys(rows["variant"]):
        style, of_variant = styles[variant], rows[rows["variant"] == variant]
        figure.add_scatter(
            x=of_variant["name"].tolist(),
            y=of_variant["value"].tolist(),
            error_y=error_bars(of_variant, style.color),
            mode="lines+markers",
            name=escape(variant.label, quote=False),
            line={"color": style.color, "dash": style.dash, "width": 2},
            marker={"color": style.color, "symbol": style.symbol, "size": 10},
            customdata=[
                f"{number(value, SCORE)}{interval_text(low, high)}"
                for value, low, high in zip(*(of_variant[name] for name in ("value", "low", "high")), strict=True)
            ],
            hovertemplate="%{x}: %{customdata}<extra>%{fullData.name}</extra>",
        )
    figure.update_xaxes(type="category", title="scores in the band")
    figure.update_yaxes(title=NAMES[kind])
    figure.update_layout(showlegend=True)
    return apply_layout(figure, scheme, height=360 + LEGEND_LINE * rows["variant"].nunique())


def band_boxes(rows: pd.DataFrame, styles: Mapping[Variant, Style], scheme: Scheme) -> go.Figure:
    """The distribution of similarities in every band: median, middle half, and the middle 90% as whiskers.

    Args:
        rows: columns ``variant, name, q5, q25, q50, q75, q95``.
    """
    figure = go.Figure()
    for variant in dict.fromkeys(rows["variant"]):
        style, of_variant = styles[variant], rows[rows["variant"] == variant]
        figure.add_trace(
            go.Box(
                x=of_variant["name"].tolist(),
                lowerfence=of_variant["q5"].tolist(),
                q1=of_variant["q25"].tolist(),
                median=of_variant["q50"].tolist(),
                q3=of_variant["q75"].tolist(),
                upperfence=of_variant["q95"].tolist(),
                name=escape(variant.label, quote=False),
                line={"color": style.color},
                hoverlabel={"namelength": -1},
            )
        )
    figure.update_xaxes(type="category", title="scores in the band")
    figure.update_yaxes(title="similarity", hoverformat=SCORE)
    figure.update_layout(boxmode="group", showlegend=True)
    return apply_layout(figure, scheme, height=360 + LEGEND_LINE * rows["variant"].nunique())
