"""Questions about data that all models contradict."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import streamlit as st

from blindspot.diagnostic import Diagnostic
from blindspot.store.records import RunRecord
from blindspot.ui.markdown import as_text
from blindspot.ui.resources import cached, repository


def show_doubts(entry: Diagnostic, runs: Iterable[RunRecord]) -> bool:
    """Draw the doubts of a diagnostic about the runs that a page shows; see ``Diagnostic.doubts``. Whether there are
    any: then no verdict counts."""
    doubts = _doubts(entry, tuple(runs))
    ask(doubts)
    return bool(doubts)


def ask(doubts: Iterable[str]) -> None:
    """Draw questions about data."""
    for doubt in doubts:
        st.warning(as_text(doubt), icon=":material/swap_vert:")


@cached(32, "Reading runs …")
def _doubts(entry: Diagnostic, runs: tuple[RunRecord, ...]) -> Sequence[str]:
    return entry.doubts(runs, repository())
