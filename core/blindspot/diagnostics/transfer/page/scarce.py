"""The view *scarce* of the page Transfer: accuracy by the number of training examples, and where two models cross."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st

from blindspot.diagnostics.transfer import crossing, figures
from blindspot.diagnostics.transfer.crossing import Crossing
from blindspot.diagnostics.transfer.learning_curve import DRAWS, ENTRY, SIZES
from blindspot.diagnostics.transfer.page import offer
from blindspot.diagnostics.transfer.page.runs import TransferView
from blindspot.runs import requesting
from blindspot.runs.requests import RunRequest
from blindspot.runs.same_items import on_same_items
from blindspot.store.records import RunRecord
from blindspot.ui import gone
from blindspot.ui.markdown import as_text
from blindspot.ui.resources import cached, repository, settings
from blindspot.ui.variant_looks import variant_styles
from blindspot.ui.widgets import tables
from blindspot.ui.widgets.missing_runs import offer_line
from blindspot.variants import Variant


def show(shown: TransferView) -> None:
    """The curves of the picked task, then every two models in a sentence, then the numbers."""
    if not shown.is_task:
        offer.other_kind(shown)
        return
    task = shown.picks.dataset
    names = [f"accuracy@{size}{end}" for size in SIZES for end in ("", "_low", "_high")]
    stored = [run for run in repository().finished(ENTRY, metrics=names) if run.plan.dataset == task]
    of_variant = {run.plan.variant: run for run in on_same_items(stored, shown.own)}
    runs = [of_variant[variant] for variant in shown.variants if variant in of_variant]
    if runs:
        _curves(shown, runs)
    missing = [variant for variant in gone.usable(shown.variants or offer.at_first()) if variant not in of_variant]
    if missing:
        with st.container(border=True, key="no_curves"):
            what = f"Learning curves of {', '.join(v.label for v in missing)} on {tables.dataset_title(task)}"
            offer_line(
                what, "Run them", what, partial(_requests, missing, shown, task), key="run_curves", primary=not runs
            )


def _requests(variants: Sequence[Variant], shown: TransferView, task: str) -> list[RunRequest]:
    everybody = () if shown.own else [variant.encoder for variant in shown.variants or variants]
    return [requesting.request(ENTRY.id, v.encoder, v.transform, task, {}, settings(), everybody) for v in variants]


def _curves(shown: TransferView, runs: Sequence[RunRecord]) -> None:
    rows = crossing.points(runs)
    figure = figures.learning_curves(rows, variant_styles(run.plan.variant for run in runs), shown.scheme)
    st.plotly_chart(figure, key="transfer_curves")
    st.caption(
        f"Mean accuracy over {DRAWS} draws of training examples, the same for all models, with 95% CI over test "
        "examples and draws. Scaling and C are chosen within the drawn examples."
    )
    crossings = _crossings(runs) if len(runs) > 1 and not shown.own else []
    for crossed in crossings:
        a, b = (f"**{as_text(run.plan.variant.label)}**" for run in (crossed.a, crossed.b))
        st.markdown(f"- {crossing.in_words(crossed, a, b)}")
    if crossings:
        st.caption("Significant where the 95% CI, which hold for all these differences at once, exclude 0.")
    table = [
        {"model": v.label, **{f"{size:,}": value for size, value in zip(of["size"], 100 * of["value"], strict=True)}}
        for v, of in rows.items()
    ]
    formats = dict.fromkeys((f"{size:,}" for size in SIZES), "%.1f%%")
    tables.draw(table, key="transfer_curve_table", placeholder="–", column_config=formats)


@cached(16, "Comparing learning curves …")
def _crossings(runs: Sequence[RunRecord]) -> list[Crossing]:
    return crossing.crossings(crossing.curves(runs, repository()))
