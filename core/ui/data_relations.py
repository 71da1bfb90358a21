"""The rows of analogies and of categories on the page *Data*."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from core.relations import Analogies, Categories

ROWS = 1_000
Relation = Analogies | Categories


def show(data: Relation) -> None:
    """How many there are, and the first rows."""
    if isinstance(data, Analogies):
        st.markdown(
            f"**{len(data.answers):,}** questions in {len(data.sections)} sections, answered among "
            f"**{len(data.items):,}** words, {data.own_words:,} of them of the questions"
        )
        first = np.column_stack([data.questions, data.answers])[:ROWS]
        frame = pd.DataFrame([[data.items[i] for i in row] for row in first], columns=["a", "b", "c", "right"])
        frame["section"] = [data.sections[i] for i in data.section_numbers[:ROWS]]
    else:
        st.markdown(f"**{len(data.items):,}** distinct words in {len(data.classes)} classes")
        frame = pd.DataFrame(
            {
                "word": [data.items[i] for i in data.members[:ROWS]],
                "class": [data.classes[i] for i in data.class_numbers[:ROWS]],
            }
        )
    st.dataframe(frame, hide_index=True, key="relation_rows")
    if len(frame) == ROWS:
        st.caption(f"The first {ROWS:,} rows.")
