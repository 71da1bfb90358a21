"""The parts of the HEROS page that all its views stand on: dataset, runs, rows."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pandas as pd
import streamlit as st

from core.diagnostic import DiagnosticEntry
from core.runs import pipeline
from core.store.records import RunRecord
from core.ui.pickers import Picks, pick_dataset
from core.ui.resources import cached, repository, settings
from core.ui.widgets import missing_runs, tables
from core.ui.widgets.work import run_button

DEFAULT = "demo-minimal"


def dataset_of(entry: DiagnosticEntry, picks: Picks) -> str:
    """The picked dataset if it holds minimal pairs; else the built-in one, and a word about it."""
    if missing_runs.fits(entry, picks.dataset):
        return picks.dataset
    text, button = st.columns([4, 1], vertical_alignment="center")
    text.caption(
        f"{tables.dataset_title(picks.dataset)}, picked in the sidebar, holds no minimal pairs. Shown: "
        f"{tables.dataset_title(DEFAULT)}."
    )
    button.button("Pick it", key="pick_minimal", on_click=pick_dataset, args=(DEFAULT,), width="stretch")
    return DEFAULT


def finished_runs(entry: DiagnosticEntry, dataset: str, picks: Picks) -> list[RunRecord]:
    """The newest run of each picked variant, the best by its headline first."""
    # Without parameters, which leaves out those whose transform was fitted on another dataset.
    found = missing_runs.stored(entry, picks, dataset, {})
    newest = {r.plan.variant: r for r in reversed(found)}
    return sorted(newest.values(), key=lambda r: -r.metrics.get(entry.headline_of(r.metrics), -math.inf))


def offer(entry: DiagnosticEntry, dataset: str, picks: Picks, runs: Sequence[RunRecord]) -> None:
    """What is not computed: picked variants, a first run, another variant."""

    def two_poolings() -> None:
        requests = [pipeline.request(entry.id, e, "none", dataset, {}, settings()) for e in ("minilm", "minilm-cls")]
        run_button("Compare two poolings of MiniLM", f"HEROS on {dataset}", requests, key="run_first")

    missing_runs.offer(entry, picks, runs, dataset, {}, "HEROS run", first=two_poolings)


@cached(16, "Reading similarities …")
def _rows(entry: DiagnosticEntry, run_ids: tuple[str, ...]) -> pd.DataFrame:
    return repository().items(entry, run_ids, texts=True)


def rows(entry: DiagnosticEntry, runs: Sequence[RunRecord]) -> pd.DataFrame:
    """Every minimal pair of the runs, cached by run: a finished run never changes."""
    return _rows(entry, tuple(r.run_id for r in runs))


def subsets_of(entry: DiagnosticEntry, runs: Sequence[RunRecord], frame: pd.DataFrame) -> list[str]:
    """The subsets that all runs have: HEROS's in its order, then any others in the order of the dataset.

    Args:
        frame: the runs' rows; they come in the dataset's order.
    """
    present = list(frame.loc[frame["run_id"] == runs[0].run_id, "subset"].unique())
    declared = [metric.name for metric in entry.metrics if metric.name in present]
    names = dict.fromkeys([*declared, *present])
    return [name for name in names if all(name in run.metrics for run in runs)]
