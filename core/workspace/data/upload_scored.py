"""The part of the upload form for scored pairs: which columns they are, a look at them."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from core.datasets.own import scored_pairs as own_scored
from core.datasets.own.columns import FIRST, SCORE, SECOND
from core.datasets.own.files import OwnTable
from core.datasets.own.scored_pairs import OwnScoredPairs

EXAMPLE_PAIRS = 5


def columns(table: OwnTable, key: str) -> tuple[str, str, str] | None:
    """The pickers of the three columns; a guess stands in them at first.

    Returns:
        The names of the two texts' and the score's column; None until all are chosen and differ.
    """
    chosen = [
        place.selectbox(
            f"{use.capitalize()} column",
            table.names,
            index=number,
            placeholder="choose one",
            key=f"upload_{use.split()[0]}_{key}",
            format_func=lambda name: name or "(no name)",
        )
        for place, (use, number) in zip(st.columns(3), preselected(table).items(), strict=True)
    ]
    one, other, score = chosen
    if one is None or other is None or score is None or len(set(chosen)) < len(chosen):
        st.caption("Choose the columns of the two texts, and that of the score that people gave them.")
        return None
    return one, other, score


def preselected(table: OwnTable) -> dict[str, int | None]:
    """Per use the number of the column that stands in its picker at first."""
    texts = own_scored.text_columns(table.table)
    first, second = texts.pair if texts.pair and texts.is_clear else (None, None)
    return {FIRST: first, SECOND: second, SCORE: own_scored.score_column(table.table)}


def show(scored: OwnScoredPairs) -> None:
    """The first rows and the counts."""
    first = min(EXAMPLE_PAIRS, scored.rows)
    st.markdown(f"**The first {first} of {scored.rows:,} scored pairs**")
    rows = pd.DataFrame(scored.pairs[:first], columns=["first text", "second text", "score"])
    st.dataframe(rows, hide_index=True, key="upload_rows")
    low, high = scored.scale
    st.caption(
        f"{scored.rows:,} pairs · {scored.distinct_texts:,} distinct texts · scores from {low:g} to {high:g}; a higher "
        "score means more alike"
    )
