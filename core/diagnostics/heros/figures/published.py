"""HEROS's published profiles beside measured ones: framed cells, hollow marks, and a map of them all."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from core.diagnostics.heros.figures.profile import ROW_HEIGHT, ROW_HEIGHT_INTERVALS, label, profile
from core.figures.theme import SEQUENTIAL, Scheme, Style, dress, ink, shade, styles
from core.types import Float64, Variant

ROW_HEIGHT_PUBLISHED = 34  # two lines of small type
GAP = 44  # between what was measured and what was published
CELL_WIDTH = 0.94  # of a column, so that frames do not touch
TINT = 0.22  # how much of the scale's colour fills a frame
TITLE_WIDTH = 46  # of an axis, in characters: more is cut off on a narrow screen
PUBLISHED = "published"


@dataclass(frozen=True)
class PublishedRow:
    """A row of published means.

    Attributes:
        name: at its left; may have a line break.
        values: by subset; empty for a heading.
        about: what is pointed at tells, line by line.
    """

    name: str
    values: Mapping[str, float]
    about: Sequence[str] = ()

    @property
    def is_heading(self) -> bool:
        return not self.values


def profile_beside_published(
    values: Mapping[Variant, Mapping[str, float]],
    published: Sequence[PublishedRow],
    span: tuple[float, float],
    scheme: Scheme,
    intervals: Mapping[Variant, Mapping[str, tuple[float, float]]] | None = None,
) -> go.Figure:
    """``heros.profile`` with published rows below it: their cells are frames, where measured ones are filled.

    Args:
        values: as ``heros.profile`` has them.
        published: one or more; a row's cells stand in the columns of its subsets, those that are no column are left
            out.
        span: the scale's ends for both, which should not change when rows are folded.
        intervals: as ``heros.profile`` has them.
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
    colours = [shade(SEQUENTIAL[scheme], float(share)) for share in shares]
    figure.add_bar(
        name=PUBLISHED,
        orientation="h",
        xaxis="x2",
        yaxis="y2",
        y=[row_no for row_no, *_ in cells],
        base=[column - CELL_WIDTH / 2 for _, column, *_ in cells],
        x=[CELL_WIDTH] * len(cells),
        width=0.84,
        marker={
            "color": [f"{colour}{round(255 * TINT):02X}" for colour in colours],
            "line": {"color": colours, "width": 3},
        },
        hovertext=["<br>".join([f"{label(s)}: {row.values[s]:.3f}", *row.about]) for *_, row, s in cells],
        hovertemplate="%{hovertext}<extra></extra>",
        showlegend=False,
    )
    figure.add_scatter(  # not as the bars' own text, which a browser takes half as long again to lay out
        mode="text",
        xaxis="x2",
        yaxis="y2",
        x=[column for _, column, *_ in cells],
        y=[row_no for row_no, *_ in cells],
        text=[f"{row.values[subset]:.3f}" for *_, row, subset in cells],
        textfont={"size": 12, "color": ink(scheme)},
        hoverinfo="skip",
        showlegend=False,
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
            "ticktext": [f"<b>{row.name}</b>" if row.is_heading else row.name for row in published],
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


@dataclass(frozen=True)
class PublishedLine:
    """A published profile over subsets, with what is said of it in the legend."""

    name: str
    values: Mapping[str, float]


_HOLLOW = ("circle-open", "square-open", "diamond-open", "triangle-up-open", "star-open", "hexagon-open")


def nearest_profiles(
    variant: Variant, values: Mapping[str, float], nearest: Sequence[PublishedLine], style: Style, scheme: Scheme
) -> go.Figure:
    """A measured profile over the published ones nearest to it, which are hollow on dotted lines.

    Args:
        values: by subset, in the order of the axis.
        nearest: with the same subsets, the nearest first.
    """
    figure = go.Figure()
    names = ["<br>".join(textwrap.wrap(label(subset), 8)) for subset in values]
    for i, line in enumerate(nearest):
        figure.add_scatter(
            name=line.name,
            x=names,
            y=[line.values[subset] for subset in values],
            mode="lines+markers",
            line={"color": ink(scheme), "width": 1, "dash": "dot"},
            marker={"symbol": _HOLLOW[i % len(_HOLLOW)], "size": 10, "color": ink(scheme), "line": {"width": 1.5}},
            opacity=0.75,
            text=[label(subset) for subset in values],
            hovertemplate="%{text}: %{y:.3f}<extra>%{fullData.name}</extra>",
        )
    figure.add_scatter(
        name=f"{variant.label}, measured",
        x=names,
        y=list(values.values()),
        mode="lines+markers",
        line={"color": style.colour, "width": 3},
        marker={"symbol": style.symbol, "size": 11, "color": style.colour},
        text=[label(subset) for subset in values],
        hovertemplate="%{text}: %{y:.4f}<extra>%{fullData.name}</extra>",
    )
    figure.update_yaxes(title="mean normalised similarity")
    figure.update_xaxes(tickangle=0)
    dress(figure, scheme, height=400 + 22 * (len(nearest) + 1))
    return figure.update_layout(legend={"orientation": "h", "yanchor": "bottom", "y": 1.02, "traceorder": "reversed"})


@dataclass(frozen=True, eq=False)
class MapPoint:
    """A published encoder on the map."""

    name: str
    group: str
    x: float
    y: float


@dataclass(frozen=True, eq=False)
class MapAxis:
    """A direction of the map.

    Attributes:
        share: of the published profiles' variance.
        loadings: how much each subset's similarity goes into it, by subset.
    """

    share: float
    loadings: Mapping[str, float]

    STRONG = 0.35  # a loading from which on a subset is named; six equal ones are 0.41

    def title(self, name: str) -> str:
        """Share, and which subsets are more (or less) similar where it is high."""
        more = [label(s) for s, loading in self.loadings.items() if loading >= self.STRONG]
        less = [label(s) for s, loading in self.loadings.items() if loading <= -self.STRONG]
        parts = [
            f"{', '.join(names)} {how}" for names, how in ((more, "more similar"), (less, "less similar")) if names
        ]
        return "<br>".join([f"{name}, {self.share:.0%} of the variance", *textwrap.wrap("; ".join(parts), TITLE_WIDTH)])


def profile_map(
    published: Sequence[MapPoint],
    measured: Mapping[Variant, Float64],
    chosen: Variant,
    axes: tuple[MapAxis, MapAxis],
    looks: Mapping[Variant, Style],
    scheme: Scheme,
) -> go.Figure:
    """The published profiles in the plane in which they differ most, hollow by group, the measured ones filled in it.

    The map is as large as the published ones need, and as half of that around it: what ``is_on_map`` denies is left
    out.

    Args:
        measured: points ``[2] float64``.
        chosen: the one that has its name beside it; the others would hide each other's.
        axes: the horizontal one, then the vertical one.
    """
    figure = go.Figure()
    groups = list(dict.fromkeys(point.group for point in published))
    styled = styles([Variant(group, "none") for group in groups], scheme)
    for group in groups:
        points = [point for point in published if point.group == group]
        style = styled[Variant(group, "none")]
        figure.add_scatter(
            name=group,
            x=[point.x for point in points],
            y=[point.y for point in points],
            text=[point.name for point in points],
            mode="markers",
            marker={"symbol": f"{style.symbol}-open", "size": 9, "color": style.colour, "line": {"width": 2}},
            hovertemplate="%{text}<extra>%{fullData.name}, published</extra>",
        )
    shown = {variant: point for variant, point in measured.items() if is_on_map(point, published)}
    for variant, point in sorted(shown.items(), key=lambda item: item[0] == chosen):  # that one on top
        figure.add_scatter(
            name=variant.label,
            x=[float(point[0])],
            y=[float(point[1])],
            text=[variant.label],
            textposition="top center",
            mode="markers+text" if variant == chosen else "markers",
            marker={
                "symbol": looks[variant].symbol,
                "size": 16 if variant == chosen else 11,
                "color": looks[variant].colour,
                "line": {"color": ink(scheme), "width": 1.5},
            },
            showlegend=False,
            hovertemplate="%{text}<extra>measured</extra>",
        )
    dress(figure, scheme, height=560)
    (left, right), (bottom, top) = _frame(published)
    figure.update_xaxes(title=axes[0].title("across"), range=[left, right])
    figure.update_yaxes(title=axes[1].title("up"), range=[bottom, top])
    return figure.update_layout(legend={"title": {"text": f"{PUBLISHED}, by training: "}})


def is_on_map(point: Float64, published: Sequence[MapPoint]) -> bool:
    """Whether a measured point ``[2]`` is within the map."""
    return all(low <= value <= high for value, (low, high) in zip(point.tolist(), _frame(published), strict=True))


def _frame(published: Sequence[MapPoint]) -> tuple[tuple[float, float], tuple[float, float]]:
    out = []
    for values in ([point.x for point in published], [point.y for point in published]):
        low, high = min(values), max(values)
        room = 0.25 * (high - low)
        out.append((low - room, high + room))
    return out[0], out[1]
