"""The figure of EvalRank by bands: the frequency of the query against that of the mate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from core.figures.theme import Scheme, dress, ink, shade, text_on

HEIGHT = 330
# Viridis, from low to high: told apart by lightness too, and without a grey, which is for cells of few pairs.
_SCALE = ((0.0, "#440154"), (0.25, "#3B528B"), (0.5, "#21918C"), (0.75, "#5EC962"), (1.0, "#FDE725"))
_GREY = {Scheme.LIGHT: "#E3E8EE", Scheme.DARK: "#2B3542"}


@dataclass(frozen=True)
class Cell:
    """Pairs of one band of the query and one of the mate; NaN where an interval cannot be given."""

    query: int
    mate: int
    score: float
    low: float
    high: float
    pairs: int


def band_matrix(
    cells: Sequence[Cell], labels: Sequence[str], title: str, few: int, highest: float, scheme: Scheme
) -> go.Figure:
    """The score in every cell, with its number of pairs; cells of fewer than ``few`` pairs are grey.

    Args:
        labels: of the bands, rare to frequent; a cell's query and mate are places in it.
        highest: of the colours, which matrices side by side share.
    """
    used = sorted({c.query for c in cells} | {c.mate for c in cells})
    place = {band: i for i, band in enumerate(used)}
    names = [labels[band] for band in used]
    scores: list[list[float | None]] = [[None] * len(used) for _ in used]
    greys: list[list[float | None]] = [[None] * len(used) for _ in used]
    notes = [[""] * len(used) for _ in used]
    figure = go.Figure()
    for cell in cells:
        row, column = place[cell.query], place[cell.mate]
        (greys if cell.pairs < few else scores)[row][column] = 0.0 if cell.pairs < few else cell.score
        interval = f"95% interval {cell.low:.3f} to {cell.high:.3f}" if cell.low == cell.low else "no interval"
        notes[row][column] = f"{title} {cell.score:.4f}, {interval}, {cell.pairs:,} pairs"
        figure.add_annotation(
            x=column,
            y=row,
            text=f"{cell.score:.3f}<br>{cell.pairs:,}",
            showarrow=False,
            font={"size": 12, "color": _ink_on(cell, few, highest, scheme)},
        )
    common = {"x": list(range(len(used))), "y": list(range(len(used))), "customdata": notes, "xgap": 2, "ygap": 2}
    hover = "query %{y}, mate %{x}: %{customdata}<extra></extra>"
    figure.add_heatmap(z=scores, zmin=0.0, zmax=highest, colorscale=_SCALE, showscale=False, hovertemplate=hover)
    figure.data[-1].update(common)
    grey = [[0.0, _GREY[scheme]], [1.0, _GREY[scheme]]]
    figure.add_heatmap(z=greys, zmin=0.0, zmax=1.0, colorscale=grey, showscale=False, hovertemplate=hover)
    figure.data[-1].update(common)
    figure.update_xaxes(title="mate, per million", tickvals=list(range(len(used))), ticktext=names)
    figure.update_yaxes(title="query, per million", tickvals=list(range(len(used))), ticktext=names)
    dress(figure, scheme, height=HEIGHT)
    figure.update_xaxes(showgrid=False)
    figure.update_yaxes(showgrid=False)
    return figure


def _ink_on(cell: Cell, few: int, highest: float, scheme: Scheme) -> str:
    """A colour that can be read on the cell's own."""
    if cell.pairs < few:
        return ink(scheme)
    return text_on(shade(_SCALE, cell.score / highest if highest else 0.0))
