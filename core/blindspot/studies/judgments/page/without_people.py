"""Outlier detection beside people's precision: the same question about published groups of words, without raters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from blindspot.datasets.catalog import DATASETS, title_of
from blindspot.diagnostic import find_diagnostic
from blindspot.store.records import RunRecord
from blindspot.studies.judgments.scoring import Scores
from blindspot.ui.navigation import page_link
from blindspot.ui.resources import repository
from blindspot.ui.widgets import shown_runs, tables
from blindspot.variants import Variant

OUTLIERS = "outliers"


def show(scores: Scores, names: Mapping[Variant, str]) -> None:
    """A row per judged model: people's precision, and the share of outliers that it finds in every set that was run.

    Nothing where none was.
    """
    entry = find_diagnostic(OUTLIERS)
    found: dict[str, list[RunRecord]] = {}
    for run in repository().finished(entry, params=entry.check_params({})):
        found.setdefault(run.plan.dataset, []).append(run)
    runs = shown_runs.by_variant(found, own=False)
    runs = {dataset: of_set for dataset, of_set in runs.items() if any(v in of_set for v in names)}
    if not runs:
        return
    st.markdown("**Without people: outlier detection**")
    columns: dict[str, Sequence[object]] = {"model": list(names.values()), "people": _people(scores, list(names))}
    for dataset in sorted(runs, key=_place):
        of_set = runs[dataset]
        columns[dataset] = [100 * of_set[v].metrics["accuracy"] if v in of_set else float("nan") for v in names]
    percent = {dataset: st.column_config.NumberColumn(title_of(dataset), format="%.1f%%") for dataset in runs}
    people = st.column_config.NumberColumn("precision of people", format="%.1f%%", help="Guessing: 25%")
    tables.draw(columns, placeholder="–", key="judged_outliers", column_config={"people": people, **percent})
    st.caption(
        "People look for an intruder among a model's neighbors; outlier detection lets the model look for the word "
        "that does not belong to a published group, of nine or so: guessing finds 11%. Higher is better in both."
    )
    page_link("words", label="Outliers on Words", icon=":material/spellcheck:")


def _people(scores: Scores, variants: Sequence[Variant]) -> list[float]:
    """Precision in percent; NaN without votes."""
    known = {score.variant: score.value for score in scores.variants if score.value is not None}
    return [100 * known[v] if v in known else float("nan") for v in variants]


def _place(dataset: str) -> tuple[int, str]:
    names = list(DATASETS)
    return (names.index(dataset) if dataset in names else len(names), dataset)
