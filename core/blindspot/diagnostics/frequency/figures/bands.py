"""Figure of EvalRank by bands: the frequency of the query against that of the match."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan

import plotly.graph_objects as go

from blindspot.figures.theme import Scheme, apply_layout, ink, shade, text_on
from blindspot.numerics.statistics.intervals import Interval
from blindspot.numerics.statistics.written import SCORE, ci_in_words, number

HEIGHT = 330
# Viridis: it differs in lightness too, and has no gray, which is for cells of few pairs.
_SCALE = ((0.0, "#440154"), (0.25, "#3B528B"), (0.5, "#21918C"), (0.75, "#5EC962"), (1.0, "#FDE725"))
_GREY = {Scheme.LIGHT: "#E3E8EE", Scheme.DARK: "#2B3542"}


@dataclass(frozen=True)
class Cell:
    """Pairs of one band of the query and one of the match; ``low`` and ``high`` may be NaN."""

    query: int
    match: int
    score: float
    low: float
    high: float
    pairs: int


def band_matrix(
    cells: Sequence[Cell], labels: Sequence[str], title: str, few: int, highest: float, scheme: Scheme
) -> go.Figure:
    """The score in every cell, with its number of pairs; cells of fewer than ``few`` pairs are gray.

    Args:
        labels: of the bands, rare to frequent; a cell's query and match are places in it.
        highest: end of the color scale, shared by the matrices of a page.
    """
    used = sorted({c.query for c in cells} | {c.match for c in cells})
    place = {band: i for i, band in enumerate(used)}
    names = [labels[band] for band in used]
    scores: list[list[float | None]] = [[None] * len(used) for _ in used]
    greys: list[list[float | None]] = [[None] * len(used) for _ in used]
    notes = [[""] * len(used) for _ in used]
    figure = go.Figure()
    for cell in cells:
        row, column = place[cell.query], place[cell.match]
        (greys if cell.pairs < few else scores)[row][column] = 0.0 if cell.pairs < few else cell.score
        interval = "no interval" if isnan(cell.low) else ci_in_words(Interval(cell.low, cell.high), SCORE)
        readable = ink(scheme)
        if cell.pairs >= few:
            readable = text_on(shade(_SCALE, cell.score / highest if highest else 0.0))
        notes[row][column] = f"{title} {number(cell.score, SCORE)}, {interval}, {cell.pairs:,} pairs"
        figure.add_annotation(
            x=column,
            y=row,
            text=f"{number(cell.score, SCORE)}<br>{cell.pairs:,}",
            showarrow=False,
            font={"size": 12, "color": readable},
        )
    places = list(range(len(used)))
    common = {"x": places, "y": places, "customdata": notes, "xgap": 2, "ygap": 2, "showscale": False}
    common["hovertemplate"] = "query %{y}, match %{x}: %{customdata}<extra></extra>"
    grey = ((0.0, _GREY[scheme]), (1.0, _GREY[scheme]))
    figure.add_heatmap(z=scores, zmin=0.0, zmax=highest, colorscale=_SCALE, **common)
    figure.add_heatmap(z=greys, zmin=0.0, zmax=1.0, colorscale=grey, **common)
    figure.update_xaxes(title="match, per million", tickvals=places, ticktext=names, showgrid=False)
    figure.update_yaxes(title="query, per million", tickvals=places, ticktext=names, showgrid=False)
    return apply_layout(figure, scheme, height=HEIGHT)
