"""A choice of one out of a few, kept in the address."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

Option = TypeVar("Option")


def one_of(
    label: str,
    options: Iterable[Option],
    key: str,
    help: str | None = None,
    *,
    default: Option | None = None,
    place: DeltaGenerator | None = None,
    on_change: Callable[[], None] | None = None,
) -> Option:
    """Exactly one option, the first unless ``default`` is given; screen and address show its ``str``.

    A choice that is no option any more, for example one of another dataset, gives way to the default.
    """
    by_name = {str(option): option for option in options}
    usual = next(iter(by_name)) if default is None else str(default)
    if st.session_state.get(key) not in (None, *by_name):
        st.session_state[key] = usual
    chosen = (place or st).segmented_control(
        label, list(by_name), default=usual, required=True, key=key, bind="query-params", help=help, on_change=on_change
    )
    return by_name.get(str(chosen), by_name[usual])
