"""The parts of the page Similarity that all its views stand on: runs, what is not computed, the pairs."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from core.datasets import catalog as datasets
from core.diagnostic import DiagnosticEntry
from core.diagnostics.similarity.page.shown import Shown
from core.diagnostics.similarity.pairs import ScoredTable, scored_table
from core.store.records import RunRecord
from core.ui.pickers import Picks, pick_dataset
from core.ui.resources import cached, repository, scheme
from core.ui.variant_looks import variant_styles
from core.ui.widgets import missing_runs, tables

OFFERED = {"stsb-test": "sentences", "ws353": "words"}
MAX_SHOWN = 11


def gather(entry: DiagnosticEntry, picks: Picks) -> Shown | None:
    """The runs that the pickers ask for, and what is missing offered; None while there is nothing to show."""
    if not missing_runs.fits(entry, picks.dataset):
        _other_kind(picks.dataset)
        return None
    runs = runs_of(entry, picks, picks.dataset)
    missing_runs.offer(entry, picks, runs, picks.dataset, picks.params, "scores")
    if not runs:
        return None
    if len(runs) > MAX_SHOWN:
        st.caption(
            f"{MAX_SHOWN} of {len(runs):,} variants: every encoder without a transform, then the best. Pick others in "
            "the sidebar."
        )
        plain = [run for run in runs if run.plan.variant.transform == "none"]
        first = [*plain, *(run for run in runs if run not in plain)][:MAX_SHOWN]
        runs = [run for run in runs if run in first]
    table = table_of(entry, runs)
    _coverage(runs, table)
    if len(table.frame) < 2:
        st.warning(
            "No two pairs have a similarity in all of these variants. Pick fewer variants in the sidebar.",
            icon=":material/balance:",
        )
        return None
    return Shown(entry, picks, runs, table, variant_styles(r.plan.variant for r in runs), scheme())


def runs_of(entry: DiagnosticEntry, picks: Picks, dataset: str) -> list[RunRecord]:
    """The newest finished run of each picked variant on a dataset, the best by its headline first."""
    found = missing_runs.stored(entry, picks, dataset, picks.params)
    newest = {r.plan.variant: r for r in reversed(found)}
    return sorted(newest.values(), key=lambda r: -r.metrics[entry.headline])


def _other_kind(dataset: str) -> None:
    """The picked dataset has no scored pairs: say so, and offer two that have."""
    with st.container(border=True, key="no_scores"):
        st.markdown(
            f"{tables.dataset_title(dataset)}, picked in the sidebar, has no pairs that people scored. Pick a "
            "dataset that has, or bring scored pairs of your own on the page *Data*."
        )
        with st.container(horizontal=True):
            for name, unit in OFFERED.items():
                st.button(
                    f"{datasets.DATASETS[name].title} ({unit})",
                    key=f"pick_{name}",
                    on_click=pick_dataset,
                    args=(name,),
                    icon=":material/dataset:",
                )


def table_of(entry: DiagnosticEntry, runs: Sequence[RunRecord]) -> ScoredTable:
    """The pairs that all runs scored, cached by run: a finished run never changes."""
    return _table(entry, tuple(r.run_id for r in runs))


@cached(8, "Reading similarities …", shared=True)
def _table(entry: DiagnosticEntry, run_ids: tuple[str, ...]) -> ScoredTable:
    return scored_table(entry, run_ids, repository())


def _coverage(runs: Sequence[RunRecord], table: ScoredTable) -> None:
    """Which pairs were left out, and of whom: all variants are compared on the pairs that all of them have."""
    every = runs[0].coverage["pairs"]
    if len(table.frame) == every:
        return
    lacking = [r for r in runs if r.coverage["pairs_covered"] < every]
    each = "; ".join(f"`{r.plan.variant.label}` {r.coverage['pairs_covered']:,}" for r in lacking)
    st.info(
        f"**Coverage:** {len(table.frame):,} of {every:,} pairs have a vector for both texts in every variant; all "
        f"scores here are of these. Pairs with vectors: {each}.",
        icon=":material/balance:",
    )
