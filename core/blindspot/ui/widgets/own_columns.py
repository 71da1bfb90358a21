"""Filters of rows by the own columns of a user's file, one per column; the address has the chosen values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from blindspot.datasets.kinds.own_columns import OwnColumn, choices_of
from blindspot.store.records import RunRecord
from blindspot.types import Bool, Int64
from blindspot.ui.markdown import as_text
from blindspot.ui.resources import repository
from blindspot.ui.widgets.addressed import all_now_chosen

ADDED = "own: "  # before the name of such a column in a table, which may have another column of that name


def columns_of(run: RunRecord) -> tuple[OwnColumn, ...]:
    """The own columns of a run's dataset."""
    return repository().own_columns(run.plan.dataset, run.plan.dataset_digest)


def key_of(name: str) -> str:
    """The key of a column's filter, in the session and in the address."""
    return f"own.{name}"


def filtered_by(columns: Sequence[OwnColumn]) -> int:
    """How many columns have a chosen value, before their filters are drawn."""
    return sum(
        any(value in column.values for value in all_now_chosen(key_of(name)))
        for name, column in choices_of(columns).items()
    )


def only_rows(
    columns: Sequence[OwnColumn],
    rows: Int64,
    *,
    container: DeltaGenerator | None = None,
    on_change: Callable[[], None] | None = None,
) -> Bool:
    """A filter per column. Returns which of the rows have one of the values chosen in each, ``[k] bool``.

    Args:
        rows: ``[k]``, numbers of rows of the dataset.
    """
    kept = np.ones(len(rows), dtype=np.bool_)
    for name, column in choices_of(columns).items():
        groups = dict(column.groups(rows))
        key = key_of(name)
        if key in st.session_state:  # another file's column may have this name
            st.session_state[key] = [value for value in st.session_state[key] if value in groups]
        chosen = (container or cast("DeltaGenerator", st)).multiselect(
            as_text(name),
            list(groups),
            key=key,
            bind="query-params",
            placeholder="all",
            help="A column of the dataset. Only rows with one of the chosen values are shown.",
            width=240 if container is None else "stretch",
            on_change=on_change,
        )
        if chosen:
            kept &= np.any([groups[value] for value in chosen], axis=0)
    return kept
