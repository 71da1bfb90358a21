"""The rows of a set of scored pairs on the page *Data*."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from core.datasets.preview import ScoredPreview


def show(data: ScoredPreview, unit: str, content: str, per_page: int) -> None:
    """How many pairs there are and on which scale, and a page of them with their scores."""
    low, high = data.scale
    sets = f" in **{len(data.dataset.sets)}** sets" if len(data.dataset.sets) > 1 else ""
    st.markdown(
        f"**{data.pairs:,}** scored pairs{sets} · **{len(data.dataset.items):,}** distinct {unit}s · scores from "
        f"{low:g} to {high:g}"
    )
    pages = -(-data.pairs // per_page)
    key = f"rows_page_{content}"
    number = min(int(st.session_state.get(key, 1)), pages)
    rows = data.rows((number - 1) * per_page, number * per_page)
    st.dataframe(
        pd.DataFrame(rows, columns=["pair", "set", "score", "first text", "second text"]),
        hide_index=True,
        key="scored_rows",
        column_config={
            "pair": st.column_config.NumberColumn(width=60, help="Number of the pair in the dataset"),
            "score": st.column_config.NumberColumn(format="%.3g", help="What people gave it; more is more alike"),
        },
    )
    st.pagination(pages, key=key)
