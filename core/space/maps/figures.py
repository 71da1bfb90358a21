"""A map of items: dots coloured by a number or a group, what is selected, and a query tied to its true neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from textwrap import shorten
from typing import Any

import numpy as np
import plotly.graph_objects as go

from core.figures.theme import Scheme, dress, ink
from core.types import Float64, Int64

HEIGHT = 470
TOOLBAR = 34  # pixels above the map, so that it covers nothing
BELOW_TITLE = -0.16  # where the legend begins, of the map's height: below the axis and its title
MANY_DOTS = 5_000  # from so many on they are small
MOST_CHARACTERS = 90  # of a text that is hovered over
GREY = {Scheme.LIGHT: "#9AA4B0", Scheme.DARK: "#6B7787"}
# Okabe and Ito's, black and yellow made to show on both backgrounds; with symbols they tell 8 x 9 groups apart.
_GROUP_COLOURS = {
    Scheme.LIGHT: ("#0072B2", "#E08E00", "#009E73", "#D55E00", "#B45A91", "#4AA3DF", "#3C4650", "#8F8F2B"),
    Scheme.DARK: ("#4FA8E0", "#F0AE2E", "#2FC79D", "#F27F45", "#E29CC6", "#9AD3F5", "#E6EAF0", "#F0E442"),
}
_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "x", "star", "hexagon", "cross", "triangle-down")
TORN = {Scheme.LIGHT: "#D55E00", Scheme.DARK: "#F27F45"}
QUERY = {Scheme.LIGHT: "#F0E442", Scheme.DARK: "#F0E442"}
SCALE = "Viridis"


@dataclass(frozen=True, eq=False)
class Dots:
    """What is drawn, ``p`` items.

    Attributes:
        items: ``[p] int64``, their numbers, which go along as custom data.
        coordinates: ``[p, 2] float64``, finite.
        texts: what they say, shown to who points at one; None where they are too many to send.
    """

    items: Int64
    coordinates: Float64
    texts: Sequence[str] | None


@dataclass(frozen=True, eq=False)
class NumberColours:
    """A number per dot, ``[p] float64``, NaN for none; the scale's ends are the same in all maps."""

    values: Float64
    title: str
    low: float
    high: float
    logarithmic: bool


@dataclass(frozen=True, eq=False)
class GroupColours:
    """A group per dot: ``[p] int64`` into ``names``, -1 for none."""

    codes: Int64
    names: Sequence[str]


@dataclass(frozen=True, eq=False)
class Tie:
    """A query and its true neighbours, as far as they have a place.

    Attributes:
        query: number of the item; ``place`` is its ``[2]``.
        neighbours: ``[t]`` numbers, most similar first; ``places`` are their ``[t, 2]``.
        is_kept: ``[t] bool``, whether it is among the nearest in the picture too.
        texts: of the query, then of the neighbours.
    """

    query: int
    place: Float64
    neighbours: Int64
    places: Float64
    is_kept: np.ndarray
    texts: Sequence[str]


def map_figure(
    dots: Dots,
    colours: NumberColours | GroupColours | None,
    colour: str,
    selected: Int64 | None,
    tie: Tie | None,
    axes: tuple[str, str],
    scheme: Scheme,
    *,
    with_webgl: bool = True,
) -> go.Figure:
    """Dots at their places; distances are to scale.

    Args:
        colour: of all dots where ``colours`` is None.
        selected: numbers of the items that stand out; None where nothing is selected.
        axes: titles; "" for an axis that means nothing.
        with_webgl: quick with many dots; but every map takes three of the sixteen WebGL contexts that a browser gives a
            page, and as many again while it is drawn anew.
    """
    figure = go.Figure()
    if isinstance(colours, NumberColours):
        has_one = ~np.isnan(colours.values)
        _add(
            figure,
            dots,
            ~has_one,
            selected,
            f"no value: {_count(~has_one)}",
            _marker(GREY[scheme], "circle", 0.35),
            with_webgl=with_webgl,
        )
        _add(figure, dots, has_one, selected, "", _scale(colours, has_one), with_webgl=with_webgl, shown=False)
    elif isinstance(colours, GroupColours):
        none = colours.codes < 0
        _add(
            figure,
            dots,
            none,
            selected,
            f"none: {_count(none)}",
            _marker(GREY[scheme], "circle", 0.35),
            with_webgl=with_webgl,
        )
        palette = _GROUP_COLOURS[scheme]
        for i, name in enumerate(colours.names):
            inside = colours.codes == i
            marker = _marker(palette[i % len(palette)], _SYMBOLS[i % len(_SYMBOLS)], 0.65)
            _add(figure, dots, inside, selected, f"{name}: {_count(inside)}", marker, with_webgl=with_webgl)
    else:
        everything = np.ones(len(dots.items), dtype=np.bool_)
        _add(figure, dots, everything, selected, "", _marker(colour, "circle", 0.5), with_webgl=with_webgl, shown=False)
    if tie is not None:
        _add_tie(figure, tie, scheme)
    for update, title in zip((figure.update_xaxes, figure.update_yaxes), axes, strict=True):
        update(title=title or None, showticklabels=bool(title), nticks=6)
    figure.update_yaxes(scaleanchor="x", scaleratio=1)
    # A drag pans: while it selects, Streamlit lets no click through. Box and lasso stand in the toolbar.
    figure.update_layout(dragmode="pan", showlegend=True, uirevision="map")
    figure = dress(figure, scheme, height=HEIGHT)
    # The legend below: above, the toolbar would cover it.
    below = BELOW_TITLE if axes[0] else 0.0
    legend = {"orientation": "h", "yanchor": "top", "y": below, "x": 0, "itemsizing": "constant", "font": {"size": 12}}
    return figure.update_layout(legend=legend, margin={"l": 8, "r": 8, "t": TOOLBAR, "b": 8})


