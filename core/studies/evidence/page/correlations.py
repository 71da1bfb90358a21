"""The view *correlations*: every evaluator against every task, as a map and as a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st

from core import diagnostic as diagnostics
from core.numerics.statistics.families import FEWEST_FAMILIES
from core.studies.evidence.correlation import Cell, correlations
from core.studies.evidence.figures import correlations as figures
from core.studies.evidence.figures.correlations import MapCell
from core.studies.evidence.page.shown import Shown
from core.studies.evidence.scores import ScoreTable
from core.ui.markdown import as_text
from core.ui.resources import cached

PEOPLE = "intruder"  # the diagnostic of what people voted


def show(shown: Shown) -> None:
    """The map, what its cells say, and the table of them."""
    kinds = _kinds(shown.every)
    table, every = (_of_kinds(t, kinds) for t in (shown.table, shown.every))
    if not table.evaluators or not table.tasks:
        st.info("None of these scores is there. Choose other kinds above.", icon=":material/info:")
        return
    cells = found(table)
    before = {(c.evaluator.id, c.task.id): c for c in found(every)} if shown.is_part else {}
    st.plotly_chart(figures.correlation_map([_drawn(c, before) for c in cells], shown.scheme), key="ev_map")
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
        st.dataframe(_rows(cells, before), hide_index=True, key="ev_numbers", placeholder="–")


@cached(16, "Comparing …", keys={ScoreTable: lambda table: table.digest})
def found(table: ScoreTable) -> tuple[Cell, ...]:
    """The cells of a table."""
    return correlations(table)


def _kinds(every: ScoreTable) -> Sequence[str]:
    """The kinds of evaluators that the reader looks at; all where none is chosen."""
    kinds = list(dict.fromkeys(m.diagnostic for m in every.evaluators))
    chosen = st.pills(
        "Kinds of evaluators",
        kinds,
        selection_mode="multi",
        key="ev_kind",
        bind="query-params",
        help="None chosen means all.\n\n" + "\n".join(f"- **{kind}**: {_title(kind)}" for kind in kinds),
    )
    return chosen or kinds


def _title(kind: str) -> str:
    return "precision of people who look for intruders" if kind == PEOPLE else diagnostics.find(kind).question


def _of_kinds(table: ScoreTable, kinds: Sequence[str]) -> ScoreTable:
    return table.columns([m for m in table.measures if m.is_task or m.diagnostic in kinds])


def _drawn(cell: Cell, before: Mapping[tuple[str, str], Cell]) -> MapCell:
    return MapCell(
        cell.evaluator.label,
        cell.task.label,
        cell.rho,
        cell.n,
        cell.families,
        cell.interval.low if cell.interval else None,
        cell.interval.high if cell.interval else None,
        change(cell, before),
        cell.why,
    )


def change(cell: Cell, before: Mapping[tuple[str, str], Cell]) -> float | None:
    """Of rho by what the reader left out; None where nothing was, or one of the two is not defined."""
    old = before.get((cell.evaluator.id, cell.task.id))
    return None if old is None or old.rho is None or cell.rho is None else cell.rho - old.rho


def _best(cells: Sequence[Cell]) -> None:
    """Which evaluator is highest on each task, of those that most variants have: a description, no verdict."""
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


def _rows(cells: Sequence[Cell], before: Mapping[tuple[str, str], Cell]) -> pd.DataFrame:
    rows = [
        {
            "evaluator": c.evaluator.label,
            "task": c.task.label,
            "rho": c.rho,
            "from": c.interval.low if c.interval else None,
            "to": c.interval.high if c.interval else None,
            "change": change(c, before),
            "variants": c.n,
            "families": c.families,
            "why none": c.why,
        }
        for c in cells
    ]
    numbers = ["rho", "from", "to", "change"]
    frame = pd.DataFrame(rows).astype(dict.fromkeys(numbers, "float64")).round(dict.fromkeys(numbers, 3))
    return frame if before else frame.drop(columns="change")
