"""Figures of HEROS: the profile of every variant, ordering rates, and the spread within a subset."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from core.figures.theme import Scheme, Style, dress, ink
from core.types import Float64, Variant

ROW_HEIGHT = 46
SCALES = {Scheme.LIGHT: "Blues", Scheme.DARK: "Blues_r"}  # one hue: it reads without telling colours apart

LABELS = {
    "negation_main": "negation of the clause",
    "negation_antonym": "negation of the word",
    "random_mlm": "random word",
}


def label(name: str) -> str:
    """A subset's or an ordering's name (``synonym>antonym``) for people."""
    return " over ".join(LABELS.get(part, part.replace("_", " ")) for part in name.split(">"))


def profile(values: Mapping[Variant, Mapping[str, float]], scheme: Scheme) -> go.Figure:
    """Variants by subsets: mean normalised similarity as a heat map with the values printed.

    Args:
        values: per variant, the mean per subset; all variants with the same subsets.
    """
    subsets = list(next(iter(values.values())))
    table = np.array([[row[subset] for subset in subsets] for row in values.values()])
    figure = go.Figure(
        go.Heatmap(
            x=[label(subset) for subset in subsets],
            y=[variant.label for variant in values],
            z=table,
            text=[[f"{value:.3f}" for value in row] for row in table],
            texttemplate="%{text}",
            textfont={"size": 14},
            colorscale=SCALES[scheme],
            xgap=2,
            ygap=2,
            colorbar={"title": {"text": "similarity", "side": "right"}, "thickness": 12},
            hovertemplate="%{y}, %{x}: %{z:.4f}<extra></extra>",
        )
    )
    figure.update_yaxes(type="category", autorange="reversed", showgrid=False)
    figure.update_xaxes(type="category", side="top", showgrid=False)
    return dress(figure, scheme, height=110 + ROW_HEIGHT * len(values))


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
    return dress(figure, scheme, height=120 + ROW_HEIGHT * len(names), variants=len(rates))


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
    return dress(figure, scheme, height=380, variants=len(similarities))


def shared_subsets(available: Sequence[Sequence[str]]) -> list[str]:
    """The subsets that all have, in the first one's order."""
    return [subset for subset in available[0] if all(subset in other for other in available)]
