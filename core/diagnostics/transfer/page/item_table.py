"""The table of examples on the page Transfer: its pages, and the chosen one."""

from __future__ import annotations

import zlib
from collections.abc import Mapping

import pandas as pd
import streamlit as st

from core.diagnostics.transfer import examples
from core.diagnostics.transfer.examples import GOLD, NUMBER, OVERLAP, SECOND, SUREST, TEXT
from core.diagnostics.transfer.page.shown import Shown
from core.store.records import RunRecord
from core.ui.markdown import as_text
from core.ui.widgets import tables

PER_PAGE = 10
KEY = "example"  # of the chosen one, in the session and in the address
_TURNED_TO = "_examples_turned_to"  # the example that the table was last turned to
_TURNS = "_examples_turns"
_DATASET = "_examples_dataset"  # whose example was chosen


def show(listed: pd.DataFrame, shown: Shown, sides: Mapping[str, RunRecord]) -> None:
    """A page of the table, and what turns the pages."""
    pages = -(-len(listed) // PER_PAGE)
    wanted = _wanted(shown.picks.dataset)
    _turn_to_chosen(listed, wanted)
    page = min(int(st.session_state.get("examples_page", 1)), pages)
    rows = listed.iloc[(page - 1) * PER_PAGE : page * PER_PAGE]
    numbers = [int(number) for number in rows[NUMBER]]
    drawn = zlib.crc32(str((numbers, list(rows.columns))).encode())
    key = f"examples_{page}_{st.session_state.get(_TURNS, 0)}_{drawn}"
    tables.put_on_screen("examples", key)
    number, text = st.column_config.NumberColumn, st.column_config.TextColumn
    config: dict[str, object] = {
        NUMBER: number(width="small", help="Number of the example in the dataset"),
        TEXT: text(width=230 if SECOND in rows else 340),
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
    st.dataframe(
        rows,
        hide_index=True,
        key=key,
        on_select=lambda: _choose(key, numbers),
        selection_mode="single-row",
        selection_default={"selection": {"rows": [numbers.index(wanted)]}} if wanted in numbers else None,
        column_config={name: one for name, one in config.items() if name in rows},  # type: ignore[misc]
    )
    left, right = st.columns([3, 2], vertical_alignment="center")
    with left:
        st.pagination(pages, key="examples_page")
    right.caption("Choose a row to read it below.")


def _wanted(dataset: str) -> int | None:
    """The chosen example before its box stands: of this session, or of the address; none of another dataset's."""
    before = st.session_state.get(_DATASET)
    if before is not None and before != dataset:
        st.session_state[KEY] = None
    st.session_state[_DATASET] = dataset
    value = st.session_state.get(KEY, st.query_params.get(KEY))
    return int(value) if value is not None and str(value).isdecimal() else None


def _turn_to_chosen(listed: pd.DataFrame, wanted: int | None) -> None:
    """Turn the table to the page of an example that was chosen elsewhere: by a link or by typing."""
    if wanted == st.session_state.get(_TURNED_TO):
        return
    st.session_state[_TURNED_TO] = wanted
    st.session_state[_TURNS] = st.session_state.get(_TURNS, 0) + 1
    places = (listed[NUMBER] == wanted).to_numpy().nonzero()[0]
    if len(places):
        st.session_state["examples_page"] = int(places[0]) // PER_PAGE + 1


def _choose(key: str, numbers: list[int]) -> None:
    """A row of the table was chosen. Only then: a number that is typed later wins over the row."""
    if (row := tables.chosen_row("examples", key, numbers)) is not None:
        st.session_state[KEY] = st.session_state[_TURNED_TO] = row


def chosen_example(rows: pd.DataFrame, listed: pd.DataFrame, dataset: str) -> int | None:
    """The number of the example that is looked into, where it was tested; its number is in the address."""
    _wanted(dataset)
    value = st.number_input(
        "Example",
        min_value=0,
        value=None,
        step=1,
        key=KEY,
        bind="query-params",
        placeholder=f"0 to {int(rows[NUMBER].max())}",
        help="Number of the example that is looked into; chosen by a row of the table, or typed.",
        width=220,
    )
    if value is None:
        st.caption("No example is chosen yet.")
        return None
    if not (rows[NUMBER] == value).any():
        st.warning(
            f"Example {int(value)} is not among the {len(rows):,} that are shown here: it is not tested, overlaps, or "
            "an encoder has no vector for it."
        )
        return None
    if not (listed[NUMBER] == value).any():
        st.caption("It is not in the table: the filters leave it out.")
    return int(value)
