"""Neighbours at chosen ranks, a column per encoder, as an HTML table: texts wrap, and are escaped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from core.figures.theme import Scheme, faint, ink

COLUMN_WIDTH = 150  # pixels at least; a narrow screen scrolls sideways


def ranks_table(columns: Mapping[str, Sequence[str]], ranks: Sequence[int], scheme: Scheme, label: str) -> str:
    """HTML of the table; ``label`` names it for screen readers.

    Args:
        columns: per encoder a text for each of ``ranks``.
    """
    quiet = faint(scheme)
    line = "#D5DBE3" if scheme is Scheme.LIGHT else "#364150"
    cell = f"padding:6px 10px 6px 0;border-bottom:1px solid {line};vertical-align:top;text-align:left;"
    head = "".join(
        f'<th scope="col" style="{cell}color:{quiet};font-weight:400">{escape(name)}</th>'
        for name in ("rank", *columns)
    )
    body = "".join(
        f'<tr><th scope="row" style="{cell}font-weight:400">{rank}</th>'
        + "".join(f'<td style="{cell}overflow-wrap:anywhere">{escape(texts[i])}</td>' for texts in columns.values())
        + "</tr>"
        for i, rank in enumerate(ranks)
    )
    width = 60 + COLUMN_WIDTH * len(columns)
    return (
        f'<div style="overflow-x:auto"><table aria-label="{escape(label)}" style="width:100%;min-width:{width}px;'
        f'table-layout:fixed;border-collapse:collapse;font-size:0.88rem;color:{ink(scheme)}"><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )
