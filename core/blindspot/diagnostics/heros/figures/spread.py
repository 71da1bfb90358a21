"""Figures of HEROS's view *spread*: a ridge per subset and variant, and the profile per transform."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple
from html import escape

import numpy as np
import plotly.graph_objects as go

from blindspot.diagnostics.heros.figures.profile import LEGEND_HEIGHT, label
from blindspot.diagnostics.heros.transforms import ChainProfile
from blindspot.diagnostics.heros.view import Spread
from blindspot.figures.labels import wrapped
from blindspot.figures.panels import panel, side_by_side
from blindspot.figures.theme import Scheme, Style, apply_layout, ink, set_properties
from blindspot.numerics.statistics.written import SCORE, each_written, number, percent
from blindspot.types import Float64
from blindspot.variants import Variant

RIDGE_HEIGHT = 30  # pixels
SUBSET_MARGIN = 16  # pixels between two subsets
PEAK = 0.86  # share of a ridge's room that its peak takes
CHAIN_HEIGHT = 46


def ridges(
    rows: Sequence[Spread],
    styles: Mapping[Variant, Style],
    scheme: Scheme,
    *,
    axis: str,
    baseline: str,
    near: bool = False,
) -> go.Figure:
    """A ridge per subset and variant, below each other, scaled to one height.

    The dot is the median, the bar the middle half, the dotted mark the baseline.

    Args:
        rows: all variants with the same subsets.
        axis, baseline: names of the similarity and of the mark.
        near: whether the axis begins where the hills do, which may leave the baselines out.
    """
    subsets = list(dict.fromkeys(r.subset for r in rows))
    variants = list(dict.fromkeys(r.variant for r in rows))
    row = len(variants) + SUBSET_MARGIN / RIDGE_HEIGHT  # of a subset, in ridges
    figure = go.Figure()
    for row_in_group, variant in enumerate(variants):
        of_variant = [r for r in rows if r.variant == variant]
        style = styles[variant]
        feet = {r.subset: subsets.index(r.subset) * row + row_in_group + 1 for r in of_variant}  # downwards
        group = {"legendgroup": str(variant), "name": escape(variant.label, quote=False)}
        figure.add_scatter(
            x=_joined([np.concatenate([r.hill.at, r.hill.at[::-1]]) for r in of_variant]),
            y=_joined([feet[r.subset] - _outline(r) for r in of_variant]),
            fill="toself",
            fillcolor=_faint(style.color),
            line={"color": style.color, "width": 1.5},
            mode="lines",
            hoverinfo="skip",
            showlegend=False,
            **group,
        )
        figure.add_scatter(
            x=_joined([np.full(2, r.baseline) for r in of_variant]),
            y=_joined([feet[r.subset] - np.array([0.0, 1.0]) for r in of_variant]),
            text=[baseline_text for r in of_variant for baseline_text in [number(r.baseline, SCORE)] * 2 + [""]][:-1],
            mode="lines",
            line={"color": style.color, "width": 2.5, "dash": "dot"},
            hovertemplate=f"{escape(baseline, quote=False)}: %{{text}}<extra>%{{fullData.name}}</extra>",
            showlegend=False,
            **group,
        )
        figure.add_scatter(
            x=[r.quantiles.median for r in of_variant],
            y=[feet[r.subset] - 0.02 for r in of_variant],
            error_x={
                "type": "data",
                "symmetric": False,
                "array": [r.quantiles.upper - r.quantiles.median for r in of_variant],
                "arrayminus": [r.quantiles.median - r.quantiles.lower for r in of_variant],
                "color": style.color,
                "thickness": 3,
                "width": 0,
            },
            mode="markers",
            marker={
                "color": style.color,
                "symbol": style.symbol,
                "size": 9,
                "line": {"color": ink(scheme), "width": 1},
            },
            customdata=[
                [escape(label(r.subset), quote=False), *each_written([*astuple(r.quantiles), r.mean]), f"{r.n:,}"]
                for r in of_variant
            ],
            hovertemplate="<b>%{customdata[0]}</b>, %{customdata[7]} sentences<br>"
            "5%: %{customdata[1]}, 25%: %{customdata[2]}<br>median %{customdata[3]}, mean %{customdata[6]}<br>"
            "75%: %{customdata[4]}, 95%: %{customdata[5]}<extra>%{fullData.name}</extra>",
            **group,
        )
    figure.update_yaxes(
        tickvals=[i * row + (len(variants) + 1) / 2 for i in range(len(subsets))],
        ticktext=[wrapped(label(subset)) for subset in subsets],
        range=[len(subsets) * row + 0.2, -0.1],
        showgrid=False,
    )
    for i in range(1, len(subsets)):
        figure.add_hline(
            y=i * row + SUBSET_MARGIN / RIDGE_HEIGHT / 4, line={"color": ink(scheme), "width": 0.5}, opacity=0.25
        )
    figure.update_xaxes(title=axis, range=_range(rows, near))
    figure.update_layout(showlegend=True, hovermode="closest")
    height = 110 + RIDGE_HEIGHT * row * len(subsets) + LEGEND_HEIGHT * len(variants)
    return apply_layout(figure, scheme, height=int(height))


def _range(rows: Sequence[Spread], near: bool) -> list[float]:
    """The ends of the axis, with a little room."""
    low, high = min(float(r.hill.at[0]) for r in rows), max(float(r.hill.at[-1]) for r in rows)
    if not near:
        baselines = [r.baseline for r in rows]
        low, high = min(low, *baselines), max(high, *baselines)
    return [low - 0.02 * (high - low), high + 0.02 * (high - low)]


def _outline(ridge: Spread) -> Float64:
    """The outline of a ridge: out along the density and back along its base, in shares of the ridge's room."""
    heights = ridge.hill.heights
    peak = float(heights.max())
    scaled = heights * (PEAK / peak) if peak > 0 else heights
    return np.concatenate([scaled, np.zeros(len(scaled))])


