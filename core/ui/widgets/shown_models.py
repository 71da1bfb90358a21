"""Models that a page shows where none are picked: those without post-processing, and how many more there are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import streamlit as st

from core.store.records import RunRecord
from core.texts import counted
from core.types import Variant
from core.ui.pickers import Picks, show_postprocessed
from core.ui.widgets.options import row


def asked_for(picks: Picks, variants: Iterable[Variant]) -> list[Variant]:
    """``Picks.asked_for``, with a line that says what it leaves out and a button that shows it."""
    here = list(variants)
    kept = picks.asked_for(here)
    if hidden := len({variant for variant in here if picks.keeps(variant)} - set(kept)):
        with row():
            what = counted(hidden, "model with post-processing is", "models with post-processing are")
            st.caption(f"{what} not shown.", width="content")
            st.button("Show", key="show_postprocessed", type="tertiary", on_click=show_postprocessed)
    return kept


def runs_asked_for(picks: Picks, runs: Sequence[RunRecord]) -> list[RunRecord]:
    """The runs of ``asked_for``, in their order."""
    kept = set(asked_for(picks, (run.plan.variant for run in runs)))
    return [run for run in runs if run.plan.variant in kept]
