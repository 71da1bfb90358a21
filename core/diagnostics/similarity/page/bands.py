"""The view *bands* of the page Similarity: figure 2 of the EvalRank paper, on the whole STS-Benchmark."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from core.diagnostics.similarity import bands, figures
from core.diagnostics.similarity.bands import InBand
from core.diagnostics.similarity.page import runs as parts
from core.diagnostics.similarity.page.shown import BY_RUNS, Shown
from core.diagnostics.similarity.pairs import ScoredTable
from core.errors import BlindspotError
from core.numerics.statistics.correlations import KINDS
from core.runs import pipeline
from core.ui.markdown import as_text
from core.ui.resources import cached, settings
from core.ui.widgets import tables
from core.ui.widgets.work import run_button


def show(shown: Shown) -> None:
    """Every variant's correlation in each band of scores, and how its similarities are distributed there."""
    offer(shown)
    runs = parts.runs_of(shown.entry, shown.picks, bands.DATASET)
    runs = [r for r in runs if r.plan.variant in {s.plan.variant for s in shown.runs}]
    if not runs:
        return
    table = parts.table_of(shown.entry, runs)
    drawn = bands.draw(table.gold)
    found = {r.plan.variant: _in_bands(table, r.run_id) for r in runs}
    kind = str(
        st.segmented_control(
            "Correlation in a band",
            list(KINDS),
            default="spearman",
            required=True,
            key="sim_band_kind",
            bind="query-params",
        )
    )
    lines, boxes = [], []
    for variant, rows in found.items():
        for row in rows:
            estimate = row.estimates.get(kind)
            ends = None if estimate is None else estimate.interval
            low, high = (float("nan"), float("nan")) if ends is None else (ends.low, ends.high)
            value = getattr(row.found, kind)
            lines.append({"variant": variant, "band": row.band.label, "value": value, "low": low, "high": high})
            names = ("q5", "q25", "q50", "q75", "q95")
            boxes.append({"variant": variant, "band": row.band.label} | dict(zip(names, row.quantiles, strict=True)))
    left, right = st.columns(2)
    with left:
        st.markdown("**Correlation within each band**")
        figure = figures.band_lines(pd.DataFrame(lines), shown.styles, shown.scheme, kind=kind)
        st.plotly_chart(figure, key="sim_bands")
    with right:
        st.markdown("**Where its similarities lie**")
        st.plotly_chart(figures.band_boxes(pd.DataFrame(boxes), shown.styles, shown.scheme), key="sim_boxes")
    sizes = ", ".join(f"{d.band.label} {len(d.rows):,} of {d.available:,}" for d in drawn)
    st.caption(
        f"The design of figure 2 of Wang, Kuo and Li 2022: the {len(table.frame):,} pairs of the whole STS-Benchmark "
        f"(train, dev and test), {bands.PER_BAND:,} drawn from each band of scores with seed {bands.SEED} ({sizes}); "
        "the bands overlap. Bars: 95% intervals. Boxes: median and middle half, whiskers 5% to 95%. Within a "
        "band scores differ little, so correlations are lower than over all pairs; the paper finds that whitening "
        "lifts mainly the bands of less similar pairs."
    )


@cached(64, "Computing the bands …", keys=BY_RUNS)
def _in_bands(table: ScoredTable, run_id: str) -> tuple[InBand, ...]:
    return bands.in_bands(table.similarity[run_id], table.gold, table.ends, bands.draw(table.gold))


def offer(shown: Shown) -> None:
    """The shown variants that were not run on the whole STS-Benchmark, with the button that does so."""
    have = {r.plan.variant for r in parts.runs_of(shown.entry, shown.picks, bands.DATASET)}
    lacking = [r.plan.variant for r in shown.runs if r.plan.variant not in have]
    if not lacking:
        return
    title = tables.dataset_title(bands.DATASET)
    try:
        requests = [
            pipeline.request(shown.entry.id, v.encoder, v.transform, bands.DATASET, shown.picks.params, settings())
            for v in lacking
        ]
    except BlindspotError as error:
        st.warning(as_text(str(error)))
        return
    text, button = st.columns([4, 1], vertical_alignment="center")
    text.info(
        f"This needs runs on {title} (8,628 pairs). Without one: "
        + ", ".join(f"`{v.label}`" for v in lacking)
        + ". An encoder takes a minute or several for its 15,437 sentences, once.",
        icon=":material/info:",
    )
    with button:
        run_button("Run them", f"{shown.entry.title} on {bands.DATASET}", requests, key="run_bands")
