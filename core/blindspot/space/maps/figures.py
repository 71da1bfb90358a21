"""Figure of a map: dots colored by a number or a group, a selection, and a query tied to its true neighbors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from html import escape
from textwrap import shorten
from typing import Any

import numpy as np
import plotly.graph_objects as go

from blindspot.figures.theme import Scheme, apply_layout, ink
from blindspot.space.maps.colors import Coloring, Groups, Numbers
from blindspot.types import Float64, Int64

HEIGHT = 470
TOOLBAR = 34  # pixels above the map, so that it covers no dots
BELOW_TITLE = -0.16  # top of the legend, below an axis title, as a share of the map's height
MANY_DOTS = 5_000  # more are drawn smaller
MOST_CHARACTERS = 90  # of a hover text
GREY = {Scheme.LIGHT: "#9AA4B0", Scheme.DARK: "#6B7787"}
# Okabe and Ito's, with black and yellow changed to show on both backgrounds; with symbols for 8 x 9 groups.
_GROUP_COLORS = {
    Scheme.LIGHT: ("#0072B2", "#E08E00", "#009E73", "#D55E00", "#B45A91", "#4AA3DF", "#3C4650", "#8F8F2B"),
    Scheme.DARK: ("#4FA8E0", "#F0AE2E", "#2FC79D", "#F27F45", "#E29CC6", "#9AD3F5", "#E6EAF0", "#F0E442"),
}
_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "x", "star", "hexagon", "cross", "triangle-down")
TORN = {Scheme.LIGHT: "#D55E00", Scheme.DARK: "#F27F45"}
QUERY = "#F0E442"
SCALE = "Viridis"


@dataclass(frozen=True, eq=False)
class Dots:
    """p items: their numbers, sent as custom data, finite ``[p, 2]`` coordinates, and hover texts unless too many."""

    items: Int64
    coordinates: Float64
    texts: Sequence[str] | None


@dataclass(frozen=True, eq=False)
class Tie:
    """A query at ``place [2]`` and its true neighbors in the map, at ``places [t, 2]``.

    Attributes:
        neighbors: ``[t]`` items, most similar first.
        is_kept: ``[t] bool``, whether it is among the nearest in the picture too.
        texts: of the query, then of the neighbors.
    """

    query: int
    place: Float64
    neighbors: Int64
    places: Float64
    is_kept: np.ndarray
    texts: Sequence[str]


def map_figure(
    dots: Dots,
    colors: Coloring | None,
    color: str,
    selected: Int64 | None,
    tie: Tie | None,
    axes: tuple[str, str],
    scheme: Scheme,
    *,
    with_webgl: bool = True,
) -> go.Figure:
    """The figure; distances are to scale.

    Args:
        colors: of the dots, ``[p]``; None if all have the one ``color``.
        selected: items that are highlighted; None without a selection.
        axes: titles; "" for axes without a meaning.
        with_webgl: fast with many dots, but a page has contexts for few such maps.
    """
    figure = go.Figure()
    add = partial(_add, figure.add_scattergl if with_webgl else figure.add_scatter, dots, selected)
    grey = _marker(GREY[scheme], "circle", 0.35)
    if isinstance(colors, Numbers):
        has_one = ~np.isnan(colors.values)
        add(~has_one, "no value", grey)
        add(has_one, "", _scale(colors, has_one))
    elif isinstance(colors, Groups):
        add(colors.codes < 0, "none", grey)
        palette = _GROUP_COLORS[scheme]
        for i, name in enumerate(colors.names):
            add(colors.codes == i, name, _marker(palette[i % len(palette)], _SYMBOLS[i % len(_SYMBOLS)], 0.65))
    else:
        add(np.ones(len(dots.items), dtype=np.bool_), "", _marker(color, "circle", 0.5))
    if tie is not None:
        _add_tie(figure, tie, scheme)
    for update, title in zip((figure.update_xaxes, figure.update_yaxes), axes, strict=True):
        update(title=title or None, showticklabels=bool(title), showgrid=bool(title), zeroline=bool(title), nticks=6)
    figure.update_yaxes(scaleanchor="x", scaleratio=1)
    # A drag pans: while it selects, Streamlit passes no click on. Box and lasso are in the toolbar.
    figure.update_layout(dragmode="pan", showlegend=True, uirevision="map")
    figure = apply_layout(figure, scheme, height=HEIGHT)
    below = BELOW_TITLE if axes[0] else 0.0  # above, the toolbar would cover the legend
    legend = {"orientation": "h", "yanchor": "top", "y": below, "x": 0, "itemsizing": "constant", "font": {"size": 12}}
    return figure.update_layout(legend=legend, margin={"l": 8, "r": 8, "t": TOOLBAR, "b": 8})


def hover_text(text: str) -> str:
    """A hover text: shortened, without markup."""
    return escape(shorten(text, MOST_CHARACTERS, placeholder=" …") if len(text) > MOST_CHARACTERS else text)


def _count(inside: np.ndarray) -> str:
    return f"{np.count_nonzero(inside):,}"


def _marker(color: str, symbol: str, opacity: float) -> dict[str, Any]:
    return {"color": color, "symbol": symbol, "opacity": opacity}


def _scale(colors: Numbers, has_one: np.ndarray) -> dict[str, Any]:
    values = colors.values[has_one]
    bar: dict[str, Any] = {"title": {"text": escape(colors.title), "side": "right"}, "thickness": 10, "len": 0.9}
    bar["title"]["font"] = bar["tickfont"] = {"size": 11}
    low, high = colors.span
    if colors.logarithmic:
        values, low, high = np.log10(values), float(np.log10(low)), float(np.log10(high))
        steps = (1, 2, 5) if high - low < 2 else (1,)
        ticks = [step * 10**power for power in range(int(np.floor(low)), int(np.ceil(high)) + 1) for step in steps]
        bar |= {"tickvals": [float(np.log10(tick)) for tick in ticks], "ticktext": [f"{tick:,}" for tick in ticks]}
    return {
        "color": values.astype(np.float32),
        "colorscale": SCALE,
        "cmin": low,
        "cmax": high if high > low else low + 1.0,
        "colorbar": bar,
        "showscale": True,
        "opacity": 0.7,
    }


def _add(
    add_trace: Callable[..., object],
    dots: Dots,
    selected: Int64 | None,
    inside: np.ndarray,
    name: str,
    marker: dict[str, Any],
) -> None:
    """Draw some of the dots; with a name they are in the legend, with their count."""
    if not inside.any():
        return
    items = dots.items[inside]
    texts = None
    if dots.texts is not None:
        texts = [hover_text(text) for text, is_in in zip(dots.texts, inside.tolist(), strict=True) if is_in]
    add_trace(
        name=escape(f"{name}: {_count(inside)}") if name else "",
        x=dots.coordinates[inside, 0].astype(np.float32),
        y=dots.coordinates[inside, 1].astype(np.float32),
        customdata=items.astype(np.int32),
        text=texts,
        mode="markers",
        marker=marker | {"size": 5 if len(dots.items) <= MANY_DOTS else 3.5},
        selectedpoints=None if selected is None else np.flatnonzero(np.isin(items, selected)).tolist(),
        selected={"marker": {"opacity": 0.95}},
        unselected={"marker": {"opacity": 0.08}},
        hovertemplate=("%{text}" if texts else "text %{customdata}") + "<extra></extra>",
        showlegend=bool(name),
    )


def _add_tie(figure: go.Figure, tie: Tie, scheme: Scheme) -> None:
    """Draw the query, its true neighbors, and lines between: dotted to those far away in the picture."""
    texts = [hover_text(text) for text in tie.texts]
    for is_kept, name, color, symbol, dash in (
        (True, "true neighbor, close here too", ink(scheme), "circle-open", "solid"),
        (False, "true neighbor, far away here", TORN[scheme], "diamond-open", "dot"),
    ):
        inside = tie.is_kept == is_kept
        if not inside.any():
            continue
        x, y = ([value for end in tie.places[inside, i] for value in (tie.place[i], end, None)] for i in (0, 1))
        figure.add_scatter(
            x=x,
            y=y,
            mode="lines",
            line={"color": color, "width": 1.3, "dash": dash},
            hoverinfo="skip",
            showlegend=False,
        )
        figure.add_scatter(
            name=f"{name}: {_count(inside)}",
            x=tie.places[inside, 0],
            y=tie.places[inside, 1],
            customdata=tie.neighbors[inside],
            text=[text for text, is_in in zip(texts[1:], inside.tolist(), strict=True) if is_in],
            mode="markers",
            marker={"color": color, "symbol": symbol, "size": 11, "line": {"width": 2}},
            unselected={"marker": {"opacity": 1.0}},
            hovertemplate="%{text}<extra>" + name + "</extra>",
        )
    figure.add_scatter(
        name="the query",
        x=[tie.place[0]],
        y=[tie.place[1]],
        customdata=[tie.query],
        text=texts[:1],
        mode="markers",
        marker={"color": QUERY, "symbol": "star", "size": 18, "line": {"width": 1.5, "color": ink(scheme)}},
        unselected={"marker": {"opacity": 1.0}},
        hovertemplate="%{text}<extra>the query</extra>",
    )
