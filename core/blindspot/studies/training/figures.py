"""Figures of trainings: the score over the steps, and the items' lines."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np
import plotly.graph_objects as go

from blindspot.figures.theme import Scheme, apply_layout, faint, ink, log_axis, looks
from blindspot.names import shortened
from blindspot.numerics.statistics.written import SCORE, score_written, with_ci
from blindspot.studies.training.steps import Evaluated, title_of

HOVER_TEXT = 90  # characters of an item in a hover
SPREAD = 0.05  # share of a value by which lines of the same values are drawn apart, at most, up and down
FEW_RANKS = 12  # so many have a tick each
FEW_STEPS = 16  # so many have a tick each, and their score beside the mark


def score_over_steps(evaluated: Evaluated, scheme: Scheme, marked: Sequence[str] = ()) -> go.Figure:
    """The headline score at every step, with 95% intervals.

    Args:
        marked: labels of steps to be marked by a line, such as the two that are compared.
    """
    series, (look, *_) = evaluated.series, looks(1, scheme)
    figure = go.Figure()
    figure.add_scatter(
        x=_x(evaluated),
        y=evaluated.values.tolist(),
        error_y={
            "type": "data",
            "symmetric": False,
            "array": [
                estimate.interval.high - estimate.value if estimate.interval else 0.0
                for estimate in evaluated.estimates
            ],
            "arrayminus": [
                estimate.value - estimate.interval.low if estimate.interval else 0.0 for estimate in evaluated.estimates
            ],
            "thickness": 1.5,
            "width": 4,
        },
        mode="lines+markers",
        name=escape(series.training),
        line={"color": look.color, "width": 2},
        marker={"color": look.color, "size": 8},
        customdata=[
            [title_of(label), with_ci(estimate, SCORE)]
            for label, estimate in zip(series.labels, evaluated.estimates, strict=True)
        ],
        hovertemplate="%{customdata[0]}: %{customdata[1]}<extra></extra>",
    )
    if len(series.labels) <= FEW_STEPS:
        figure.update_traces(
            mode="lines+markers+text",
            text=[score_written(value) for value in evaluated.values.tolist()],
            textposition="top right",
            cliponaxis=False,
        )
    for label in dict.fromkeys(marked):
        figure.add_vline(_x(evaluated)[series.place(label)], line={"color": faint(scheme), "width": 1, "dash": "dot"})
    figure.update_yaxes(title=score_title(evaluated))
    figure.update_layout(showlegend=False)
    _steps_axis(figure, evaluated)
    return apply_layout(figure, scheme, height=250)


def items_over_steps(evaluated: Evaluated, shown: Sequence[int], chosen: int | None, scheme: Scheme) -> go.Figure:
    """A line per item: its rank, or its part of the score, over the steps; equal lines are drawn a little apart.

    Args:
        shown: numbers of the items to draw.
        chosen: the number of the item to bring out, or None.
    """
    places = {int(number): row for row, number in enumerate(evaluated.numbers)}
    figure, (look, other, *_) = go.Figure(), looks(2, scheme)
    numbers = [n for n in dict.fromkeys([*shown, *([chosen] if chosen is not None else [])]) if n in places]
    unit = "rank " if evaluated.is_rank else ""
    aside = dict(zip(numbers, np.linspace(-SPREAD, SPREAD, len(numbers)).tolist(), strict=True))
    for number in sorted(numbers, key=lambda n: n == chosen):  # the chosen one on top
        is_chosen = number == chosen
        values = evaluated.shown[places[number]]
        drawn = (
            values if is_chosen else values * (1 + aside[number]) if evaluated.is_rank else values + aside[number] / 2
        )
        figure.add_scatter(
            x=_x(evaluated),
            y=[_known(value) for value in drawn.tolist()],
            mode="lines+markers",
            name=str(number),
            opacity=1.0 if is_chosen else 0.6 if chosen is None else 0.3,
            line={"color": other.color if is_chosen else look.color, "width": 4 if is_chosen else 1.5},
            marker={"size": 9 if is_chosen else 5},
            customdata=[
                [title_of(label), f"{value:,.6g}"] for label, value in zip(evaluated.series.labels, values, strict=True)
            ],
            text=[_one_line(evaluated.texts[places[number]])] * len(values),
            hovertemplate=f"%{{text}}<br>%{{customdata[0]}}: {unit}%{{customdata[1]}}<extra></extra>",
        )
    if evaluated.is_rank:
        scores_shown = evaluated.shown[[places[n] for n in numbers]] if numbers else evaluated.shown
        figure.update_yaxes(title="rank of the match (1 is best)", **log_axis([1.0, *scores_shown.ravel().tolist()]))
        top = float(np.nanmax(scores_shown)) if scores_shown.size and not np.isnan(scores_shown).all() else 1.0
        if top <= FEW_RANKS:
            ticks = list(range(1, FEW_RANKS + 1))
            figure.update_yaxes(tickvals=ticks, ticktext=[str(tick) for tick in ticks])
        figure.update_yaxes(range=[np.log10(max(top, 2.0) * 1.15), np.log10(0.88)])
    else:
        figure.update_yaxes(title=f"{evaluated.series.score} of an item")
    figure.update_layout(showlegend=False, hoverlabel={"font": {"color": ink(scheme)}})
    _steps_axis(figure, evaluated)
    return apply_layout(figure, scheme, height=330)


def score_title(evaluated: Evaluated) -> str:
    """Name of the score, for people."""
    return evaluated.series.entry.title_of(evaluated.series.score)


def _x(evaluated: Evaluated) -> list[int]:
    return list(evaluated.series.numbers or range(1, len(evaluated.series.labels) + 1))


def _steps_axis(figure: go.Figure, evaluated: Evaluated) -> None:
    """Numbers of steps where all have one; otherwise names, evenly apart."""
    if evaluated.series.numbers:
        figure.update_xaxes(title="step of the training")
        if len(evaluated.series.numbers) <= FEW_STEPS:
            figure.update_xaxes(tickvals=_x(evaluated))
        return
    names = [escape(title_of(label)) for label in evaluated.series.labels]
    figure.update_xaxes(title="", tickvals=_x(evaluated), ticktext=names)


def _known(value: float) -> Any:
    return None if np.isnan(value) else value


def _one_line(text: str) -> str:
    return escape(shortened(text, HOVER_TEXT))
