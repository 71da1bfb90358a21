"""What-if figures: each mate's rank before and after, and how far the mates move."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from core.figures.theme import Scheme, dress, ink
from core.types import Float64, Int64

FIGURE_HEIGHT = 390
UP, SAME, DOWN = "moves up", "stays", "moves down"
_COLOURS = {
    Scheme.LIGHT: {UP: "#0072B2", SAME: "#7A8594", DOWN: "#D55E00"},
    Scheme.DARK: {UP: "#4FA8E0", SAME: "#8C98A8", DOWN: "#F27F45"},
}
_SYMBOLS = {UP: "triangle-up", SAME: "circle", DOWN: "triangle-down"}
_PATTERNS = {UP: "", DOWN: "/"}
# Bars of the histogram: which way, and rank before / rank after from and to. Mates that stay would dwarf the others.
BINS = (
    (DOWN, "over 10×", 0.0, 0.1),
    (DOWN, "3 to 10×", 0.1, 1 / 3),
    (DOWN, "up to 3×", 1 / 3, 1.0),
    (UP, "up to 3×", 1.0, 3.0),
    (UP, "3 to 10×", 3.0, 10.0),
    (UP, "over 10×", 10.0, np.inf),
)


def rank_scatter(before: Float64, after: Float64, item_no: Int64, background: int, scheme: Scheme) -> go.Figure:
    """Rank before against rank after, a point per pair, on log axes with the diagonal; what is below it moved up.

    Args:
        before, after: ``[s]`` shown ranks.
        item_no: ``[s]`` the pairs' numbers, which go along as custom data.
        background: number of items, the end of both axes.
    """
    figure = go.Figure()
    end = float(np.log10(max(background, 2)))
    figure.add_shape(
        type="line",
        x0=1,
        y0=1,
        x1=background,
        y1=background,
        line={"color": ink(scheme), "width": 1, "dash": "dot"},
        layer="below",
    )
    for way, kept in ((SAME, before == after), (DOWN, after > before), (UP, after < before)):
        if kept.any():
            figure.add_scatter(
                name=f"{way}: {np.count_nonzero(kept):,}",
                x=before[kept],
                y=after[kept],
                customdata=item_no[kept],
                mode="markers",
                marker={"symbol": _SYMBOLS[way], "color": _COLOURS[scheme][way], "size": 8, "opacity": 0.6},
                hovertemplate="pair %{customdata}: rank %{x:,} → %{y:,}<extra></extra>",
            )
    margin = 0.03 * end + 0.02
    for update, title in ((figure.update_xaxes, "rank before (stored)"), (figure.update_yaxes, "rank after")):
        update(type="log", title=title, range=[-margin, end + margin], dtick=1)
    return dress(figure, scheme, height=FIGURE_HEIGHT)


def bin_counts(factors: Float64) -> list[int]:
    """How many of ``factors [s]`` (rank before / rank after) fall into each of ``BINS``; 1 is in none.

    An end towards 1 belongs to the bar that is nearer to 1, in both directions alike.
    """
    return [
        int(
            np.count_nonzero(
                (factors >= low) & (factors < high) if way == DOWN else (factors > low) & (factors <= high)
            )
        )
        for way, _, low, high in BINS
    ]


def change_bars(factors: Float64, scheme: Scheme) -> go.Figure:
    """How many mates move how far, as a bar per range of factors; ``factors [s]`` are rank before / rank after."""
    counts = bin_counts(factors)
    share = [count / max(len(factors), 1) for count in counts]
    figure = go.Figure()
    figure.add_bar(
        x=list(range(len(BINS))),
        y=counts,
        text=[f"{count:,}" for count in counts],
        textposition="outside",
        cliponaxis=False,
        customdata=share,
        marker={
            "color": [_COLOURS[scheme][way] for way, *_ in BINS],
            "pattern": {"shape": [_PATTERNS[way] for way, *_ in BINS]},
        },
        hovertext=[f"{way}, {label}" for way, label, *_ in BINS],
        hovertemplate="%{hovertext}: %{y:,} pairs, %{customdata:.1%}<extra></extra>",
        showlegend=False,
    )
    ticks = [f"{label}<br>{'down' if way == DOWN else 'up'}" for way, label, *_ in BINS]
    figure.update_xaxes(
        tickvals=list(range(len(BINS))), ticktext=ticks, title="how many times as high, or as low, the mate stands"
    )
    figure.update_yaxes(title="pairs", rangemode="tozero")
    return dress(figure, scheme, height=FIGURE_HEIGHT)
