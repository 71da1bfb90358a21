"""Rank of each match before and after a change of transform or similarity, and how far matches move."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from blindspot.figures.theme import Scheme, apply_layout, ink
from blindspot.numerics.statistics.written import percent
from blindspot.texts import counted
from blindspot.types import Float64, Int64

FIGURE_HEIGHT = 390
UP, SAME, DOWN = "moves up", "stays", "moves down"
_COLORS = {
    Scheme.LIGHT: {UP: "#0072B2", SAME: "#7A8594", DOWN: "#D55E00"},
    Scheme.DARK: {UP: "#4FA8E0", SAME: "#8C98A8", DOWN: "#F27F45"},
}
_SYMBOLS = {UP: "triangle-up", SAME: "circle", DOWN: "triangle-down"}
_PATTERNS = {UP: "", DOWN: "/"}
# Bars: direction, label, and range of rank before / rank after. Matches that stay would dwarf the others.
BINS = (
    (DOWN, "over 10×", 0.0, 0.1),
    (DOWN, "3 to 10×", 0.1, 1 / 3),
    (DOWN, "up to 3×", 1 / 3, 1.0),
    (UP, "up to 3×", 1.0, 3.0),
    (UP, "3 to 10×", 3.0, 10.0),
    (UP, "over 10×", 10.0, np.inf),
)


def rank_scatter(before: Float64, after: Float64, item_no: Int64, background: int, scheme: Scheme) -> go.Figure:
    """Ranks before and after ``[s]`` on log axes; pairs below the diagonal moved up.

    Args:
        item_no: ``[s]``, the pairs' numbers, as custom data.
        background: number of items, the end of both axes.
    """
    figure = go.Figure()
    end = float(np.log10(max(background, 2)))
    diagonal = {"x0": 1, "y0": 1, "x1": background, "y1": background, "layer": "below"}
    figure.add_shape(type="line", line={"color": ink(scheme), "width": 1, "dash": "dot"}, **diagonal)
    for way, kept in ((SAME, before == after), (DOWN, after > before), (UP, after < before)):
        if kept.any():
            figure.add_scatter(
                name=f"{way}: {np.count_nonzero(kept):,}",
                x=before[kept],
                y=after[kept],
                customdata=item_no[kept],
                mode="markers",
                marker={"symbol": _SYMBOLS[way], "color": _COLORS[scheme][way], "size": 8, "opacity": 0.6},
                hovertemplate="pair %{customdata}: rank %{x:,} → %{y:,}<extra></extra>",
            )
    margin = 0.03 * end + 0.02
    for update, title in ((figure.update_xaxes, "rank before (stored)"), (figure.update_yaxes, "rank after")):
        update(type="log", title=title, range=[-margin, end + margin], dtick=1)
    return apply_layout(figure, scheme, height=FIGURE_HEIGHT)


def bin_counts(factors: Float64) -> list[int]:
    """How many of ``factors [s]`` (rank before / rank after) are in each of ``BINS``; 1 is in none.

    A bound between two bars belongs to the bar nearer to 1.
    """
    down = [(factors >= low) & (factors < high) for way, _, low, high in BINS if way == DOWN]
    up = [(factors > low) & (factors <= high) for way, _, low, high in BINS if way == UP]
    return [int(np.count_nonzero(inside)) for inside in (*down, *up)]


def change_bars(factors: Float64, scheme: Scheme) -> go.Figure:
    """How many matches move how far: a bar per range of rank before / rank after ``[s]``."""
    counts = bin_counts(factors)
    figure = go.Figure()
    figure.add_bar(
        x=list(range(len(BINS))),
        y=counts,
        text=[f"{count:,}" for count in counts],
        textposition="outside",
        cliponaxis=False,
        marker={
            "color": [_COLORS[scheme][way] for way, *_ in BINS],
            "pattern": {"shape": [_PATTERNS[way] for way, *_ in BINS]},
        },
        hovertext=[
            f"{way}, {label}: {counted(count, 'pair')}, {percent(count / max(len(factors), 1), 1)}"
            for (way, label, *_), count in zip(BINS, counts, strict=True)
        ],
        hovertemplate="%{hovertext}<extra></extra>",
        showlegend=False,
    )
    ticks = [f"{label}<br>{'down' if way == DOWN else 'up'}" for way, label, *_ in BINS]
    figure.update_xaxes(
        tickvals=list(range(len(BINS))), ticktext=ticks, title="factor by which the rank of the match changes"
    )
    figure.update_yaxes(title="pairs", rangemode="tozero")
    return apply_layout(figure, scheme, height=FIGURE_HEIGHT)
