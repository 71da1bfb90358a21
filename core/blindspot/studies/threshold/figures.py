"""Figures of the study Threshold: precision and recall, reliability, thresholds of groups, two models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape

import numpy as np
import plotly.graph_objects as go

from blindspot.figures.theme import Scheme, Style, apply_layout, faint, ink, looks
from blindspot.numerics.statistics.estimate import Estimate
from blindspot.numerics.statistics.written import SCORE, each_written, number, with_ci
from blindspot.numerics.thresholds.calibration import Calibration
from blindspot.numerics.thresholds.curves import Point, Wished
from blindspot.studies.threshold.view import OfGroup
from blindspot.types import Float64

_BAND = 0.18  # opacity
ROW = 30  # pixels of a group


def curves(points: Sequence[Point], wished: Wished, scheme: Scheme) -> go.Figure:
    """Precision and recall by threshold with pointwise bands; the wish, its threshold and the threshold's interval."""
    figure = go.Figure()
    precision, recall = looks(2, scheme)
    x = np.array([point.threshold for point in points])
    _line(figure, x, [point.precision for point in points], "precision", precision)
    _line(figure, x, [point.recall for point in points], "recall", recall)
    figure.add_hline(wished.precision, line={"color": faint(scheme), "width": 1, "dash": "dot"})
    if wished.low is not None:
        end = float(x.max()) if wished.high is None else wished.high
        figure.add_vrect(wished.low, end, line_width=0, fillcolor=faint(scheme), opacity=0.15)
    _mark(figure, wished.point, ink(scheme))
    return _layout(figure, scheme, 380)


@dataclass(frozen=True)
class Curves:
    """A model's precision and recall by threshold, and its threshold for the wish."""

    label: str
    points: Sequence[Point]
    found: Wished
    style: Style


def curves_of_two(models: Sequence[Curves], scheme: Scheme) -> go.Figure:
    """``curves`` of two models, each in its color: precision as a line, recall dotted, without bands."""
    figure = go.Figure()
    for model in models:
        x = np.array([point.threshold for point in model.points])
        name = escape(model.label, quote=False)
        for measure, dash in (("precision", "solid"), ("recall", "dot")):
            estimates = [getattr(point, measure) for point in model.points]
            _line(figure, x, estimates, f"{name}: {measure}", replace(model.style, dash=dash), has_band=False)
        _mark(figure, model.found.point, model.style.color)
    figure.add_hline(models[0].found.precision, line={"color": faint(scheme), "width": 1, "dash": "dot"})
    return _layout(figure, scheme, 380)


def two_models(
    points: Mapping[str, tuple[Sequence[Point], Style]], threshold: float, wish: float, scheme: Scheme
) -> go.Figure:
    """Precision of models by threshold with bands, at the threshold of one of them; by label."""
    figure = go.Figure()
    for label, (curve_points, style) in points.items():
        x = np.array([point.threshold for point in curve_points])
        _line(figure, x, [point.precision for point in curve_points], escape(label, quote=False), style)
    figure.add_hline(wish, line={"color": faint(scheme), "width": 1, "dash": "dot"})
    figure.add_vline(threshold, line={"color": ink(scheme), "width": 1.5})
    _layout(figure, scheme, 360)
    return figure.update_yaxes(title="precision")


def _line(
    figure: go.Figure,
    x: Float64,
    estimates: Sequence[Estimate | None],
    name: str,
    style: Style,
    *,
    has_band: bool = True,
) -> None:
    """A line, with a band if there are intervals."""
    points = [(at, estimate) for at, estimate in zip(x.tolist(), estimates, strict=True) if estimate is not None]
    banded = [(at, estimate.interval) for at, estimate in points if estimate.interval is not None]
    if banded and has_band:
        ends = [at for at, _ in banded]
        figure.add_scatter(
            x=[*ends, *reversed(ends)],
            y=[*(i.high for _, i in banded), *(i.low for _, i in reversed(banded))],
            fill="toself",
            mode="lines",
            fillcolor=style.color,
            opacity=_BAND,
            line={"width": 0},
            hoverinfo="skip",
            showlegend=False,
        )
    figure.add_scatter(
        x=[at for at, _ in points],
        y=[estimate.value for _, estimate in points],
        mode="lines",
        name=name,
        line={"color": style.color, "dash": style.dash, "width": 2},
        customdata=[f"from {number(at, SCORE)} on: {with_ci(estimate, SCORE)}" for at, estimate in points],
        hovertemplate="%{customdata}<extra>%{fullData.name}</extra>",
    )


def _mark(figure: go.Figure, point: Point | None, color: str) -> None:
    if point is None or point.precision is None:
        return
    figure.add_vline(point.threshold, line={"color": color, "width": 1.5})
    figure.add_scatter(
        x=[point.threshold] * 2,
        y=[point.precision.value, point.recall.value],
        mode="markers",
        marker={"color": color, "size": 9, "symbol": "circle-open", "line": {"width": 2}},
        showlegend=False,
        hoverinfo="skip",
    )


