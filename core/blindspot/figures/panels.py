"""Panels side by side, with one vertical axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from blindspot.figures.theme import Scheme, ink


def side_by_side(
    count: int, scheme: Scheme, *, gap: float = 0.03, shares: Sequence[float] = (), titles: Sequence[str] = ()
) -> go.Figure:
    """An empty figure of panels; a trace is placed in one by ``panel``.

    The layout of plotly's ``make_subplots``, which takes ten times as long: it builds grids of any kind of figure.

    Args:
        gap: between two panels, as a share of the figure's width.
        shares: of the width that is left, which add up to 1; equal ones by default.
        titles: above the panels.
    """
    layout: dict[str, Any] = {}
    left, room = 0.0, 1 - gap * (count - 1)
    middles = []
    for number, share in enumerate(shares or [1 / count] * count, 1):
        x, y = axes(number)
        right = min(1.0, left + share * room)
        layout[x] = {"anchor": y.replace("axis", ""), "domain": [left, right]}
        layout[y] = {"anchor": x.replace("axis", ""), "domain": [0.0, 1.0]}
        if number > 1:
            layout[y] |= {"matches": "y", "showticklabels": False}
        middles.append((left + right) / 2)
        left = right + gap
    font = {"color": ink(scheme), "size": 13}
    above = {"showarrow": False, "xanchor": "center", "xref": "paper", "y": 1.0, "yanchor": "bottom", "yref": "paper"}
    layout["annotations"] = [
        {"text": title, "x": middle, "font": font} | above for title, middle in zip(titles, middles, strict=False)
    ]
    return go.Figure(layout=layout)


def axes(number: int) -> tuple[str, str]:
    """The names of a panel's axes in the layout; the first panel is number 1."""
    suffix = "" if number == 1 else str(number)
    return f"xaxis{suffix}", f"yaxis{suffix}"


def panel(number: int, kinds: tuple[str, str] = ("xaxis", "yaxis")) -> dict[str, str]:
    """Properties that place a trace in a panel, or a shape with ``kinds`` of ``xref`` and ``yref``."""
    return {kind: name.replace("axis", "") for kind, name in zip(kinds, axes(number), strict=True)}
