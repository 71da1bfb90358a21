"""Figures of the view *the data* of HEROS: how many words the sentences of a pair share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import plotly.graph_objects as go

from core.figures.theme import Scheme, dress, ink

ROW_HEIGHT = 30
# Per measure its name, what it is, its symbol, and its colours on light and on dark.
MEASURES = {
    "rouge_1": ("R1", "words", "circle", {Scheme.LIGHT: "#0072B2", Scheme.DARK: "#56B4E9"}),
    "rouge_2": ("R2", "pairs of neighbouring words", "diamond", {Scheme.LIGHT: "#D55E00", Scheme.DARK: "#E69F00"}),
    "rouge_l": ("RL", "words in the same order", "cross-thin", {Scheme.LIGHT: "#1B1F24", Scheme.DARK: "#F0F3F6"}),
}


@dataclass(frozen=True)
class Row:
    """Pairs of one kind: means of ROUGE F1 from 0 to 1, NaN where there is none."""

    name: str
    rouge_1: float
    rouge_2: float
    rouge_l: float
    published: bool = False

    @property
    def label(self) -> str:
        """For people; user text is escaped, since plotly reads labels as HTML."""
        return f"{escape(self.name)}{', published' if self.published else ''}"


def overlap_dots(rows: Sequence[Row], scheme: Scheme) -> go.Figure:
    """A row per kind of pair, the first on top, and a mark per measure; published ones are hollow."""
    figure = go.Figure()
    for measure, (name, what, symbol, colours) in MEASURES.items():
        for published in (False, True):
            shown = [(y, row) for y, row in enumerate(rows) if row.published == published]
            open_or_not = f"{symbol}-open" if published or symbol == "cross-thin" else symbol
            figure.add_scatter(
                x=[100 * getattr(row, measure) for _, row in shown],
                y=[y for y, _ in shown],
                text=[row.label for _, row in shown],
                mode="markers",
                name=f"{name}: {what}",
                legendgroup=measure,
                showlegend=not published,
                marker={
                    "symbol": open_or_not,
                    "size": 11,
                    "color": colours[scheme],
                    "line": {"width": 2, "color": colours[scheme]},
                },
                hovertemplate=f"%{{text}}<br>{name} %{{x:.1f}}%<extra></extra>",
            )
    figure.update_yaxes(
        tickvals=list(range(len(rows))),
        ticktext=[row.label for row in rows],
        range=[len(rows) - 0.4, -0.6],
        showgrid=True,
        zeroline=False,
    )
    figure.update_xaxes(title="shared, % (F1)", range=[-2, 102], nticks=6)
    figure.add_vline(x=0, line={"color": ink(scheme), "width": 1})
    return dress(figure, scheme, height=150 + ROW_HEIGHT * len(rows), variants=len(MEASURES))
