"""The rows of a vocabulary on the page *Data*."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from core.datasets.preview import VocabularyPreview


def show(data: VocabularyPreview, content: str, per_page: int) -> None:
    """How many words there are, and a page of them with their counts."""
    st.markdown(f"**{data.words:,}** words, in a corpus of **{data.dataset.corpus_size:,.0f}** words")
    pages = -(-data.words // per_page)
    key = f"rows_page_{content}"
    number = min(int(st.session_state.get(key, 1)), pages)
    rows = data.rows((number - 1) * per_page, number * per_page)
    st.dataframe(
        pd.DataFrame(rows, columns=["number", "word", "count", "per million words"]),
        hide_index=True,
        key="word_rows",
        column_config={
            "number": st.column_config.NumberColumn(width=60, help="Number of the word in the dataset"),
            "count": st.column_config.NumberColumn(help="Occurrences in the corpus", format="%,.6g"),
            "per million words": st.column_config.NumberColumn(format="%,.4g"),
        },
    )
    st.pagination(pages, key=key)
