"""The page run."""

import streamlit as st

from core import ui
from core.workspace.run import form as run_parts
from core.workspace.run import history
from core.workspace.run import queue as queue_parts


def show() -> None:
    """The page."""
    picks = ui.page(
        "Run", "What shall be computed, how long will it take, and what was computed before?", show_jobs=False
    )
    queue_parts.queue()
    st.subheader("What to run", anchor=False)
    with ui.errors_shown():
        if expansion := run_parts.planned(run_parts.choose()):
            run_parts.cost_and_start(expansion)
    chosen = history.history(picks)
    history.actions(chosen)
    history.details(chosen)
