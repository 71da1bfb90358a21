"""State of a page besides the shared picks: its view, two models side by side, a chosen item.

The keys are the same on every page, in the session and in the address.
"""

from __future__ import annotations

import streamlit as st

from blindspot.ui.widgets.addressed import forget_drawn

VIEW = "view"
A, B = "a", "b"  # two models, by their variants; they stay from page to page
ITEM = "item"  # a number: of a pair, a sentence, a query, a text


def forget_of_page() -> None:
    """On another page: its address decides; without one A and B stay, view and item mean something else there."""
    for key in (VIEW, A, B, ITEM):
        forget_drawn(key)
    for key in (VIEW, ITEM):
        st.session_state.pop(key, None)
