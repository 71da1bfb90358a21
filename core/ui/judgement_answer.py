"""Answering: one item at a time, by click or by key, and nothing on screen that tells whose it is."""

from __future__ import annotations

import streamlit as st

from core.ui.judgement_state import Judged


def show(judged: Judged) -> None:
    st.caption(f"{judged.items.title}: to come")
