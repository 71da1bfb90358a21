"""The page Retrieval: the runs that it shows, and its views."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from blindspot import ui
from blindspot.diagnostics.retrieval.definition import ENTRY, JUDGED, TIES
from blindspot.diagnostics.retrieval.long_texts.definition import ENTRY as LONG_TEXTS
from blindspot.diagnostics.retrieval.page import kinds, long, published, queries, scores
from blindspot.diagnostics.retrieval.page.retrieval_view import RetrievalView, table_of
from blindspot.runs import manifests
from blindspot.runs.same_items import on_same_items
from blindspot.ui.markdown import as_text
from blindspot.ui.options import options
from blindspot.ui.pickers import Picks
from blindspot.ui.resources import scheme
from blindspot.ui.variant_looks import variant_styles
from blindspot.ui.widgets import missing_runs, shown_runs, tables
from blindspot.ui.widgets.choices import one_of
from blindspot.ui.widgets.views import View, choose_view

OFFERED = {"demo-retrieval": "", "cranfield": ""}
LACKS = "has no queries with judged documents. Pick a retrieval dataset"
MAX_SHOWN = 10

# The keys are also in the address; the first is the default.
VIEWS: Mapping[str, View[RetrievalView]] = {
    "scores": View("How well does each model find documents, beside keyword search?", scores.show),
    "queries": View("On which queries does one lose to another, or to keyword search?", queries.show),
    "kinds": View("Which kinds of query are hard?", kinds.show),
    "long": View("Does it matter where in a passage the answer is, and how long texts are?", long.show),
    "published": View("What else than relevance do published retrievers prefer?", published.show),
}


def show() -> None:
    """The page."""
    picks = ui.page("Retrieval", ENTRY.question)
    with ui.errors_shown():
        if shown := _selected(picks):
            scores.show_headline(shown)
            tables.show_limits([shown.picks.dataset])
            choose_view(shown, VIEWS)
        elif st.query_params.get("view") == "published":  # the link on Data: it takes no runs
            published.show_tables(scheme())
        else:
            long.show_alone(picks, scheme())
    ui.how_computed(ENTRY, LONG_TEXTS)


def _selected(picks: Picks) -> RetrievalView | None:
    picked = shown_runs.picks_that_fit(ENTRY, picks, LACKS, OFFERED, key="no_retrieval")
    if picked is None:
        return None
    picks, dataset = picked, picked.dataset
    with options():
        ties, judged = (one_of(p.label, p.choices, p.name, p.help) for p in (TIES, JUDGED))
    params = ENTRY.check_params({"metric": picks.metric, TIES.name: ties, JUDGED.name: judged})
    stored = missing_runs.stored(ENTRY, picks, dataset, params)
    runs = sorted(on_same_items(stored, own=False), key=lambda run: -run.metrics[ENTRY.headline])
    missing_runs.offer(ENTRY, picks, runs, dataset, params, "retrieval scores")
    if not runs:
        return None
    runs = shown_runs.first_of(runs, MAX_SHOWN)
    covered = runs[0].coverage
    if covered["queries_covered"] < covered["queries"]:
        st.info(
            f"**Coverage:** scores are over the {covered['queries_covered']:,} of {covered['queries']:,} queries that "
            "all models cover with their relevant documents.",
            icon=":material/balance:",
        )
    for note in (*manifests.reading_notes(runs), *manifests.assumptions(runs), *manifests.ranking_notes(runs)):
        st.caption(as_text(note))
    return RetrievalView(picks, runs, table_of(runs), variant_styles(r.plan.variant for r in runs), scheme())
