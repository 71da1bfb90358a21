"""The part of the upload form for words with counts: which columns they are, a look at them."""

from __future__ import annotations

import math

import pandas as pd
import streamlit as st

from core.datasets.own import vocabulary as own_vocabulary
from core.datasets.own.columns import COUNT, WORD
from core.datasets.own.files import OwnTable
from core.datasets.own.vocabulary import OwnVocabulary

EXAMPLE_WORDS = 5


def columns(table: OwnTable, key: str) -> tuple[str, str] | None:
    """The pickers of the two columns; a guess stands in them at first.

    Returns:
        The names of the word's and the count's column; None until both are chosen and differ.
    """
    guess = preselected(table)
    left, right = st.columns(2)
    word = left.selectbox(
        "Word column",
        table.names,
        index=guess[WORD],
        placeholder="choose one",
        key=f"upload_word_{key}",
        format_func=_name,
    )
    count = right.selectbox(
        "Count column",
        table.names,
        index=guess[COUNT],
        placeholder="choose one",
        key=f"upload_count_{key}",
        format_func=_name,
    )
    if word is None or count is None or word == count:
        st.caption("Choose the column of the words, and that of their counts or frequencies.")
        return None
    return word, count


def preselected(table: OwnTable) -> dict[str, int | None]:
    """Per use the number of the column that stands in its picker at first."""
    return {WORD: own_vocabulary.text_column(table.table), COUNT: own_vocabulary.count_column(table.table)}


def _name(column: str) -> str:
    return column or "(no name)"


def show(vocabulary: OwnVocabulary) -> None:
    """The first rows and the counts."""
    first = min(EXAMPLE_WORDS, vocabulary.rows)
    st.markdown(f"**The first {first} of {vocabulary.rows:,} words**")
    rows = {"word": vocabulary.words[:first], "count": vocabulary.counts[:first]}
    st.dataframe(pd.DataFrame(rows), hide_index=True, key="upload_rows")
    st.caption(
        f"{vocabulary.rows:,} words · {math.fsum(vocabulary.counts):,.6g} occurrences in all, which is taken for the "
        "size of the corpus"
    )
