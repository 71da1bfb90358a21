"""Texts of any length in drill-downs: whole if they are short, else folded behind "more"."""

from __future__ import annotations

import streamlit as st

from blindspot.figures.html_tables import folded, is_long


def show(text: str) -> None:
    """A text as text, never as HTML or markdown; a long one with its first words."""
    if is_long(text):
        st.html(f'<div style="overflow-wrap:anywhere">{folded(text)}</div>')
    else:
        st.text(text)
