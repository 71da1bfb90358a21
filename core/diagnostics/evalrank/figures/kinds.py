"""Figure of a score per kind of pair and model, with intervals."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from core.figures.labels import wrapped
from core.figures.theme import Scheme, Style, apply_layout
from core.types import Variant

FIGURE_HEIGHT = 420
TITLES = {"mrr": "MRR", "hits@1": "Hits@1"}
LABEL_WIDTH = 20
SPREAD = 0.5  # of the distance of two kinds, over which the variants are spread


def kind_lines(
    scores: Mapping[Variant, pd.DataFrame],
    axis: Mapping[str, str],
    measure: str,
    few: int,
    styles: Mapping[Variant, Style],
    scheme: Scheme,
    *,
    joined: bool,
) -> go.Figure:
    """A score per kind of pair with its interval, a color and symbol per variant, a panel per side.

    Args:
        scores: per variant a row per kind: ``side, label, pairs``, the measure, its ``_low`` and ``_high``; the same
            kinds in the same order for all.
        axis: titles by side.
        measure: a key of ``TITLES``.
        few: means over fewer pairs are hollow.
        joined: whether lines join the kinds.
    """
    figure = make_subplots(cols=len(axis), shared_yaxes=True, horizontal_spacing=0.03)
    highest = max((float(rows[f"{measure}_high"].max()) for rows in scores.values()), default=1.0)
    for column, (side, title) in enumerate(axis.items(), 1):
        tables = {variant: rows[rows["side"] == side] for variant, rows in scores.items()}
        for number, (variant, rows) in enumerate(tables.items()):
            offset = SPREAD * ((number + 0.5) / len(tables) - 0.5)
            figure.add_scatter(
                **_points(rows, measure, few, offset, styles[variant], joined=joined),
                name=variant.label,
                legendgroup=str(variant),
                showlegend=False,
                row=1,
                col=column,
            )
        first = next(iter(tables.values()))
        figure.update_xaxes(
            title=escape(title, quote=False),
            tickvals=list(range(len(first))),
            ticktext=_ticks(list(tables.values())),
            range=[-0.6, len(first) - 0.4],
            showgrid=False,
            col=column,
        )
    for variant in scores:  # legends of their own: a trace's would look like its first point
        style = styles[variant]
        figure.add_scatter(
            x=[None],
            y=[None],
            name=variant.label,
            legendgroup=str(variant),
            mode="lines+markers" if joined else "markers",
            line={"color": style.colour, "dash": style.dash, "width": 1.5},
            marker={"symbol": style.symbol, "size": 9, "color": style.colour},
        )
    figure.update_yaxes(range=[0, min(1.04, 1.1 * highest + 0.01) if np.isfinite(highest) else 1.04], tickformat=".2f")
    figure.update_yaxes(title=TITLES[measure], col=1)
    return apply_layout(figure, scheme, height=FIGURE_HEIGHT, variants=len(scores))


def _points(
    rows: pd.DataFrame, measure: str, few: int, offset: float, style: Style, *, joined: bool
) -> dict[str, object]:
    values = rows[measure].to_numpy()
    low, high = rows[f"{measure}_low"].to_numpy(), rows[f"{measure}_high"].to_numpy()
    hollow = (rows["pairs"] < few).to_numpy()
    notes = [_note(*row, few) for row in zip(rows["pairs"], low, high, strict=True)]
    return {
        "x": np.arange(len(rows)) + offset,
        "y": values,
        "customdata": [[escape(label, quote=False), note] for label, note in zip(rows["label"], notes, strict=True)],
        "mode": "lines+markers" if joined else "markers",
        "line": {"color": style.colour, "dash": style.dash, "width": 1.5},
        "marker": {
            "symbol": [f"{style.symbol}-open" if few_pairs else style.symbol for few_pairs in hollow],
            "size": 9,
            "color": style.colour,
            "line": {"width": 1.5, "color": style.colour},
        },
        "error_y": {
            "array": np.nan_to_num(high - values),  # a missing interval is not drawn; the hover says so
            "arrayminus": np.nan_to_num(values - low),
            "color": style.colour,
            "thickness": 1.2,
            "width": 3,
        },
        "hovertemplate": f"%{{customdata[0]}}: {TITLES[measure]} %{{y:.4f}}<br>%{{customdata[1]}}"
        "<extra>%{fullData.name}</extra>",
    }


def _note(pairs: int, low: float, high: float, few: int) -> str:
    interval = f"95% interval {low:.4f} to {high:.4f}" if np.isfinite(low) else "no interval can be given"
    return f"{interval}, {pairs:,} pairs" + (", which are few" if pairs < few else "")


def _ticks(tables: list[pd.DataFrame]) -> list[str]:
    """Names of the kinds, with how many pairs each has where all variants ranked the same."""
    labels = [wrapped(label, LABEL_WIDTH) for label in tables[0]["label"]]
    if len({tuple(rows["pairs"]) for rows in tables}) > 1:
        return labels
    return [f"{label}<br>{pairs:,}" for label, pairs in zip(labels, tables[0]["pairs"], strict=True)]
