"""Choices that are kept in the address: one out of a few, and how much of a score may be lost."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from blindspot.numerics.statistics.tolerance import TOLERATED

Option = TypeVar("Option")


def one_of(
    label: str,
    options: Iterable[Option],
    key: str,
    help: str | None = None,
    *,
    default: Option | None = None,
    container: DeltaGenerator | None = None,
    on_change: Callable[[], None] | None = None,
) -> Option:
    """Exactly one option, the first unless ``default`` is given; screen and address show its ``str``.

    A choice that is no option any more, for example one of another dataset, gives way to the default.
    """
    by_name = {str(option): option for option in options}
    usual = next(iter(by_name)) if default is None else str(default)
    if st.session_state.get(key) not in (None, *by_name):
        st.session_state[key] = usual
    chosen = (container or st).segmented_control(
        label,
        list(by_name),
        default=usual,
        required=True,
        wrap=True,  # on a phone the last ones would be cut off
        key=key,
        bind="query-params",
        help=help,
        on_change=on_change,
    )
    return by_name.get(str(chosen), by_name[usual])


def tolerated(key: str) -> float:
    """The loss of a score that the reader tolerates, also above the field that asks for it (``ask_tolerated``)."""
    if key in st.session_state:
        return float(st.session_state[key])
    try:
        value = float(st.query_params.get(key, TOLERATED))
    except ValueError:
        return TOLERATED
    return value if 0.0 <= value <= 1.0 else TOLERATED


def ask_tolerated(key: str, help: str) -> None:
    """Ask how much of a score may be lost."""
    st.number_input(
        "Tolerated loss",
        0.0,
        1.0,
        TOLERATED,
        0.005,
        format="%.3f",
        key=key,
        bind="query-params",
        width=160,
        help=help,
    )
