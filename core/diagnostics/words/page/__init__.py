"""The views of the page Words below its table; only the chosen one is computed."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
import streamlit as st

from core import diagnostic as diagnostics
from core import ui
from core.datasets import catalog as datasets
from core.diagnostics.words.page import analogies as words_analogies
from core.diagnostics.words.page import categories as words_categories
from core.diagnostics.words.page import table as parts
from core.diagnostics.words.page.shown import Shown
from core.diagnostics.words.schnabel_table import TASKS
from core.ui.widgets.views import View, choose_view


def look_closer(shown: Shown) -> None:
    """Let the reader choose a view, and show it."""
    choose_view(shown, VIEWS, "Look closer", key="words_view")


def _coverage(shown: Shown) -> None:
    rows = []
    for diagnostic, dataset in dict.fromkeys((t.diagnostic, t.dataset) for t in TASKS):
        for variant, run in shown.on(diagnostic, dataset).items():
            c = run.coverage
            unit = next((u for u in ("questions", "pairs") if u in c), "")
            rows.append(
                {
                    "dataset": datasets.DATASETS[dataset].title,
                    "variant": variant.label,
                    "words": f"{c['items_covered']:,} of {c['items']:,}",
                    "questions or pairs": f"{c[f'{unit}_covered']:,} of {c[unit]:,}" if unit else "–",
                    "share": 100 * (c[f"{unit}_covered"] / c[unit] if unit else c["items_covered"] / c["items"]),
                }
            )
    frame = pd.DataFrame(rows)
    st.dataframe(
        frame,
        hide_index=True,
        key="words_coverage",
        column_config={"share": st.column_config.NumberColumn("looked at, %", format="%.1f")},
    )
    st.caption("Common words: of each set what all the encoders cover that its runs were made for.")


def _relatedness(_shown: Shown) -> None:
    st.markdown(
        "Scores of pairs, residuals and the pairs that an encoder misjudges are on the page *Similarity*: pick there "
        "one of rg65, ws353, ws353-sim, ws353-rel and men, or another of the thirteen word sets."
    )
    st.page_link("pages/similarity.py", label="To Similarity", icon=":material/compare_arrows:")


VIEWS: Mapping[str, View[Shown]] = {
    "analogies": View("Which questions are answered wrong, and with what?", words_analogies.show),
    "categories": View("Which classes does an encoder keep together?", words_categories.show),
    "relatedness": View("Which pairs of words does it misjudge?", _relatedness),
    "coverage": View("Of how many words does it have a vector?", _coverage),
}


# The page words.


def show() -> None:
    """The page."""
    picks = ui.page(
        "Words", "Do word vectors hold relations and categories: related words, analogies, kinds of things?"
    )
    shown = parts.gather(picks)
    parts.show_table(shown)
    with ui.errors_shown():
        parts.offer(shown)
    if shown.runs:
        look_closer(shown)
    for name in ("similarity", "analogy", "categorization"):
        parts.heading(diagnostics.find(name))
        ui.how_computed(diagnostics.find(name))
