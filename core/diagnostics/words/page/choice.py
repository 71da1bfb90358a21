"""The pickers that both drill-downs of the page Words have: which dataset, which variant."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from core.diagnostics.words.page import table as parts
from core.diagnostics.words.page.shown import Shown
from core.store.records import RunRecord
from core.types import Variant


def choose_dataset(shown: Shown, diagnostic: str, key: str) -> Mapping[Variant, RunRecord] | None:
    """The runs of the chosen dataset by variant, in the order of the table's rows; None, having said so, without any.

    Nothing chosen means the sidebar's dataset where it fits, else the first that has runs.
    """
    found = parts.datasets_with_runs(shown, diagnostic)
    if not found:
        st.info("Nothing was run yet: see *Run what is missing*.", icon=":material/play_circle:")
        return None
    names = list(found)
    chosen = st.segmented_control(
        "Dataset",
        sorted(names),
        default=None,
        key=key,
        bind="query-params",
        help=f"Nothing chosen: {names[0]}.",
    )
    runs = found[chosen if chosen is not None and chosen in found else names[0]]
    if chosen is None:
        st.caption(f"Shown: {names[0]}.")
    return {v: runs[v] for v in shown.variants if v in runs}


def choose_variant(runs: Mapping[Variant, RunRecord], key: str) -> RunRecord:
    """One of the runs; nothing chosen means the first."""
    by_name = {str(variant): run for variant, run in runs.items()}
    first = next(iter(by_name))
    name = st.selectbox(
        "Variant", list(by_name), index=None, key=key, bind="query-params", placeholder=f"the first: {first}"
    )
    return by_name.get(name or first, by_name[first])
