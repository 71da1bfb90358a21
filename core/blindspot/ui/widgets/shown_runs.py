"""Runs that a page shows: of a dataset that fits, one per model, on which texts, and not too many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import inf
from typing import TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from blindspot.datasets.catalog import DatasetRef
from blindspot.diagnostic import Diagnostic
from blindspot.runs.same_items import on_same_items
from blindspot.store.records import RunRecord
from blindspot.ui.pickers import Picks
from blindspot.ui.widgets import missing_runs, tables
from blindspot.ui.widgets.choices import one_of
from blindspot.variants import Variant

Key = TypeVar("Key")


def picks_that_fit(
    entry: Diagnostic, picks: Picks, lacks: str, offered: Mapping[str, str], *, key: str
) -> Picks | None:
    """The picks with a dataset that fits (``missing_runs.dataset_shown``); None where there is none, after an offer.

    Args:
        lacks: what the picked dataset lacks and what to pick, as Markdown after its title.
        offered: datasets of the catalog, each with what follows its title.
    """
    if dataset := missing_runs.dataset_shown([entry], picks):
        return replace(picks, dataset=dataset)
    text = f"{tables.dataset_title(picks.dataset)} {lacks}, or add your own on the page *Data*."
    missing_runs.offer_others(text, offered, key=key)
    return None


def newest(entry: Diagnostic, picks: Picks, dataset: DatasetRef, params: Mapping[str, str]) -> list[RunRecord]:
    """The newest finished run of each model asked for, the best by its headline first."""
    newest_runs = {run.plan.variant: run for run in reversed(missing_runs.stored(entry, picks, dataset, params))}
    return sorted(newest_runs.values(), key=lambda run: -run.metrics.get(entry.headline_of(run.metrics), -inf))


def first_of(runs: Sequence[RunRecord], most: int, how: str = "the best") -> list[RunRecord]:
    """The first ``most``, with a caption where these are not all; ``how`` they were chosen."""
    if len(runs) > most:
        st.caption(f"{most} of {len(runs):,} models, {how}. Pick others in the sidebar.")
    return list(runs[:most])


def choose_own(label: str, texts: str, key: str, *, container: DeltaGenerator | None = None) -> bool:
    """Whether each model counts on the texts that it covers itself, rather than all on common ones.

    Args:
        texts: what they are called: texts, words, examples.
        key: in the address.
    """
    about = (
        f"Word vectors lack some texts. common: the {texts} that all models cover, so that scores are comparable. own: "
        f"for each model the {texts} that it covers itself, not comparable."
    )
    return one_of(label, ["common", "own"], key, about, container=container) == "own"


def by_variant(runs: Mapping[Key, Sequence[RunRecord]], own: bool) -> dict[Key, dict[Variant, RunRecord]]:
    """Per dataset the runs of ``on_same_items`` by their models."""
    return {name: {run.plan.variant: run for run in on_same_items(some, own)} for name, some in runs.items()}
