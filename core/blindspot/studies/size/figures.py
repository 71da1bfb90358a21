"""Figures of the size study: scores against bytes, and which kinds of items a setting loses."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape

import plotly.graph_objects as go

from blindspot.figures.theme import Scheme, apply_layout, faint, log_axis, looks
from blindspot.numerics.statistics.written import SCORE, number, percent
from blindspot.studies.size.grid import PRECISIONS
from blindspot.studies.size.view import Cell, KindLost, SizeView

_WIDE, _HIGH = 260, 240  # pixels of the figure's plane on a narrow screen; a wider one only moves labels apart
_MARK, _LETTER, _LINE = 5, 7, 13  # half a mark, and a label's letters and height
_CORNERS = ("bottom right", "top right", "bottom left", "top left")
_DASHES = ("solid", "dash", "dot", "dashdot", "longdash")  # by how many best are compared again, from none


def score_by_bytes(view: SizeView, scheme: Scheme, marked: str = "") -> go.Figure:
    """The score of every setting by the MB of a million texts, a line per precision, and the Pareto front.

    Args:
        marked: chain of a setting to bring out, such as the smallest that is good enough.
    """
    figure = go.Figure()
    styles = dict(zip(PRECISIONS, looks(len(PRECISIONS), scheme), strict=True))
    front = view.front
    if len(front) > 1:
        figure.add_scatter(
            x=[cell.setting.bytes_per_text for cell in front],
            y=[cell.value for cell in front],
            mode="lines",
            name="Pareto front",
            line={"color": faint(scheme), "width": 8},
            opacity=0.35,
            hoverinfo="skip",
        )
    labels = label_places([cell for cell in view.cells if not cell.setting.rescored], marked)
    depths = sorted({0, *(cell.setting.rescored for cell in view.cells)})
    ways = dict.fromkeys((cell.setting.precision, cell.setting.rescored) for cell in view.cells)
    for precision, rescored in sorted(ways, key=lambda way: (PRECISIONS.index(way[0]), way[1])):
        cells = [
            cell for cell in view.cells if (cell.setting.precision, cell.setting.rescored) == (precision, rescored)
        ]
        cells.sort(key=lambda cell: cell.setting.bytes_per_text)
        style = styles[precision]
        figure.add_scatter(
            x=[cell.setting.bytes_per_text for cell in cells],
            y=[cell.value for cell in cells],
            error_y={
                "type": "data",
                "symmetric": False,
                "array": [cell.interval.high - cell.value if cell.interval else 0.0 for cell in cells],
                "arrayminus": [cell.value - cell.interval.low if cell.interval else 0.0 for cell in cells],
                "thickness": 1.2,
                "width": 3,
            },
            mode="lines+markers" if rescored else "lines+markers+text",  # the same numbers, above each other
            text=[f"{cell.setting.dimension:,}" if labels.get(cell.setting.chain) else "" for cell in cells],
            textposition=[labels.get(cell.setting.chain, _CORNERS[0]) for cell in cells],
            textfont={"color": style.color, "size": 11},
            name=cells[0].setting.way,
            line={"color": style.color, "width": 2, "dash": _DASHES[depths.index(rescored) % len(_DASHES)]},
            marker={
                "color": style.color,
                "symbol": f"{style.symbol}-open" if rescored else style.symbol,
                "size": [15 if cell.setting.chain == marked else 9 for cell in cells],
                "line": {"width": [3 if cell.setting.chain == marked else 0 for cell in cells], "color": style.color},
            },
            customdata=[[cell.setting.label, number(cell.value, SCORE)] for cell in cells],
            hovertemplate="%{customdata[0]}<br>%{x:,} MB per million texts<br>%{customdata[1]}<extra></extra>",
        )
    figure.add_hline(view.full.value, line={"color": faint(scheme), "width": 1, "dash": "dot"})
    figure.update_xaxes(title="MB per million texts", **log_axis([cell.setting.bytes_per_text for cell in view.cells]))
    figure.update_yaxes(title=escape(view.title))
    return apply_layout(figure, scheme, height=380)


def label_places(cells: Sequence[Cell], marked: str = "") -> Mapping[str, str]:
    """The corner of its mark where a setting's label goes, by its chain; those that found no room are left out.

    No label lies on another one, on a mark or beyond the plane. The ``marked`` setting is first, then the larger ones.
    """
    log_bytes = [math.log10(cell.setting.bytes_per_text) for cell in cells]
    lows, highs = ([end(cell) for cell in cells] for end in (_low, _high))
    left, right, low, high = min(log_bytes), max(log_bytes), min(lows), max(highs)
    points = [
        (_WIDE * (x - left) / ((right - left) or 1.0), _HIGH * (high - cell.value) / ((high - low) or 1.0))
        for x, cell in zip(log_bytes, cells, strict=True)
    ]
    taken = [(x - _MARK, y - _MARK, x + _MARK, y + _MARK) for x, y in points]
    places: dict[str, str] = {}
    for cell, (x, y) in sorted(
        zip(cells, points, strict=True),
        key=lambda pair: (pair[0].setting.chain != marked, -pair[0].setting.bytes_per_text),
    ):
        width = _LETTER * len(f"{cell.setting.dimension:,}")
        for corner in _CORNERS:
            box_left = x + _MARK if "right" in corner else x - _MARK - width
            box_top = y + _MARK if "bottom" in corner else y - _MARK - _LINE
            box = (box_left, box_top, box_left + width, box_top + _LINE)
            is_inside = box[0] >= -_MARK and box[2] <= _WIDE + _MARK
            if is_inside and not any(_overlap(box, other) for other in taken):
                taken.append(box)
                places[cell.setting.chain] = corner
                break
    return places


def _low(cell: Cell) -> float:
    return cell.interval.low if cell.interval else cell.value


def _high(cell: Cell) -> float:
    return cell.interval.high if cell.interval else cell.value


def _overlap(box: tuple[float, float, float, float], other: tuple[float, float, float, float]) -> bool:
    return box[0] < other[2] and other[0] < box[2] and box[1] < other[3] and other[1] < box[3]


def lost_kinds(kinds: Sequence[KindLost], scheme: Scheme) -> go.Figure:
    """Shares of items that a setting loses, by kind, with 95% intervals."""
    (look, *_) = looks(1, scheme)
    figure = go.Figure()
    shown = list(reversed(kinds))
    figure.add_scatter(
        x=[kind.share.value for kind in shown],
        y=[f"{escape(kind.kind)} ({kind.items:,})" for kind in shown],
        error_x={
            "type": "data",
            "symmetric": False,
            "array": [kind.share.interval.high - kind.share.value for kind in shown],
            "arrayminus": [kind.share.value - kind.share.interval.low for kind in shown],
            "thickness": 1.5,
            "width": 4,
        },
        mode="markers",
        marker={"color": look.color, "size": 9},
        customdata=[f"{kind.lost:,} of {kind.items:,} lost ({percent(kind.share.value, 1)})" for kind in shown],
        hovertemplate="%{customdata}<extra></extra>",
    )
    figure.update_xaxes(title="share of the items lost", tickformat=".0%", rangemode="tozero")
    figure.update_yaxes(type="category")
    figure.update_layout(showlegend=False)
    return apply_layout(figure, scheme, height=90 + 26 * len(shown))
