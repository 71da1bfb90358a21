"""The view *spread* of the HEROS page: how far the sentences of a subset differ."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import streamlit as st

from core.diagnostics.heros.figures import spread as figures
from core.diagnostics.heros.figures.profile import label
from core.diagnostics.heros.page import transforms as heros_chains
from core.diagnostics.heros.page.shown import BY_RUNS, Shown
from core.numerics.statistics.density import Quantiles, density
from core.store.records import RunRecord
from core.ui.resources import cached

NORMALISED, RAW = "normalised", "raw cosine"
MAX_VARIANTS = 8
MAX_RIDGES = 64  # 128 places up and back each: 16,384 points
LEAST_SPAN = 0.05  # of the axis, where all similarities are alike


def show(shown: Shown) -> None:
    """The distribution of every subset, and how an encoder's profile moves from transform to transform."""
    scale = st.segmented_control(
        "Similarity on the axis",
        (NORMALISED, RAW),
        default=NORMALISED,
        required=True,
        key="heros_scale",
        bind="query-params",
        help="raw cosine: as the encoder gives it. normalised: moved and stretched so that two unrelated sentences "
        "have 0 and the same direction has 1; only so can encoders be compared.",
    )
    near = st.toggle(
        "Zoom in on the hills",
        key="heros_near",
        persist_state="session",
        help="The axis then begins where they do; the marks of two unrelated sentences may lie outside.",
    )
    runs = shown.runs[:MAX_VARIANTS]
    if len(runs) < len(shown.runs):
        st.caption(f"The first {MAX_VARIANTS} of {len(shown.runs):,} variants. Pick others in the sidebar.")
    subsets = _chosen(shown.subsets, MAX_RIDGES // len(runs))
    if not subsets:
        st.info("Choose a subset to see how its sentences are spread.", icon=":material/info:")
    else:
        rows = _ridges(shown, runs, subsets, scale == RAW)
        axis = "cosine" if scale == RAW else "normalised similarity"
        figure = figures.ridges(
            rows, shown.styles, shown.scheme, axis=axis, baseline="two unrelated sentences", near=near
        )
        st.plotly_chart(figure, key="spread")
        st.caption(
            f"A hill per variant and subset, over {rows[0].n:,} sentences: where it is high, many sentences have this "
            "similarity (Gaussian kernel density of all of them, Silverman's bandwidth; every hill is scaled to the "
            "same height). Dot: median; bar: the middle half; point at a dot for 5% and 95%. Dotted mark: "
            + (
                "the mean cosine of two unrelated sentences (cos_avg), the baseline of that variant. The farther right "
                "it stands, the more all sentences look alike to the encoder (anisotropy)."
                if scale == RAW
                else "0, where two unrelated sentences stand on average."
            )
        )
    heros_chains.show(shown)


def _chosen(subsets: Sequence[str], most: int) -> list[str]:
    """All subsets, or those that the reader chooses where there are too many for a figure."""
    if len(subsets) <= most:
        return list(subsets)
    chosen = st.multiselect(
        f"Subsets (at most {most} at a time)",
        subsets,
        default=subsets[:most],
        max_selections=most,
        format_func=label,
        key="heros_spread_subsets",
        persist_state="session",
    )
    return [subset for subset in subsets if subset in chosen]


@cached(16, "Drawing the spread …", keys=BY_RUNS)
def _ridges(shown: Shown, runs: Sequence[RunRecord], subsets: Sequence[str], is_raw: bool) -> list[figures.Ridge]:
    """For ``figures.ridges``; a finished run never changes."""
    column = "cosine" if is_raw else "similarity"
    values = {key: group.to_numpy(np.float64) for key, group in shown.rows.groupby(["run_id", "subset"])[column]}
    baselines = {r.run_id: r.metrics["cos_avg"] if is_raw else 0.0 for r in runs}
    drawn = [*(values[r.run_id, s] for r in runs for s in subsets), np.array(list(baselines.values()))]
    span = max(LEAST_SPAN, float(max(v.max() for v in drawn) - min(v.min() for v in drawn)))
    out = []
    for run in runs:
        for subset in subsets:
            own = values[run.run_id, subset]
            hill, q = density(own, span, highest=1.0), Quantiles.of(own)
            out.append(
                figures.Ridge(
                    variant=run.plan.variant,
                    subset=subset,
                    at=hill.at,
                    heights=hill.heights,
                    quantiles=(q.low, q.lower, q.median, q.upper, q.high),
                    mean=float(own.mean()),
                    baseline=baselines[run.run_id],
                    n=len(own),
                )
            )
    return out
