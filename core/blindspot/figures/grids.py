"""Figures of the Lab: a grid's scores, encoders' places, agreement of settings, score against size."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
import plotly.graph_objects as go

from blindspot.figures.labels import wrapped
from blindspot.figures.theme import DIVERGING, SEQUENTIAL, Scheme, Style, apply_layout, faint, ink, written_ticks
from blindspot.numerics.statistics.written import SCORE, number, score_written
from blindspot.types import Float64

ROW = 27  # pixels of a row of a grid
LEAST_APART = 0.1  # of the axis, numbers of dimensions on a narrow screen
NAME_HEIGHT = 22  # of the legend, per name on a narrow screen
NAME_WIDTH = 12  # characters of an encoder's name in one line, above its column
LABEL_WIDTH = 30  # characters of a prompt in one line, beside its row
LARGEST_PRINTED = 30  # settings: a matrix with more has no room for numbers


def heatmap(
    values: Float64,
    text: Sequence[Sequence[str]],
    tooltips: Sequence[Sequence[str]],
    scheme: Scheme,
    *,
    size: int = 12,
    gap: int = 2,
    **scale: Any,
) -> go.Heatmap:
    """Colored cells ``[rows, columns]`` with texts and tooltips; NaN has no color. ``scale`` is as in plotly."""
    rows, columns = values.shape
    return go.Heatmap(
        x=list(range(columns)),
        y=list(range(rows)),
        z=[[None if np.isnan(value) else float(value) for value in row] for row in values],
        text=text,
        hovertext=tooltips,
        texttemplate="%{text}",
        textfont={"size": size, "color": ink(scheme)},
        hovertemplate="%{hovertext}<extra></extra>",
        hoverongaps=False,
        showscale=False,
        xgap=gap,
        ygap=gap,
        **scale,
    )


def score_grid(
    values: Float64, encoders: Sequence[str], settings: Sequence[str], direction: float, scheme: Scheme
) -> go.Figure:
    """Scores of one kind, a row per setting and a column per encoder: the better, the bluer.

    Args:
        values: ``[e, s]``, NaN where a cell is missing; it shows a dash.
        encoders: ``[e]`` names.
        settings: ``[s]``, in words.
        direction: 1 where more is better, -1 where less is; 0 is colored as 1.
    """
    names = [escape(name, quote=False) for name in encoders]
    rows = [escape(setting, quote=False) for setting in settings]
    text = [["" if np.isnan(v) else score_written(float(v)) for v in row] for row in values.T]
    tooltips = [
        [f"{name}, {row}: {v:.6g}" for name, v in zip(names, of_row, strict=True)]
        for row, of_row in zip(rows, values.T, strict=True)
    ]
    cells = heatmap(values.T, text, tooltips, scheme, colorscale=SEQUENTIAL[scheme], reversescale=direction < 0)
    figure = go.Figure(cells)
    missing = np.isnan(values)
    encoder, setting = np.nonzero(missing)
    if len(encoder):
        figure.add_scatter(
            x=encoder.tolist(),
            y=setting.tolist(),
            mode="text",
            text=["–"] * len(encoder),
            textfont={"color": faint(scheme)},
            hovertext=[f"{names[e]}, {rows[s]}: not computed" for e, s in zip(encoder, setting, strict=True)],
            hovertemplate="%{hovertext}<extra></extra>",
            showlegend=False,
        )
    figure.update_xaxes(
        tickvals=list(range(len(names))),
        ticktext=[wrapped(name, NAME_WIDTH) for name in encoders],
        side="top",
        showgrid=False,
        tickangle=0,
        range=[-0.5, len(names) - 0.5],
    )
    figure.update_yaxes(tickvals=list(range(len(rows))), ticktext=rows, showgrid=False, range=[len(rows) - 0.5, -0.5])
    return apply_layout(figure, scheme, height=90 + ROW * len(rows))


def place_lines(
    places: Float64,
    values: Float64,
    encoders: Sequence[str],
    settings: Sequence[str],
    styles: Mapping[str, Style],
    scheme: Scheme,
) -> go.Figure:
    """Slope chart: a line per encoder with its place under one setting after another, from top to bottom.

    Args:
        places: ``[e, s]`` from 1, ties with the mean of their places; NaN where missing, which breaks the line.
        values: ``[e, s]``, the scores behind them.
        settings: ``[s]``, in words.
    """
    figure = go.Figure()
    for e, name in enumerate(encoders):
        style = styles[name]
        figure.add_scatter(
            x=[None if np.isnan(rank) else float(rank) for rank in places[e]],
            y=list(range(len(settings))),
            mode="lines+markers",
            name=escape(name, quote=False),
            line={"color": style.color, "dash": style.dash, "width": 2},
            marker={"color": style.color, "symbol": style.symbol, "size": 11},
            customdata=[
                f"{escape(setting, quote=False)}: place {place:g}, {score_written(float(value))}"
                for setting, place, value in zip(settings, places[e].tolist(), values[e], strict=True)
            ],
            hovertemplate="%{customdata}<extra>%{fullData.name}</extra>",
            connectgaps=False,
        )
    figure.update_xaxes(
        title="place (1: best)",
        tickvals=list(range(1, len(encoders) + 1)),
        range=[0.7, len(encoders) + 0.3],
        side="top",
    )
    figure.update_yaxes(
        tickvals=list(range(len(settings))),
        ticktext=[escape(setting, quote=False) for setting in settings],
        range=[len(settings) - 0.5, -0.5],
    )
    figure.update_layout(showlegend=True)
    apply_layout(figure, scheme, height=120 + ROW * len(settings) + NAME_HEIGHT * len(encoders))
    # below: beside or above the lines the names would take a narrow screen's room
    return figure.update_layout(legend={"orientation": "h", "y": -0.02, "yanchor": "top"})


def agreement_matrix(values: Float64, settings: Sequence[str], scheme: Scheme) -> go.Figure:
    """Rank correlation of every two settings, ``[s, s]``: blue where they agree, orange where they are opposed."""
    s = len(settings)
    names = [escape(setting, quote=False) for setting in settings]
    few = s <= LARGEST_PRINTED
    text = [["" if np.isnan(v) or not few else _correlation(float(v)) for v in row] for row in values]
    tooltips = [[f"{names[i]} and {names[j]}: {number(values[i, j], '.3f')}" for j in range(s)] for i in range(s)]
    scale: dict[str, Any] = {"colorscale": DIVERGING[scheme], "zmin": -1.0, "zmax": 1.0}
    figure = go.Figure(heatmap(values, text, tooltips, scheme, size=10, gap=1, **scale))
    ticks = {"tickvals": list(range(s)), "ticktext": names, "showgrid": False, "tickfont": {"size": 10}}
    figure.update_xaxes(**ticks, side="top", tickangle=-90)
    figure.update_yaxes(**ticks, autorange="reversed")
    return apply_layout(figure, scheme, height=190 + 24 * s)


def _correlation(value: float) -> str:
    """``1``, ``.67``, ``-.3``: cells are narrow."""
    rounded = f"{value:.1f}"
    return {"1.0": "1", "-1.0": "-1", "0.0": "0", "-0.0": "0"}.get(rounded, rounded.replace("0.", "."))


@dataclass(frozen=True)
class SizeLine:
    """Scores of an encoder at several sizes.

    Attributes:
        sizes: the computed dimensions, ascending.
        full: the encoder's own size, at which its score is drawn larger; None if that was not computed.
    """

    encoder: str
    sizes: tuple[int, ...]
    scores: tuple[float, ...]
    full: int | None


def size_lines(lines: Sequence[SizeLine], score: str, styles: Mapping[str, Style], scheme: Scheme) -> go.Figure:
    """Score against the number of dimensions, a line per encoder; its own size is drawn larger."""
    figure = go.Figure()
    sizes = sorted({size for line in lines for size in line.sizes})
    for line in lines:
        style = styles[line.encoder]
        figure.add_scatter(
            x=list(line.sizes),
            y=list(line.scores),
            mode="lines+markers",
            name=escape(line.encoder, quote=False),
            line={"color": style.color, "dash": style.dash, "width": 2},
            marker={
                "color": style.color,
                "symbol": style.symbol,
                "size": [15 if size == line.full else 9 for size in line.sizes],
            },
            customdata=[number(value, SCORE) for value in line.scores],
            hovertemplate="%{x} dimensions: %{customdata}<extra>%{fullData.name}</extra>",
        )
    written = written_ticks([math.log(size) for size in sizes], LEAST_APART)
    ticks = [str(size) if is_written else "" for size, is_written in zip(sizes, written, strict=True)]
    figure.update_xaxes(type="log", title="dimensions", tickvals=sizes, ticktext=ticks, tickangle=0)
    figure.update_yaxes(title=escape(score, quote=False))
    figure.update_layout(showlegend=True)
    apply_layout(figure, scheme, height=400 + NAME_HEIGHT * len(lines))
    return figure.update_layout(legend={"orientation": "h", "y": -0.2, "yanchor": "top"})


@dataclass(frozen=True)
class SeriesLine:
    """Scores of a model read in several ways, with 95% intervals where there are any; ``name`` is that of the model."""

    name: str
    labels: tuple[str, ...]
    scores: tuple[float, ...]
    intervals: tuple[tuple[float, float] | None, ...]


def series_lines(
    lines: Sequence[SeriesLine], score: str, by: str, styles: Mapping[str, Style], scheme: Scheme, *, across: bool
) -> go.Figure:
    """Scores by layer or prompt with intervals: a line per model or, where labels are long, dots in a row per label.

    Args:
        by: what the labels name.
        across: whether to draw lines from left to right, not dots in rows.
    """
    figure = go.Figure()
    labels = list(dict.fromkeys(label for line in lines for label in line.labels))
    for index, line in enumerate(lines):
        style = styles[line.name]
        ends = [ends or (value, value) for ends, value in zip(line.intervals, line.scores, strict=True)]
        bars = {
            "type": "data",
            "symmetric": False,
            "array": [high - value for (_, high), value in zip(ends, line.scores, strict=True)],
            "arrayminus": [value - low for (low, _), value in zip(ends, line.scores, strict=True)],
            "thickness": 1.2,
            "width": 3,
        }
        aside = 0.0 if len(lines) == 1 else (index / (len(lines) - 1) - 0.5) * (0.12 if across else 0.5)
        places, values = [labels.index(label) + aside for label in line.labels], list(line.scores)
        figure.add_scatter(
            x=places if across else values,
            y=values if across else places,
            error_x=None if across else bars,
            error_y=bars if across else None,
            mode="lines+markers" if across else "markers",
            name=escape(line.name, quote=False),
            line={"color": style.color, "dash": style.dash, "width": 2},
            marker={"color": style.color, "symbol": style.symbol, "size": 9},
            customdata=[
                [escape(label, quote=False), score_written(value)]
                for label, value in zip(line.labels, values, strict=True)
            ],
            hovertemplate=f"{by} %{{customdata[0]}}: %{{customdata[1]}}<extra>%{{fullData.name}}</extra>",
        )
    ticks = {"tickvals": list(range(len(labels))), "ticktext": [wrapped(label, LABEL_WIDTH) for label in labels]}
    of_labels, of_score = (
        (figure.update_xaxes, figure.update_yaxes) if across else (figure.update_yaxes, figure.update_xaxes)
    )
    of_labels(**ticks, **({"title": by, "tickangle": 0} if across else {"autorange": "reversed", "showgrid": False}))
    of_score(title=escape(score, quote=False))
    figure.update_layout(showlegend=len(lines) > 1)
    height = 400 if across else 120 + (34 + 12 * len(lines)) * len(labels)
    apply_layout(figure, scheme, height=height + NAME_HEIGHT * len(lines))
    return figure.update_layout(legend={"orientation": "h", "y": -0.2, "yanchor": "top"})
