"""The history of runs on the page *Run*."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

from blindspot.workspace.run import history


def choose_rows(app: AppTest, *run_ids: str) -> AppTest:
    """As if rows were chosen in the table (AppTest cannot click into it): a new table with these ticked."""
    app.session_state[history._CHOSEN] = list(run_ids)
    app.session_state[history._ROUND] = 1
    return app.run()
