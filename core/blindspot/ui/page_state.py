"""State of a page besides the shared picks: its part, its view, two models side by side, a chosen item.

The keys are the same on every page, in the session and in the address.
"""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress

import streamlit as st
from streamlit.errors import StreamlitAPIException

from blindspot.diagnostic import Picker
from blindspot.ui.navigation import PART, PageEntry, entry_of, page_of
from blindspot.ui.widgets.addressed import forget_drawn, tab_named, take_option

VIEW = "view"
A, B = "a", "b"  # two models, by their variants; they stay from page to page
ON = "on"  # the dataset that findings are narrowed down to
ITEM = "item"  # a number: of a pair, a sentence, a query, a text
_PAGE_WITH_PART = "_page_with_part"
_PART_BEFORE = "_part_before"


def shown_part(page: str) -> PageEntry:
    """The part of a page to show: that of the address, else the reader's choice; the page itself if it has no parts.

    Another page begins with its first part.
    """
    entry = page_of(page)
    if st.session_state.get(_PAGE_WITH_PART) != entry.stem:
        st.session_state[_PAGE_WITH_PART] = entry.stem
        forget_drawn(PART)
        for key in (PART, _PART_BEFORE):
            st.session_state.pop(key, None)
    if not entry.parts:
        return entry
    stems = [part.stem for part in entry.parts]
    take_option(PART, stems)
    shown = entry_of(chosen if (chosen := st.session_state.get(PART)) in stems else stems[0])
    is_another = st.session_state.get(_PART_BEFORE, shown.stem) != shown.stem
    st.session_state[_PART_BEFORE] = shown.stem
    if is_another and st.query_params.get(PART, stems[0]) != shown.stem:  # by a button; a link brings its own address
        _forget_address()
    return shown


def _forget_address() -> None:
    """Remove from the address what only meant something on the previous part, as the browser does between pages."""
    for name in set(st.query_params) - {*Picker, PART, A, B, ITEM}:
        with suppress(StreamlitAPIException):  # bound: Streamlit takes it away after this run
            del st.query_params[name]


def choose_part(page: PageEntry, hidden: Collection[str] = ()) -> None:
    """Let the reader switch between the parts of a page, except the ``hidden`` ones."""
    titles = {part.stem: part.title for part in page.parts if part.stem not in hidden}
    if len(titles) == 1:
        return
    tab_named("Part of the page", list(titles), key=PART, name=titles.__getitem__, label_visibility="collapsed")


def forget_of_page() -> None:
    """Called on another page. Its address decides; if that says nothing, A and B stay, but view and item go."""
    for key in (VIEW, A, B, ITEM):
        forget_drawn(key)
    for key in (VIEW, ITEM):
        st.session_state.pop(key, None)
