"""Appearance of variants, the same on every page: Okabe-Ito colors, symbols and dashes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

import plotly.graph_objects as go
from plotly.basedatatypes import BasePlotlyType

from blindspot.variants import Variant


class Scheme(StrEnum):
    LIGHT = "light"
    DARK = "dark"


# Okabe and Ito's palette in their order, with black and yellow replacing each other where they would be invisible, and
# the others lightened or darkened until they contrast with the background. Then four more, after Paul Tol's
# muted scheme, so that no two of eleven variants share one (a prime: symbols repeat late, see also ``styles``).
_COLORS = {
    Scheme.LIGHT: (
        *("#0072B2", "#E08E00", "#009E73", "#D55E00", "#B45A91", "#4AA3DF", "#3C4650"),
        *("#882255", "#8F8F2B", "#117733", "#7A4A2B"),
    ),
    Scheme.DARK: (
        *("#4FA8E0", "#F0AE2E", "#2FC79D", "#F27F45", "#E29CC6", "#9AD3F5", "#F0E442"),
        *("#D1688F", "#C9C96A", "#7FBF7B", "#C79A7B"),
    ),
}
_GRAY = {Scheme.LIGHT: "#6B7280", Scheme.DARK: "#9CA3AF"}
_INK = {Scheme.LIGHT: "#1B2430", Scheme.DARK: "#E6EAF0"}
_FAINT = {Scheme.LIGHT: "#5B6673", Scheme.DARK: "#9AA7B5"}
_GRID = {Scheme.LIGHT: "#E3E8EE", Scheme.DARK: "#2B3542"}
# Scales for cells with a number: the ink can be read on them from one end to the other (4.5 to 1, WCAG 2).
Scale = Sequence[tuple[float, str]]
SEQUENTIAL: Mapping[Scheme, Scale] = {
    Scheme.LIGHT: ((0.0, "#F3F6F9"), (1.0, "#6FAEE3")),
    Scheme.DARK: ((0.0, "#222A33"), (1.0, "#2767A6")),
}
# Orange to blue through the background: distinguishable with any color vision.
DIVERGING: Mapping[Scheme, Scale] = {
    Scheme.LIGHT: ((0.0, "#E08A2E"), (0.25, "#F3C48F"), (0.5, "#F5F5F5"), (0.75, "#A9CBE9"), (1.0, "#5FA0DA")),
    Scheme.DARK: ((0.0, "#94570F"), (0.25, "#654525"), (0.5, "#252C35"), (0.75, "#28507A"), (1.0, "#2767A6")),
}
_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "x", "star", "hexagon", "cross", "triangle-down")
_DASHES = ("solid", "dash", "dot", "dashdot", "longdash")


@dataclass(frozen=True)
class Style:
    """A variant's look: color, marker symbol and line dash. Hollow and hatched marks are for published scores."""

    color: str
    symbol: str
    dash: str


def palette_size() -> int:
    """Number of variants that can be shown at once in distinct colors."""
    return len(_COLORS[Scheme.LIGHT])


def styles(
    variants: Sequence[Variant],
    scheme: Scheme,
    shown: Collection[Variant] = frozenset(),
    gray: Collection[Variant] = frozenset(),
) -> Mapping[Variant, Style]:
    """The look of each variant by its place in ``variants``, which only ever grows at the end.

    Many stores have more variants than the palette has colors, so colors repeat. If two of ``shown`` would have the
    same color, the later one takes one that none of them has, while there is any; its symbol and dash stay.

    Args:
        gray: baselines that nobody would deploy: they have no color; symbol and dash tell them apart.
    """
    gray = set(gray)
    looks_of = _in_color([v for v in variants if v not in gray], scheme, shown)
    # Another symbol and dash than the first model has.
    without = (variant for variant in variants if variant in gray)
    looks_of |= {v: replace(_mark(i), color=_GRAY[scheme]) for i, v in enumerate(without, 1)}
    return {variant: looks_of[variant] for variant in variants}


def _in_color(variants: Sequence[Variant], scheme: Scheme, shown: Collection[Variant]) -> dict[Variant, Style]:
    colors = _COLORS[scheme]
    styles_of = dict(zip(variants, looks(len(variants), scheme), strict=True))
    taken: set[str] = set()
    doubles = []
    for number, variant in enumerate(variants):
        if variant not in shown:
            continue
        if styles_of[variant].color in taken:
            doubles.append(number)
        taken.add(styles_of[variant].color)
    for number in doubles:
        # In an order of the variant's own, so that it mostly gets the same color among other variants. As the palette's
        # size is prime, every step leads through all of it.
        step = 1 + number // len(colors) % (len(colors) - 1)
        order = (colors[(number + step * n) % len(colors)] for n in range(len(colors)))
        free = next((color for color in order if color not in taken), None)
        if free is not None:
            taken.add(free)
            styles_of[variants[number]] = replace(styles_of[variants[number]], color=free)
    return styles_of


def looks(n: int, scheme: Scheme) -> list[Style]:
    """``n`` distinct styles."""
    colors = _COLORS[scheme]
    return [replace(_mark(i), color=colors[i % len(colors)]) for i in range(n)]


def _mark(i: int) -> Style:
    return Style(color="", symbol=_SYMBOLS[i % len(_SYMBOLS)], dash=_DASHES[i % len(_DASHES)])


