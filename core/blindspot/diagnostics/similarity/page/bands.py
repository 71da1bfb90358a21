"""The view *bands* of the page Similarity: figure 2 of the EvalRank paper, on the whole STS-Benchmark."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from blindspot.diagnostics.similarity import figures
from blindspot.diagnostics.similarity.bands import DATASET, PER_BAND, SEED, InBand, draw, in_bands
from blindspot.diagnostics.similarity.definition import ENTRY
from blindspot.diagnostics.similarity.page.runs import BY_RUNS, SimilarityView, table_of
from blindspot.diagnostics.similarity.pairs import ScoredTable
from blindspot.errors import BlindspotError
from blindspot.figures.dots import dot
from blindspot.numerics.statistics.correlations import KINDS
from blindspot.runs import requesting
from blindspot.ui.markdown import as_text
from blindspot.ui.resources import cached, explained, settings
from blindspot.ui.widgets import shown_runs, tables
from blindspot.ui.widgets.choices import one_of
from blindspot.ui.widgets.work import run_button


def show(shown: SimilarityView) -> None:
    """Every variant's correlation in each band of scores, and the distribution of its similarities there."""
    offer(shown, f"a band of scores takes {PER_BAND:,} pairs, as in the paper, which few other datasets have")
    wanted = {run.plan.variant for run in shown.runs}
    runs = [
        run for run in shown_runs.newest(ENTRY, shown.picks, DATASET, shown.picks.params) if run.plan.variant in wanted
    ]
    if not runs:
        return
    table = table_of(runs)
    kind = one_of("Correlation in a band", KINDS, "sim_band_kind", default="spearman")
    bands = [(run.plan.variant, band) for run in runs for band in _in_bands(table, run.run_id)]
    lines = [dot(variant, band.label, band.estimates.get(kind, float("nan"))) for variant, band in bands]
    boxes = [{"variant": variant, "name": band.label, **band.quantiles} for variant, band in bands]
    left, right = st.columns(2)
    with left:
        st.markdown("**Correlation within each band**")
        st.plotly_chart(figures.band_lines(lines, shown.styles, shown.scheme, kind=kind), key="sim_bands")
    with right:
        st.markdown("**Distribution of similarities**")
        st.plotly_chart(figures.band_boxes(pd.DataFrame(boxes), shown.styles, shown.scheme), key="sim_boxes")
    sizes = ", ".join(f"{d.label} {len(d.rows):,} of {d.available:,}" for d in draw(table.gold))
    st.caption(
        f"The design of figure 2 of Wang, Kuo and Li 2022: the {len(table.frame):,} pairs of the whole STS-Benchmark "
        f"(train, dev and test), {PER_BAND:,} drawn from each band of scores with seed {SEED} ({sizes}); "
        "the bands overlap. Bars: 95% CI. Boxes: median and middle half, whiskers 5% to 95%. Within a "
        "band scores differ little, so correlations are lower than over all pairs; the paper finds that whitening "
        "lifts mainly the bands of less similar pairs."
    )


@cached(64, "Computing the bands …", keys=BY_RUNS)
def _in_bands(table: ScoredTable, run_id: str) -> tuple[InBand, ...]:
    return in_bands(table.similarity[run_id], table.gold, table.ends, draw(table.gold))


def offer(shown: SimilarityView, why: str) -> None:
    """The shown variants that were not run on the whole STS-Benchmark, with why that set and the button that runs
    them."""
    have = {run.plan.variant for run in shown_runs.newest(ENTRY, shown.picks, DATASET, shown.picks.params)}
    lacking = [run.plan.variant for run in shown.runs if run.plan.variant not in have]
    if not lacking:
        return
    params = shown.picks.params
    try:
        requests = [requesting.request(ENTRY.id, v.encoder, v.transform, DATASET, params, settings()) for v in lacking]
    except BlindspotError as error:
        st.warning(as_text(explained(error)))
        return
    text, button = st.columns([4, 1], vertical_alignment="center")
    text.info(
        f"This view needs runs on {tables.dataset_title(DATASET)} (8,628 pairs), whichever dataset is picked: {why}. "
        "Missing: "
        + ", ".join(f"`{v.label}`" for v in lacking)
        + ". A model takes minutes for its 15,437 sentences, once.",
        icon=":material/info:",
    )
    with button:
        run_button("Run them", f"{ENTRY.title} on {DATASET}", requests, key="run_bands")
