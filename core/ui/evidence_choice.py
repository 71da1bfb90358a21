"""Choosing an evaluator or a task on the page Evidence; the choice stands in the address by its id."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import streamlit as st

from core.evidence.scores import Measure, ScoreTable
from core.ui.markdown import as_text


def fullest(table: ScoreTable, measures: Sequence[Measure]) -> int:
    """Place of the one that most variants have, the first of several."""
    counts = [int(np.count_nonzero(~np.isnan(table.of(m)))) for m in measures]
    return counts.index(max(counts))


def choose(label: str, measures: Sequence[Measure], key: str, *, usual: int = 0) -> Measure:
    """One of some; below it what it is called, where its id does not tell.

    Args:
        usual: place of the one that is chosen where the reader chooses none.
    """
    ids = [m.id for m in measures]
    chosen = st.selectbox(label, ids, index=None, key=key, bind="query-params", placeholder=ids[usual])
    found = measures[ids.index(chosen) if chosen in ids else usual]
    st.caption(as_text(found.label))
    return found
