"""Figures of the view *sentences* of HEROS: one original's rewrites, what changed in them and how similar they are.

Every text is escaped: users' texts are shown as text, never as HTML, and so are the names of their columns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from textwrap import wrap

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from core.diagnostics.heros.figures.profile import LEGEND_HEIGHT, label
from core.figures.theme import Scheme, Style, dress, faint, ink
from core.texts import Change, Segment
from core.types import Variant

ROW_HEIGHT = 40
HOVER_WIDTH = 60  # letters in a line
LABEL_WIDTH = 18
_MARK = {  # told apart by more than colour: bold and underlined, or struck through
    Scheme.LIGHT: {Change.ADDED: "#0B5A8A", Change.REMOVED: "#8A4B00"},
    Scheme.DARK: {Change.ADDED: "#8CCBF5", Change.REMOVED: "#F0B46A"},
}
_LINE = {Scheme.LIGHT: "#D5DBE3", Scheme.DARK: "#364150"}


@dataclass(frozen=True)
class RewriteRow:
    """A rewrite: its subset, what changed, its normalised similarity per column (NaN where there is none), and a note
    such as ``unchanged``."""

    subset: str
    segments: Sequence[Segment]
    similarities: Sequence[float]
    note: str = ""


def rewrites_table(rows: Sequence[RewriteRow], columns: Sequence[str], scheme: Scheme, name: str) -> str:
    """HTML of a table: a rewrite in each row with its changed words marked, and its similarities.

    Args:
        columns: what the similarities are of.
        name: of the table, for screen readers.
    """
    quiet = faint(scheme)
    cell = f"padding:5px 8px 5px 0;border-bottom:1px solid {_LINE[scheme]};vertical-align:top;text-align:"
    body = []
    for row in rows:
        note = f' <span style="color:{quiet}">({escape(row.note)})</span>' if row.note else ""
        text = "".join(_marked(segment, scheme) for segment in row.segments)
        numbers = "".join(f'<td style="{cell}right">{_number(value)}</td>' for value in row.similarities)
        body.append(
            f'<tr><th scope="row" style="{cell}left;color:{quiet};font-weight:400;overflow-wrap:anywhere;'
            f'min-width:5rem">{escape(label(row.subset))}</th><td style="{cell}left;'
            f'overflow-wrap:anywhere;min-width:9rem">{text}{note}</td>{numbers}</tr>'
        )
    heads = [("rewrite", "left"), ("text", "left"), *((column, "right") for column in columns)]
    head = "".join(
        f'<th scope="col" style="{cell}{align};color:{quiet};font-weight:400">{escape(title)}</th>'
        for title, align in heads
    )
    return (
        f'<div style="overflow-x:auto"><table aria-label="{escape(name)}" style="width:100%;border-collapse:collapse;'
        f'font-size:0.88rem;color:{ink(scheme)}"><thead><tr>{head}</tr></thead><tbody>{"".join(body)}</tbody></table>'
        "</div>"
    )


def _number(value: float) -> str:
    return "–" if np.isnan(value) else f"{value:.4f}"


def _marked(segment: Segment, scheme: Scheme) -> str:
    """A segment, escaped; an added one in bold type and underlined, a removed one struck through; not its spaces."""
    word = segment.text.strip()
    if segment.change is Change.KEPT or not word:
        return escape(segment.text)
    before, after = segment.text.split(word, 1)
    colour = _MARK[scheme][segment.change]
    if segment.change is Change.ADDED:
        style = f"color:{colour};font-weight:700;text-decoration:underline"
        return f'{before}<ins style="{style}">{escape(word)}</ins>{after}'
    # Two words of which one stands for the other do not run into each other.
    style = f"color:{colour};text-decoration:line-through;margin-right:0.25em"
    return f'{before}<del style="{style}">{escape(word)}</del>{after}'


def rewrite_dots(
    similarities: pd.DataFrame,
    texts: Mapping[str, str],
    variants: Sequence[Variant],
    styles: Mapping[Variant, Style],
    scheme: Scheme,
) -> go.Figure:
    """Normalised similarity of one original's rewrites, a row per subset and a symbol and colour per variant.

    The first variant's most similar rewrite stands on top.

    Args:
        similarities: a row per subset (its index), a column per variant (by its ``str``); NaN is left out.
        texts: per subset the rewrite.
    """
    ordered = similarities.sort_values(str(variants[0]), ascending=False, kind="stable", na_position="last")
    subsets = [str(subset) for subset in ordered.index]
    hovers = [f"<b>{escape(label(subset))}</b><br>{_wrapped(texts[subset])}" for subset in subsets]
    figure = go.Figure()
    for i, variant in enumerate(variants):
        values = ordered[str(variant)].to_numpy(dtype=np.float64)
        offset = (i - (len(variants) - 1) / 2) * 0.6 / len(variants)  # equal values stay in sight
        style = styles[variant]
        figure.add_scatter(
            x=values,
            y=np.arange(len(subsets)) + offset,
            mode="markers",
            name=escape(variant.label),
            marker={"color": style.colour, "symbol": style.symbol, "size": 10},
            customdata=hovers,
            hovertemplate="%{customdata}<br>similarity %{x:.4f}<extra>%{fullData.name}</extra>",
        )
    between = {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "line": {"color": _LINE[scheme], "width": 1}}
    # Several symbols share a row, so that lines tell the rows apart.
    figure.update_layout(shapes=[between | {"y0": i - 0.5, "y1": i - 0.5} for i in range(1, len(subsets))])
    ticks = ["<br>".join(escape(part) for part in wrap(label(s), LABEL_WIDTH)) or escape(s) for s in subsets]
    figure.update_yaxes(tickvals=list(range(len(subsets))), ticktext=ticks, showgrid=False)
    figure.update_yaxes(range=[len(subsets) - 0.5, -0.5])
    figure.update_xaxes(title="normalised similarity to the original")
    figure.update_layout(showlegend=True)
    return dress(figure, scheme, height=130 + ROW_HEIGHT * len(subsets) + LEGEND_HEIGHT * len(variants))


def _wrapped(text: str) -> str:
    return "<br>".join(escape(line) for line in wrap(text, HOVER_WIDTH))
