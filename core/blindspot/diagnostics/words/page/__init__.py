"""The page Words: table 1 of Schnabel 2015 with measured rows, and its views."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from blindspot import ui
from blindspot.datasets.catalog import title_of
from blindspot.diagnostic import find_diagnostic
from blindspot.diagnostics.words.page import cases, chunks, drill_down, headline, table
from blindspot.diagnostics.words.page.table import WordsView
from blindspot.diagnostics.words.schnabel_table import TASKS
from blindspot.ui.page_state import link
from blindspot.ui.widgets import tables
from blindspot.ui.widgets.views import View, choose_view

SHOWN = ("analogy", "categorization", "outliers", "thematic_fit", "chunking", "similarity")


def show() -> None:
    """The page."""
    picks = ui.page(
        "Words",
        "Can the model solve analogies, group words, tell what does not belong, and where phrases begin and end?",
    )
    shown = table.selected(picks)
    if shown.runs:
        with ui.errors_shown():
            headline.show(shown)
        table.show(shown)
        choose_view(shown, VIEWS)
    with ui.errors_shown():
        table.offer(shown)
    if not shown.runs:
        table.show(shown)
    run = {diagnostic for diagnostic, _ in shown.runs}
    ui.how_computed(*(find_diagnostic(name) for name in SHOWN if name != "similarity" or name in run))


def _coverage(shown: WordsView) -> None:
    rows = []
    for task in {(t.diagnostic, t.dataset): t for t in TASKS}.values():
        for variant, run in shown.of(task).items():
            c = run.coverage
            unit = next((u for u in ("questions", "pairs", "cases", "events", "tokens") if u in c), "")
            rows.append(
                {
                    "dataset": title_of(task.dataset),
                    "model": variant.label,
                    "words": f"{c['items_covered']:,} of {c['items']:,}",
                    "counted": f"{c[f'{unit}_covered']:,} of {c[unit]:,} {unit}" if unit else "–",
                    "share": c[f"{unit}_covered"] / c[unit] if unit else c["items_covered"] / c["items"],
                }
            )
    share = st.column_config.NumberColumn("covered", format="percent")
    tables.draw(rows, key="words_coverage", column_config={"share": share})
    st.caption("Common words: the words of each set that all of its models cover.")


def _relatedness(_shown: WordsView) -> None:
    st.markdown(
        "The page *Similarity* shows the scores of word pairs, and the pairs that a model judges differently from "
        "people. Choose a word set there, for example RG-65, WordSim-353 or MEN."
    )
    link("similarity", label="To Similarity", icon=":material/compare_arrows:")


# The keys are also in the address; the first is the default.
VIEWS: Mapping[str, View[WordsView]] = {
    "analogies": View("Which questions does the model get wrong, and what does it answer?", drill_down.analogies),
    "categories": View("Which classes end up in one cluster?", drill_down.categories),
    "outliers": View("Which word does the model find odd?", cases.outliers),
    "events": View("Which typical patients does the model not find near?", cases.events),
    "chunks": View("Which phrases of a sentence does the model miss?", chunks.chunks),
    "relatedness": View("Which pairs of words does the model misjudge?", _relatedness),
    "coverage": View("How many words have a vector?", _coverage),
}
