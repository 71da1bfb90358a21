"""Figures of a report: specifications for either color scheme, and the library that draws them."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from html import escape
from typing import Any

import pandas as pd
import plotly.graph_objects as go
from plotly.offline import get_plotlyjs

from blindspot.datasets.catalog import title_of
from blindspot.figures.theme import Scheme, Style, apply_layout, styles
from blindspot.numerics.statistics.written import SCORE, number
from blindspot.runs.default_models import undeployed
from blindspot.studies.compare.figures import drawn as forest_rows
from blindspot.studies.compare.figures import forest
from blindspot.studies.compare.rows import Comparison
from blindspot.studies.findings.collection import RunsOf
from blindspot.studies.report.content import Report
from blindspot.variants import Variant

Draw = Callable[[Scheme], go.Figure]
SIZES = (18, 13, 9)  # pixels: of models that score alike, each still shows behind the next


@cache
def library() -> str:
    """plotly.js, gzipped, as base64: 2 MB instead of 4.8."""
    return base64.b64encode(gzip.compress(get_plotlyjs().encode(), 6, mtime=0)).decode()


def in_both_schemes(draw: Draw) -> dict[str, Any]:
    """A figure's specification by scheme, as JSON values."""
    return {scheme.value: json.loads(draw(scheme).to_json()) for scheme in Scheme}


def _looks(report: Report, scheme: Scheme) -> Mapping[Variant, Style]:
    return styles(report.variants, scheme, report.variants, undeployed(report.variants))


def differences(report: Report, comparison: Comparison) -> Draw | None:
    """The forest plot of the page Compare; None if it would have no rows."""
    if not forest_rows(comparison.rows):
        return None

    def draw(scheme: Scheme) -> go.Figure:
        looks, told = _looks(report, scheme), comparison.told
        names, both = (told.a.label, told.b.label), (looks[told.a], looks[told.b])
        return forest(told.rows, names, both, scheme)

    return draw


def headline_dots(report: Report, runs: RunsOf) -> Draw | None:
    """Headline scores of all models on all datasets; None if there are none."""
    entry = runs.entry
    rows = [
        {
            "variant": run.plan.variant,
            "dataset": title_of(run.plan.dataset),
            "score": run.metrics[entry.headline],
        }
        for run in runs.chosen
        if entry.headline in run.metrics
    ]
    if not rows:
        return None
    scores = pd.DataFrame(rows)

    def draw(scheme: Scheme) -> go.Figure:
        return score_dots(
            scores,
            list(dict.fromkeys(scores["dataset"])),
            entry.overview.axis,
            _looks(report, scheme),
            scheme,
            is_at_most_one=not entry.headline_is_lower_better,
        )

    return draw


def score_dots(
    scores: pd.DataFrame,
    datasets: Sequence[str],
    axis: str,
    styles: Mapping[Variant, Style],
    scheme: Scheme,
    *,
    is_at_most_one: bool = True,
) -> go.Figure:
    """One row per dataset, one mark per model at its score.

    Args:
        scores: columns ``variant, dataset, score``; at least one row.
        datasets: the rows, first on top.
        axis: title of the axis.
        is_at_most_one: the axis ends at 1, so that the distance to it shows.
    """
    figure = go.Figure()
    for i, variant in enumerate(dict.fromkeys(scores["variant"])):
        rows = scores[scores["variant"] == variant]
        style = styles[variant]
        figure.add_scatter(
            x=rows["score"],
            y=rows["dataset"],
            mode="markers",
            name=escape(variant.label, quote=False),
            marker={"color": style.color, "symbol": style.symbol, "size": SIZES[i % len(SIZES)]},
            customdata=[number(value, SCORE) for value in rows["score"]],
            hovertemplate="%{customdata} on %{y}<extra>%{fullData.name}</extra>",
        )
    figure.update_layout(showlegend=True)
    low, high = float(scores["score"].min()), float(scores["score"].max())
    room = 0.08 if is_at_most_one else 0.1 * (high - low) or 0.1
    start = low - room
    end = 1.005 if is_at_most_one else high + room
    figure.update_xaxes(title=axis, range=[max(0.0, start) if low >= 0 else start, end])
    figure.update_yaxes(type="category", categoryorder="array", categoryarray=list(reversed(datasets)))
    return apply_layout(figure, scheme, height=130 + 46 * len(datasets))
