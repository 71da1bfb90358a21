"""The page Similarity: the runs that it shows, and its views."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from blindspot import ui
from blindspot.diagnostics.similarity.definition import ENTRY
from blindspot.diagnostics.similarity.page import bands, learned, pairs, scores
from blindspot.diagnostics.similarity.page.runs import SimilarityView, table_of
from blindspot.diagnostics.similarity.pairs import ScoredTable
from blindspot.store.records import RunRecord
from blindspot.ui.options import choose_protocol
from blindspot.ui.pickers import Picks
from blindspot.ui.resources import scheme
from blindspot.ui.variant_looks import variant_styles
from blindspot.ui.widgets import missing_runs, own_columns, shown_runs, tables
from blindspot.ui.widgets.views import View, choose_view

OFFERED = {"stsb-test": "sentences", "ws353": "words"}
LACKS = "has no pairs that people scored. Pick a dataset of scored pairs"
MAX_SHOWN = 11

# The keys are also in the address; the first is the default.
VIEWS: Mapping[str, View[SimilarityView]] = {
    "scores": View("How closely do similarities follow people's scores?", scores.show),
    "pairs": View("Which pairs does a model misjudge, and where do two models disagree?", pairs.show),
    "bands": View("Does it also rank the most similar pairs correctly?", bands.show),
    "learned": View("How much better is a learned similarity on the same embeddings?", learned.show),
}


def show() -> None:
    """The page."""
    picks = choose_protocol(ui.page("Similarity", ENTRY.question))
    with ui.errors_shown():
        if shown := _selected(picks):
            scores.show_headline(shown)
            tables.show_limits([shown.picks.dataset])
            choose_view(shown, VIEWS)
    ui.how_computed(ENTRY)


def _selected(picks: Picks) -> SimilarityView | None:
    picked = shown_runs.picks_that_fit(ENTRY, picks, LACKS, OFFERED, key="no_scores")
    if picked is None:
        return None
    picks = picked
    runs = shown_runs.newest(ENTRY, picks, picks.dataset, picks.params)
    missing_runs.offer(ENTRY, picks, runs, picks.dataset, picks.params, "scores")
    if not runs:
        return None
    plain_first = sorted(runs, key=lambda run: run.plan.variant.transform != "none")
    chosen = shown_runs.first_of(plain_first, MAX_SHOWN, "those without post-processing first, then the best")
    runs = [run for run in runs if run in chosen]
    table = table_of(runs)
    _coverage(runs, table)
    if len(table.frame) < 2:
        st.warning(
            "Fewer than two pairs have a similarity in all of these models. Pick fewer models in the sidebar.",
            icon=":material/balance:",
        )
        return None
    styles = variant_styles(r.plan.variant for r in runs)
    return SimilarityView(picks, runs, table, styles, scheme(), own_columns.columns_of(runs[0]))


def _coverage(runs: Sequence[RunRecord], table: ScoredTable) -> None:
    every = runs[0].coverage["pairs"]
    if len(table.frame) == every:
        return
    lacking = [r for r in runs if r.coverage["pairs_covered"] < every]
    each = "; ".join(f"`{r.plan.variant.label}` {r.coverage['pairs_covered']:,}" for r in lacking)
    st.info(
        f"**Coverage:** scores are over the {len(table.frame):,} of {every:,} pairs that all models cover. Pairs with "
        f"vectors: {each}.",
        icon=":material/balance:",
    )
