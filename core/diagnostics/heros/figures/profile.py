"""Figures of HEROS: the profile of every variant, and what all its figures share.

They are drawn so that a narrow screen has room for them.
"""

from __future__ import annotations

from collections.abc import Mapping

import plotly.graph_objects as go

from core.figures.theme import SEQUENTIAL, Scheme, dress, ink
from core.types import Variant

ROW_HEIGHT = 46
ROW_HEIGHT_INTERVALS = 72
LEGEND_HEIGHT = 22  # of a variant: on a narrow screen each has a line of its own

LABELS = {
    "negation_main": "negation of the clause",
    "negation_antonym": "negation of the word",
    "random_mlm": "random word",
}


def label(name: str) -> str:
    """A subset's name for people, as plain text."""
    return LABELS.get(name, name.replace("_", " "))


def profile(
    values: Mapping[Variant, Mapping[str, float]],
    scheme: Scheme,
    intervals: Mapping[Variant, Mapping[str, tuple[float, float]]] | None = None,
) -> go.Figure:
    """Variants by subsets: mean normalised similarity as a heat map with the values printed.

    There is no scale beside it, which would take the room of two columns on a narrow screen.

    Args:
        values: per variant, the mean per subset; all variants with the same subsets.
        intervals: lower and upper end of each value, to be printed below it; some or all may be missing.
    """
    subsets = list(next(iter(values.values())))
    known = intervals or {}
    cells = [[(row[subset], known.get(v, {}).get(subset)) for subset in subsets] for v, row in values.items()]
    figure = go.Figure(
        go.Heatmap(
            x=[label(subset) for subset in subsets],
            y=[variant.label for variant in values],
            z=[[value for value, _ in row] for row in cells],
            text=[[_printed(value, ends) for value, ends in row] for row in cells],
            texttemplate="%{text}",
            textfont={"size": 13, "color": ink(scheme)},
            colorscale=SEQUENTIAL[scheme],
            showscale=False,
            xgap=2,
            ygap=2,
            hovertext=[[_pointed_at(value, ends) for value, ends in row] for row in cells],
            hovertemplate="%{y}, %{x}: %{hovertext}<extra></extra>",
        )
    )
    wrapped = [variant.label.replace(" + ", "<br>+ ", 1) for variant in values]
    figure.update_yaxes(type="category", autorange="reversed", showgrid=False)
    figure.update_yaxes(tickvals=[variant.label for variant in values], ticktext=wrapped)
    figure.update_xaxes(type="category", side="top", showgrid=False)
    return dress(figure, scheme, height=110 + (ROW_HEIGHT_INTERVALS if intervals else ROW_HEIGHT) * len(values))


def _printed(value: float, ends: tuple[float, float] | None) -> str:
    """A value, and on two lines below it its interval: on one line it would not fit a narrow column."""
    if ends is None:
        return f"{value:.3f}"
    low, high = ends
    return f"{value:.3f}<br><span style='font-size:10px'>{low:.3f} –<br>{high:.3f}</span>"


def _pointed_at(value: float, ends: tuple[float, float] | None) -> str:
    return f"{value:.4f}" if ends is None else f"{value:.4f} (95%: {ends[0]:.4f} to {ends[1]:.4f})"
