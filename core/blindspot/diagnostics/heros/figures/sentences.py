"""Figures of HEROS's view *sentences*: one original's rewrites, their changed words and their similarities.

Users' texts and column names are escaped: they are shown as text, never as HTML.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from textwrap import wrap

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from blindspot.diagnostics.heros.figures.profile import LEGEND_HEIGHT, label
from blindspot.figures.html_tables import LINE, Column, Html, html_table, marked, quiet
from blindspot.figures.labels import wrapped
from blindspot.figures.theme import Scheme, Style, apply_layout
from blindspot.numerics.statistics.written import SCORE, each_written, number
from blindspot.texts import Segment
from blindspot.variants import Variant

ROW_HEIGHT = 40
HOVER_WIDTH = 60  # letters in a line
LABEL_WIDTH = 18


@dataclass(frozen=True)
class RewriteRow:
    """A rewrite: its subset, its words, its normalized similarity per column (or NaN), a note such as ``unchanged``."""

    subset: str
    segments: Sequence[Segment]
    similarities: Sequence[float]
    note: str = ""


def rewrites_table(rows: Sequence[RewriteRow], columns: Sequence[str], scheme: Scheme, name: str) -> str:
    """HTML of a table with a rewrite per row: its words with the changed ones marked, and its similarities.

    Args:
        columns: headings of the similarities.
        name: of the table, for screen readers.
    """
    cells = []
    for row in rows:
        text = marked(row.segments, scheme)
        numbers = ("–" if np.isnan(value) else number(value, SCORE) for value in row.similarities)
        note = f" {quiet(f'({row.note})', scheme)}" if row.note else ""
        cells.append((label(row.subset), Html(f"{text}{note}"), *numbers))
    heads = (
        Column("rewrite", style="overflow-wrap:anywhere;min-width:5rem", names_rows=True),
        Column("text", style="overflow-wrap:anywhere;min-width:9rem"),
        *map(Column.numbers, columns),
    )
    return html_table(heads, cells, scheme, name)


def rewrite_dots(
    similarities: pd.DataFrame,
    texts: Mapping[str, str],
    variants: Sequence[Variant],
    styles: Mapping[Variant, Style],
    scheme: Scheme,
) -> go.Figure:
    """Normalized similarity of one original's rewrites, a row per subset and a symbol and color per variant.

    The first variant's most similar rewrite is on top.

    Args:
        similarities: a row per subset (its index), a column per variant (by its ``str``); NaN is left out.
        texts: the rewrite per subset.
    """
    ordered = similarities.sort_values(str(variants[0]), ascending=False, kind="stable", na_position="last")
    subsets = [str(subset) for subset in ordered.index]
    lines = {subset: "<br>".join(escape(line) for line in wrap(texts[subset], HOVER_WIDTH)) for subset in subsets}
    hovers = [f"<b>{escape(label(subset))}</b><br>{lines[subset]}" for subset in subsets]
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
            marker={"color": style.color, "symbol": style.symbol, "size": 10},
            customdata=hovers,
            text=each_written(values.tolist()),
            hovertemplate="%{customdata}<br>similarity %{text}<extra>%{fullData.name}</extra>",
        )
    between = {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "line": {"color": LINE[scheme], "width": 1}}
    # Several symbols share a row, so that lines tell the rows apart.
    figure.update_layout(shapes=[between | {"y0": i - 0.5, "y1": i - 0.5} for i in range(1, len(subsets))])
    ticks = [wrapped(label(subset), LABEL_WIDTH) for subset in subsets]
    figure.update_yaxes(tickvals=list(range(len(subsets))), ticktext=ticks, showgrid=False)
    figure.update_yaxes(range=[len(subsets) - 0.5, -0.5])
    figure.update_xaxes(title="normalized similarity to the original")
    figure.update_layout(showlegend=True)
    return apply_layout(figure, scheme, height=130 + ROW_HEIGHT * len(subsets) + LEGEND_HEIGHT * len(variants))
