"""Figure of HEROS's view *the data*: the words that the sentences of a pair share."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import plotly.graph_objects as go

from blindspot.diagnostics.heros.lexical_overlap import Overlap
from blindspot.figures.theme import Scheme, apply_layout, ink
from blindspot.numerics.statistics.written import percent

ROW_HEIGHT = 30
# Per measure its name, meaning and symbol, and its colors on light and on dark.
MEASURES = {
    "rouge_1": ("R1", "words", "circle", {Scheme.LIGHT: "#0072B2", Scheme.DARK: "#56B4E9"}),
    "rouge_2": ("R2", "pairs of neighboring words", "diamond", {Scheme.LIGHT: "#D55E00", Scheme.DARK: "#E69F00"}),
    "rouge_l": ("RL", "words in the same order", "cross-thin", {Scheme.LIGHT: "#1B1F24", Scheme.DARK: "#F0F3F6"}),
}
PUBLISHED = "published"


def overlap_dots(rows: Sequence[tuple[str, str, Overlap]], scheme: Scheme) -> go.Figure:
    """A row per kind of pair (its name, its source, its means), the first on top; published marks are hollow."""
    figure = go.Figure()
    labels = [f"{escape(name)}{', published' if source == PUBLISHED else ''}" for name, source, _ in rows]
    for measure, (name, what, symbol, colors) in MEASURES.items():
        for published in (False, True):
            places = [row for row, (_, source, _) in enumerate(rows) if (source == PUBLISHED) == published]
            open_or_not = f"{symbol}-open" if published or symbol == "cross-thin" else symbol
            figure.add_scatter(
                x=[100 * getattr(rows[row][2], measure) for row in places],
                y=places,
                text=[labels[row] for row in places],
                customdata=[percent(getattr(rows[row][2], measure), 1) for row in places],
                mode="markers",
                name=f"{name}: {what}",
                legendgroup=measure,
                showlegend=not published,
                marker={
                    "symbol": open_or_not,
                    "size": 11,
                    "color": colors[scheme],
                    "line": {"width": 2, "color": colors[scheme]},
                },
                hovertemplate=f"%{{text}}<br>{name} %{{customdata}}<extra></extra>",
            )
    figure.update_yaxes(
        tickvals=list(range(len(rows))), ticktext=labels, range=[len(rows) - 0.4, -0.6], showgrid=True, zeroline=False
    )
    figure.update_xaxes(title="shared, % (F1)", range=[-2, 102], nticks=6)
    figure.add_vline(x=0, line={"color": ink(scheme), "width": 1})
    return apply_layout(figure, scheme, height=150 + ROW_HEIGHT * len(rows), variants=len(MEASURES))
