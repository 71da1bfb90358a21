"""HEROS: how similar an encoder finds a sentence and its rewrites, by what was changed."""

import streamlit as st

from core import ui
from core.diagnostics import catalog as diagnostics
from core.figures import heros as figures
from core.ui import heros_parts as parts

ENTRY = diagnostics.find("heros")
picks = ui.page("HEROS", ENTRY.question)
dataset = parts.dataset_of(ENTRY, picks)
runs = parts.finished_runs(ENTRY, dataset, picks)
parts.offer(ENTRY, dataset, runs)
if runs:
    subsets = figures.shared_subsets([parts.subsets_of(ENTRY, run) for run in runs])
    styles, scheme = ui.variant_styles(), ui.scheme()
    st.markdown("**How similar are a sentence and its rewrite?** 1: the same; 0: like two unrelated sentences.")
    ends = parts.intervals(runs, subsets)
    st.plotly_chart(figures.profile(parts.means(runs, subsets), scheme, ends), key="profile")
    parts.profile_note(runs)
    rows, rates = parts.rows(ENTRY, runs), parts.rates(ENTRY, runs)
    left, right = st.columns(2)
    with left:
        st.markdown("**How far do sentences differ?**")
        st.plotly_chart(figures.spread(parts.similarities(rows, runs, subsets), styles, scheme), key="spread")
        st.caption("Box: the middle half of the sentences; whiskers: 5% to 95%.")
    if any(rates.values()):
        with right:
            st.markdown("**Which rewrite is nearer to the original?**")
            st.plotly_chart(figures.ordering_rates(rates, styles, scheme), key="rates")
            st.caption("Bars: 95% Wilson intervals. Ties count half.")
        parts.difference(runs)
    st.subheader("Sentences", anchor=False)
    parts.sentences(rows, runs, subsets)
ui.how_computed(ENTRY)
