"""Figures of the view *spread* of HEROS."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import plotly.graph_objects as go

from core.figures.heros import LEGEND_HEIGHT, label
from core.figures.theme import Scheme, Style, dress
from core.types import Float64, Variant


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
