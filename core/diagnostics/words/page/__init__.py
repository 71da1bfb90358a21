"""The page Words: table 1 of Schnabel 2015 with measured rows, and its views."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
import streamlit as st

from core import ui
from core.datasets.catalog import title_of
from core.diagnostic import find_diagnostic
from core.diagnostics.words.page import drill_down, table
from core.diagnostics.words.page.table import WordsView
from core.diagnostics.words.schnabel_table import TASKS
from core.ui.widgets.views import View, choose_view


def show() -> None:
    """The page."""
    picks = ui.page(
        "Words", "Do word vectors hold relations and categories: related words, analogies, kinds of things?"
    )
    shown = table.selected(picks)
    table.show(shown)
    with ui.errors_shown():
        table.offer(shown)
    if shown.runs:
        choose_view(shown, VIEWS, "Look closer", key="words_view")
    for entry in map(find_diagnostic, ("similarity", "analogy", "categorization")):
        st.markdown(f"**{entry.title}**: {entry.question}")
        ui.how_computed(entry)


def _coverage(shown: WordsView) -> None:
    rows = []
    for task in {(t.diagnostic, t.dataset): t for t in TASKS}.values():
        for variant, run in shown.of(task).items():
            c = run.coverage
            unit = next((u for u in ("questions", "pairs") if u in c), "")
            rows.append(
                {
                    "dataset": title_of(task.dataset),
                    "variant": variant.label,
                    "words": f"{c['items_covered']:,} of {c['items']:,}",
                    "questions or pairs": f"{c[f'{unit}_covered']:,} of {c[unit]:,}" if unit else "–",
                    "share": 100 * (c[f"{unit}_covered"] / c[unit] if unit else c["items_covered"] / c["items"]),
                }
            )
    share = st.column_config.NumberColumn("looked at, %", format="%.1f")
    st.dataframe(pd.DataFrame(rows), hide_index=True, key="words_coverage", column_config={"share": share})
    st.caption("Common words: of each set what all the encoders cover that its runs were made for.")


def _relatedness(_shown: WordsView) -> None:
    st.markdown(
        "Scores of pairs, residuals and the pairs that an encoder misjudges are on the page *Similarity*: pick there "
        "one of rg65, ws353, ws353-sim, ws353-rel and men, or another of the thirteen word sets."
    )
    st.page_link("pages/similarity.py", label="To Similarity", icon=":material/compare_arrows:")


# The keys are also in the address; the first is the default.
VIEWS: Mapping[str, View[WordsView]] = {
    "analogies": View("Which questions are answered wrong, and with what?", drill_down.analogies),
    "categories": View("Which classes does an encoder keep together?", drill_down.categories),
    "relatedness": View("Which pairs of words does it misjudge?", _relatedness),
    "coverage": View("Of how many words does it have a vector?", _coverage),
}
