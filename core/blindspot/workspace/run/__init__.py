"""Page *Run*."""

import streamlit as st

from blindspot import ui
from blindspot.workspace.run import form, history, queue


def show() -> None:
    picks = ui.page(
        "Run",
        "Choose what to test on what; see running jobs and past runs.",
        show_jobs=False,
    )
    queue.queue()
    st.subheader("New runs", anchor=False)
    with ui.errors_shown():
        form.take_over(picks)
        if expansion := form.planned(form.choose()):
            form.cost_and_start(expansion)
    chosen = history.history()
    history.actions(chosen)
    history.details(chosen)
