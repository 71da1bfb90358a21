"""The views of the EvalRank page below its scores; only the chosen one is computed."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from core import diagnostic as diagnostics
from core import ui
from core.diagnostics.evalrank.figures import scores as figures
from core.diagnostics.evalrank.page import comparability, published, uncertainty
from core.diagnostics.evalrank.page import kinds as evalrank_kinds
from core.diagnostics.evalrank.page import pairs as evalrank_pairs
from core.diagnostics.evalrank.page import scores as parts
from core.diagnostics.evalrank.page import trust as evalrank_trust
from core.diagnostics.evalrank.page import versus as evalrank_versus
from core.diagnostics.evalrank.page import what_if as evalrank_what_if
from core.diagnostics.evalrank.page.shown import Shown
from core.ui.widgets.views import View, choose_view

# By their names, which also stand in the address; the first is the default.
VIEWS: Mapping[str, View[Shown]] = {
    "pairs": View("Which pairs does it get wrong, and what stands above the mate?", evalrank_pairs.show),
    "A against B": View("Is it really better, or could that be chance?", evalrank_versus.show),
    "kinds of pair": View("On which kinds of pair does the score come about?", evalrank_kinds.show),
    "trust": View("How much of the score is the way of counting, or training on the pairs?", evalrank_trust.show),
    "what if": View("What would another transform or similarity change?", evalrank_what_if.show),
}


def look_closer(shown: Shown) -> None:
    """Let the reader choose a view, and show it."""
    choose_view(shown, VIEWS, "Look closer", key="view")


# The page evalrank.


def show() -> None:
    """The page."""
    entry = diagnostics.find("evalrank")
    picks = ui.page("EvalRank", entry.question)
    found = parts.finished_runs(entry, picks)
    with ui.errors_shown():
        parts.missing(entry, picks, found)
    runs = parts.best_of(comparability.on_one_support(found, picks))
    if runs:
        comparability.protocol_note(entry, runs, picks)
        filtered = parts.reading()
        suffix = "_filtered" if filtered else ""
        styles, scheme = ui.variant_styles(run.plan.variant for run in runs), ui.scheme()
        pairs = parts.pairs(entry, runs)
        samples = uncertainty.samples(pairs)
        bars, curve = parts.side_by_side(runs)
        with bars:
            st.markdown("**Scores per variant**")
            alike = comparability.same_items(runs)
            ceiling = parts.ceiling(runs[0]) if alike and not filtered else None
            intervals = uncertainty.intervals(samples, runs, suffix)
            bar_chart = figures.score_bars(parts.scores(runs, suffix), ceiling, styles, scheme, intervals)
            st.plotly_chart(bar_chart, key="bars")
            if alike:
                parts.ceiling_note(runs[0], filtered)
            uncertainty.note(samples)
            comparability.coverage_notes(runs)
            comparability.prompt_notes(runs)
            comparability.training_notes(runs)
        with curve:
            st.markdown("**How far down is the mate?**")
            ranks = {run.plan.variant: pairs.ranks(run.run_id, filtered=filtered) for run in runs}
            st.plotly_chart(figures.rank_curve(ranks, parts.background(runs), styles, scheme), key="curve")
        parts.score_details(entry, runs, samples)
        published.published(runs, picks)
        look_closer(Shown(entry, picks, runs, pairs, filtered, styles, scheme))
    ui.how_computed(entry)
