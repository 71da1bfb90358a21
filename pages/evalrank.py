"""EvalRank: scores, the distribution of ranks, every pair, and what stands above a mate."""

import streamlit as st

from core import ui
from core.diagnostics import catalog as diagnostics
from core.figures import evalrank as figures
from core.ui import comparability, uncertainty
from core.ui import evalrank_parts as parts
from core.ui.evalrank_published import published
from core.ui.evalrank_view import Shown
from core.ui.evalrank_views import look_closer

ENTRY = diagnostics.find("evalrank")
picks = ui.page("EvalRank", ENTRY.question)
found = parts.finished_runs(ENTRY, picks)
with ui.errors_shown():
    parts.missing(ENTRY, picks, found)
runs = parts.best_of(comparability.on_one_support(found, picks))
if runs:
    comparability.protocol_note(ENTRY, runs, picks)
    filtered = parts.reading()
    suffix = "_filtered" if filtered else ""
    styles, scheme = ui.variant_styles(run.plan.variant for run in runs), ui.scheme()
    pairs = parts.pairs(ENTRY, runs)
    samples = uncertainty.samples(ENTRY, pairs, runs)
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
    parts.score_details(ENTRY, runs, samples)
    published(runs, picks)
    look_closer(Shown(ENTRY, picks, runs, pairs, filtered, styles, scheme))
ui.how_computed(ENTRY)
