"""The rank of every pair in one encoder against its rank in another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from core.figures.theme import Scheme, Style, apply_layout, ink
from core.types import Bool, Float64, Int64, Variant

HEIGHT = 460
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

    A pair has the colour and symbol of the encoder that ranks its mate better. Of more than ``MOST_POINTS`` pairs,
    evenly spaced ones are drawn.

    Args:
        ranks: of A and of B, ``[m]`` each; a pair with NaN is left out.
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
        (f"{first.label} better", a < b, styles[first].colour, styles[first].symbol),
        (f"{second.label} better", a > b, styles[second].colour, styles[second].symbol),
    )
    for name, inside, colour, symbol in groups:
        figure.add_scattergl(
            name=f"{name}: {np.count_nonzero(inside):,}",
            x=a[inside].astype(np.float32),
            y=b[inside].astype(np.float32),
            customdata=numbers[inside].astype(np.int32),
            mode="markers",
            marker={"color": colour, "symbol": symbol, "size": 7, "opacity": 0.45},
            selectedpoints=None if chosen is None else np.flatnonzero(chosen[at][inside]).tolist(),
            selected={"marker": {"opacity": 0.75}},
            unselected={"marker": {"opacity": 0.1}},
            hovertemplate="pair %{customdata}: rank %{x:,} and %{y:,}<extra></extra>",
        )
    for a_low, a_high, b_low, b_high in areas:
        corners = {"x0": a_low / 1.12, "x1": a_high * 1.12, "y0": b_low / 1.12, "y1": b_high * 1.12}
        figure.add_shape(type="rect", line={"color": ink(scheme), "width": 1.5}, **corners)
    ticks = 1 if end > 100 else "D2"  # powers of ten, or 1, 2, 5, 10 where there would be too few
    axis = {"type": "log", "dtick": ticks, "range": np.log10([0.8, end]).tolist()}
    figure.update_xaxes(title=f"rank in A: {first.label}", **axis)
    figure.update_yaxes(title=f"rank in B: {second.label}", **axis)
    figure.update_layout(dragmode="select")
    return apply_layout(figure, scheme, height=HEIGHT)
