"""Results: how often people chose a variant's own, with intervals, tests and agreement."""

from __future__ import annotations

import streamlit as st

from core.ui.judgement_state import Judged


def show(judged: Judged) -> None:
    st.caption(f"{judged.items.title}: to come")
