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
from blindspot.ui.page_state import VIEW, link
from blindspot.ui.pickers import came_by_address
from blindspot.ui.widgets import tables
from blindspot.ui.widgets.missing_runs import offer_switch
from blindspot.ui.widgets.views import View, choose_view

_FOLLOWED = "_words_followed"  # the dataset that was picked when the page was last drawn
SHOWN = ("analogy", "categorization", "outliers", "thematic_fit", "chunking", "similarity")


def show() -> None:
    """The page."""
    picks = ui.page(
        "Words",
        "Can the model solve analogies, group words, tell what does not belong, and where phrases begin and end?",
    )
    shown = table.selected(picks)
    if shown.runs:
        _follow_pick(shown)
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


def _follow_pick(shown: WordsView) -> None:
    """Open the view of the picked dataset on it, when the page opens or another one is picked; say what the page is
    about where it has no results of it. The table has every dataset, whichever is picked."""
    picked, task = shown.picks.dataset, headline.task_told(shown)
    if task is None:
        return
    if task.dataset != picked:
        text = f"{tables.dataset_title(picked)} (sidebar) has no results here. The table has all sets of words; the "
        offer_switch(f"{text}sentence is about {tables.dataset_title(task.dataset)}.", task.dataset)
    is_another = st.session_state.get(_FOLLOWED, picked) != picked
    st.session_state[_FOLLOWED] = picked
    if VIEW not in st.session_state:  # the page opens; a link's view stays
        is_another = VIEW not in st.query_params and not came_by_address()
    if task.dataset == picked and is_another:
        view, key = drill_down.PLACES[task.diagnostic]
        st.session_state[VIEW] = view
        st.session_state[key] = picked


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
