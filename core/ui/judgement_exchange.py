"""Items and votes as files: to take along, and to bring from another machine."""

from __future__ import annotations

import streamlit as st

from core.judgement.types import Task


def show(task: Task) -> None:
    st.caption(f"{task}: to come")
