"""Which two variants the reader of the HEROS page compares; both stand in the address."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from core.store.records import RunRecord
from core.ui.markdown import as_text

A, B = "heros_a", "heros_b"


@dataclass(frozen=True)
class Sides:
    """The two runs; they are one where the reader chose one variant twice."""

    a: RunRecord
    b: RunRecord

    @property
    def are_two(self) -> bool:
        return self.a.run_id != self.b.run_id


def two_variants(runs: Sequence[RunRecord], keys: tuple[str, str] = (A, B)) -> Sides:
    """Let the reader choose A and B among two runs or more, kept under two keys; at first the first two."""
    a, b = keys
    by_name = {str(run.plan.variant): run for run in runs}
    names = list(by_name)
    gone: list[str] = []
    first = _valid(a, names, _other_than(_value(b), names), gone)
    _valid(b, names, _other_than(first, names), gone)
    if gone:
        missing = ", ".join(as_text(name[:80]) for name in gone)
        st.caption(f"Not among the variants shown: {missing}. Another one stands in.")
    picked = [
        by_name[
            column.selectbox(letter, names, index=None, key=key, bind="query-params", help=f"Compared with {other}.")
            or default
        ]
        for letter, other, key, default, column in zip("AB", "BA", keys, names[:2], st.columns(2), strict=True)
    ]
    return Sides(*picked)


def _value(key: str) -> object:
    """What a picker has, or what the address says that it will have."""
    return st.session_state.get(key, st.query_params.get(key))


def _other_than(taken: object, names: Sequence[str]) -> str:
    return next(name for name in names if name != taken)


def _valid(key: str, names: Sequence[str], default: str, gone: list[str]) -> str:
    """Give a picker a value that it can have: what it has, what the address says, the default.

    What it cannot have goes to ``gone``: the sidebar has left it out, or the link is of another store.
    """
    value = _value(key)
    if value not in names:
        if value is not None:
            gone.append(str(value))
        value = st.session_state[key] = default
        # A picker that appears with a value does not write it into the address by itself.
        if key not in st.query_params:
            st.query_params[key] = default
    return str(value)


# Which two variants the reader of the page Transfer lays beside each other; both stand in the address.

KEYS = ("transfer_a", "transfer_b")


def sides_of(runs: Sequence[RunRecord]) -> dict[str, RunRecord]:
    """The runs by A and B; A alone where there is one, or one is chosen twice."""
    if len(runs) < 2:
        return {"A": runs[0]}
    both = two_variants(runs, KEYS)
    return {"A": both.a, "B": both.b} if both.are_two else {"A": both.a}
