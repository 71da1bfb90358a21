"""The views *correlations*, *cell* and *compare* of the page Evidence: evaluators against tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import streamlit as st

from core.diagnostic import find_diagnostic
from core.numerics.statistics import rankings
from core.numerics.statistics.families import FEWEST_FAMILIES
from core.studies.evidence import correlation, figures
from core.studies.evidence.correlation import Cell, Comparison, compare, correlations, without_each_family
from core.studies.evidence.figures import Axis, Point
from core.studies.evidence.page.choices import EvidenceView, choose, fullest
from core.studies.evidence.scores import Measure, ScoreTable
from core.texts import counted
from core.ui.markdown import as_text
from core.ui.resources import Keys, cached

PEOPLE = "intruder"  # the diagnostic of people's votes
_BY_DIGEST: Keys = {ScoreTable: lambda table: table.digest}


# --- all cells


def every(shown: EvidenceView) -> None:
    """A map of all correlations and their numbers."""
    kinds = _kinds(shown.every)
    table, whole = (
        t.columns([m for m in t.measures if m.is_task or m.diagnostic in kinds]) for t in (shown.table, shown.every)
    )
    if not table.evaluators or not table.tasks:
        st.info("None of these scores is there. Choose other kinds above.", icon=":material/info:")
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
    st.plotly_chart(figures.correlation_map(cells, changes, shown.scheme), key="ev_map")
    intervals = any(cell.interval for cell in cells)
    st.caption(
        "In a cell: Spearman's rho, blue where the evaluator goes up with the task; below it variants · families"
        + (", the 95% interval over families" if intervals else "")
        + (", and by what it changed (Δ) with what is left out" if before else "")
        + f". {'' if intervals else f'No cell has an interval: that takes {FEWEST_FAMILIES} families of models. '}"
        "Grey and crossed out: too few variants, or all of them alike. ↓: less of it counts as better, so its sign is "
        "turned."
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
    about |= {PEOPLE: "precision of people who look for intruders"} if PEOPLE in kinds else {}
    chosen = st.pills(
        "Kinds of evaluators",
        kinds,
        selection_mode="multi",
        key="ev_kind",
        bind="query-params",
        help="None chosen means all.\n\n" + "\n".join(f"- **{kind}**: {about[kind]}" for kind in kinds),
    )
    return chosen or kinds


def _best(cells: Sequence[Cell]) -> None:
    """The highest evaluator on each task, of those that most variants have; not a test."""
    lines = []
    for task in dict.fromkeys(c.task for c in cells):
        own = [c for c in cells if c.task == task and c.rho is not None]
        most = max((c.n for c in own), default=0)
        known = [(round(c.rho, 2), c.evaluator.label) for c in own if c.rho is not None and c.n == most]
        if len(known) > 1:
            rho = max(known)[0]
            best = [label for value, label in known if value == rho]
            others = f" and {len(best) - 1} more" if len(best) > 1 else ""
            lines.append(f"{as_text(task.label)}: {as_text(best[0])}{others} ({rho:.2f} over {most})")
    if lines:
        st.markdown(f"**Highest on** {'; '.join(lines)}. Whether another one is worse, the view *compare* tests.")


def _cell_rows(cells: Sequence[Cell], changes: Mapping[tuple[Measure, Measure], float]) -> pd.DataFrame:
    rows = [
        {
            "evaluator": c.evaluator.label,
            "task": c.task.label,
            "rho": c.rho,
            "from": c.interval.low if c.interval else None,
            "to": c.interval.high if c.interval else None,
            "change": changes.get((c.evaluator, c.task)),
            "variants": c.n,
            "families": c.families,
            "why none": c.why,
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
        evaluator = choose("Evaluator", table.evaluators, "ev_evaluator", fullest(table, table.evaluators))
    with right:
        task = choose("Task", table.tasks, "ev_task", fullest(table, table.tasks))
    ranks = switch.toggle(
        "Places instead of scores",
        key="ev_ranks",
        bind="query-params",
        help="Spearman's rho sees the places only; the tied share the mean of theirs.",
    )
    table = table.columns([evaluator, task])
    points = _points(table, evaluator, task, ranks=bool(ranks))
    (cell,) = correlations(table)
    st.markdown(as_text(cell_in_words(cell)))
    if not points:
        return
    if ranks:
        x, y = (Axis(f"{m.label}: place (1: best)", True) for m in (evaluator, task))
    else:
        x = Axis(evaluator.label.replace(" ↓", " (less is better)"), evaluator.sign < 0)
        y = Axis(f"{task.label}, {shown.downstream.metric}", False)
    families = shown.every.family_list
    figure = figures.score_scatter(points, families, x, y, shown.styles, shown.scheme)
    st.plotly_chart(figure, key="ev_scatter")
    st.caption("Better is up and to the right. A symbol per family, a colour per variant, as on every page.")
    if cell.rho is not None and cell.families > 1:
        _without(table, evaluator, task, cell.rho)


def cell_in_words(cell: Cell) -> str:
    what = f"{cell.evaluator.label} and {cell.task.label}"
    families = counted(cell.families, "family", "families")
    if cell.rho is None:
        return f"{what}: no correlation, {cell.why}."
    said = f"{what}: rho {cell.rho:.2f} over {cell.n} variants of {families}"
    if cell.interval is None:
        return f"{said} ({cell.why})."
    return f"{said}, 95% interval {cell.interval:.2f} from leaving each family out."


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


# --- two evaluators


def two_evaluators(shown: EvidenceView) -> None:
    """A sentence on one task; marks and numbers for all of them."""
    table = shown.table
    if len(table.evaluators) < 2:
        st.info("There is one evaluator only: another one is needed to compare it with.", icon=":material/info:")
        return
    columns = st.columns(3, vertical_alignment="top")
    with columns[0]:
        first = choose("Evaluator", table.evaluators, "ev_evaluator", fullest(table, table.evaluators))
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
        st.caption("Per task both evaluators over the same variants: those that have all three scores.")
    st.dataframe(_comparison_rows(found), hide_index=True, key="ev_compared", placeholder="–")
    if reasons := {c.why for c in found if c.why}:
        said = "; ".join(sorted(reasons))
        st.caption(as_text(f"{said[0].upper()}{said[1:]}."))


@cached(16, "Comparing …", keys=_BY_DIGEST)
def _compared(table: ScoreTable, first: Measure, second: Measure) -> tuple[Comparison, ...]:
    return tuple(compare(table, first, second, task) for task in table.tasks)


def _comparison_rows(found: Sequence[Comparison]) -> pd.DataFrame:
    rows = [
        {
            "task": c.task.label,
            c.first.label: c.first_rho,
            c.second.label: c.second_rho,
            "difference": c.difference,
            "from": c.interval.low if c.interval else None,
            "to": c.interval.high if c.interval else None,
            "variants": c.n,
            "families": c.families,
        }
        for c in found
    ]
    return _rounded(rows, [found[0].first.label, found[0].second.label, "difference", "from", "to"])


def _rounded(rows: Sequence[Mapping[str, object]], numbers: Sequence[str]) -> pd.DataFrame:
    return pd.DataFrame(rows).astype(dict.fromkeys(numbers, "float64")).round(dict.fromkeys(numbers, 3))
