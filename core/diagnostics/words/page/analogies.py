"""The drill-down of analogies: accuracy by section, and the questions that an encoder gets wrong."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from core import diagnostic as diagnostics
from core.diagnostics.words import figures
from core.diagnostics.words.page.choice import choose_dataset, choose_variant
from core.diagnostics.words.page.shown import Shown
from core.store.records import RunRecord
from core.texts import same_text
from core.ui.resources import cached, repository

ROWS = 1_000
PREFIX = "accuracy@"


def show(shown: Shown) -> None:
    """Sections of all variants, then the questions of one."""
    runs = choose_dataset(shown, "analogy", "analogies_of")
    if not runs:
        return
    values = {v: _sections(run) for v, run in runs.items()}
    names = list(dict.fromkeys(name for found in values.values() for name in found))
    st.plotly_chart(figures.sections(values, names, shown.styles, shown.scheme), key="words_sections")
    run = choose_variant(runs, "analogies_by")
    _questions(run)


def _sections(run: RunRecord) -> dict[str, float]:
    return {name.removeprefix(PREFIX): value for name, value in run.metrics.items() if name.startswith(PREFIX)}


@cached(4, "Reading the questions …")
def _rows(run_id: str) -> pd.DataFrame:
    frame = repository().items(diagnostics.find("analogy"), [run_id], texts=True)
    frame["rank"] = 1 + frame["greater"] + frame["ties"] / 2
    return frame


def _questions(run: RunRecord) -> None:
    frame = _rows(run.run_id)
    left, middle, right = st.columns([2, 2, 1], vertical_alignment="bottom")
    section = left.selectbox(
        "Section",
        list(dict.fromkeys(frame["section"])),
        index=None,
        key="analogy_section",
        bind="query-params",
        placeholder="all",
    )
    word = same_text(middle.text_input("With the word", key="analogy_word", persist_state="session"))
    only_wrong = right.toggle("Wrong only", value=True, key="analogy_wrong", persist_state="session")
    found = frame if section is None else frame[frame["section"] == section]
    wrong = int((found["greater"] > 0).sum())
    tied = int(((found["greater"] == 0) & (found["ties"] > 0)).sum())
    if only_wrong:
        found = found[found["greater"] + found["ties"] > 0]
    if word:
        words = found[["a", "b", "c", "d", "predicted"]].map(same_text)
        found = found[(words == word).any(axis=1)]
    st.caption(
        f"{wrong:,} questions are answered wrong"
        + (f", {tied:,} are tied for the first place" if tied else "")
        + f". {len(found):,} are listed"
        + (f", the first {ROWS:,} shown" if len(found) > ROWS else "")
        + ". The rank is that of the right word, the question's own words left out."
    )
    table = found.head(ROWS)[["a", "b", "c", "d", "predicted", "rank", "score", "best", "section"]]
    st.dataframe(
        table.rename(columns={"d": "right", "predicted": "answered", "score": "its score", "best": "answer's score"}),
        hide_index=True,
        key="words_questions",
        column_config={
            "a": st.column_config.TextColumn("a", help="a is to b as c is to what?"),
            "rank": st.column_config.NumberColumn("rank of right", format="%.1f"),
            "its score": st.column_config.NumberColumn("right's score", format="%.4f"),
            "answer's score": st.column_config.NumberColumn(format="%.4f"),
        },
    )
