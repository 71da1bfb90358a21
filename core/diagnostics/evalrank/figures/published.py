"""EvalRank's published scores beside measured ones: a dot plot, published marks hollow on dashed stems."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from core.figures.theme import Scheme, Style, dress, ink
from core.types import Variant

PUBLISHED = "published"
PANELS = {"mrr": "MRR", "hits@1": "Hits@1", "hits@3": "Hits@3"}
ROW_HEIGHT = 27


@dataclass(frozen=True)
class Dot:
    """A row of the plot: fractions by the names of ``PANELS``; ``variant`` is None for a published score."""

    label: str
    scores: Mapping[str, float]
    variant: Variant | None = None


def published_dots(dots: list[Dot], styles: Mapping[Variant, Style], scheme: Scheme) -> go.Figure:
    """A row per encoder, the best on top, a panel per score; published ones hollow, on a dashed line, and named so."""
    figure = make_subplots(cols=len(PANELS), shared_yaxes=True, horizontal_spacing=0.03)
    rows = sorted(dots, key=lambda dot: dot.scores["mrr"])  # plotly's first row is at the bottom
    names = [dot.label if dot.variant else f"{dot.label} · {PUBLISHED}" for dot in rows]
    for column, (name, title) in enumerate(PANELS.items(), 1):
        for y, dot in enumerate(rows):
            figure.add_shape(
                type="line",
                x0=0,
                x1=dot.scores[name],
                y0=y,
                y1=y,
                line={"color": ink(scheme), "width": 1, "dash": "solid" if dot.variant else "dash"},
                opacity=0.6,
                layer="below",
                row=1,
                col=column,
            )
        for published in (False, True):
            shown = [(y, dot) for y, dot in enumerate(rows) if (dot.variant is None) == published]
            if not shown:
                continue
            looks = [styles[dot.variant] for _, dot in shown if dot.variant]
            filled = {"symbol": [look.symbol for look in looks], "color": [look.colour for look in looks]}
            hollow = {"symbol": "circle-open", "color": ink(scheme), "line": {"width": 2}}
            figure.add_scatter(
                name=PUBLISHED if published else "measured here, toolkit protocol",
                x=[dot.scores[name] for _, dot in shown],
                y=[y for y, _ in shown],
                text=[names[y] for y, _ in shown],
                mode="markers",
                marker={"size": 11, **(hollow if published else filled)},
                showlegend=False,
                hovertemplate=f"%{{text}}<br>{title} %{{x:.4f}}<extra></extra>",
                row=1,
                col=column,
            )
        figure.update_xaxes(title=title, row=1, col=column)
    figure.update_yaxes(tickvals=list(range(len(rows))), ticktext=names, range=[-0.7, len(rows) - 0.3], showgrid=False)
    highest = max(max(dot.scores.values()) for dot in dots)
    # Short of 1, whose label would stand in the next panel's on a narrow screen.
    figure.update_xaxes(range=[0, max(min(0.99, 1.15 * highest), 1.02 * highest)], nticks=3)
    return dress(figure, scheme, height=80 + ROW_HEIGHT * len(rows))
