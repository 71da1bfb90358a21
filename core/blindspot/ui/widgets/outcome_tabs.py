"""Tabs of the items that A or B wins, with their counts; the address has the chosen one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import streamlit as st

from blindspot.numerics.statistics.outcomes import Outcome, Outcomes
from blindspot.store.records import RunRecord
from blindspot.types import Bool
from blindspot.ui.markdown import as_text
from blindspot.ui.widgets.addressed import tab_named

KEY = "outcome"
ALL = "all"
_TITLES = {
    Outcome.WON_BY_A: "A wins",
    Outcome.WON_BY_B: "B wins",
    Outcome.BOTH_WRONG: "Both wrong",
    Outcome.BOTH_RIGHT: "Both right",
}


def verdict(outcomes: Outcomes, a: RunRecord, b: RunRecord, sentence: str) -> None:
    """The sentence above a comparison's figure, counts first.

    Args:
        sentence: Markdown with places for ``{a}`` and ``{b}``, the models, ``{won}``, ``{lost}`` (by A), ``{alike}``.
    """
    n = outcomes.counts
    counts = {"won": n[Outcome.WON_BY_A], "lost": n[Outcome.WON_BY_B]}
    counts["alike"] = n[Outcome.BOTH_WRONG] + n[Outcome.BOTH_RIGHT]
    names = {side: f"**{as_text(run.plan.variant.label)}**" for side, run in (("a", a), ("b", b))}
    st.markdown(sentence.format(**names, **{name: f"**{count:,}**" for name, count in counts.items()}))


def outcome_tabs(outcomes: Outcomes, means: str, *, on_change: Callable[[], None] | None = None) -> Bool:
    """The tabs; which items the chosen one has, ``[m] bool``.

    Args:
        means: what wins an item, and what is right and wrong, as Markdown.
    """
    counts = {ALL: len(outcomes.codes)} | {str(outcome): n for outcome, n in outcomes.counts.items()}
    titles = {ALL: "All"} | {str(outcome): title for outcome, title in _TITLES.items()}
    chosen = tab_named(
        "A against B",
        list(counts),
        key=KEY,
        name=lambda option: f"{titles[option]} {counts[option]:,}",
        help=means,
        on_change=on_change,
    )
    return np.ones(len(outcomes.codes), dtype=np.bool_) if chosen == ALL else outcomes.of(Outcome(chosen))
