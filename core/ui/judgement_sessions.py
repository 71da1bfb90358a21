"""Sessions: a link that several people open at once, and the facilitator's view."""

from __future__ import annotations

import streamlit as st

from core.ui.judgement_state import Judged


def show(judged: Judged) -> None:
    st.caption(f"{judged.items.title}: to come")
