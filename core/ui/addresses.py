"""Numbers in addresses that no widget can hold: Streamlit's own reading of them ends in an exception."""

from __future__ import annotations

import math
from contextlib import suppress

import streamlit as st
from streamlit.errors import StreamlitAPIException

LARGEST = 2**53  # a browser's numbers are exact up to here
_TEXTS = frozenset({"q", "search", "sent_search", "session", "facilitator", "set", "area", "data", "enc"})


def drop_impossible_numbers() -> None:
    """Take parameters out of the address whose values read as numbers that are not finite or far too large; texts,
    which may say such things, stay. Call it before any widget that is bound to the address."""
    impossible = [
        name
        for name in st.query_params
        if name not in _TEXTS and any(_is_impossible(value) for value in st.query_params.get_all(name))
    ]
    dropped = False
    for name in impossible:
        with suppress(StreamlitAPIException):  # held by a widget already, which then took it
            del st.query_params[name]
            dropped = True
    if dropped:
        st.rerun()  # widgets read the address as it was when the script began


def _is_impossible(value: str) -> bool:
    try:
        number = float(value)
    except ValueError:
        return False
    return not math.isfinite(number) or abs(number) > LARGEST
