"""EvalRank: scores, the distribution of ranks, every pair, and what stands above a mate."""

import streamlit as st

from core import ui
from core.diagnostics import catalog as diagnostics
from core.figures import evalrank as figures
from core.ui import evalrank_parts as parts

ENTRY = diagnostics.find("evalrank")
picks = ui.page("EvalRank", ENTRY.question)
runs = parts.finished_runs(ENTRY, picks)
parts.missing(ENTRY, picks, runs)
if runs:
    filtered = parts.reading()
    suffix = "_filtered" if filtered else ""
    styles, scheme = ui.variant_styles(), ui.scheme()
    bars, curve = parts.side_by_side(runs)
    with bars:
        st.markdown("**Scores per variant**")
        ceiling = None if filtered else parts.ceiling(runs[0])
        st.plotly_chart(figures.score_bars(parts.scores(runs, suffix), ceiling, styles, scheme), key="bars")
        parts.ceiling_note(runs[0], filtered)
    with curve:
        st.markdown("**How far down is the mate?**")
        pairs = parts.pairs(ENTRY, runs)
        ranks = {run.plan.variant: pairs.ranks(run.run_id, filtered=filtered) for run in runs}
        st.plotly_chart(figures.rank_curve(ranks, parts.background(runs[0]), styles, scheme), key="curve")
    parts.score_details(ENTRY, runs)
    st.subheader("Pairs", anchor=False)
    selected = parts.pair_browser(pairs, runs, filtered)
    if selected is not None:
        parts.drill_down(pairs, runs, selected)
ui.how_computed(ENTRY)
