"""Figures of the view *spread* of HEROS: a ridge per subset and variant, and the profile per transform."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from core.diagnostics.heros.figures.profile import label
from core.figures.theme import Scheme, Style, dress, ink
from core.texts import percent
from core.types import Float64, Variant

RIDGE_HEIGHT = 30  # pixels of a ridge
SUBSET_MARGIN = 16  # and of the room between two subsets
PEAK = 0.86  # of a ridge's room that its highest place takes
LABEL_WIDTH = 14
CHAIN_HEIGHT = 46
LEGEND_LINE = 22


@dataclass(frozen=True, eq=False)
class Ridge:
    """The similarities of one variant's subset.

    Attributes:
        at, heights: ``[points]`` places on the axis and the density there.
        quantiles: 5%, 25%, 50%, 75% and 95%.
        baseline: what two unrelated sentences have, on the same axis.
        n: of the similarities.
    """

    variant: Variant
    subset: str
    at: Float64
    heights: Float64
    quantiles: tuple[float, float, float, float, float]
    mean: float
    baseline: float
    n: int


def ridges(
    rows: Sequence[Ridge],
    styles: Mapping[Variant, Style],
    scheme: Scheme,
    *,
    axis: str,
    baseline: str,
    near: bool = False,
) -> go.Figure:
    """A ridge per subset and variant, below each other; all scaled to one height.

    The dot is the median, the bar the middle half, the dotted mark the baseline.

    Args:
        rows: all variants with the same subsets.
        axis: what the similarities are; ``baseline`` what is marked.
        near: whether the axis begins where the hills do, which may leave the baselines out.
    """
    subsets = list(dict.fromkeys(r.subset for r in rows))
    variants = list(dict.fromkeys(r.variant for r in rows))
    row = len(variants) + SUBSET_MARGIN / RIDGE_HEIGHT  # of a subset, in ridges
    figure = go.Figure()
    for place, variant in enumerate(variants):
        own = [r for r in rows if r.variant == variant]
        style = styles[variant]
        feet = {r.subset: subsets.index(r.subset) * row + place + 1 for r in own}  # downwards
        group = {"legendgroup": str(variant), "name": escape(variant.label, quote=False)}
        figure.add_scatter(
            x=_joined([np.concatenate([r.at, r.at[::-1]]) for r in own]),
            y=_joined([feet[r.subset] - _outline(r) for r in own]),
            fill="toself",
            fillcolor=_faint(style.colour),
            line={"color": style.colour, "width": 1.5},
            mode="lines",
            hoverinfo="skip",
            showlegend=False,
            **group,
        )
        figure.add_scatter(
            x=_joined([np.full(2, r.baseline) for r in own]),
            y=_joined([feet[r.subset] - np.array([0.0, 1.0]) for r in own]),
            mode="lines",
            line={"color": style.colour, "width": 2.5, "dash": "dot"},
            hovertemplate=f"{escape(baseline, quote=False)}: %{{x:.3f}}<extra>%{{fullData.name}}</extra>",
            showlegend=False,
            **group,
        )
        figure.add_scatter(
            x=[r.quantiles[2] for r in own],
            y=[feet[r.subset] - 0.02 for r in own],
            error_x={
                "type": "data",
                "symmetric": False,
                "array": [r.quantiles[3] - r.quantiles[2] for r in own],
                "arrayminus": [r.quantiles[2] - r.quantiles[1] for r in own],
                "color": style.colour,
                "thickness": 3,
                "width": 0,
            },
            mode="markers",
            marker={
                "color": style.colour,
                "symbol": style.symbol,
                "size": 9,
                "line": {"color": ink(scheme), "width": 1},
            },
            customdata=[[escape(label(r.subset), quote=False), *r.quantiles, r.mean, r.n] for r in own],
            hovertemplate="<b>%{customdata[0]}</b>, %{customdata[7]:,} sentences<br>"
            "5%: %{customdata[1]:.3f}, 25%: %{customdata[2]:.3f}<br>median %{customdata[3]:.3f}, "
            "mean %{customdata[6]:.3f}<br>75%: %{customdata[4]:.3f}, 95%: %{customdata[5]:.3f}"
            "<extra>%{fullData.name}</extra>",
            **group,
        )
    figure.update_yaxes(
        tickvals=[i * row + (len(variants) + 1) / 2 for i in range(len(subsets))],
        ticktext=[_wrapped(label(subset)) for subset in subsets],
        range=[len(subsets) * row + 0.2, -0.1],
        showgrid=False,
    )
    for i in range(1, len(subsets)):
        figure.add_hline(
            y=i * row + SUBSET_MARGIN / RIDGE_HEIGHT / 4, line={"color": ink(scheme), "width": 0.5}, opacity=0.25
        )
    figure.update_xaxes(title=axis, range=_range(rows, near))
    figure.update_layout(showlegend=True, hovermode="closest")
    height = 110 + RIDGE_HEIGHT * row * len(subsets) + LEGEND_LINE * len(variants)
    return dress(figure, scheme, height=int(height))


def _range(rows: Sequence[Ridge], near: bool) -> list[float]:
    """From end to end, with a little room beside."""
    low, high = min(float(r.at[0]) for r in rows), max(float(r.at[-1]) for r in rows)
    if not near:
        baselines = [r.baseline for r in rows]
        low, high = min(low, *baselines), max(high, *baselines)
    return [low - 0.02 * (high - low), high + 0.02 * (high - low)]


def _outline(ridge: Ridge) -> Float64:
    """Up along the density and back along its foot, in parts of a ridge's room."""
    peak = float(ridge.heights.max())
    scaled = ridge.heights * (PEAK / peak) if peak > 0 else ridge.heights
    return np.concatenate([scaled, np.zeros(len(scaled))])


