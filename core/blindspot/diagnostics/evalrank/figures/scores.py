"""Scores of EvalRank per model, their differences, the distribution of ranks, and published scores."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np
import plotly.graph_objects as go

from blindspot.figures.labels import wrapped
from blindspot.figures.panels import axes, panel, side_by_side
from blindspot.figures.theme import Scheme, Style, apply_layout, ink, log_axis, set_properties
from blindspot.numerics.statistics.compare import PairedTest
from blindspot.numerics.statistics.estimate import Measured
from blindspot.numerics.statistics.written import CHANGE, SCORE, ci, number, percent
from blindspot.variants import Variant

FIGURE_HEIGHT = 330
ROOMY = 10  # models; rows of more are lower
ROW, LINE = 30, 12  # pixels of a row, and of each further line of a name
NAME_WIDTH = 20  # characters per line of a model's name, for narrow screens
DENSE_ROW, DENSE_NAME = 16, 24  # of more models: names are on one line, so that 20 rows fit
NARROWEST = 0.02  # of a score: equal ones have an axis too
FARTHEST_CEILING = 2  # spreads of the scores above the highest: a farther one would squeeze them together
VALUE_ROOM = 5  # eighths of the drawn range, for a value beside the rightmost interval
STEPS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)  # between an axis's numbers
ROW_HEIGHT, GROUP_HEIGHT = 18, 26  # pixels of a difference, and between two scores
PUBLISHED = "published"
DOT_HEIGHT = 27  # pixels of a row of published or measured scores
SCORES = {"mrr": "MRR", "hits@1": "Hits@1", "hits@3": "Hits@3", "hits@10": "Hits@10"}
SHOWN = {name: SCORES[name] for name in ("mrr", "hits@1")}  # beside the curve, which has Hits@k for every k
PANELS = {"mrr": "MRR", "hits@1": "Hits@1", "hits@3": "Hits@3"}


def score_dots(
    scores: Mapping[Variant, Mapping[str, Measured]],
    ceiling: Mapping[str, float] | None,
    styles: Mapping[Variant, Style],
    scheme: Scheme,
) -> go.Figure:
    """A row per variant, a panel for each of ``SHOWN``: a dot with its interval and its value, a line at the ceiling.

    The axes do not begin at 0, since the differences are what is read.

    Args:
        scores: by key of ``SHOWN``, fractions; their intervals are drawn as error bars.
        ceiling: the best that any model could reach, per key of ``SCORES``; drawn where it is near.
    """
    figure = side_by_side(len(SHOWN), scheme, titles=list(SHOWN.values()))
    places = list(range(len(scores)))
    roomy = len(scores) <= ROOMY
    names = [
        wrapped(variant.label, NAME_WIDTH) if roomy else escape(variant.label_within(DENSE_NAME), quote=False)
        for variant in scores
    ]
    looks = [styles[variant] for variant in scores]
    for column, (name, title) in enumerate(SHOWN.items(), 1):
        where = panel(column)
        values = [score[name].value for score in scores.values()]
        intervals = [score[name].interval for score in scores.values()]
        ends = [None if interval is None else (interval.low, interval.high) for interval in intervals]
        figure.add_scatter(  # one trace for all variants: a trace each takes longer to build than the rest
            mode="markers",
            name=title,
            x=values,
            y=places,
            error_x=_error_bars(values, ends, scheme),
            marker={
                "color": [look.color for look in looks],
                "symbol": [look.symbol for look in looks],
                "size": 11 if roomy else 7,
            },
            customdata=[
                [escape(variant.label, quote=False), f"{number(value, SCORE)}{_in_brackets(end)}"]
                for variant, value, end in zip(scores, values, ends, strict=True)
            ],
            hovertemplate=f"{title}: %{{customdata[1]}}<extra>%{{customdata[0]}}</extra>",
            **where,
        )
        drawn = [value for end in ends if end for value in end] + values
        spread = max(max(drawn) - min(drawn), NARROWEST)
        has_ceiling = ceiling is not None and ceiling[name] - max(drawn) <= FARTHEST_CEILING * spread
        if ceiling is not None and has_ceiling:
            drawn.append(ceiling[name])
        room = max(max(drawn) - min(drawn), NARROWEST) / 8
        figure.add_scatter(
            mode="markers+text",
            marker={"size": 14 if roomy else 4, "opacity": 0},  # keeps the text clear of the dot
            name=title,
            x=values
            if roomy
            else [room / 2 + (end[1] if end else value) for value, end in zip(values, ends, strict=True)],
            y=places,
            text=[number(value, ".3f") for value in values],
            textposition="top center" if roomy else "middle right",
            textfont={"color": ink(scheme), "size": 12 if roomy else 11},
            hoverinfo="skip",
            cliponaxis=False,
            **where,
        )
        if ceiling is not None and has_ceiling:
            figure.add_scatter(
                x=[ceiling[name]] * 2,
                y=[-0.5, len(scores) - 0.5],
                mode="lines",
                name="ceiling of raw ranks",
                line={"color": ink(scheme), "width": 2, "dash": "dot"},
                hovertemplate=f"no model can exceed {number(ceiling[name], SCORE)}<extra>{title}</extra>",
                **where,
            )
        end = max(drawn) + (room if roomy else VALUE_ROOM * room)
        ticks = _ticks(min(drawn) - room, min(end, 1.0))
        axis = figure.layout[axes(column)[0]]
        set_properties(axis, range=[min(drawn) - room, end], tickvals=ticks, ticktext=[f"{x:.3g}" for x in ticks])
    for axis in figure.select_yaxes():
        set_properties(axis, tickvals=places, ticktext=names, range=[len(scores) - 0.5, -0.5])
    set_properties(figure.layout, showlegend=False)
    lines = max(name.count("<br>") for name in names)
    row_height = ROW + LINE * lines if roomy else DENSE_ROW
    return apply_layout(figure, scheme, height=max(FIGURE_HEIGHT - 60, 80 + row_height * len(scores)))


def _ticks(low: float, high: float) -> list[float]:
    """At most five round numbers; no score is above 1, where the axis still goes on for a value."""
    step = next(step for step in STEPS if (high - low) / step <= 4)
    return [multiple * step for multiple in range(math.ceil(low / step), math.floor(high / step) + 1)]


def _in_brackets(ends: tuple[float, float] | None) -> str:
    return "" if ends is None else f" [{number(ends[0], SCORE)}, {number(ends[1], SCORE)}]"


def _error_bars(
    values: Sequence[float], ends: Sequence[tuple[float, float] | None], scheme: Scheme
) -> dict[str, object] | None:
    if all(end is None for end in ends):
        return None
    return {
        "type": "data",
        "symmetric": False,
        "array": [None if end is None else end[1] - value for value, end in zip(values, ends, strict=True)],
        "arrayminus": [None if end is None else value - end[0] for value, end in zip(values, ends, strict=True)],
        "color": ink(scheme),
        "thickness": 1.5,
        "width": 3,
    }


def rank_curve(
    ranks: Mapping[Variant, np.ndarray], background: int, styles: Mapping[Variant, Style], scheme: Scheme
) -> go.Figure:
    """Share of pairs whose match is among the k most similar items, against k on a log axis.

    Args:
        ranks: ``[m]`` per variant, NaN for pairs that it did not rank, which do not count.
        background: number of texts ranked.
    """
    figure = go.Figure()
    at = np.unique(np.round(np.logspace(0, np.log10(max(background, 2)), 120)).astype(np.int64))
    lowest = 1.0
    for variant, values in ranks.items():
        ranked = np.sort(values[~np.isnan(values)])
        share = np.searchsorted(ranked, at, side="right") / len(ranked)
        lowest = min(lowest, float(share[0]))
        style = styles[variant]
        figure.add_scatter(
            x=at,
            y=share,
            mode="lines",
            name=variant.label,
            line={"color": style.color, "dash": style.dash, "width": 2.5, "shape": "hv"},
            text=[percent(value, 1) for value in share],
            hovertemplate="top %{x:,}: %{text} of the pairs<extra>%{fullData.name}</extra>",
        )
    # Beyond the last match there is nothing to see.
    end = max(10.0, *(2 * float(np.nanmax(values, initial=1)) for values in ranks.values()))
    shown = min(end, max(background, 2))
    figure.update_xaxes(title="k (how many of the nearest texts)", range=[0, np.log10(shown)], **log_axis([1, shown]))
    figure.update_yaxes(
        title="pairs with the match in the top k", tickformat=".0%", range=[max(0.0, lowest - 0.1), 1.01]
    )
    return apply_layout(figure, scheme, height=FIGURE_HEIGHT, variants=len(ranks))


def difference_forest(
    tests: Mapping[Variant, Sequence[PairedTest]], baseline: Variant, styles: Mapping[Variant, Style], scheme: Scheme
) -> go.Figure:
    """Per score a group of rows with each variant's difference to the baseline; right of 0 is better.

    Args:
        tests: each variant's of the same scores, less the baseline's.
    """
    figure = go.Figure()
    scores = [escape(test.label, quote=False) for test in next(iter(tests.values()))]
    for row, (variant, tests_of_model) in enumerate(tests.items()):
        style = styles[variant]
        offset = (row - (len(tests) - 1) / 2) * 0.8 / len(tests)
        ends = [
            (math.nan, math.nan) if t.interval is None else (t.interval.low, t.interval.high) for t in tests_of_model
        ]
        figure.add_scatter(
            x=[test.value for test in tests_of_model],
            y=[row + offset for row in range(len(scores))],
            mode="markers",
            name=variant.label,
            marker={"color": style.color, "symbol": style.symbol, "size": 9},
            error_x={
                "type": "data",
                "symmetric": False,
                "array": [high - test.value for test, (_, high) in zip(tests_of_model, ends, strict=True)],
                "arrayminus": [test.value - low for test, (low, _) in zip(tests_of_model, ends, strict=True)],
                "color": style.color,
                "thickness": 2,
                "width": 4,
            },
            customdata=[
                (score, f"{number(test.value, CHANGE)}{ci(test.interval, CHANGE)}", test.verdict.value)
                for score, test in zip(scores, tests_of_model, strict=True)
            ],
            hovertemplate="%{customdata[0]}: %{customdata[1]}<br>%{customdata[2]}<extra>%{fullData.name}</extra>",
        )
    figure.add_vline(x=0, line={"color": ink(scheme), "width": 1.5, "dash": "dot"})
    for between in range(1, len(scores)):
        figure.add_hline(y=between - 0.5, line={"color": ink(scheme), "width": 0.5}, opacity=0.3)
    figure.update_layout(showlegend=True)
    figure.update_yaxes(
        range=[len(scores) - 0.5, -0.5], tickvals=list(range(len(scores))), ticktext=scores, showgrid=False
    )
    figure.update_xaxes(title=f"difference from {baseline.label}", tickformat=".3~f")
    figure = apply_layout(figure, scheme, height=110 + len(scores) * (ROW_HEIGHT * len(tests) + GROUP_HEIGHT))
    # On top: names are long, and next to the figure they would take a narrow screen's room.
    return figure.update_layout(legend={"orientation": "h", "yanchor": "bottom", "y": 1.0, "x": 0})


@dataclass(frozen=True)
class Dot:
    """A row of the plot: fractions by the names of ``PANELS``; ``variant`` is None for a published score."""

    label: str
    scores: Mapping[str, float]
    variant: Variant | None = None


def published_dots(dots: list[Dot], styles: Mapping[Variant, Style], scheme: Scheme) -> go.Figure:
    """A row per encoder, the best on top, a panel per score; published scores are hollow on a dashed line."""
    figure = side_by_side(len(PANELS), scheme)
    rows = sorted(dots, key=lambda dot: dot.scores["mrr"])  # plotly's first row is at the bottom
    names = [dot.label if dot.variant else f"{dot.label} · {PUBLISHED}" for dot in rows]
    for column, (name, title) in enumerate(PANELS.items(), 1):
        for y, dot in enumerate(rows):
            line = {"color": ink(scheme), "width": 1, "dash": "solid" if dot.variant else "dash"}
            ends = {"x0": 0, "x1": dot.scores[name], "y0": y, "y1": y}
            at = panel(column, ("xref", "yref"))
            figure.add_shape(type="line", line=line, opacity=0.6, layer="below", **at, **ends)
        for published in (False, True):
            shown = [(y, dot) for y, dot in enumerate(rows) if (dot.variant is None) == published]
            if not shown:
                continue
            looks = [styles[dot.variant] for _, dot in shown if dot.variant]
            filled = {"symbol": [look.symbol for look in looks], "color": [look.color for look in looks]}
            hollow = {"symbol": "circle-open", "color": ink(scheme), "line": {"width": 2}}
            figure.add_scatter(
                name=PUBLISHED if published else "measured here, toolkit protocol",
                x=[dot.scores[name] for _, dot in shown],
                y=[y for y, _ in shown],
                text=[names[y] for y, _ in shown],
                mode="markers",
                marker={"size": 11, **(hollow if published else filled)},
                showlegend=False,
                customdata=[number(dot.scores[name], SCORE) for _, dot in shown],
                hovertemplate=f"%{{text}}<br>{title} %{{customdata}}<extra></extra>",
                **panel(column),
            )
        set_properties(figure.layout[axes(column)[0]], title={"text": title})
    figure.update_yaxes(tickvals=list(range(len(rows))), ticktext=names, range=[-0.7, len(rows) - 0.3], showgrid=False)
    highest = max(max(dot.scores.values()) for dot in dots)
    # Short of 1, whose label would overlap the next panel's on a narrow screen.
    figure.update_xaxes(range=[0, max(min(0.99, 1.15 * highest), 1.02 * highest)], nticks=3)
    return apply_layout(figure, scheme, height=80 + DOT_HEIGHT * len(rows))