def _layout(figure: go.Figure, scheme: Scheme, height: int) -> go.Figure:
    figure.update_xaxes(title="threshold (similarity)")
    figure.update_yaxes(title="share", range=[-0.02, 1.02])
    figure.update_layout(showlegend=True)
    return apply_layout(figure, scheme, height=height)


def reliability(calibrations: Mapping[str, Calibration], scheme: Scheme) -> go.Figure:
    """The share of same pairs by their cross-fitted probability, a point per bin; perfect is the diagonal."""
    figure = go.Figure()
    figure.add_scatter(
        x=[0, 1],
        y=[0, 1],
        mode="lines",
        name="perfect",
        line={"color": faint(scheme), "width": 1, "dash": "dot"},
        hoverinfo="skip",
    )
    for (way, calibration), style in zip(calibrations.items(), looks(len(calibrations), scheme), strict=True):
        value = [b.same.value for b in calibration.bins]
        figure.add_scatter(
            x=[b.predicted for b in calibration.bins],
            y=value,
            error_y={
                "type": "data",
                "symmetric": False,
                "array": [b.same.high - b.same.value if b.same.high is not None else 0.0 for b in calibration.bins],
                "arrayminus": [b.same.value - b.same.low if b.same.low is not None else 0.0 for b in calibration.bins],
                "thickness": 1.5,
                "width": 3,
            },
            mode="markers",
            name=way,
            marker={"color": style.color, "symbol": style.symbol, "size": 9},
            customdata=[
                f"predicted {number(b.predicted, SCORE)}, same {with_ci(b.same, SCORE)} of {b.pairs:,} pairs"
                for b in calibration.bins
            ],
            hovertemplate="%{customdata}<extra>%{fullData.name}</extra>",
        )
    figure.update_xaxes(title="predicted probability that two texts are the same", range=[-0.02, 1.02])
    figure.update_yaxes(title="share that is the same", range=[-0.02, 1.02])
    figure.update_layout(showlegend=True)
    return apply_layout(figure, scheme, height=400)


def probabilities(calibrations: Mapping[str, Calibration], low: float, high: float, scheme: Scheme) -> go.Figure:
    """Probability by similarity, a line per way."""
    figure = go.Figure()
    x = np.linspace(low, high, 400)
    for (way, calibration), style in zip(calibrations.items(), looks(len(calibrations), scheme), strict=True):
        y = calibration.fitted.probability(x)
        figure.add_scatter(
            x=x,
            y=y,
            mode="lines",
            name=way,
            line={"color": style.color, "dash": style.dash, "width": 2},
            customdata=[
                f"similarity {at}: probability {value}"
                for at, value in zip(each_written(x), each_written(y), strict=True)
            ],
            hovertemplate="%{customdata}<extra>%{fullData.name}</extra>",
        )
    figure.update_xaxes(title="similarity")
    figure.update_yaxes(title="probability that two texts are the same", range=[-0.02, 1.02])
    figure.update_layout(showlegend=True)
    return apply_layout(figure, scheme, height=400)


def of_groups(groups: Sequence[OfGroup], wished: Wished, top: float, axis: str, scheme: Scheme) -> go.Figure:
    """The threshold of each group with its interval, and that of all pairs; an interval without an end has an arrow.

    Args:
        top: the highest similarity.
        axis: how the groups differ.
    """
    figure = go.Figure()
    (style,) = looks(1, scheme)
    names = [f"{escape(group.label, quote=False)} ({group.pairs:,})" for group in groups]
    for row, group in enumerate(groups):
        threshold = group.own
        if threshold is None or threshold.low is None:
            continue
        end = top if threshold.high is None else threshold.high
        figure.add_scatter(
            x=[threshold.low, end],
            y=[row, row],
            mode="lines+markers",
            line={"color": style.color, "width": 2},
            marker={
                "color": style.color,
                "size": 9,
                "symbol": ["line-ns", "arrow-right" if threshold.high is None else "line-ns"],
                "line": {"color": style.color, "width": 2},
            },
            hoverinfo="skip",
        )
    here = [(row, group.own.point) for row, group in enumerate(groups) if group.own is not None and group.own.point]
    figure.add_scatter(
        x=[point.threshold for _, point in here],
        y=[row for row, _ in here],
        mode="markers",
        marker={"color": style.color, "size": 11, "symbol": style.symbol},
        customdata=[f"{names[row]}: {number(point.threshold, SCORE)}" for row, point in here],
        hovertemplate="%{customdata}<extra></extra>",
    )
    if wished.point is not None:
        figure.add_vline(wished.point.threshold, line={"color": ink(scheme), "width": 1.5})
    figure.update_yaxes(
        title=escape(axis, quote=False),
        tickvals=list(range(len(names))),
        ticktext=names,
        range=[len(names) - 0.5, -0.5],
        showgrid=False,
    )
    figure.update_xaxes(title=f"threshold for a precision of {wished.precision:g}")
    figure.update_layout(showlegend=False)
    return apply_layout(figure, scheme, height=110 + ROW * len(names))
