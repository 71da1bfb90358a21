"""The page *Overview*: a view per diagnostic; only the chosen one is read and drawn."""

from __future__ import annotations

import streamlit as st

from core import ui
from core.diagnostic import DiagnosticEntry, all_diagnostics
from core.ui.frame import how_computed
from core.ui.pickers import Picks
from core.ui.resources import scheme
from core.ui.variant_looks import variant_styles
from core.ui.widgets.doors import doors
from core.ui.widgets.views import View, choose_view
from core.workspace.overview import figures, tables


def show() -> None:
    picks = ui.page("Overview", "Which encoder puts texts next to what means the same, and what does it cost?")
    with ui.errors_shown():
        tables.interrupted()
    finished = {count.diagnostic for count in ui.repository().counts() if count.finished}
    if finished:
        found = {name: _view(entry) for name, entry in all_diagnostics().items() if name in finished}
        choose_view(picks, found, "Scores of", key="scores")
    else:
        doors()


def _view(entry: DiagnosticEntry) -> View[Picks]:
    return View(entry.question, lambda picks: section(entry, picks))


def section(entry: DiagnosticEntry, picks: Picks) -> None:
    """Every variant's headline in one figure, and a table per dataset."""
    boards = tables.leaderboards(entry, picks)
    if not boards:
        tables.none_fit(entry, picks)
        return
    names = [tables.label_of(board.dataset) for board in boards]
    scores = tables.headlines(entry, boards)
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
    tested = tables.tested(boards)
    for board in boards:
        tables.board_table(entry, board, test=board.dataset in tested)
    tables.which_parameters(entry, picks)
    st.page_link(f"pages/{entry.deeper}.py", label=entry.overview.link, icon=":material/arrow_forward:")
    how_computed(entry)
