"""Making items: which encoders, which queries, by which rule."""

from __future__ import annotations

import streamlit as st

from core.judgement.types import Task


def show(task: Task) -> None:
    st.caption(f"{task}: to come")
