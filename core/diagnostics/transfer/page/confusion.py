"""The view *confusion* of the page Transfer: which classes are taken for which, of one variant or two."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from core.diagnostics.transfer import figures
from core.diagnostics.transfer.outcomes import Outcomes
from core.diagnostics.transfer.page.runs import outcomes_of, runs_of_task, title
from core.diagnostics.transfer.page.shown import KEYS, Shown
from core.numerics.statistics.confusion import class_scores
from core.store.records import RunRecord
from core.ui.markdown import as_text
from core.ui.widgets.two_variants import two_variants

ERRORS = 12  # kinds of mistake that are listed


def show(shown: Shown) -> None:
    """The matrices, scores per class, and the most frequent mistakes."""
    if not (runs := runs_of_task(shown)):
        return
    sides = two_variants(runs, KEYS).by_letter
    found = outcomes_of(shown, list(sides.values()))
    if not len(found):
        st.warning("No example is left: each stands in the training part too, or repeats.", icon=":material/info:")
        return
    st.caption(
        f"{title(shown.picks.dataset)}: {len(found):,} tested examples"
        + ("" if shown.overlap else " that stand neither in training nor more than once")
        + (" that both were tested on" if len(sides) > 1 else "")
        + ". In each cell the count and its share of the row; what is right is framed."
    )
    for place, (side, run) in zip(st.columns(len(sides)), sides.items(), strict=True):
        with place:
            accuracy = float(found.right(run.run_id).mean())
            st.markdown(f"**{side}: {as_text(run.plan.variant.label)}**, accuracy {accuracy:.4f}")
            figure = figures.confusion(found.table(run.run_id), found.classes, shown.scheme)
            st.plotly_chart(figure, key=f"transfer_confusion_{side}")
    _per_class(found, sides)
    _mistakes(found, sides)


def _per_class(found: Outcomes, sides: dict[str, RunRecord]) -> None:
    st.markdown("**Per class**")
    frame = pd.DataFrame(
        {"class": list(found.classes), "examples": class_scores(found.table(sides["A"].run_id)).examples}
    )
    for side, run in sides.items():
        scores = class_scores(found.table(run.run_id))
        mark = f" {side}" if len(sides) > 1 else ""
        frame[f"precision{mark}"], frame[f"recall{mark}"], frame[f"F1{mark}"] = (
            scores.precision,
            scores.recall,
            scores.f1,
        )
    if len(sides) > 1:
        frame["F1, A − B"] = frame["F1 A"] - frame["F1 B"]
    number = st.column_config.NumberColumn
    config = {
        name: number(format="%+.3f" if "−" in name else "%.3f")
        for name in frame.columns
        if name not in {"class", "examples"}
    }
    st.dataframe(frame, hide_index=True, key="transfer_classes", placeholder="–", column_config=config)


def _mistakes(found: Outcomes, sides: dict[str, RunRecord]) -> None:
    tables = {side: found.table(run.run_id) for side, run in sides.items()}
    total = np.sum(list(tables.values()), axis=0)
    wrong = [(i, j) for i, j in np.argwhere(total).tolist() if i != j]
    if not wrong:
        st.success("No mistakes at all.", icon=":material/check_circle:")
        return
    wrong.sort(key=lambda cell: -total[cell])
    rows = [
        {"gold": found.classes[i], "predicted": found.classes[j]} | {side: int(t[i, j]) for side, t in tables.items()}
        for i, j in wrong[:ERRORS]
    ]
    st.markdown("**The most frequent mistakes**")
    st.dataframe(pd.DataFrame(rows), hide_index=True, key="transfer_mistakes")
    st.caption("The view *items* shows the examples behind them.")
