"""Text field that renames a model or a dataset."""

from __future__ import annotations

import zlib

import streamlit as st

from blindspot.errors import BlindspotError
from blindspot.names import LONGEST, Kind
from blindspot.store.naming import rename
from blindspot.ui.markdown import as_text
from blindspot.ui.naming import ensure_names
from blindspot.ui.resources import allowed, explained, repository, settings

_WRONG = "_renaming_wrong"  # (key of the field, why the name was refused)


def name_field(kind: Kind, reference: str, shown: str) -> None:
    """Draw the field for ``reference``; nothing where visitors may not rename.

    Args:
        shown: the current name.
    """
    if not allowed().changes:
        return
    key = f"name_{kind}_{zlib.crc32(reference.encode())}"

    def take() -> None:
        ensure_names()  # a callback runs before the page
        st.session_state.pop(_WRONG, None)
        try:
            rename(kind, reference, st.session_state[key], settings(), repository())
        except BlindspotError as error:
            st.session_state[_WRONG] = (key, explained(error))

    refused, why = st.session_state.pop(_WRONG, ("", ""))
    if refused != key:
        st.session_state[key] = shown  # also after a rename elsewhere
    st.text_input(
        "Name",
        key=key,
        max_chars=LONGEST,
        on_change=take,
        width=420,
        help=f"The name of this {kind} on every page, in figures, and in downloads. "
        "Links and stored runs stay valid. Clear the field to restore the original name.",
    )
    if refused == key:
        st.error(as_text(why), icon=":material/error:")
