"""The Frequency page's view: Vector norm against frequency."""

from __future__ import annotations

import streamlit as st

from core.ui.frequency_view import Shown


def show(shown: Shown) -> None:  # noqa: ARG001 - to be written
    """To be written."""
    st.caption("To be written.")
