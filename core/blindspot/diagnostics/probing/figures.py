"""Figure of the page Probing: correlations of probing with transfer tasks (Eger 2019, figure 3)."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np
import plotly.graph_objects as go

from blindspot.figures.grids import NAME_WIDTH, ROW, heatmap
from blindspot.figures.labels import wrapped
from blindspot.figures.theme import DIVERGING, Scheme, apply_layout
from blindspot.numerics.statistics.written import number
from blindspot.types import Float64


def correlations(
    rho: Float64, models: Float64, probes: Sequence[str], tasks: Sequence[str], scheme: Scheme
) -> go.Figure:
    """Spearman's rho ``[p, t]``: a row per transfer task, a column per probing task, as in the paper.

    Args:
        models: ``[p, t]``, the number of models behind each rho.
        probes, tasks: their names.
    """
    columns, rows = ([escape(name, quote=False) for name in names] for names in (probes, tasks))
    text = [[number(value, ".2f") for value in row] for row in rho.T]
    tooltips = [
        [
            f"{columns[i]} and {rows[j]}: "
            + ("too few models" if np.isnan(rho[i, j]) else number(rho[i, j], ".3f"))
            + f", {int(models[i, j])} models"
            for i in range(len(columns))
        ]
        for j in range(len(rows))
    ]
    figure = go.Figure(heatmap(rho.T, text, tooltips, scheme, colorscale=DIVERGING[scheme], zmin=-1.0, zmax=1.0))
    figure.update_xaxes(
        tickvals=list(range(len(columns))),
        ticktext=[wrapped(name, NAME_WIDTH) for name in probes],
        title="probing task",
        side="top",
        showgrid=False,
        tickangle=0,
        range=[-0.5, len(columns) - 0.5],
    )
    figure.update_yaxes(
        tickvals=list(range(len(rows))),
        ticktext=rows,
        title="transfer task",
        showgrid=False,
        range=[len(rows) - 0.5, -0.5],
    )
    return apply_layout(figure, scheme, height=140 + ROW * len(rows))
