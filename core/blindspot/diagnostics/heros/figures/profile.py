"""Figure of HEROS's profiles, with published ones below them as framed cells; they are made for a narrow screen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from blindspot.datasets.kinds.minimal_pairs import subset_in_words
from blindspot.figures.theme import SEQUENTIAL, Scheme, apply_layout, ink, shade
from blindspot.numerics.statistics.estimate import Measured
from blindspot.numerics.statistics.written import SCORE, number, with_ci
from blindspot.variants import Variant

ROW_HEIGHT = 46
ROW_HEIGHT_INTERVALS = 72
ROW_HEIGHT_PUBLISHED = 34  # two lines of small type
LEGEND_HEIGHT = 22  # of a variant: on a narrow screen each has a line of its own
GAP = 44  # between measured and published rows
CELL_WIDTH = 0.94  # of a column, so that frames do not touch
TINT = 0.22  # how much of the scale's color fills a frame

label = subset_in_words
Intervals = Mapping[Variant, Mapping[str, Measured]]


def profile(
    values: Mapping[Variant, Mapping[str, float]], scheme: Scheme, intervals: Intervals | None = None
) -> go.Figure:
    """Variants by subsets: mean normalized similarity as a heat map with the values printed.

    It has no color scale, which would take the room of two columns on a narrow screen.

    Args:
        values: per variant, the mean per subset; all variants with the same subsets.
        intervals: of the values, printed below them; some or all may be missing.
    """
    subsets = list(next(iter(values.values())))
    intervals_of = intervals or {}
    cells = [
        [intervals_of.get(v, {}).get(subset, Measured(row[subset], None)) for subset in subsets]
        for v, row in values.items()
    ]
    figure = go.Figure(
        go.Heatmap(
            x=[label(subset) for subset in subsets],
            y=[variant.label for variant in values],
            z=[[measured.value for measured in row] for row in cells],
            text=[[_printed(measured) for measured in row] for row in cells],
            texttemplate="%{text}",
            textfont={"size": 13, "color": ink(scheme)},
            colorscale=SEQUENTIAL[scheme],
            showscale=False,
            xgap=2,
            ygap=2,
            hovertext=[[with_ci(measured, SCORE) for measured in row] for row in cells],
            hovertemplate="%{y}, %{x}: %{hovertext}<extra></extra>",
        )
    )
    wrapped = [variant.label.replace(" + ", "<br>+ ", 1) for variant in values]
    figure.update_yaxes(type="category", autorange="reversed", showgrid=False)
    figure.update_yaxes(tickvals=[variant.label for variant in values], ticktext=wrapped)
    figure.update_xaxes(type="category", side="top", showgrid=False)
    return apply_layout(figure, scheme, height=110 + (ROW_HEIGHT_INTERVALS if intervals else ROW_HEIGHT) * len(values))


def _printed(measured: Measured) -> str:
    """A value, with its interval on two lines below: on one line it would not fit a narrow column."""
    if measured.interval is None:
        return number(measured.value, SCORE)
    ends = measured.interval.low, measured.interval.high
    value, low, high = (number(x, SCORE) for x in (measured.value, *ends))
    return f"{value}<br><span style='font-size:10px'>{low} –<br>{high}</span>"


@dataclass(frozen=True)
class PublishedRow:
    """A row of published means.

    Attributes:
        name: may have a line break.
        values: by subset; empty for a heading.
        about: lines of the hover text.
    """

    name: str
    values: Mapping[str, float]
    about: Sequence[str] = ()


def profile_with_published(
    values: Mapping[Variant, Mapping[str, float]],
    published: Sequence[PublishedRow],
    span: tuple[float, float],
    scheme: Scheme,
    intervals: Intervals | None = None,
) -> go.Figure:
    """``profile`` with published rows below it: their cells are frames, where measured ones are filled.

    Args:
        published: one or more; subsets without a column are left out.
        span: the scale's ends for both, which should not change when rows are folded.
    """
    figure = profile(values, scheme, intervals)
    low, high = span
    figure.update_traces(zmin=low, zmax=high, selector={"type": "heatmap"})
    columns = list(next(iter(values.values())))
    cells = [
        (row_no, columns.index(subset), row, subset)
        for row_no, row in enumerate(published)
        for subset in row.values
        if subset in columns
    ]
    shares = np.clip([(row.values[subset] - low) / ((high - low) or 1.0) for *_, row, subset in cells], 0.0, 1.0)
    colors = [shade(SEQUENTIAL[scheme], float(share)) for share in shares]
    below_profile = {"xaxis": "x2", "yaxis": "y2", "y": [row_no for row_no, *_ in cells], "showlegend": False}
    figure.add_bar(
        name="published",
        orientation="h",
        base=[column - CELL_WIDTH / 2 for _, column, *_ in cells],
        x=[CELL_WIDTH] * len(cells),
        width=0.84,
        marker={
            "color": [f"{color}{round(255 * TINT):02X}" for color in colors],
            "line": {"color": colors, "width": 3},
        },
        hovertext=["<br>".join([f"{label(s)}: {number(row.values[s], SCORE)}", *row.about]) for *_, row, s in cells],
        hovertemplate="%{hovertext}<extra></extra>",
        **below_profile,
    )
    figure.add_scatter(  # not as the bars' own text, which a browser takes half as long again to lay out
        mode="text",
        x=[column for _, column, *_ in cells],
        text=[number(row.values[subset], SCORE) for *_, row, subset in cells],
        textfont={"size": 12, "color": ink(scheme)},
        hoverinfo="skip",
        **below_profile,
    )
    measured = (ROW_HEIGHT_INTERVALS if intervals else ROW_HEIGHT) * len(values)
    below = ROW_HEIGHT_PUBLISHED * len(published)
    whole = measured + GAP + below
    figure.update_layout(
        height=(figure.layout.height or 0) + GAP + below,
        barmode="overlay",
        yaxis={"domain": [1 - measured / whole, 1]},
        yaxis2={
            "domain": [0, below / whole],
            "range": [len(published) - 0.5, -0.5],
            "tickvals": list(range(len(published))),
            "ticktext": [row.name if row.values else f"<b>{row.name}</b>" for row in published],
            "tickfont": {"size": 12},
            "showgrid": False,
            "zeroline": False,
            "automargin": True,
            "anchor": "x2",
        },
        xaxis2={"range": [-0.5, len(columns) - 0.5], "visible": False, "anchor": "y2", "fixedrange": True},
    )
    figure.add_annotation(
        text="<b>Published</b>, not computed here: framed",
        x=0,
        xref="paper",
        xanchor="left",
        y=below / whole,
        yref="paper",
        yanchor="bottom",
        yshift=4,
        showarrow=False,
    )
    return figure
