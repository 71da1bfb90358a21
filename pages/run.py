"""Run: choose variants, datasets and diagnostics, watch the queue, look at what was computed before."""

import streamlit as st

from core import ui
from core.ui import history_parts as history
from core.ui import queue_parts, run_parts

picks = ui.page("Run", "What shall be computed, how long will it take, and what was computed before?", show_jobs=False)
queue_parts.queue()
st.subheader("What to run", anchor=False)
with ui.errors_shown():
    if expansion := run_parts.planned(run_parts.choose()):
        run_parts.cost_and_start(expansion)
chosen = history.history(picks)
history.actions(chosen)
history.details(chosen)
