"""The views of the Overview: one diagnostic each; only the chosen one is read and drawn."""

from __future__ import annotations

from collections.abc import Collection

import streamlit as st

from core import ui
from core.diagnostic import DiagnosticEntry, every
from core.ui.frame import how_computed
from core.ui.pickers import Picks
from core.ui.resources import scheme
from core.ui.variant_looks import variant_styles
from core.ui.widgets.views import View, choose_view
from core.workspace.overview import figures
from core.workspace.overview import tables as parts


def look_at(picks: Picks, finished: Collection[str]) -> None:
    """Let the reader choose among the diagnostics that have finished runs, and show it."""
    found = {name: _view(entry) for name, entry in every().items() if name in finished}
    choose_view(picks, found, "Scores of", key="scores")


def _view(entry: DiagnosticEntry) -> View[Picks]:
    return View(entry.question, lambda picks: section(entry, picks))


def section(entry: DiagnosticEntry, picks: Picks) -> None:
    """Every variant's headline in one figure, and a table per dataset."""
    boards = parts.leaderboards(entry, picks)
    if not boards:
        parts.none_fit(entry, picks)
        return
    names = [board.dataset for board in boards]
    scores = parts.headlines(entry, boards)
    if len(scores):  # a user's own minimal pairs may have no synonym
        chart = figures.score_dots(
            scores,
            names,
            entry.overview.axis,
            variant_styles(scores["variant"]),
            scheme(),
            is_at_most_one=not entry.headline_is_lower_better,
        )
        st.plotly_chart(chart, key=f"dots_{entry.id}")
    tested = parts.tested(boards)
    for board in boards:
        parts.board_table(entry, board, test=board.dataset in tested)
    parts.which_parameters(entry, picks)
    st.page_link(f"pages/{entry.deeper}.py", label=entry.overview.link, icon=":material/arrow_forward:")
    how_computed(entry)


# The page overview.


def show() -> None:
    """The page."""
    picks = ui.page("Overview", "Which encoder puts texts next to what means the same, and what does it cost?")
    with ui.errors_shown():
        parts.interrupted()
    finished = {count.diagnostic for count in ui.repository().counts() if count.finished}
    if finished:
        look_at(picks, finished)
    else:
        parts.empty()
