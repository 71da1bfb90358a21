"""The table of examples on the page Transfer: its pages, and the chosen one."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
import streamlit as st

from core.diagnostics.transfer import examples
from core.diagnostics.transfer.examples import GOLD, NUMBER, OVERLAP, SECOND, SUREST, TEXT
from core.diagnostics.transfer.page.shown import Shown
from core.store.records import RunRecord
from core.ui.markdown import as_text
from core.ui.widgets.browse_table import BrowseTable

TABLE = BrowseTable("examples", key="example", unit="example", number=NUMBER)


def show(listed: pd.DataFrame, shown: Shown, sides: Mapping[str, RunRecord]) -> None:
    """A page of the table."""
    number, text = st.column_config.NumberColumn, st.column_config.TextColumn
    config: dict[str, object] = {
        NUMBER: number(width="small", help="Number of the example in the dataset"),
        TEXT: text(width=230 if SECOND in listed else 340),
        SECOND: text(width=230),
        GOLD: text(help="The right class"),
        OVERLAP: st.column_config.CheckboxColumn(
            width="small", help="Stands in the training part too or, without a split, more than once"
        ),
        SUREST: None,
    }
    for side, run in sides.items():
        about = as_text(run.plan.variant.label)
        config[examples.predicted(side)] = text(help=f"What is predicted from the embeddings of {side}, {about}")
        config[examples.probability(side)] = number(
            format="%.3f", help=f"What the classifier on {side}, {about}, gave to what it predicted"
        )
    TABLE.show(listed, shown.picks.dataset, config, hint="Choose a row to read it below.")


def chosen_example(rows: pd.DataFrame, listed: pd.DataFrame, dataset: str) -> int | None:
    """The number of the example that is looked into, where it was tested."""
    left_out = (
        f"is not among the {len(rows):,} that are shown here: it is not tested, overlaps, or an encoder has no vector "
        "for it"
    )
    return TABLE.chosen(listed, dataset, set(rows[NUMBER].tolist()), left_out)
