"""Figures and tables of results in notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TypeAlias

import plotly.graph_objects as go

from blindspot.figures.theme import Scheme, apply_layout
from blindspot.runs.comparison import ItemScores

BINS = 40
Figure: TypeAlias = go.Figure


def distribution(items: ItemScores, name: str, model: str) -> Figure:
    """Histogram of the items' values, with the score; of a correlation, of their influences on it."""
    figure = Figure(go.Histogram(x=items.parts, nbinsx=BINS, hovertemplate="%{x}: %{y:,} items<extra></extra>"))
    axis = f"{name} of an item" if items.is_mean else f"what an item adds to {name}"
    figure.update_layout(title=f"{escape(model)}: {name} {items.value:.4f}", showlegend=False)
    figure.update_xaxes(title=axis)
    figure.update_yaxes(title="items")
    if items.is_mean:
        figure.add_vline(items.value, line_dash="dash")
    return apply_layout(figure, Scheme.LIGHT, height=360)


def as_html_table(title: str, rows: Sequence[Sequence[object]], columns: Sequence[str] = ()) -> str:
    """A table for notebooks; texts are text, numbers have four digits, None is a dash."""
    head = "".join(f"<th>{escape(name)}</th>" for name in columns)
    body = "".join("<tr>" + "".join(f"<td>{_cell(value)}</td>" for value in row) + "</tr>" for row in rows)
    heading = f"<thead><tr>{head}</tr></thead>" if columns else ""
    return f"<table><caption>{escape(title)}</caption>{heading}<tbody>{body}</tbody></table>"


def _cell(value: object) -> str:
    if value is None:
        return "–"
    return f"{value:,.4f}" if isinstance(value, float) else escape(str(value))
