"""The figure of EvalRank's pairs: the rank in one encoder against the rank in another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from core.figures.theme import Scheme, Style, dress, ink
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
    """Rank in B against rank in A on log axes, a dot per pair, and the diagonal where both are alike.

    A pair has the colour and symbol of the encoder that ranks its mate better. Where there are more than
    ``MOST_POINTS`` pairs, those that are drawn are evenly spaced among them.

    Args:
        ranks: of A and of B, ``[m]`` each; a pair with NaN is left out.
        numbers: ``[m]``, the pairs' numbers, which a selection of dots names.
        areas: outlined, each ``(lowest rank in A, highest in A, lowest in B, highest in B)``.
        chosen: ``[m]``, the pairs that stand out from the others; None where there is no choice.
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
        figure.add_shape(
            type="rect",
            x0=a_low / 1.12,
            x1=a_high * 1.12,
            y0=b_low / 1.12,
            y1=b_high * 1.12,
            line={"color": ink(scheme), "width": 1.5},
        )
    ticks = 1 if end > 100 else "D2"  # powers of ten, or 1, 2, 5, 10 where there would be too few
    figure.update_xaxes(type="log", title=f"rank in A: {first.label}", dtick=ticks, range=np.log10([0.8, end]).tolist())
    figure.update_yaxes(
        type="log", title=f"rank in B: {second.label}", dtick=ticks, range=np.log10([0.8, end]).tolist()
    )
    figure.update_layout(dragmode="select")
    return dress(figure, scheme, height=HEIGHT)