def hover_text(text: str) -> str:
    """A text as plotly shows it to who points at a dot: shortened, and nothing in it is markup."""
    return escape(shorten(text, MOST_CHARACTERS, placeholder=" …") if len(text) > MOST_CHARACTERS else text)


def _count(inside: np.ndarray) -> str:
    return f"{np.count_nonzero(inside):,}"


def _marker(colour: str, symbol: str, opacity: float) -> dict[str, Any]:
    return {"color": colour, "symbol": symbol, "opacity": opacity}


def _scale(colours: NumberColours, has_one: np.ndarray) -> dict[str, Any]:
    """Markers on a scale of one hue order, labelled."""
    values = colours.values[has_one]
    bar: dict[str, Any] = {"title": {"text": escape(colours.title), "side": "right"}, "thickness": 10, "len": 0.9}
    bar["title"]["font"] = bar["tickfont"] = {"size": 11}
    low, high = colours.low, colours.high
    if colours.logarithmic:
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
    figure: go.Figure,
    dots: Dots,
    inside: np.ndarray,
    selected: Int64 | None,
    name: str,
    marker: dict[str, Any],
    *,
    with_webgl: bool,
    shown: bool = True,
) -> None:
    """Some of the dots."""
    if not inside.any():
        return
    items = dots.items[inside]
    texts = None
    if dots.texts is not None:
        texts = [hover_text(text) for text, is_in in zip(dots.texts, inside.tolist(), strict=True) if is_in]
    add = figure.add_scattergl if with_webgl else figure.add_scatter
    add(
        name=escape(name),
        x=dots.coordinates[inside, 0].astype(np.float32),
        y=dots.coordinates[inside, 1].astype(np.float32),
        customdata=items.astype(np.int32),
        text=texts,
        mode="markers",
        marker=marker | {"size": 5 if len(dots.items) <= MANY_DOTS else 3.5},
        selectedpoints=None if selected is None else np.flatnonzero(np.isin(items, selected)).tolist(),
        selected={"marker": {"opacity": 0.95}},
        unselected={"marker": {"opacity": 0.08}},
        hovertemplate=("%{text}" if texts else "item %{customdata}") + "<extra></extra>",
        showlegend=shown,
    )


def _add_tie(figure: go.Figure, tie: Tie, scheme: Scheme) -> None:
    """The query, its true neighbours, and lines between: dashed to those that the picture tears away."""
    texts = [hover_text(text) for text in tie.texts]
    for is_kept, name, colour, symbol, dash in (
        (True, "true neighbour, near here too", ink(scheme), "circle-open", "solid"),
        (False, "true neighbour, torn away", TORN[scheme], "diamond-open", "dot"),
    ):
        inside = tie.is_kept == is_kept
        if not inside.any():
            continue
        x, y = (
            np.stack(
                [np.full(inside.sum(), tie.place[i]), tie.places[inside, i], np.full(inside.sum(), np.nan)], axis=1
            )
            for i in (0, 1)
        )
        figure.add_scatter(
            x=[None if np.isnan(value) else value for value in x.ravel()],
            y=[None if np.isnan(value) else value for value in y.ravel()],
            mode="lines",
            line={"color": colour, "width": 1.3, "dash": dash},
            hoverinfo="skip",
            showlegend=False,
        )
        figure.add_scatter(
            name=f"{name}: {_count(inside)}",
            x=tie.places[inside, 0],
            y=tie.places[inside, 1],
            customdata=tie.neighbours[inside],
            text=[text for text, is_in in zip(texts[1:], inside.tolist(), strict=True) if is_in],
            mode="markers",
            marker={"color": colour, "symbol": symbol, "size": 11, "line": {"width": 2}},
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
        marker={
            "color": QUERY[scheme],
            "symbol": "star",
            "size": 18,
            "line": {"width": 1.5, "color": ink(scheme)},
        },
        unselected={"marker": {"opacity": 1.0}},
        hovertemplate="%{text}<extra>the query</extra>",
    )
