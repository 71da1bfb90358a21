"""Figures of the page Transfer: scores by task with the majority baseline, confusion matrices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from blindspot.figures.dots import DOT, Dots, dots, interval_text
from blindspot.figures.grids import heatmap
from blindspot.figures.labels import wrapped
from blindspot.figures.theme import SEQUENTIAL, Scheme, Style, apply_layout, ink
from blindspot.numerics.statistics.written import number, percent
from blindspot.types import Int64
from blindspot.variants import Variant

BASELINE = "always the most frequent class"
MOST_DRAWN = 100  # classes: a larger matrix is a gray square that takes seconds
MOST_PRINTED = 12  # classes: cells of a larger matrix have no room for numbers
_CELL = 46  # pixels, of a matrix whose cells are printed
_NAME_WIDTH = 12  # characters of a class in one line


def task_dots(
    rows: Dots, baselines: Mapping[str, float], styles: Mapping[Variant, Style], scheme: Scheme, *, axis: str
) -> go.Figure:
    """``blindspot.figures.dots`` with a row per task and a stroke at each row's baseline, by the row's name."""
    rows = pd.DataFrame(rows, columns=DOT)
    figure = dots(rows, styles, scheme, axis=axis, spec=".1%")
    names = list(dict.fromkeys(rows["name"]))
    placed = [(names.index(name), value) for name, value in baselines.items() if name in names]
    x, y = [], []
    for row, value in placed:
        x += [value, value, None]
        y += [row - 0.42, row + 0.42, None]
    figure.add_scatter(
        x=x,
        y=y,
        mode="lines",
        name=BASELINE,
        line={"color": ink(scheme), "width": 3, "dash": "dot"},
        customdata=[f"{escape(names[row], quote=False)}: {percent(value, 1)}" for row, value in placed for _ in "xyz"],
        hovertemplate=f"%{{customdata}}<extra>{BASELINE}</extra>",
    )
    # plotly leaves no room around lines and would cut the lowest stroke in half
    every = [v for name in ("value", "low", "high") for v in rows[name].dropna()] + [value for _, value in placed]
    room = 0.03 * max(max(every) - min(every), 0.05)
    figure.update_xaxes(range=[min(every) - room, max(every) + room])
    return figure


def learning_curves(
    curves: Mapping[Variant, pd.DataFrame], styles: Mapping[Variant, Style], scheme: Scheme
) -> go.Figure:
    """Accuracy by the number of training examples, with intervals; columns ``size, value, low, high``."""
    figure = go.Figure()
    for variant, rows in curves.items():
        style = styles[variant]
        figure.add_scatter(
            x=rows["size"],
            y=rows["value"],
            error_y={
                "array": rows["high"] - rows["value"],
                "arrayminus": rows["value"] - rows["low"],
                "symmetric": False,
                "thickness": 1.2,
            },
            mode="lines+markers",
            name=escape(variant.label, quote=False),
            line={"color": style.color, "dash": style.dash, "width": 2},
            marker={"symbol": style.symbol, "size": 8},
            text=[
                f"{number(value, '.1%')}{interval_text(low, high, '.1%')}"
                for value, low, high in zip(rows["value"], rows["low"], rows["high"], strict=True)
            ],
            hovertemplate="%{x:,} examples: %{text}",
        )
    sizes = sorted({size for rows in curves.values() for size in rows["size"]})
    ticks = {"type": "log", "tickvals": sizes, "ticktext": [f"{size:,}" for size in sizes]}
    figure.update_xaxes(title="training examples", **ticks)
    figure.update_yaxes(title="accuracy", tickformat=".0%")
    return apply_layout(figure, scheme, height=420)


def confusion(counts: Int64, classes: Sequence[str], scheme: Scheme) -> go.Figure:
    """A confusion matrix ``[k, k]``, gold classes down and predicted ones across, with counts and shares of rows.

    The diagonal is framed.
    """
    k = len(classes)
    total = counts.sum(axis=1, keepdims=True)
    shares = np.divide(counts, total, out=np.full(counts.shape, np.nan), where=total > 0)
    names = [escape(name, quote=False) for name in classes]
    printed = k <= MOST_PRINTED

    def share(i: int, j: int) -> str:
        return "–" if np.isnan(shares[i, j]) else percent(shares[i, j])

    text = [
        [f"{counts[i, j]:,}<br>{share(i, j)}" if printed and total[i, 0] else "" for j in range(k)] for i in range(k)
    ]
    tooltips = [
        [
            f"{names[i]} {'found' if i == j else f'predicted as {names[j]}'}: "
            f"{counts[i, j]:,} of {total[i, 0]:,} ({share(i, j)})"
            for j in range(k)
        ]
        for i in range(k)
    ]
    cells = heatmap(shares, text, tooltips, scheme, colorscale=SEQUENTIAL[scheme], zmin=0.0, zmax=1.0)
    figure = go.Figure(cells)
    for i in range(k):
        figure.add_shape(
            type="rect", x0=i - 0.48, x1=i + 0.48, y0=i - 0.46, y1=i + 0.46, line={"color": ink(scheme), "width": 2}
        )
    ticks = {"tickvals": list(range(k)), "ticktext": [wrapped(name, _NAME_WIDTH) for name in classes]}
    figure.update_xaxes(**ticks, title="predicted class", side="top", showgrid=False, tickangle=0 if k < 6 else -90)
    figure.update_yaxes(**ticks, title="true class", range=[k - 0.5, -0.5], showgrid=False)
    return apply_layout(figure, scheme, height=150 + (_CELL if printed else 16) * k)
