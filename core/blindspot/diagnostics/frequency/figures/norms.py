"""Figure of vector lengths against frequency."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from blindspot.figures.theme import Scheme, Style, apply_layout, ink
from blindspot.numerics.statistics.association import Medians
from blindspot.numerics.statistics.written import SCORE, number
from blindspot.types import Float64, Int64

HEIGHT = 340


def norm_scatter(
    zipf: Float64,
    norms: Float64,
    numbers: Int64,
    medians: Medians,
    frequency_range: tuple[float, float],
    style: Style,
    scheme: Scheme,
) -> go.Figure:
    """A dot per item, its length against its frequency, and the median of the lengths with its interval.

    Args:
        zipf, norms, numbers: ``[m]``, of the items that are drawn; numbers in the dataset.
        medians: of all items.
        frequency_range: of the axis, shared by the charts of a page.
    """
    figure = go.Figure()
    figure.add_scattergl(
        x=zipf.astype(np.float32),
        y=norms.astype(np.float32),
        customdata=numbers.astype(np.int32),
        mode="markers",
        marker={"color": style.color, "size": 4, "opacity": 0.25},
        # Written by the browser: a text for each of up to 25,000 dots would be most of the page.
        hovertemplate="item %{customdata}: Zipf %{x:.2f}, length %{y:.3f}<extra></extra>",
        showlegend=False,
    )
    figure.add_scattergl(  # WebGL too: anything else would be drawn behind the dots
        x=medians.middle,
        y=medians.median,
        customdata=[
            f"median of {items:,} items: {number(median, SCORE)}"
            for items, median in zip(medians.items.tolist(), medians.median.tolist(), strict=True)
        ],
        mode="lines+markers",
        line={"color": ink(scheme), "width": 2},
        marker={"color": ink(scheme), "size": 7, "symbol": style.symbol},
        error_y={
            "array": np.nan_to_num(medians.high - medians.median),  # no interval is drawn as none
            "arrayminus": np.nan_to_num(medians.median - medians.low),
            "color": ink(scheme),
            "thickness": 1.5,
            "width": 4,
        },
        hovertemplate="%{customdata}<extra></extra>",
        showlegend=False,
    )
    figure.update_xaxes(title="Zipf frequency", range=list(frequency_range))
    figure.update_yaxes(title="length of the vector", range=_range(norms))
    return apply_layout(figure, scheme, height=HEIGHT)


def _range(norms: Float64) -> list[float] | None:
    """A range without the few farthest, so that one long vector does not flatten the rest."""
    if len(norms) < 100:
        return None
    low, high = np.quantile(norms, [0.001, 0.999])
    room = 0.08 * (high - low)
    return [float(low - room), float(high + room)]
