"""Placeholder of the view; to be written."""

from __future__ import annotations

import streamlit as st

from core.ui.heros_view import Shown


def show(shown: Shown) -> None:  # noqa: ARG001
    """Nothing yet."""
    st.info("to be written")
