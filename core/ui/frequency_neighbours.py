"""The Frequency page's view: Mean corpus rank of the k-th neighbour (Schnabel 2015, figure 4)."""

from __future__ import annotations

import streamlit as st

from core.ui.frequency_view import Shown


def show(shown: Shown) -> None:  # noqa: ARG001 - to be written
    """To be written."""
    st.caption("To be written.")
