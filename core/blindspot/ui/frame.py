"""Frame of every page: its title, the question that it answers, how it is computed."""

from __future__ import annotations

from collections.abc import Collection

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from blindspot.diagnostic import Diagnostic
from blindspot.policy import NO_RUNS
from blindspot.ui.boundary import page_begins, tell_failure
from blindspot.ui.gone import changed_notice
from blindspot.ui.navigation import (
    DOCUMENTATION,
    TOPIC,
    configure,
    entry_of,
    navigate,
    page_of,
    ran_through_app,
)
from blindspot.ui.options import begin_row
from blindspot.ui.page_state import PageState, choose_part, link, shown_part
from blindspot.ui.pickers import Picks, current_page
from blindspot.ui.resources import is_back_with_uploads, shared_settings
from blindspot.ui.stale_links import stale_link_notice
from blindspot.ui.widgets.work import job_panel


def page(title: str, question: str, *, show_jobs: bool = True, hidden_parts: Collection[str] = ()) -> Picks:
    """Begin a page: title, question and running work; returns the shared picks.

    Hands over to app.py where Streamlit ran the page without it. A part of a page has the page's title, and a row of
    buttons for the parts that are not hidden.
    """
    if not ran_through_app():
        configure()
        navigate()
        st.rerun()
    page_begins()
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        whole = page_of(current_page())
        st.title(whole.title if whole.parts else title, anchor=False, width="content")
        if whole.parts:
            choose_part(whole, hidden_parts)
        else:
            st.markdown(question, width="content")
        _link_to_documentation()
    if whole.parts:
        st.markdown(question)
    tell_failure()
    if is_back_with_uploads():
        st.toast("You are connected again. Your uploads and runs are still here.", icon=":material/upload_file:")
    # In containers of their own: where elements come and go, everything below would move, and stay on screen a second
    # time, grayed, until the whole page is drawn.
    begin_row()
    with st.container():
        stale_link_notice()
        if shared_settings().read_only:
            with st.container(key="read_only"):
                st.caption(f"{NO_RUNS}.")
    picks = Picks.current()
    with st.container():
        if current_page() != DOCUMENTATION:
            changed_notice(picks.variants)
    with st.container():
        if show_jobs:
            job_panel()
    return picks


def part(page: str) -> str:
    """Which part of a page to show; a page with parts calls it first."""
    return shown_part(page).stem


def _link_to_documentation() -> None:
    path = entry_of(current_page()).documentation
    if current_page() != DOCUMENTATION:
        link(
            DOCUMENTATION,
            PageState(options={TOPIC: path}),
            label="Docs",
            icon=":material/menu_book:",
            help="What this page shows and how to read it",
            width="content",
        )


def how(*texts: str, source: str = "") -> None:
    """The expander at the end of a page: how its numbers are computed and whose method that is, as Markdown."""
    with _how_expander():
        for text in texts:
            st.markdown(text)
        if source:
            st.caption(f"Source: {source}")


def how_computed(entry: Diagnostic, *of_views: Diagnostic) -> None:
    """``how`` of a page's diagnostic, and of others that views of the page show."""
    with _how_expander():
        for explained in (entry, *of_views):
            if of_views:
                st.subheader(explained.title, anchor=False)
                st.markdown(f"*{explained.question}*")
            st.markdown(explained.explained)
            st.markdown(f"**How to read it**\n{explained.how_to_read}\n**Limits**\n{explained.limits}")
            st.caption(f"Source: {explained.citation}. Diagnostic `{explained.id}`, version {explained.version}.")


def _how_expander() -> DeltaGenerator:
    return st.expander("How is this computed?", icon=":material/function:")
