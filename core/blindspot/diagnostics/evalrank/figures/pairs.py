"""Scatter of every pair's rank in one model against its rank in another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from blindspot.figures.theme import Scheme, Style, apply_layout, ink
from blindspot.types import Bool, Float64, Int64
from blindspot.variants import Variant

HEIGHT = 400
SMALLEST, LARGEST = 7, 30  # pixels of a dot
TICKS = (1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 50, 100)  # where powers of ten would be too few
MOST_WITHOUT_WEBGL = 2_000  # points: a context of WebGL costs more than so few dots without it
MOST_POINTS = 24_000  # the rest of the 25,000 that a figure may have is the diagonal


def rank_scatter(
    ranks: tuple[Float64, Float64],
    numbers: Int64,
    variants: tuple[Variant, Variant],
    areas: Sequence[tuple[float, float, float, float]],
    chosen: Bool | None,
    styles: Mapping[Variant, Style],
    scheme: Scheme,
) -> go.Figure:
    """Rank in B against rank in A on log axes, with the diagonal.

    A pair has the color and symbol of the model that ranks its match higher. Pairs with the same two ranks share a dot,
    whose area grows with their number. Of more than ``MOST_POINTS`` pairs, evenly spaced ones are drawn.

    Args:
        ranks: of A and of B, ``[m]`` each; pairs with NaN are left out.
        numbers: ``[m]``, the pairs' numbers, which a selection returns.
        areas: to outline, each ``(lowest rank in A, highest in A, lowest in B, highest in B)``.
        chosen: ``[m]``, the pairs to highlight, if any are chosen.
    """
    a, b = ranks
    at = np.flatnonzero(~np.isnan(a) & ~np.isnan(b))
    if len(at) > MOST_POINTS:
        at = at[np.linspace(0, len(at) - 1, MOST_POINTS).astype(np.int64)]
    a, b, numbers = a[at], b[at], numbers[at]
    first, second = variants
    _, point, counts = np.unique(np.stack([a, b]), axis=1, return_inverse=True, return_counts=True)
    alike = counts[point.ravel()]
    size = np.clip(SMALLEST * np.sqrt(alike) ** 0.6, SMALLEST, LARGEST)
    figure = go.Figure()
    end = float(max(a.max(initial=2.0), b.max(initial=2.0))) * 1.25
    figure.add_scatter(
        x=[0.8, end],
        y=[0.8, end],
        mode="lines",
        line={"color": ink(scheme), "width": 1, "dash": "dot"},
        hoverinfo="skip",
        showlegend=False,
    )
    groups = (
        ("same rank", a == b, ink(scheme), "circle"),
        (f"{first.label} better", a < b, styles[first].color, styles[first].symbol),
        (f"{second.label} better", a > b, styles[second].color, styles[second].symbol),
    )
    add = figure.add_scattergl if len(at) > MOST_WITHOUT_WEBGL else figure.add_scatter
    for name, inside, color, symbol in groups:
        add(
            name=f"{name}: {np.count_nonzero(inside):,}",
            x=a[inside].astype(np.float32),
            y=b[inside].astype(np.float32),
            customdata=numbers[inside].astype(np.int32),
            mode="markers",
            text=alike[inside],
            marker={"color": color, "symbol": symbol, "size": size[inside].astype(np.float32), "opacity": 0.45},
            selectedpoints=None if chosen is None else np.flatnonzero(chosen[at][inside]).tolist(),
            selected={"marker": {"opacity": 0.75}},
            unselected={"marker": {"opacity": 0.1}},
            hovertemplate="pair %{customdata}: rank %{x:,} and %{y:,}, as in %{text:,} pairs<extra></extra>",
        )
    for a_low, a_high, b_low, b_high in areas:
        corners = {"x0": a_low / 1.12, "x1": a_high * 1.12, "y0": b_low / 1.12, "y1": b_high * 1.12}
        figure.add_shape(type="rect", line={"color": ink(scheme), "width": 1.5}, **corners)
    ticks = {"dtick": 1} if end > 125 else {"tickvals": TICKS, "ticktext": [str(tick) for tick in TICKS]}
    axis = {"type": "log", "range": np.log10([0.8, end]).tolist(), **ticks}
    figure.update_xaxes(title=f"rank in A: {first.label}", **axis)
    figure.update_yaxes(title=f"rank in B: {second.label}", **axis)
    figure.update_layout(dragmode="select")
    return apply_layout(figure, scheme, height=HEIGHT)
