"""The Overview's figure: every variant's headline score on every dataset."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
import plotly.graph_objects as go

from core.figures.theme import Scheme, Style, apply_layout
from core.types import Variant

SIZES = (18, 13, 9)  # pixels: of variants that score alike, each still shows behind the next


def score_dots(
    scores: pd.DataFrame,
    datasets: Sequence[str],
    axis: str,
    styles: Mapping[Variant, Style],
    scheme: Scheme,
    *,
    is_at_most_one: bool = True,
) -> go.Figure:
    """One row per dataset, one mark per variant at its score.

    Args:
        scores: columns ``variant, dataset, score``; at least one row.
        datasets: the rows, first on top.
        axis: title of the axis.
        is_at_most_one: the axis ends at 1, so that the distance to it shows.
    """
    figure = go.Figure()
    for i, variant in enumerate(dict.fromkeys(scores["variant"])):
        rows = scores[scores["variant"] == variant]
        style = styles[variant]
        figure.add_scatter(
            x=rows["score"],
            y=rows["dataset"],
            mode="markers",
            name=variant.label,
            marker={"color": style.colour, "symbol": style.symbol, "size": SIZES[i % len(SIZES)]},
            hovertemplate="%{x:.4f} on %{y}<extra>%{fullData.name}</extra>",
        )
    figure.update_layout(showlegend=True)
    low, high = float(scores["score"].min()), float(scores["score"].max())
    room = 0.08 if is_at_most_one else 0.1 * (high - low) or 0.1
    start = low - room
    end = 1.005 if is_at_most_one else high + room
    figure.update_xaxes(title=axis, range=[max(0.0, start) if low >= 0 else start, end])
    figure.update_yaxes(type="category", categoryorder="array", categoryarray=list(reversed(datasets)))
    return apply_layout(figure, scheme, height=130 + 46 * len(datasets))
