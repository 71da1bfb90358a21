"""Figures of EvalRank: scores per variant, and the distribution of ranks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from core.figures.labels import wrapped
from core.figures.theme import MANY_VARIANTS, Scheme, Style, dress, ink, text_on
from core.types import Variant

FIGURE_HEIGHT = 390
LOW = 0.2  # a bar below this has no room for its value
ROW = 20  # pixels of a bar with its value beside it; HALF_ROW more for every further line of a name
HALF_ROW = 7
NAME_WIDTH = 20  # characters of a variant's name in one line: more would take a narrow screen's room
VALUES_FROM, AXIS_END = 1.05, 1.62  # scores end at 1; a column of values stands behind
SCORES = {"mrr": "MRR", "hits@1": "Hits@1", "hits@3": "Hits@3", "hits@10": "Hits@10"}

# Per variant and key of SCORES the ends of an interval.
Intervals = Mapping[Variant, Mapping[str, tuple[float, float]]]


def score_bars(
    scores: pd.DataFrame,
    ceiling: Mapping[str, float] | None,
    styles: Mapping[Variant, Style],
    scheme: Scheme,
    intervals: Intervals | None = None,
) -> go.Figure:
    """MRR and Hits@k per variant as bars with their values, and a line at the ceiling.

    Few variants stand side by side. Of many the bars would be too narrow for their values, on a telephone above all:
    they lie below each other, a block per score.

    Args:
        scores: a column ``variant`` and one per key of ``SCORES``, fractions.
        ceiling: the best that any encoder could reach, per key of ``SCORES``; None to leave it out.
        intervals: drawn as error bars; of a variant that has none, none is drawn.
    """
    if len(scores) >= MANY_VARIANTS:
        return _lying_bars(scores, ceiling, styles, scheme, intervals or {})
    figure = go.Figure()
    labels = list(SCORES.values())
    for row in scores.to_dict("records"):
        style = styles[row["variant"]]
        values = [row[name] for name in SCORES]
        ends = [(intervals or {}).get(row["variant"], {}).get(name) for name in SCORES]
        figure.add_bar(
            name=row["variant"].label,
            x=labels,
            y=values,
            text=[f"{value:.4f}" for value in values],
            textposition=["inside" if value >= LOW else "outside" for value in values],
            insidetextanchor="middle",
            textangle=-90,  # legible however narrow the bars are
            insidetextfont={"color": text_on(style.colour), "size": 12},
            outsidetextfont={"color": ink(scheme), "size": 12},
            marker={"color": style.colour},
            error_y=_error_bars(values, ends, scheme),
            customdata=["" if end is None else f" [{end[0]:.4f}, {end[1]:.4f}]" for end in ends],
            hovertemplate="%{x}: %{y:.4f}%{customdata}<extra>%{fullData.name}</extra>",
        )
    figure.update_layout(barmode="group", bargap=0.22, bargroupgap=0.06)
    figure.update_yaxes(range=[0, 1.04], title="score", tickformat=".1f")
    figure.update_xaxes(type="category")
    if ceiling:
        for i, name in enumerate(SCORES):
            figure.add_shape(
                type="line",
                x0=i - 0.42,
                x1=i + 0.42,
                y0=ceiling[name],
                y1=ceiling[name],
                line={"color": ink(scheme), "width": 2, "dash": "dot"},
            )
        figure.add_scatter(
            x=labels,
            y=[ceiling[name] for name in SCORES],
            mode="markers",
            name="ceiling of raw ranks",
            marker={"symbol": "line-ew-open", "size": 12, "color": ink(scheme), "line": {"width": 2}},
            hovertemplate="no encoder can exceed %{y:.4f}<extra>%{x}</extra>",
        )
    return dress(figure, scheme, height=FIGURE_HEIGHT, variants=len(scores))


def _lying_bars(
    scores: pd.DataFrame,
    ceiling: Mapping[str, float] | None,
    styles: Mapping[Variant, Style],
    scheme: Scheme,
    intervals: Intervals,
) -> go.Figure:
    """A block of bars per score, two by two; the values in a column behind them."""
    figure = make_subplots(
        rows=2,
        cols=2,
        subplot_titles=list(SCORES.values()),
        shared_yaxes=True,
        horizontal_spacing=0.03,
        vertical_spacing=40 / (2 * ROW * len(scores) + 80),
    )
    rows = scores.to_dict("records")
    places = list(range(len(rows)))
    names = [wrapped(row["variant"].label, NAME_WIDTH) for row in rows]
    for i, (name, title) in enumerate(SCORES.items()):
        where = {"row": i // 2 + 1, "col": i % 2 + 1}
        for place, row in zip(places, rows, strict=True):
            value, end = row[name], intervals.get(row["variant"], {}).get(name)
            figure.add_bar(
                name=escape(row["variant"].label, quote=False),
                orientation="h",
                x=[value],
                y=[place],
                width=0.78,
                marker={"color": styles[row["variant"]].colour},
                error_x=_error_bars([value], [end], scheme),
                customdata=["" if end is None else f" [{end[0]:.4f}, {end[1]:.4f}]"],
                hovertemplate=f"{title}: %{{x:.4f}}%{{customdata}}<extra>%{{fullData.name}}</extra>",
                **where,
            )
        figure.add_scatter(
            x=[VALUES_FROM] * len(rows),
            y=places,
            mode="text",
            name=title,
            text=[f"{row[name]:.4f}" for row in rows],
            textposition="middle right",
            textfont={"color": ink(scheme), "size": 11},
            hoverinfo="skip",
            cliponaxis=False,
            **where,
        )
        if ceiling:
            figure.add_scatter(
                x=[ceiling[name]] * 2,
                y=[-0.5, len(rows) - 0.5],
                mode="lines",
                name="ceiling of raw ranks",
                line={"color": ink(scheme), "width": 2, "dash": "dot"},
                hovertemplate=f"no encoder can exceed %{{x:.4f}}<extra>{title}</extra>",
                **where,
            )
    figure.update_annotations(font={"color": ink(scheme), "size": 13})
    figure.update_xaxes(range=[0, AXIS_END], tickvals=[0, 0.5, 1], ticktext=["0", "0.5", "1"])
    figure.update_yaxes(tickvals=places, ticktext=names, range=[len(rows) - 0.5, -0.5], showgrid=False)
    figure.update_layout(barmode="overlay", showlegend=False)
    lines = max(name.count("<br>") for name in names)
    return dress(figure, scheme, height=120 + 2 * (ROW + HALF_ROW * lines) * len(rows))


def _error_bars(
    values: Sequence[float], ends: Sequence[tuple[float, float] | None], scheme: Scheme
) -> dict[str, object] | None:
    """From each value to the ends of its interval; None where there are no intervals."""
    if all(end is None for end in ends):
        return None
    return {
        "type": "data",
        "symmetric": False,
        "array": [None if end is None else end[1] - value for value, end in zip(values, ends, strict=True)],
        "arrayminus": [None if end is None else value - end[0] for value, end in zip(values, ends, strict=True)],
        "color": ink(scheme),
        "thickness": 1.5,
        "width": 3,
    }


def rank_curve(
    ranks: Mapping[Variant, np.ndarray], background: int, styles: Mapping[Variant, Style], scheme: Scheme
) -> go.Figure:
    """Share of pairs whose mate is among the k most similar items, against k on a log axis.

    Args:
        ranks: ``[m]`` shown ranks per variant; NaN for pairs that it did not rank, which are no part of its share.
        background: number of items, the right end of the axis.
    """
    figure = go.Figure()
    at = np.unique(np.round(np.logspace(0, np.log10(max(background, 2)), 120)).astype(np.int64))
    lowest = 1.0
    for variant, values in ranks.items():
        ranked = np.sort(values[~np.isnan(values)])
        share = np.searchsorted(ranked, at, side="right") / len(ranked)
        lowest = min(lowest, float(share[0]))
        style = styles[variant]
        figure.add_scatter(
            x=at,
            y=share,
            mode="lines",
            name=variant.label,
            line={"color": style.colour, "dash": style.dash, "width": 2.5, "shape": "hv"},
            hovertemplate="top %{x:,}: %{y:.1%} of the pairs<extra>%{fullData.name}</extra>",
        )
    figure.update_xaxes(type="log", title="k", dtick=1)
    figure.update_yaxes(
        title="share of pairs with the mate in the top k", tickformat=".0%", range=[max(0.0, lowest - 0.1), 1.01]
    )
    return dress(figure, scheme, height=FIGURE_HEIGHT, variants=len(ranks))