def _joined(parts: Sequence[Float64]) -> list[float | None]:
    """The parts with gaps between them, rounded to what can be seen."""
    out: list[float | None] = []
    for part in parts:
        out += [None] if out else []
        out += [round(float(value), 5) for value in part]
    return out


def _faint(color: str) -> str:
    red, green, blue = (int(color[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},0.25)"


def chains(rows: Sequence[ChainProfile], looks: Mapping[str, Style], ordering: str, scheme: Scheme) -> go.Figure:
    """A row per chain: each subset's mean, joined from row to row by a line; in a second panel an ordering's rate.

    Args:
        rows: with the same subsets.
        looks: a look per subset.
        ordering: in words; "" where there is none.
    """
    columns = 2 if ordering else 1
    figure = side_by_side(columns, scheme, gap=0.04, shares=[0.68, 0.32] if ordering else [1.0])
    places = list(range(len(rows)))
    for subset, look in looks.items():
        figure.add_scatter(
            x=[r.means[subset] for r in rows],
            y=places,
            mode="lines+markers",
            name=escape(label(subset), quote=False),
            line={"color": look.color, "dash": look.dash, "width": 1.5},
            marker={"color": look.color, "symbol": look.symbol, "size": 9},
            customdata=[f"{r.chain}: {number(r.means[subset], SCORE)}" for r in rows],
            hovertemplate="%{customdata}<extra>%{fullData.name}</extra>",
        )
    points = [(row, r.chain, r.kept.share) for row, r in zip(places, rows, strict=True) if r.kept]
    if ordering and points:
        figure.add_scatter(
            x=[kept.value for _, _, kept in points],
            y=[row for row, _, _ in points],
            error_x={
                "array": [kept.interval.high - kept.value for _, _, kept in points],
                "arrayminus": [kept.value - kept.interval.low for _, _, kept in points],
                "thickness": 1.5,
                "width": 3,
            },
            mode="markers+text",
            text=[percent(kept.value) for _, _, kept in points],
            textposition="top center",
            marker={"color": ink(scheme), "symbol": "circle", "size": 9},
            customdata=[
                [chain, *(percent(share, 1) for share in (kept.value, kept.interval.low, kept.interval.high))]
                for _, chain, kept in points
            ],
            hovertemplate="%{customdata[0]}: %{customdata[1]} (95% CI %{customdata[2]} to %{customdata[3]})"
            f"<extra>{escape(ordering, quote=False)}</extra>",
            showlegend=False,
            **panel(2),
        )
        middle = {"x0": 0.5, "x1": 0.5, "xref": "x2", "y0": 0, "y1": 1, "yref": "y2 domain"}
        figure.add_shape(type="line", line={"color": ink(scheme), "width": 1, "dash": "dot"}, **middle)
        set_properties(
            figure.layout.xaxis2,
            title={"text": wrapped(ordering, 16)},
            tickformat=".0%",
            tickvals=[0, 1],
            range=[-0.08, 1.08],
        )
    set_properties(figure.layout.xaxis, title={"text": "mean normalized<br>similarity"})
    figure.update_yaxes(range=[len(rows) - 0.5, -0.6], showgrid=True)
    set_properties(figure.layout.yaxis, tickvals=places, ticktext=[wrapped(r.chain) for r in rows])
    figure.update_layout(showlegend=True)
    height = 170 + CHAIN_HEIGHT * len(rows) + LEGEND_HEIGHT * ((len(looks) + 1) // 2)
    return apply_layout(figure, scheme, height=height)