def of_no_model(rows: Sequence[Variant], scheme: Scheme) -> dict[Variant, Style]:
    """Styles for rows of a baseline beside models: hollow, without color."""
    return {row: Style(_FAINT[scheme], f"{_SYMBOLS[i % len(_SYMBOLS)]}-open", "dot") for i, row in enumerate(rows)}


def ink(scheme: Scheme) -> str:
    """Color of text and of marks that belong to no variant."""
    return _INK[scheme]


def faint(scheme: Scheme) -> str:
    """Color of less important text: headings of columns, axes, notes."""
    return _FAINT[scheme]


def text_on(color: str) -> str:
    """Black or white, whichever is easier to read on a color (``#RRGGBB``): one of them has 4.5 to 1 on any color."""
    luminance = _luminance(color)
    return "#FFFFFF" if 1.05 / (luminance + 0.05) > (luminance + 0.05) / 0.05 else "#000000"


def _luminance(color: str) -> float:
    """Relative luminance after WCAG 2."""
    shares = (int(color[i : i + 2], 16) / 255 for i in (1, 3, 5))
    linear = (share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares)
    return sum(weight * share for weight, share in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def shade(scale: Scale, share: float) -> str:
    """The color of a scale at a share of it, as plotly mixes it."""
    share = min(max(share, 0.0), 1.0)
    for (low, first), (high, second) in itertools.pairwise(scale):
        if share <= high:
            part = (share - low) / (high - low)
            mixed = (
                round((1 - part) * int(first[i : i + 2], 16) + part * int(second[i : i + 2], 16)) for i in (1, 3, 5)
            )
            return "#" + "".join(f"{value:02X}" for value in mixed)
    return scale[-1][1]


MANY_VARIANTS = 4  # from so many on, a legend on top would take the figure's room


def apply_layout(figure: go.Figure, scheme: Scheme, *, height: int, variants: int = 0) -> go.Figure:
    """Common layout: transparent background, quiet grid, the legend on top or, with many variants, beside it."""
    on_top = {"orientation": "h", "yanchor": "bottom", "y": 1.02, "xanchor": "left", "x": 0.0}
    beside = {"orientation": "v", "yanchor": "top", "y": 1.0, "xanchor": "left", "x": 1.01}
    # Not by update_layout and update_xaxes: they take five times as long, a tenth of a page's script and more. An axis
    # is set whole, since every part of its title would be an object to plotly.
    set_properties(
        figure.layout,
        height=height,
        margin={"l": 8, "r": 8, "t": 36, "b": 8},
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        font={"color": _INK[scheme], "size": 13},
        legend=beside if variants >= MANY_VARIANTS else on_top,
        hoverlabel={"namelength": -1},
        modebar={"bgcolor": "rgba(0,0,0,0)", "color": _GRID[scheme], "activecolor": _INK[scheme]},
    )
    quiet = {"color": _FAINT[scheme]}
    for axis in (*figure.select_xaxes(), *figure.select_yaxes()):
        before = axis.to_plotly_json()
        title = before.get("title", {})
        figure.layout[axis.plotly_name] = before | {
            "automargin": True,
            "gridcolor": _GRID[scheme],
            "zeroline": False,
            "tickfont": before.get("tickfont", {}) | quiet,
            "title": title | {"font": title.get("font", {}) | quiet},
        }
    return figure


def set_properties(part: BasePlotlyType, **properties: Any) -> None:
    """Set properties of a part of a figure. A property given as a (flat) dict keeps former entries that it does not
    name. So does plotly's ``update``, which is slower, since it looks up every path of names many times."""
    for name, value in properties.items():
        before = part[name].to_plotly_json() if isinstance(value, dict) else {}
        part[name] = before | value if before else value


_FINE = (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 9)


def log_axis(values: Iterable[float]) -> dict[str, Any]:
    """A logarithmic axis for positive values whose ticks are written out; plotly's own say 2 and 5 for 200 and 500.

    Ticks are at 1, 2 and 5 of every power of ten; at powers only if the values span more than three of them, at more
    numbers if they span less than half of one; at a single value only there.
    """
    positive = [value for value in values if math.isfinite(value) and value > 0] or [1.0]
    if min(positive) == max(positive):  # plotly draws a decade to either side, which the finest ticks would crowd
        return {"type": "log", "tickvals": positive[:1], "ticktext": [_compact(float(f"{positive[0]:.3g}"))]}
    low, high = math.log10(min(positive)), math.log10(max(positive))
    steps = _FINE if high - low < 0.5 else (1, 2, 5) if high - low <= 3 else (1,)
    powers = range(math.floor(low), math.ceil(high) + 1)
    ticks = [step * 10.0**power for power in powers for step in steps]
    return {"type": "log", "tickvals": ticks, "ticktext": [_compact(tick) for tick in ticks]}


def written_ticks(positions: Sequence[float], least: float) -> list[bool]:
    """Which of an axis's ascending ticks have a label: from the last down, those apart by ``least`` of the whole."""
    out: list[bool] = []
    before = math.inf
    for position in reversed(positions):
        out.append(before - position >= least * (positions[-1] - positions[0]))
        before = position if out[-1] else before
    return out[::-1]


def _compact(tick: float) -> str:
    """``0.05``, ``500``, ``20k``, ``5M``, ``1B``."""
    for size, unit in ((1e9, "B"), (1e6, "M"), (1e3, "k")):
        if tick >= size * 0.999:
            return f"{tick / size:g}{unit}"
    return f"{tick:g}"
