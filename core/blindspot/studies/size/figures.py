"""Figures of the size study: scores against bytes, and which kinds of items a setting loses."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import plotly.graph_objects as go

from blindspot.figures.theme import Scheme, apply_layout, faint, log_axis, looks
from blindspot.numerics.statistics.written import SCORE
from blindspot.studies.size.grid import PRECISIONS
from blindspot.studies.size.view import KindLost, SizeView

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
            text=[f"{cell.setting.dimension:,}" for cell in cells],
            textposition="bottom right",
            textfont={"color": style.color, "size": 11},
            name=cells[0].setting.way,
            line={"color": style.color, "width": 2, "dash": _DASHES[depths.index(rescored) % len(_DASHES)]},
            marker={
                "color": style.color,
                "symbol": f"{style.symbol}-open" if rescored else style.symbol,
                "size": [15 if cell.setting.chain == marked else 9 for cell in cells],
                "line": {"width": [3 if cell.setting.chain == marked else 0 for cell in cells], "color": style.color},
            },
            customdata=[[cell.setting.label] for cell in cells],
            hovertemplate=f"%{{customdata[0]}}<br>%{{x:,}} MB per million texts<br>%{{y:{SCORE}}}<extra></extra>",
        )
    figure.add_hline(view.full.value, line={"color": faint(scheme), "width": 1, "dash": "dot"})
    figure.update_xaxes(title="MB per million texts", **log_axis([cell.setting.bytes_per_text for cell in view.cells]))
    figure.update_yaxes(title=escape(view.title))
    return apply_layout(figure, scheme, height=380, variants=len(figure.data))


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
        customdata=[[kind.lost, kind.items] for kind in shown],
        hovertemplate="%{customdata[0]:,} of %{customdata[1]:,} lost (%{x:.1%})<extra></extra>",
    )
    figure.update_xaxes(title="share of the items lost", tickformat=".0%", rangemode="tozero")
    figure.update_yaxes(type="category")
    figure.update_layout(showlegend=False)
    return apply_layout(figure, scheme, height=90 + 26 * len(shown))
