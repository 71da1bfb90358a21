"""The figure of hubness: how many items stand among the nearest of how many others."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

import numpy as np
import plotly.graph_objects as go

from core.figures.theme import Scheme, Style, dress, ink
from core.numerics.neighbours.hubness import Tail
from core.types import Variant

HEIGHT = 420
NAME_HEIGHT = 20  # of the legend, per name on a narrow screen
_GREY = "#8A94A0"  # to be seen on light and dark
_POWERS = [10.0**-e for e in range(6)]
_WRITTEN = ["100%", "10%", "1%", "0.1%", "0.01%", "0.001%"]


def occurrence_tails(
    tails: Mapping[Variant, Tail],
    random: Mapping[int, Tail],
    k: int,
    hub: float,
    styles: Mapping[Variant, Style],
    scheme: Scheme,
) -> go.Figure:
    """Share of items with at least so many occurrences, on log axes, a line per variant; thin and dotted: random ones.

    Args:
        random: of random vectors, by their dimensions.
        hub: how many times the average, which is k, an item must occur to be called a hub.
    """
    figure = go.Figure()
    for dimensions, tail in random.items():
        figure.add_scatter(
            x=tail.at_least,
            y=tail.share,
            name=f"random, {dimensions:,} dimensions",
            mode="lines",
            line={"color": _GREY, "width": 2, "dash": "1px,3px", "shape": "vh"},
            hovertemplate="%{y:.3%} in at least %{x:,} lists<extra>%{fullData.name}</extra>",
        )
    for variant, tail in tails.items():
        style = styles[variant]
        figure.add_scatter(
            x=tail.at_least,
            y=tail.share,
            name=escape(variant.label),
            mode="lines",
            line={"color": style.colour, "dash": style.dash, "width": 2, "shape": "vh"},
            hovertemplate="%{y:.3%} in at least %{x:,} lists<extra>%{fullData.name}</extra>",
        )
    farthest = max((int(t.at_least.max(initial=1)) for t in [*tails.values(), *random.values()]), default=1)
    end = 1.4 * max(farthest, hub * k)
    figure.add_shape(
        type="line", x0=hub * k, x1=hub * k, y0=0, y1=1, yref="paper", line={"color": ink(scheme), "dash": "dash"}
    )
    figure.add_annotation(  # on a log axis a note stands at the power of ten
        x=float(np.log10(hub * k)),
        y=1,
        yref="paper",
        xanchor="right",
        yanchor="bottom",
        text=f"hubs from {hub * k:g} on",
        showarrow=False,
        font={"color": ink(scheme)},
    )
    figure.update_xaxes(
        type="log",
        title="in how many lists an item stands, at least",
        range=np.log10([0.9, end]).tolist(),
        tickvals=[10**e for e in range(6)],
        tickformat=",",
    )
    figure.update_yaxes(type="log", title="share of items", tickvals=_POWERS, ticktext=_WRITTEN)
    names = len(tails) + len(random)
    dress(figure, scheme, height=HEIGHT + NAME_HEIGHT * names)
    # below: the names are long, and beside or above the lines they would take a narrow screen's room
    return figure.update_layout(legend={"orientation": "h", "y": -0.18, "yanchor": "top"})
