"""Figures of HEROS: the profile of every variant, ordering rates, and the spread within a subset.

They are drawn so that a narrow screen has room for them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from core.figures.theme import Scheme, Style, dress, ink
from core.types import Float64, Variant

ROW_HEIGHT = 46
ROW_HEIGHT_INTERVALS = 72
LEGEND_HEIGHT = 22  # of a variant: on a narrow screen each has a line of its own
SCALES = {Scheme.LIGHT: "Blues", Scheme.DARK: "Blues_r"}  # one hue: it reads without telling colours apart

LABELS = {
    "negation_main": "negation of the clause",
    "negation_antonym": "negation of the word",
    "random_mlm": "random word",
}


def label(name: str) -> str:
    """A subset's or an ordering's name (``synonym>antonym``) for people."""
    return " over ".join(LABELS.get(part, part.replace("_", " ")) for part in name.split(">"))


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
            textfont={"size": 13},
            colorscale=SCALES[scheme],
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


def ordering_rates(
    rates: Mapping[Variant, Mapping[str, tuple[float, float, float]]], styles: Mapping[Variant, Style], scheme: Scheme
) -> go.Figure:
    """Share of originals whose one rewrite is more similar than the other, with its interval, a row per ordering.

    Args:
        rates: per variant and ordering (``synonym>antonym``): rate, lower and upper end.
    """
    figure = go.Figure()
    names = list(next(iter(rates.values())))
    for i, (variant, row) in enumerate(rates.items()):
        style = styles[variant]
        rate, low, high = (np.array([row[name][k] for name in names]) for k in range(3))
        offset = (i - (len(rates) - 1) / 2) * 0.7 / len(rates)  # variants stand below each other, not on each other
        figure.add_scatter(
            x=rate,
            y=np.arange(len(names)) + offset,
            error_x={"type": "data", "array": high - rate, "arrayminus": rate - low, "thickness": 1.5},
            mode="markers",
            name=variant.label,
            marker={"color": style.colour, "symbol": style.symbol, "size": 10},
            customdata=[label(name) for name in names],
            hovertemplate="%{customdata}: %{x:.1%}<extra>%{fullData.name}</extra>",
        )
    figure.add_vline(x=0.5, line={"color": ink(scheme), "width": 1, "dash": "dot"})
    figure.update_yaxes(tickvals=list(range(len(names))), ticktext=[label(name) for name in names])
    figure.update_yaxes(autorange="reversed", showgrid=False, zeroline=False)
    figure.update_xaxes(title="share of originals (dotted: chance)", tickformat=".0%", range=[-0.02, 1.02])
    figure.update_layout(showlegend=True)
    return dress(figure, scheme, height=120 + ROW_HEIGHT * len(names) + LEGEND_HEIGHT * len(rates))


def spread(
    similarities: Mapping[Variant, Mapping[str, Float64]], styles: Mapping[Variant, Style], scheme: Scheme
) -> go.Figure:
    """How the similarities of a subset are spread: a box from quartile to quartile, whiskers to 5% and 95%.

    Args:
        similarities: per variant and subset, ``[n]`` normalised similarities.
    """
    figure = go.Figure()
    for variant, subsets in similarities.items():
        five = np.array([np.quantile(values, [0.05, 0.25, 0.5, 0.75, 0.95]) for values in subsets.values()])
        figure.add_box(
            x=[label(subset) for subset in subsets],
            lowerfence=five[:, 0],
            q1=five[:, 1],
            median=five[:, 2],
            q3=five[:, 3],
            upperfence=five[:, 4],
            name=variant.label,
            marker={"color": styles[variant].colour},
            boxpoints=False,
        )
    figure.update_layout(boxmode="group", showlegend=True)
    figure.update_yaxes(title="normalised similarity")
    return dress(figure, scheme, height=380 + LEGEND_HEIGHT * len(similarities))


def shared_subsets(available: Sequence[Sequence[str]]) -> list[str]:
    """The subsets that all have, in the first one's order."""
    return [subset for subset in available[0] if all(subset in other for other in available)]
