"""The view *compare*: two evaluators on the same tasks, by the paired difference of their correlations."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from core.studies.evidence.correlation import Comparison, compare, in_words
from core.studies.evidence.figures import correlations as figures
from core.studies.evidence.figures.correlations import Duel
from core.studies.evidence.page.choices import choose, fullest
from core.studies.evidence.page.shown import Shown
from core.studies.evidence.scores import Measure, ScoreTable
from core.ui.markdown import as_text
from core.ui.resources import cached


def show(shown: Shown) -> None:
    """A sentence on one task, and marks and numbers for all."""
    table = shown.table
    if len(table.evaluators) < 2:
        st.info("There is one evaluator only: another one is needed to compare it with.", icon=":material/info:")
        return
    columns = st.columns(3, vertical_alignment="top")
    with columns[0]:
        first = choose("Evaluator", table.evaluators, "ev_evaluator", usual=fullest(table, table.evaluators))
    others = [m for m in table.evaluators if m != first]
    of_other_kind = [m for m in others if m.diagnostic != first.diagnostic] or others
    usual = others.index(of_other_kind[fullest(table, of_other_kind)])
    with columns[1]:
        second = choose("Against", others, "ev_against", usual=usual)
    with columns[2]:
        task = choose("Task", table.tasks, "ev_task", usual=fullest(table, table.tasks))
    found = compared(table.columns([first, second, *table.tasks]), first, second)
    st.markdown(as_text(in_words(next(c for c in found if c.task == task))))
    rows = [
        Duel(c.task.label, c.first_rho, c.second_rho, _difference(c))
        for c in found
        if c.first_rho is not None and c.second_rho is not None
    ]
    if rows:
        st.plotly_chart(figures.duels(rows, first.label, second.label, shown.scheme), key="ev_duels")
        st.caption("Per task both evaluators over the same variants: those that have all three scores.")
    st.dataframe(_rows(found), hide_index=True, key="ev_compared", placeholder="–")
    if reasons := {c.why for c in found if c.why}:
        said = "; ".join(sorted(reasons))
        st.caption(as_text(f"{said[0].upper()}{said[1:]}."))


@cached(16, "Comparing …", keys={ScoreTable: lambda table: table.digest})
def compared(table: ScoreTable, first: Measure, second: Measure) -> tuple[Comparison, ...]:
    """Two evaluators on each task of a table."""
    return tuple(compare(table, first, second, task) for task in table.tasks)


def _difference(found: Comparison) -> str:
    if found.difference is None:
        return ""
    if found.interval is None:
        return f"difference {found.difference:+.2f}, without an interval"
    return f"difference {found.difference:+.2f} ({found.interval.low:+.2f} to {found.interval.high:+.2f})"


def _rows(found: Sequence[Comparison]) -> pd.DataFrame:
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
    numbers = [found[0].first.label, found[0].second.label, "difference", "from", "to"]
    return pd.DataFrame(rows).astype(dict.fromkeys(numbers, "float64")).round(dict.fromkeys(numbers, 3))
