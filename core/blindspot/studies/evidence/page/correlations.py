"""Headline of the page Evidence and its views *correlations*, *cell* and *compare*."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import pandas as pd
import streamlit as st

from blindspot.diagnostic import find_diagnostic
from blindspot.numerics.statistics.families import FEWEST_FAMILIES
from blindspot.numerics.statistics.written import number
from blindspot.studies.evidence import correlation, figures
from blindspot.studies.evidence.correlation import Cell, TwoCorrelations, compare, correlations, without_each_family
from blindspot.studies.evidence.figures import Axis
from blindspot.studies.evidence.page.choices import EvidenceView, choose, fullest
from blindspot.studies.evidence.scores import Measure, ScoreTable
from blindspot.studies.evidence.view import best_in_words, cell_in_words, headline_in_words, points
from blindspot.ui import headline as ui_headline
from blindspot.ui.markdown import as_text
from blindspot.ui.resources import Keys, cached
from blindspot.ui.widgets import tables

PEOPLE = "intruder"  # the diagnostic of people's votes
LABELS_WIDE, TASK_WIDE = 270, 170  # pixels
_BY_DIGEST: Keys = {ScoreTable: lambda table: table.digest}


def headline(shown: EvidenceView) -> None:
    """What so many models allow, then the strongest correlation with the task of most models, and its opposite."""
    cells = cells_of(shown.table)
    if sentence := headline_in_words(cells):
        ui_headline.show(as_text(sentence))


# --- all cells


def every(shown: EvidenceView) -> None:
    """A map of all correlations and their numbers."""
    kinds = _kinds(shown.every)
    table, whole = (
        t.columns([m for m in t.measures if m.is_task or m.diagnostic in kinds]) for t in (shown.table, shown.every)
    )
    if not table.evaluators or not table.tasks:
        st.info("No such scores. Choose other diagnostics above.", icon=":material/info:")
        return
    cells = cells_of(table)
    before = (
        {(c.evaluator, c.task): c.rho for c in cells_of(whole)} if len(table.variants) < len(whole.variants) else {}
    )
    changes = {
        (c.evaluator, c.task): c.rho - old
        for c in cells
        if c.rho is not None and (old := before.get((c.evaluator, c.task))) is not None
    }
    tasks = len(table.tasks)
    width: Literal["stretch"] | int = (
        "stretch" if tasks > figures.ROOMY else LABELS_WIDE + TASK_WIDE * tasks
    )  # wide cells look like bars
    st.plotly_chart(figures.correlation_map(cells, changes, shown.scheme), key="ev_map", width=width)
    intervals = any(cell.interval for cell in cells)
    below = [
        *(["models · families"] if figures.sizes_differ(cells) else []),
        *(["95% CI over families"] if intervals else []),
        *(["change (Δ) by leaving models out"] if before else []),
    ]
    st.caption(
        "Spearman's ρ: blue if models with a better benchmark score also do better on the task, orange if worse. "
        + (f"Below it: {', '.join(below)}. " if below else "")
        + f"{'' if intervals else f'No cell has an interval: that takes {FEWEST_FAMILIES} families of models. '}"
        + (
            "Gray and crossed out: too few models, or all with equal scores. "
            if any(c.rho is None for c in cells)
            else ""
        )
        + (
            "↓ Lower is better; the sign of ρ already accounts for it."
            if any(c.evaluator.sign < 0 for c in cells)
            else ""
        )
    )
    if lines := best_in_words(cells):
        st.markdown(
            f"**Highest correlation with** {as_text('; '.join(lines))}. The view *compare* tests whether another is "
            "worse."
        )
    with st.expander("The numbers", icon=":material/table:"):
        rows = _cell_rows(cells, changes)
        tables.draw(rows if before else rows.drop(columns="change"), key="ev_numbers", placeholder="–")


@cached(16, "Comparing …", keys=_BY_DIGEST)
def cells_of(table: ScoreTable) -> tuple[Cell, ...]:
    return correlations(table)


def _kinds(every: ScoreTable) -> Sequence[str]:
    kinds = list(dict.fromkeys(m.diagnostic for m in every.evaluators))
    about = {kind: find_diagnostic(kind).question for kind in kinds if kind != PEOPLE}
    about |= {PEOPLE: "how often people find intruders"} if PEOPLE in kinds else {}
    chosen = st.pills(
        "Benchmark scores of",
        kinds,
        selection_mode="multi",
        key="ev_kind",
        bind="query-params",
        help="None selected: all.\n\n" + "\n".join(f"- **{kind}**: {about[kind]}" for kind in kinds),
    )
    return chosen or kinds


def _cell_rows(cells: Sequence[Cell], changes: Mapping[tuple[Measure, Measure], float]) -> pd.DataFrame:
    rows = [
        {
            "benchmark score": c.evaluator.label,
            "task": c.task.label,
            "rho": c.rho,
            "from": c.interval.low if c.interval else None,
            "to": c.interval.high if c.interval else None,
            "change": changes.get((c.evaluator, c.task)),
            "models": c.n,
            "families": c.families,
            "note": c.why,
        }
        for c in cells
    ]
    return _rounded(rows, ["rho", "from", "to", "change"])


# --- one cell


def one_cell(shown: EvidenceView) -> None:
    """A scatter plot of the variants, and the correlation without each family."""
    table = shown.table
    left, right, switch = st.columns([3, 3, 2], vertical_alignment="top")
    with left:
        evaluator = choose("Benchmark score", table.evaluators, "ev_evaluator", fullest(table, table.evaluators))
    with right:
        task = choose("Task", table.tasks, "ev_task", fullest(table, table.tasks))
    ranks = switch.toggle(
        "Ranks instead of scores",
        key="ev_ranks",
        bind="query-params",
        help="Spearman's ρ depends on ranks only; ties share the mean of theirs.",
    )
    table = table.columns([evaluator, task])
    drawn = points(table, evaluator, task, ranks=bool(ranks))
    (cell,) = correlations(table)
    st.markdown(as_text(cell_in_words(cell)))
    if not drawn:
        return
    if ranks:
        x, y = (Axis(f"{m.label}: rank (1: best)", True, is_of_ranks=True) for m in (evaluator, task))
    else:
        x = Axis(evaluator.label.replace(" ↓", " (lower is better)"), evaluator.sign < 0)
        y = Axis(f"{task.label}, {shown.downstream.metric}", False)
    families = shown.every.family_list
    figure = figures.score_scatter(drawn, families, x, y, shown.styles, shown.scheme)
    st.plotly_chart(figure, key="ev_scatter")
    st.caption("Better is up and to the right. One symbol per family, one color per model, as on every page.")
    if cell.rho is not None and cell.families > 1:
        _without(table, evaluator, task, cell.rho)


def _without(table: ScoreTable, evaluator: Measure, task: Measure, whole: float) -> None:
    without_each = without_each_family(table, evaluator, task)
    left = [w.rho for w in without_each if w.rho is not None]
    if left:
        st.markdown(
            f"Without any one family, ρ is between {number(min(left))} and {number(max(left))}; with all, "
            f"{number(whole)}."
        )
    tables.draw(
        pd.DataFrame(
            {
                "left out": [w.family for w in without_each],
                "its models": [w.variants for w in without_each],
                "rho without it": [None if w.rho is None else round(w.rho, 3) for w in without_each],
                "change": [None if w.rho is None else round(w.rho - whole, 3) for w in without_each],
            }
        ).astype({"rho without it": "float64", "change": "float64"}),
        key="ev_without",
        placeholder="too few models left",
    )


# --- two benchmark scores


def two_evaluators(shown: EvidenceView) -> None:
    """A sentence on one task; marks and numbers for all of them."""
    table = shown.table
    if len(table.evaluators) < 2:
        st.info("Only one benchmark score: a comparison needs two.", icon=":material/info:")
        return
    columns = st.columns(3, vertical_alignment="top")
    with columns[0]:
        first = choose("Benchmark score", table.evaluators, "ev_evaluator", fullest(table, table.evaluators))
    others = [m for m in table.evaluators if m != first]
    of_other_kind = [m for m in others if m.diagnostic != first.diagnostic] or others
    with columns[1]:
        second = choose("Against", others, "ev_against", fullest(table, of_other_kind))
    with columns[2]:
        task = choose("Task", table.tasks, "ev_task", fullest(table, table.tasks))
    comparisons = _compared(table.columns([first, second, *table.tasks]), first, second)
    st.markdown(as_text(correlation.in_words(next(c for c in comparisons if c.task == task))))
    if comparable := [c for c in comparisons if c.difference is not None]:
        st.plotly_chart(figures.duels(comparable, shown.scheme), key="ev_duels")
        st.caption("Per task, both benchmark scores over the same models: those with all three scores.")
    tables.draw(_comparison_rows(comparisons), key="ev_compared", placeholder="–")
    if reasons := {c.why for c in comparisons if c.why}:
        text = "; ".join(sorted(reasons))
        st.caption(as_text(f"{text[0].upper()}{text[1:]}."))


@cached(16, "Comparing …", keys=_BY_DIGEST)
def _compared(table: ScoreTable, first: Measure, second: Measure) -> tuple[TwoCorrelations, ...]:
    return tuple(compare(table, first, second, task) for task in table.tasks)


def _comparison_rows(comparisons: Sequence[TwoCorrelations]) -> pd.DataFrame:
    rows = [
        {
            "task": c.task.label,
            c.first.label: c.first_rho,
            c.second.label: c.second_rho,
            "difference": c.difference,
            "from": c.interval.low if c.interval else None,
            "to": c.interval.high if c.interval else None,
            "models": c.n,
            "families": c.families,
        }
        for c in comparisons
    ]
    return _rounded(rows, [comparisons[0].first.label, comparisons[0].second.label, "difference", "from", "to"])


def _rounded(rows: Sequence[Mapping[str, object]], numbers: Sequence[str]) -> pd.DataFrame:
    return pd.DataFrame(rows).astype(dict.fromkeys(numbers, "float64")).round(dict.fromkeys(numbers, 3))
