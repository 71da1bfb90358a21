"""Row below a page's title: what the page leaves out, its options, what else can be run."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

_ROW = "_tools"
_OPTIONS = "_options"


def begin_row() -> None:
    """Place the row; the page's frame calls it."""
    st.session_state[_ROW] = st.container(horizontal=True, vertical_alignment="center", gap="small", key="tools")
    st.session_state.pop(_OPTIONS, None)


def row() -> DeltaGenerator:
    """The row of this page; what goes in is as wide as its content."""
    found: DeltaGenerator | None = st.session_state.get(_ROW)
    return found if found is not None else st.container(horizontal=True)


def options() -> DeltaGenerator:
    """The popover of options that a first reader does not need; every part of a page adds to the same one."""
    if _OPTIONS not in st.session_state:
        st.session_state[_OPTIONS] = row().popover("Options", icon=":material/tune:", key="options", width="content")
    found: DeltaGenerator = st.session_state[_OPTIONS]
    return found
