"""Figures of the page Transfer: scores over tasks with the majority baseline, confusion matrices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from core.figures.dots import dots
from core.figures.labels import wrapped
from core.figures.theme import SEQUENTIAL, Scheme, Style, dress, ink
from core.types import Int64, Variant

BASELINE = "always the most frequent class"
MOST_PRINTED = 12  # classes: cells of a larger matrix have no room for numbers
_CELL = 46  # pixels, of a matrix whose cells are printed
_NAME_WIDTH = 12  # characters of a class in one line


def task_dots(
    rows: pd.DataFrame,
    baselines: Mapping[str, float],
    styles: Mapping[Variant, Style],
    scheme: Scheme,
    *,
    axis: str,
) -> go.Figure:
    """Scores with their 95% intervals, a row per task, and in each the baseline as a stroke of its own.

    Args:
        rows: columns ``variant, name, value, low, high``; low and high are NaN where there is no interval.
        baselines: by the row's name.
    """
    figure = dots(rows, styles, scheme, axis=axis)
    names = list(dict.fromkeys(rows["name"]))
    known = [(names.index(name), value) for name, value in baselines.items() if name in names]
    x, y = [], []
    for row, value in known:
        x += [value, value, None]
        y += [row - 0.42, row + 0.42, None]
    figure.add_scatter(
        x=x,
        y=y,
        mode="lines",
        name=BASELINE,
        line={"color": ink(scheme), "width": 3, "dash": "dot"},
        customdata=[escape(names[row], quote=False) for row, _ in known for _ in range(3)],
        hovertemplate=f"%{{customdata}}: %{{x:.4f}}<extra>{BASELINE}</extra>",
    )
    # plotly leaves no room around lines: the lowest stroke would be cut in half
    every = [v for name in ("value", "low", "high") for v in rows[name].dropna()] + [value for _, value in known]
    room = 0.03 * max(max(every) - min(every), 0.05)
    figure.update_xaxes(range=[min(every) - room, max(every) + room])
    return figure


def confusion(counts: Int64, classes: Sequence[str], scheme: Scheme) -> go.Figure:
    """A confusion matrix ``[k, k]``: rows the gold classes, columns the predicted ones; in each cell the count and its
    share of the row, which its colour shows too. The diagonal, what is right, is framed."""
    k = len(classes)
    total = counts.sum(axis=1, keepdims=True)
    shares = np.divide(counts, total, out=np.full(counts.shape, np.nan), where=total > 0)
    names = [escape(name, quote=False) for name in classes]
    printed = k <= MOST_PRINTED
    figure = go.Figure(
        go.Heatmap(
            x=list(range(k)),
            y=list(range(k)),
            z=[[None if np.isnan(share) else float(share) for share in row] for row in shares],
            text=[
                [f"{counts[i, j]:,}<br>{_share(shares[i, j])}" if printed and total[i, 0] else "" for j in range(k)]
                for i in range(k)
            ],
            hovertext=[
                [
                    f"{names[i]} taken for {names[j]}: {counts[i, j]:,} of {total[i, 0]:,} ({_share(shares[i, j])})"
                    if i != j
                    else f"{names[i]} found: {counts[i, i]:,} of {total[i, 0]:,} ({_share(shares[i, i])})"
                    for j in range(k)
                ]
                for i in range(k)
            ],
            texttemplate="%{text}",
            textfont={"size": 12, "color": ink(scheme)},
            hovertemplate="%{hovertext}<extra></extra>",
            hoverongaps=False,
            colorscale=SEQUENTIAL[scheme],
            zmin=0.0,
            zmax=1.0,
            showscale=False,
            xgap=2,
            ygap=2,
        )
    )
    for i in range(k):
        figure.add_shape(
            type="rect", x0=i - 0.48, x1=i + 0.48, y0=i - 0.46, y1=i + 0.46, line={"color": ink(scheme), "width": 2}
        )
    ticks = [wrapped(name, _NAME_WIDTH) for name in classes]
    figure.update_xaxes(
        title="predicted",
        tickvals=list(range(k)),
        ticktext=ticks,
        side="top",
        showgrid=False,
        tickangle=0 if k < 6 else -90,
    )
    figure.update_yaxes(title="gold", tickvals=list(range(k)), ticktext=ticks, range=[k - 0.5, -0.5], showgrid=False)
    return dress(figure, scheme, height=150 + (_CELL if printed else 16) * k)


def _share(share: float) -> str:
    return "–" if np.isnan(share) else f"{share:.0%}"
