"""Figures of the view *orderings* of HEROS: rates of some orderings, and all subsets against each other."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence
from html import escape

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from core.diagnostics.heros.figures.profile import LEGEND_HEIGHT
from core.figures.labels import LABEL_WIDTH, wrapped
from core.figures.theme import DIVERGING, Scheme, Style, dress, ink
from core.texts import percent
from core.types import Float64, Variant

ROW_ROOM = 15  # pixels of a variant in the row of an ordering
ROW_MARGIN = 20  # and of the room between two rows
FEW_SUBSETS = 8  # with more, cells have no room for a percent sign
CELL_HEIGHT = 44
ROUNDS_TO_0 = 0.005  # of a share: half a percentage point

_Written = Callable[[float, bool], str]  # a value, and whether there is room for more than digits
_PointedAt = Callable[[str, str, float], str]  # row, column, value


def ordering_rates(rows: pd.DataFrame, styles: Mapping[Variant, Style], scheme: Scheme) -> go.Figure:
    """Share of originals whose one rewrite is more similar than the other, with its interval, a row per ordering.

    Args:
        rows: columns ``variant, ordering, words, rate, low, high``, words being the ordering's; all variants with the
            same orderings.
    """
    figure = go.Figure()
    variants = list(dict.fromkeys(rows["variant"]))
    words = rows.drop_duplicates("ordering").set_index("ordering")["words"]
    names = words.index.tolist()
    for i, variant in enumerate(variants):
        style, own = styles[variant], rows[rows["variant"] == variant]
        offset = (i - (len(variants) - 1) / 2) * 0.7 / len(variants)  # variants stand below each other
        figure.add_scatter(
            x=own["rate"].tolist(),
            y=[names.index(name) + offset for name in own["ordering"]],
            error_x={
                "type": "data",
                "symmetric": False,
                "array": (own["high"] - own["rate"]).tolist(),
                "arrayminus": (own["rate"] - own["low"]).tolist(),
                "thickness": 1.5,
                "width": 3,
                "color": style.colour,
            },
            mode="markers",
            name=escape(variant.label, quote=False),
            marker={"color": style.colour, "symbol": style.symbol, "size": 10},
            customdata=[
                [escape(name, quote=False), *(percent(share, 1) for share in shares)]
                for name, *shares in zip(own["words"], own["rate"], own["low"], own["high"], strict=True)
            ],
            hovertemplate="%{customdata[0]}: %{customdata[1]} (95%: %{customdata[2]} to %{customdata[3]})"
            "<extra>%{fullData.name}</extra>",
        )
    figure.add_vline(x=0.5, line={"color": ink(scheme), "width": 1, "dash": "dot"})
    figure.update_yaxes(
        tickvals=list(range(len(names))),
        ticktext=[wrapped(name, 18) for name in words],
        range=[len(names) - 0.5, -0.5],
        showgrid=False,
        zeroline=False,
    )
    figure.update_xaxes(title="share of originals (dotted: half)", tickformat=".0%", range=[-0.02, 1.02])
    figure.update_layout(showlegend=True)
    row = max(ROW_ROOM * len(variants) + ROW_MARGIN, CELL_HEIGHT)
    return dress(figure, scheme, height=110 + row * len(names) + LEGEND_HEIGHT * len(variants))


def win_rate_matrix(rates: Float64, subsets: Sequence[str], scheme: Scheme) -> go.Figure:
    """How often the row's rewrite is nearer than the column's: blue above half, orange below.

    Args:
        rates: ``[k, k]`` shares, NaN on the diagonal.
        subsets: ``[k]``, in words.
    """
    return _matrix(
        rates,
        subsets,
        scheme,
        bounds=(0.0, 1.0),
        written=lambda share, few: percent(share).removesuffix("" if few else "%"),
        pointed_at=lambda row, column, share: f"{row} nearer than {column}: {percent(share, 1)} of the originals",
    )


def win_rate_differences(differences: Float64, subsets: Sequence[str], scheme: Scheme) -> go.Figure:
    """The same of two variants, A's share less B's: blue where A has the row's rewrite nearer more often.

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
        written=lambda lead, _few: "0" if abs(lead) < ROUNDS_TO_0 else f"{100 * lead:+.0f}",
        pointed_at=lambda row, column, lead: (
            f"{row} nearer than {column}: A's share less B's is {100 * lead:+.1f} percentage points"
        ),
    )


def _matrix(
    values: Float64,
    subsets: Sequence[str],
    scheme: Scheme,
    *,
    bounds: tuple[float, float],
    written: _Written,
    pointed_at: _PointedAt,
) -> go.Figure:
    k, few = len(subsets), len(subsets) <= FEW_SUBSETS
    names = [escape(subset, quote=False) for subset in subsets]
    empty = np.isnan(values)
    figure = go.Figure(
        go.Heatmap(
            x=list(range(k)),
            y=list(range(k)),
            z=[[None if empty[i, j] else float(values[i, j]) for j in range(k)] for i in range(k)],
            text=[["" if empty[i, j] else written(float(values[i, j]), few) for j in range(k)] for i in range(k)],
            hovertext=[
                ["" if empty[i, j] else pointed_at(names[i], names[j], float(values[i, j])) for j in range(k)]
                for i in range(k)
            ],
            texttemplate="%{text}",
            textfont={"size": 13 if few else 10, "color": ink(scheme)},
            hovertemplate="%{hovertext}<extra></extra>",
            hoverongaps=False,
            colorscale=DIVERGING[scheme],
            zmin=bounds[0],
            zmax=bounds[1],
            showscale=False,
            xgap=2,
            ygap=2,
        )
    )
    labels = [wrapped(s) if few else escape(textwrap.shorten(s, LABEL_WIDTH + 2, placeholder=" …")) for s in subsets]
    ticks = {"tickvals": list(range(k)), "ticktext": labels, "showgrid": False}
    if not few:  # of one line each, upright: two would run into the next column's on a narrow screen
        figure.update_xaxes(tickangle=-90, tickfont={"size": 10})
        figure.update_yaxes(tickfont={"size": 10})
    figure.update_xaxes(**ticks, side="top", title={"text": "… than this one", "standoff": 10})
    figure.update_yaxes(**ticks, autorange="reversed", title={"text": "this one nearer …", "standoff": 6})
    return dress(figure, scheme, height=170 + (CELL_HEIGHT if few else 30) * k)
