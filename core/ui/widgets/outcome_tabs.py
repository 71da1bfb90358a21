"""Tabs of what B fixed and broke relative to A, with their counts; the address has the chosen one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict

import numpy as np
import streamlit as st

from blindspot.numerics.statistics.outcomes import Leads, Outcome, Outcomes
from blindspot.store.records import RunRecord
from blindspot.types import Bool
from blindspot.ui.markdown import as_text
from blindspot.ui.widgets.addressed import tab_named

KEY = "outcome"
ALL = "all"
_TITLES = {
    Outcome.FIXED: "Fixed",
    Outcome.BROKEN: "Broken",
    Outcome.BOTH_WRONG: "Both wrong",
    Outcome.BOTH_RIGHT: "Both right",
}


def verdict(found: Leads, a: RunRecord, b: RunRecord, sentence: str) -> None:
    """The sentence above a comparison's figure, counts first.

    Args:
        sentence: Markdown with places for ``{a}`` and ``{b}``, the models, and ``{higher}``, ``{lower}``, ``{equal}``.
    """
    numbers = {name: f"**{n:,}**" for name, n in asdict(found).items()}
    names = {side: f"**{as_text(run.plan.variant.label)}**" for side, run in (("a", a), ("b", b))}
    st.markdown(sentence.format(**names, **numbers))


def outcome_tabs(found: Outcomes, means: str, *, on_change: Callable[[], None] | None = None) -> Bool:
    """The tabs; which items the chosen one holds, ``[m] bool``.

    Args:
        means: what fixed and broken, right and wrong are here, as Markdown.
    """
    counts = {ALL: len(found.codes)} | {str(outcome): n for outcome, n in found.counts.items()}
    titles = {ALL: "All"} | {str(outcome): title for outcome, title in _TITLES.items()}
    chosen = tab_named(
        "From A to B",
        list(counts),
        key=KEY,
        name=lambda option: f"{titles[option]} {counts[option]:,}",
        help=means,
        on_change=on_change,
    )
    return np.ones(len(found.codes), dtype=np.bool_) if chosen == ALL else found.of(Outcome(chosen))
