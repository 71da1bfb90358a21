"""What every page has: a title, the question that it answers, how it is computed."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import ParamSpec

import streamlit as st

from core.diagnostics.base import DiagnosticEntry
from core.errors import BlindspotError
from core.ui.markdown import as_text
from core.ui.navigation import configure, pages, ran_through_app
from core.ui.pickers import Picks, stale_link_notice
from core.ui.resources import allowed
from core.ui.work import job_panel

log = logging.getLogger(__name__)
P = ParamSpec("P")


def page(title: str, question: str, *, show_jobs: bool = True) -> Picks:
    """A page's first call: its title, what the reader can learn, and running work; the shared picks.

    Where Streamlit ran the page without app.py, hand over to app.py.
    """
    if not ran_through_app():
        configure()
        st.navigation(pages(), expanded=True)
        st.rerun()
    st.title(title, anchor=False)
    st.markdown(question)
    stale_link_notice()
    if show_jobs:
        job_panel()
    return Picks.current()


@contextmanager
def errors_shown() -> Iterator[None]:
    """What a page could not do, in words in its place: the store is held, damaged or cannot be written, say."""
    try:
        yield
    except BlindspotError as error:
        log.warning("a page could not be shown: %s", error)
        said = str(error) if allowed().error_details else "This page cannot be shown at the moment: try again later."
        st.error(as_text(said), icon=":material/error:")


def fragment(function: Callable[P, None]) -> Callable[P, None]:
    """``st.fragment`` that says in its own place what it could not do.

    Drawn again alone, it has no ``errors_shown`` of app.py around it; drawn with its page, it leaves the rest standing.
    """

    @wraps(function)
    def shown(*args: P.args, **kwargs: P.kwargs) -> None:
        with errors_shown():
            function(*args, **kwargs)

    return st.fragment(shown)


def how_computed(entry: DiagnosticEntry) -> None:
    """The expander that every diagnostic's page ends with."""
    with st.expander("How is this computed?", icon=":material/function:"):
        st.markdown(entry.how)
        st.caption(f"Source: {entry.citation}. Diagnostic `{entry.id}`, version {entry.version}.")
