"""The view *cell*: the variants behind one correlation, and what each family does to it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from core.numerics.statistics import rankings
from core.studies.evidence.correlation import Cell, correlations, without_each_family
from core.studies.evidence.figures import correlations as figures
from core.studies.evidence.figures.correlations import Axis, Point
from core.studies.evidence.page.choices import choose, fullest
from core.studies.evidence.page.shown import Shown
from core.studies.evidence.scores import Measure, ScoreTable
from core.ui.markdown import as_text


def show(shown: Shown) -> None:
    """A scatter of the variants, and the correlation without each family."""
    table = shown.table
    left, right, switch = st.columns([3, 3, 2], vertical_alignment="top")
    with left:
        evaluator = choose("Evaluator", table.evaluators, "ev_evaluator", usual=fullest(table, table.evaluators))
    with right:
        task = choose("Task", table.tasks, "ev_task", usual=fullest(table, table.tasks))
    ranks = switch.toggle(
        "Places instead of scores",
        key="ev_ranks",
        bind="query-params",
        help="Spearman's rho sees the places only; the tied share the mean of theirs.",
    )
    table = table.columns([evaluator, task])
    points = _points(table, evaluator, task, ranks=bool(ranks))
    (cell,) = correlations(table)
    st.markdown(as_text(in_words(cell)))
    if not points:
        return
    axes = (
        [Axis(f"{m.label}: place (1: best)", True) for m in (evaluator, task)]
        if ranks
        else [Axis(_axis(evaluator), evaluator.sign < 0), Axis(f"{task.label}, {shown.downstream.metric}", False)]
    )
    families = shown.every.family_list
    figure = figures.score_scatter(points, families, axes[0], axes[1], shown.styles, shown.scheme)
    st.plotly_chart(figure, key="ev_scatter")
    st.caption("Better is up and to the right. A symbol per family, a colour per variant, as on every page.")
    if cell.rho is not None and cell.families > 1:
        _without(table, evaluator, task, cell.rho)


def _axis(measure: Measure) -> str:
    return measure.label.replace(" ↓", " (less is better)")


def in_words(cell: Cell) -> str:
    """What a cell says, in a sentence or two."""
    what = f"{cell.evaluator.label} and {cell.task.label}"
    families = f"{cell.families} famil{'y' if cell.families == 1 else 'ies'}"
    if cell.rho is None:
        return f"{what}: no correlation, {cell.why}."
    said = f"{what}: rho {cell.rho:.2f} over {cell.n} variants of {families}"
    if cell.interval is None:
        return f"{said} ({cell.why})."
    return f"{said}, 95% interval {cell.interval.low:.2f} to {cell.interval.high:.2f} from leaving each family out."


def _points(table: ScoreTable, evaluator: Measure, task: Measure, *, ranks: bool) -> list[Point]:
    x, y = table.of(evaluator), table.of(task)
    keep = ~np.isnan(x) & ~np.isnan(y)
    if ranks:
        better = np.stack([table.better(evaluator), table.better(task)], axis=1)
        better[~keep] = np.nan
        x, y = rankings.places(better).T
    return [
        Point(variant, family, float(x[i]), float(y[i]))
        for i, (variant, family) in enumerate(zip(table.variants, table.families, strict=True))
        if keep[i]
    ]


def _without(table: ScoreTable, evaluator: Measure, task: Measure, whole: float) -> None:
    found = without_each_family(table, evaluator, task)
    left = [w.rho for w in found if w.rho is not None]
    if left:
        st.markdown(
            f"With one family left out, rho lies between {min(left):.2f} and {max(left):.2f}; with all it is "
            f"{whole:.2f}."
        )
    st.dataframe(
        pd.DataFrame(
            {
                "left out": [w.family for w in found],
                "its variants": [w.variants for w in found],
                "rho without it": [None if w.rho is None else round(w.rho, 3) for w in found],
                "change": [None if w.rho is None else round(w.rho - whole, 3) for w in found],
            }
        ).astype({"rho without it": "float64", "change": "float64"}),
        hide_index=True,
        key="ev_without",
        placeholder="too few variants left",
    )
