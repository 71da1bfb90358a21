"""Figure of hubness: how many items are in how many lists of neighbors."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

import numpy as np
import plotly.graph_objects as go

from blindspot.figures.theme import Scheme, Style, apply_layout, ink
from blindspot.numerics.neighbors.hubness import Tail
from blindspot.numerics.statistics.written import percent
from blindspot.variants import Variant

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
    """Share of items with at least so many occurrences, on log axes, a line per variant; dotted: random vectors.

    Args:
        random: by the vectors' dimensions.
        hub: how many times the average, which is k, an item must occur to be called a hub.
    """
    figure = go.Figure()
    lines = [(f"random, {dimensions:,} dimensions", tail, _GREY, "1px,3px") for dimensions, tail in random.items()]
    lines += [(escape(v.label), tail, styles[v].color, styles[v].dash) for v, tail in tails.items()]
    for name, tail, color, dash in lines:
        figure.add_scatter(
            x=tail.at_least,
            y=tail.share,
            name=name,
            mode="lines",
            line={"color": color, "dash": dash, "width": 2, "shape": "vh"},
            text=[percent(share, 3) for share in tail.share],
            hovertemplate="%{text} in at least %{x:,} lists<extra>%{fullData.name}</extra>",
        )
    end = 1.4 * max(hub * k, *(int(tail.at_least.max(initial=1)) for _, tail, _, _ in lines))
    figure.add_shape(
        type="line", x0=hub * k, x1=hub * k, y0=0, y1=1, yref="paper", line={"color": ink(scheme), "dash": "dash"}
    )
    figure.add_annotation(  # on a log axis it is placed by the power of ten
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
        title="in at least so many lists",
        range=np.log10([0.9, end]).tolist(),
        tickvals=[10**e for e in range(6)],
        tickformat=",",
    )
    figure.update_yaxes(type="log", title="share of items", tickvals=_POWERS, ticktext=_WRITTEN)
    apply_layout(figure, scheme, height=HEIGHT + NAME_HEIGHT * len(lines))
    # Below: the names are long and would take a narrow screen's room beside or above the lines.
    return figure.update_layout(legend={"orientation": "h", "y": -0.18, "yanchor": "top"})
