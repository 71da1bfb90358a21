"""Headline of the page Evidence and its views *correlations*, *cell* and *compare*."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
import pandas as pd
import streamlit as st

from blindspot.diagnostic import find_diagnostic
from blindspot.numerics.statistics import rankings
from blindspot.numerics.statistics.families import FEWEST_FAMILIES, one_of
from blindspot.numerics.statistics.written import ci, number, with_ci
from blindspot.studies.evidence import correlation, figures
from blindspot.studies.evidence.correlation import Cell, TwoCorrelations, compare, correlations, without_each_family
from blindspot.studies.evidence.figures import Axis, Point
from blindspot.studies.evidence.page.choices import EvidenceView, choose, fullest
from blindspot.studies.evidence.scores import Measure, ScoreTable
from blindspot.texts import counted
from blindspot.ui import headline as ui_headline
from blindspot.ui.markdown import as_text
from blindspot.ui.resources import Keys, cached

PEOPLE = "intruder"  # the diagnostic of people's votes
LABELS_WIDE, TASK_WIDE = 270, 170  # pixels
_BY_DIGEST: Keys = {ScoreTable: lambda table: table.digest}


def headline(shown: EvidenceView) -> None:
    """What so many models allow, then the strongest correlation with the task of most models, and its opposite."""
    cells = cells_of(shown.table)
    if said := headline_in_words(cells):
        ui_headline.show(as_text(said))


def headline_in_words(cells: Sequence[Cell]) -> str:
    """Plain text; "" without a correlation."""
    known = [c for c in cells if c.rho is not None]
    if not known:
        return ""
    task = max((c.task for c in known), key=lambda t: max(c.n for c in known if c.task == t))
    own = [c for c in known if c.task == task]
    most = max(c.n for c in own)
    compared = [c for c in own if c.n == most]
    low, best = (end(compared, key=lambda c: c.rho if c.rho is not None else 0.0) for end in (min, max))
    many = len(compared)
    models = f"{best.n} models of {counted(best.families, 'family', 'families')}"
    sure = [c.interval for c in known if c.interval]
    if not sure and best.families < FEWEST_FAMILIES:
        ends = f"from {_rho(low, many)} to {_rho(best, many)}" if many > 1 else _rho(best, many)
        return (
            f"Too few models to say: {models}; an interval needs {FEWEST_FAMILIES} families. Among these, "
            f"{counted(many, 'correlation')} with {task.phrase}: {ends}. Any of them can be chance: do not "
            "choose a model by them."
        )
    said = f"Over {models}, the highest of {counted(many, 'correlation')} with {task.phrase} is {_rho(best, many)}"
    said += f", the lowest {_rho(low, many)}." if many > 1 else "."
    if not sure:
        return said
    above, below = sum(one.low > 0 for one in sure), sum(one.high < 0 for one in sure)
    return (
        f"{said} Of {counted(len(sure), 'correlation')} with an interval, {above} are above 0, {below} below 0, and "
        f"{len(sure) - above - below} could be 0."
    )


def _rho(cell: Cell, many: int) -> str:
    """``rho 0.68 of HEROS synonym on Demo minimal pairs (95% CI 0.41 to 0.85)``, of one of so many correlations.

    Without an interval the highest and lowest of many have no name: ``rho 0.68``.
    """
    rho = float("nan") if cell.rho is None else cell.rho
    if cell.estimate is None or cell.interval is None:
        return f"rho {number(rho)}" if many > 1 else f"rho {number(rho)} of {cell.evaluator.phrase}"
    return f"rho {number(rho)} of {cell.evaluator.phrase}{ci(one_of(cell.estimate, many))}"


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
        "Spearman's rho: blue if models with a better benchmark score also do better on the task, orange if worse. "
        + (f"Below it: {', '.join(below)}. " if below else "")
        + f"{'' if intervals else f'No cell has an interval: that takes {FEWEST_FAMILIES} families of models. '}"
        + (
            "Gray and crossed out: too few models, or all with equal scores. "
            if any(c.rho is None for c in cells)
            else ""
        )
        + (
            "↓ Lower is better; the sign of rho already accounts for it."
            if any(c.evaluator.sign < 0 for c in cells)
            else ""
        )
    )
    _best(cells)
    with st.expander("The numbers", icon=":material/table:"):
        rows = _cell_rows(cells, changes)
        st.dataframe(
            rows if before else rows.drop(columns="change"), hide_index=True, key="ev_numbers", placeholder="–"
        )


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


def _best(cells: Sequence[Cell]) -> None:
    """Highest correlation on each task, among the scores that most models have; not a test."""
    lines = []
    for task in dict.fromkeys(c.task for c in cells):
        own = [c for c in cells if c.task == task and c.rho is not None]
        most = max((c.n for c in own), default=0)
        known = [(c.rho, c.evaluator.label, c.estimate) for c in own if c.rho is not None and c.n == most]
        if len(known) > 1 < len({c.task for c in cells}):  # of one task the headline says it
            rho, label, estimate = max(known, key=lambda one: one[0])
            if estimate is None or estimate.interval is None:
                lines.append(f"{as_text(task.label)}: {number(rho)} over {most}")
                continue
            alike = sum(round(other, 2) == round(rho, 2) for other, *_ in known) - 1
            others = f" and {alike} more" if alike else ""
            sure = with_ci(one_of(estimate, len(known)))
            lines.append(f"{as_text(task.label)}: {as_text(label)}{others}, {sure}, over {most}")
    if lines:
        st.markdown(
            f"**Highest correlation with** {'; '.join(lines)}. The view *compare* tests whether another is worse."
        )


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
        help="Spearman's rho depends on ranks only; ties share the mean of theirs.",
    )
    table = table.columns([evaluator, task])
    points = _points(table, evaluator, task, ranks=bool(ranks))
    (cell,) = correlations(table)
    st.markdown(as_text(cell_in_words(cell)))
    if not points:
        return
    if ranks:
        x, y = (Axis(f"{m.label}: rank (1: best)", True) for m in (evaluator, task))
    else:
        x = Axis(evaluator.label.replace(" ↓", " (lower is better)"), evaluator.sign < 0)
        y = Axis(f"{task.label}, {shown.downstream.metric}", False)
    families = shown.every.family_list
    figure = figures.score_scatter(points, families, x, y, shown.styles, shown.scheme)
    st.plotly_chart(figure, key="ev_scatter")
    st.caption("Better is up and to the right. One symbol per family, one color per model, as on every page.")
    if cell.rho is not None and cell.families > 1:
        _without(table, evaluator, task, cell.rho)


def cell_in_words(cell: Cell) -> str:
    what = f"{cell.evaluator.phrase} and {cell.task.phrase}"
    families = counted(cell.families, "family", "families")
    if cell.rho is None:
        return f"{what}: no correlation, {cell.why}."
    said = f"{what}: rho {number(cell.rho)} over {cell.n} models of {families}"
    if cell.interval is None:
        return f"{said} ({cell.why})."
    return f"{said}{ci(cell.interval)}, from leaving each family out."


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
            f"Without any one family, rho is between {number(min(left))} and {number(max(left))}; with all, "
            f"{number(whole)}."
        )
    st.dataframe(
        pd.DataFrame(
            {
                "left out": [w.family for w in found],
                "its models": [w.variants for w in found],
                "rho without it": [None if w.rho is None else round(w.rho, 3) for w in found],
                "change": [None if w.rho is None else round(w.rho - whole, 3) for w in found],
            }
        ).astype({"rho without it": "float64", "change": "float64"}),
        hide_index=True,
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
    found = _compared(table.columns([first, second, *table.tasks]), first, second)
    st.markdown(as_text(correlation.in_words(next(c for c in found if c.task == task))))
    if known := [c for c in found if c.difference is not None]:
        st.plotly_chart(figures.duels(known, shown.scheme), key="ev_duels")
        st.caption("Per task, both benchmark scores over the same models: those with all three scores.")
    st.dataframe(_comparison_rows(found), hide_index=True, key="ev_compared", placeholder="–")
    if reasons := {c.why for c in found if c.why}:
        said = "; ".join(sorted(reasons))
        st.caption(as_text(f"{said[0].upper()}{said[1:]}."))


@cached(16, "Comparing …", keys=_BY_DIGEST)
def _compared(table: ScoreTable, first: Measure, second: Measure) -> tuple[TwoCorrelations, ...]:
    return tuple(compare(table, first, second, task) for task in table.tasks)


def _comparison_rows(found: Sequence[TwoCorrelations]) -> pd.DataFrame:
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
        for c in found
    ]
    return _rounded(rows, [found[0].first.label, found[0].second.label, "difference", "from", "to"])


def _rounded(rows: Sequence[Mapping[str, object]], numbers: Sequence[str]) -> pd.DataFrame:
    return pd.DataFrame(rows).astype(dict.fromkeys(numbers, "float64")).round(dict.fromkeys(numbers, 3))
