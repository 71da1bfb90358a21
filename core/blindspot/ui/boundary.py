"""Error boundaries: what fails on a page is one line in its place, never Streamlit's own error box.

Unexpected errors are logged with their traceback under a short number, which the line names. ``errors_shown`` wraps
every page (app.py), every fragment, and parts that the rest of their page can do without; what fails before a page
begins, such as a callback, goes to ``failed_before_page``.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import ParamSpec
from uuid import uuid4

import streamlit as st
from streamlit.runtime.scriptrunner import RerunData, get_script_run_ctx

from blindspot.errors import BlindspotError, InputError
from blindspot.runs import log as joblog
from blindspot.ui.markdown import as_text
from blindspot.ui.naming import ensure_names
from blindspot.ui.resources import allowed, explained

log = logging.getLogger(__name__)
P = ParamSpec("P")
_FAILED = "_failed_before_page"
_IS_STALE = "_page_is_stale"
_ICON = ":material/error:"
_LONGEST = 300  # characters of what an unforeseen error says
NOT_NOW = "This cannot be shown at the moment: try again later."


@contextmanager
def errors_shown() -> Iterator[None]:
    """Show an error of this part of a page in its place; the rest of the page goes on."""
    try:
        yield
    except Exception as error:  # noqa: BLE001 - whatever it is: logged, and shown
        st.error(said_of(error), icon=_ICON)


def fragment(function: Callable[P, None], run_every: float | None = None) -> Callable[P, None]:
    """``st.fragment`` with an error boundary of its own: redrawn alone, it runs outside of app.py's."""

    @wraps(function)
    def shown(*args: P.args, **kwargs: P.kwargs) -> None:
        if st.session_state.pop(_IS_STALE, False):
            st.rerun()
        with errors_shown():
            ensure_names()  # redrawn alone, it runs in a thread of its own
            function(*args, **kwargs)

    return st.fragment(shown, run_every=run_every)


def redraw_page() -> None:
    """Redraw the whole page, not just the fragment of the widget; call it in a callback that changes other parts."""
    st.session_state[_IS_STALE] = True


def page_begins() -> None:
    """The whole page is being redrawn."""
    st.session_state.pop(_IS_STALE, None)


def repeated(every: float) -> Callable[[Callable[P, None]], Callable[P, None]]:
    """``fragment`` that is redrawn every so many seconds."""

    def wrapped(function: Callable[P, None]) -> Callable[P, None]:
        return fragment(function, every)

    return wrapped


def failed_before_page(error: Exception) -> bool:
    """For ``App(on_script_error=...)``: keep an error from before the page began, and draw the page, which shows it.

    Streamlit has logged it already. Returns True: Streamlit need not show its error box.
    """
    message, context = _in_words(error), get_script_run_ctx()
    if context is None or context.script_requests is None or _FAILED in st.session_state:  # or we would go in circles
        st.session_state.pop(_FAILED, None)
        st.error(message, icon=_ICON)
        return True
    st.session_state[_FAILED] = message
    context.script_requests.request_rerun(
        RerunData(query_string=context.query_string, page_script_hash=context.page_script_hash)
    )
    return True


def tell_failure() -> None:
    """Show, on the page that is drawn after ``failed_before_page``, what failed."""
    if message := st.session_state.pop(_FAILED, None):
        st.error(message, icon=_ICON)


def said_of(error: Exception) -> str:
    """Log an error; its message for the page, as markdown."""
    if isinstance(error, BlindspotError):
        told = error if allowed().error_details else joblog.place_of(error)  # a message may quote a visitor's texts
        log.warning("a part of a page could not be shown: %s", told)
        return _in_words(error)
    number = uuid4().hex[:6]
    log.error("a part of a page failed, number %s", number, exc_info=error)
    return _in_words(error, number)


def _in_words(error: Exception, number: str = "") -> str:
    """Markdown of one line: what went wrong, and what to do."""
    if isinstance(error, BlindspotError):
        is_theirs = isinstance(error, InputError) or allowed().error_details
        return as_text(explained(error)) if is_theirs else NOT_NOW
    what = f"{type(error).__name__}: {' '.join(str(error).split())[:_LONGEST]}" if allowed().error_details else ""
    where = f"The server's log has the details{f' under {number}' if number else ''}."
    remedy = "Reload the page, or choose something else; if it comes again, please report it."
    return f"{as_text(f'This failed, and it should not have. {what}').rstrip()} · {remedy} {where}"