def _joined(parts: Sequence[Float64]) -> list[float | None]:
    """The parts one after another with gaps between, rounded to what can be seen."""
    out: list[float | None] = []
    for part in parts:
        out += [None] if out else []
        out += [round(float(value), 5) for value in part]
    return out


def _faint(colour: str) -> str:
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},0.25)"


def _wrapped(name: str, width: int = LABEL_WIDTH) -> str:
    return "<br>".join(escape(line, quote=False) for line in textwrap.wrap(name, width) or [name])


# --- from transform to transform


@dataclass(frozen=True)
class ChainRow:
    """One transform chain of an encoder.

    Attributes:
        means: mean normalised similarity per subset; the same subsets for all chains.
        kept: share of originals that have the ordering that is followed, with its interval's ends; None without one.
    """

    chain: str
    means: Mapping[str, float]
    kept: tuple[float, float, float] | None


def chains(rows: Sequence[ChainRow], looks: Mapping[str, Style], ordering: str, scheme: Scheme) -> go.Figure:
    """Per chain a row: where each subset's mean stands, a line from row to row; beside it an ordering's rate.

    Args:
        looks: a look per subset.
        ordering: which ordering the rates are of, in words; "" where there is none.
    """
    columns = 2 if ordering else 1
    figure = make_subplots(
        cols=columns, shared_yaxes=True, horizontal_spacing=0.04, column_widths=[0.68, 0.32] if ordering else [1.0]
    )
    places = list(range(len(rows)))
    for subset, look in looks.items():
        figure.add_scatter(
            x=[r.means[subset] for r in rows],
            y=places,
            mode="lines+markers",
            name=escape(label(subset), quote=False),
            line={"color": look.colour, "dash": look.dash, "width": 1.5},
            marker={"color": look.colour, "symbol": look.symbol, "size": 9},
            customdata=[r.chain for r in rows],
            hovertemplate="%{customdata}: %{x:.3f}<extra>%{fullData.name}</extra>",
            row=1,
            col=1,
        )
    known = [(place, r.chain, r.kept) for place, r in zip(places, rows, strict=True) if r.kept]
    if ordering and known:
        figure.add_scatter(
            x=[kept[0] for _, _, kept in known],
            y=[place for place, _, _ in known],
            error_x={
                "type": "data",
                "symmetric": False,
                "array": [kept[2] - kept[0] for _, _, kept in known],
                "arrayminus": [kept[0] - kept[1] for _, _, kept in known],
                "thickness": 1.5,
                "width": 3,
            },
            mode="markers+text",
            text=[percent(kept[0]) for _, _, kept in known],
            textposition="top center",
            marker={"color": ink(scheme), "symbol": "circle", "size": 9},
            customdata=[[chain, *(percent(share, 1) for share in kept)] for _, chain, kept in known],
            hovertemplate="%{customdata[0]}: %{customdata[1]} (95%: %{customdata[2]} to %{customdata[3]})"
            f"<extra>{escape(ordering, quote=False)}</extra>",
            showlegend=False,
            row=1,
            col=2,
        )
        figure.add_vline(x=0.5, line={"color": ink(scheme), "width": 1, "dash": "dot"}, col=2)
        figure.update_xaxes(title=_wrapped(ordering, 16), tickformat=".0%", tickvals=[0, 1], range=[-0.08, 1.08], col=2)
    figure.update_xaxes(title="mean normalised<br>similarity", col=1)
    figure.update_yaxes(range=[len(rows) - 0.5, -0.6], showgrid=True)
    figure.update_yaxes(tickvals=places, ticktext=[_wrapped(r.chain) for r in rows], col=1)
    figure.update_layout(showlegend=True)
    height = 170 + CHAIN_HEIGHT * len(rows) + LEGEND_LINE * ((len(looks) + 1) // 2)
    return dress(figure, scheme, height=height)
