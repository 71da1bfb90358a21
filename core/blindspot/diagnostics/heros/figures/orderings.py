"""Figures of HEROS's view *orderings*: rates of some orderings, and all subsets against each other."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence
from html import escape

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from blindspot.figures.dots import dots
from blindspot.figures.grids import heatmap
from blindspot.figures.labels import LABEL_WIDTH, wrapped
from blindspot.figures.theme import DIVERGING, Scheme, Style, apply_layout, ink
from blindspot.numerics.statistics.written import number, percent
from blindspot.types import Float64
from blindspot.variants import Variant

FEW_SUBSETS = 8  # with more, cells have no room for a percent sign
CELL_HEIGHT = 44


def ordering_rates(rows: pd.DataFrame, styles: Mapping[Variant, Style], scheme: Scheme) -> go.Figure:
    """Share of originals that have an ordering, with its interval, a row per ordering.

    Args:
        rows: columns ``variant, name, value, low, high``, the name being the ordering's; all models with the same
            orderings.
    """
    figure = dots(rows, styles, scheme, axis="share with this order (dotted: chance)", spec=".1%")
    figure.add_vline(x=0.5, line={"color": ink(scheme), "width": 1, "dash": "dot"})
    figure.update_yaxes(ticktext=[wrapped(name, 18) for name in dict.fromkeys(rows["name"])])
    figure.update_xaxes(range=[-0.02, 1.02])
    return figure


def win_rate_matrix(rates: Float64, subsets: Sequence[str], scheme: Scheme) -> go.Figure:
    """How often the row's rewrite is closer than the column's: blue above half, orange below.

    Args:
        rates: ``[k, k]`` shares, NaN on the diagonal.
        subsets: ``[k]``, in words.
    """
    return _matrix(
        rates,
        subsets,
        scheme,
        bounds=(0.0, 1.0),
        written=lambda share, few: percent(share, 1) if few else percent(share).removesuffix("%"),
        pointed_at=lambda row, column, share: f"{row} closer than {column}: {percent(share, 1)} of the sentences",
    )


def win_rate_differences(differences: Float64, subsets: Sequence[str], scheme: Scheme) -> go.Figure:
    """Difference of two models, A's share minus B's: blue where A has the row's rewrite closer more often.

    Args:
        differences: ``[k, k]`` differences of shares, NaN on the diagonal.
        subsets: ``[k]``, in words.
    """
    widest = float(np.nanmax(np.abs(differences), initial=0.05))  # the ends of the scale mean little below that
    return _matrix(
        differences,
        subsets,
        scheme,
        bounds=(-widest, widest),
        written=lambda lead, _few: number(100 * lead, "+.0f"),
        pointed_at=lambda row, column, lead: (
            f"{row} closer than {column}: A's share minus B's is {number(lead, '+.1%')}"
        ),
    )


def _matrix(
    values: Float64,
    subsets: Sequence[str],
    scheme: Scheme,
    *,
    bounds: tuple[float, float],
    written: Callable[[float, bool], str],  # a value, and whether there is room for more than digits
    pointed_at: Callable[[str, str, float], str],  # row, column, value
) -> go.Figure:
    k, few = len(subsets), len(subsets) <= FEW_SUBSETS
    names = [escape(subset, quote=False) for subset in subsets]
    texts = [["" if np.isnan(value) else written(float(value), few) for value in row] for row in values]
    tooltips = [
        ["" if i == j else pointed_at(names[i], names[j], float(values[i, j])) for j in range(k)] for i in range(k)
    ]
    (low, high), size = bounds, 13 if few else 10
    cells = heatmap(values, texts, tooltips, scheme, size=size, colorscale=DIVERGING[scheme], zmin=low, zmax=high)
    figure = go.Figure(cells)
    labels = [wrapped(s) if few else escape(textwrap.shorten(s, LABEL_WIDTH + 2, placeholder=" …")) for s in subsets]
    ticks = {"tickvals": list(range(k)), "ticktext": labels, "showgrid": False}
    if not few:  # of one line each, upright: two would run into the next column's on a narrow screen
        figure.update_xaxes(tickangle=-90, tickfont={"size": 10})
        figure.update_yaxes(tickfont={"size": 10})
    figure.update_xaxes(**ticks, side="top", title={"text": "closer than this rewrite", "standoff": 10})
    figure.update_yaxes(**ticks, autorange="reversed", title={"text": "this rewrite is", "standoff": 6})
    return apply_layout(figure, scheme, height=170 + (CELL_HEIGHT if few else 30) * k)
