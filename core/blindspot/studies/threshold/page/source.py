"""Pairs that the page shows: stored similarities of runs, or similarities of cached embeddings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from blindspot.datasets.catalog import DatasetRef
from blindspot.datasets.kinds.base import DatasetKind
from blindspot.datasets.kinds.labeled_texts import LabeledTexts
from blindspot.diagnostic import find_diagnostic
from blindspot.errors import BlindspotError
from blindspot.numerics.similarity import Similarity
from blindspot.numerics.statistics.written import percent
from blindspot.runs.spaces import Space
from blindspot.space.page import open_picked
from blindspot.store.records import RunRecord
from blindspot.studies.threshold.pairs import Measured, of_runs, of_spaces
from blindspot.ui.pickers import DEFAULT_PROTOCOL, Picks
from blindspot.ui.resources import cached, repository
from blindspot.ui.widgets import missing_runs, shown_runs, tables
from blindspot.ui.widgets.two_variants import two_names, two_variants
from blindspot.variants import Variant

LACKS = "does not say which texts are the same. Pick scored pairs, labeled pairs or labeled texts"
OFFERED = {"stsb-test": "scored", "mrpc": "paraphrases or not", "demo-scored": "built in"}


@dataclass(frozen=True, eq=False)
class Source:
    """The pairs of one model or two.

    Attributes:
        a: the model whose threshold is drawn; ``b`` another one, or None.
        metric: the similarity.
        runs: ids of the runs whose stored similarities these are.
    """

    measured: Measured
    a: Variant
    b: Variant | None
    metric: str
    runs: tuple[str, ...] = ()


def source(picks: Picks) -> Source | None:
    """The pairs of the picked dataset; without any, offer to compute them and return None."""
    return _of_labeled(picks) if _is_labeled(picks.dataset) else _of_scored(picks)


def _is_labeled(dataset: DatasetRef) -> bool:
    try:
        return dataset.entry().kind is DatasetKind.LABELED_TEXTS
    except BlindspotError:  # a user's file that is gone: runs on scored pairs are still stored
        return False


def _of_labeled(picks: Picks) -> Source | None:
    opened = open_picked(picks)
    if opened is None:
        return None
    if not isinstance(opened.dataset, LabeledTexts):
        raise TypeError(f"{opened.dataset.id} has no labeled texts")
    spaces = {str(space.variant): space for space in opened.spaces}
    a, b = two_names(list(spaces), b_at_first=False)
    chosen = tuple(spaces[name] for name in (a, b) if name)
    measured = _computed(opened.dataset, chosen, opened.metric)
    return Source(measured, spaces[a].variant, spaces[b].variant if b else None, picks.metric)


def _of_scored(picks: Picks) -> Source | None:
    entry = find_diagnostic("similarity")
    picked = shown_runs.picks_that_fit(entry, picks, LACKS, OFFERED, key="no_pairs")
    if picked is None:
        return None
    dataset = picked.dataset
    params = {"metric": picks.metric, "protocol": DEFAULT_PROTOCOL}
    runs = shown_runs.newest(entry, picks, dataset, params)
    missing_runs.offer(entry, picks, runs, dataset, params, "similarities")
    if not runs:
        return None
    sides = two_variants(runs, b_at_first=False)
    chosen = tuple(sides.by_letter.values())
    b = None if sides.b is None else sides.b.plan.variant
    ids = tuple(run.run_id for run in chosen)
    return Source(_stored(chosen), sides.a.plan.variant, b, picks.metric, ids)


@cached(8, "Reading similarities …", shared=True)
def _stored(runs: Sequence[RunRecord]) -> Measured:
    return of_runs(runs, repository())


@cached(8, "Computing similarities …", shared=True)
def _computed(dataset: LabeledTexts, spaces: Sequence[Space], metric: Similarity) -> Measured:
    return of_spaces(dataset, spaces, metric)


def say_pairs(shown: Source, same: int) -> None:
    """Say below the answer what the pairs are."""
    measured = shown.measured
    parts = [
        f"{len(measured):,} pairs of {tables.dataset_title(measured.dataset)}, {percent(same / len(measured), 1)} the "
        "same"
    ]
    if measured.is_sampled:
        parts.append(
            "sampled: half of one class, a quarter random pairs of different classes, a quarter of different classes "
            "with similar words; no text is in two pairs"
        )
    if measured.left_out:
        parts.append(f"{measured.left_out:,} pairs left out, since a model has no vector for a text")
    st.caption("; ".join(parts) + ". Where fewer pairs are the same, precision is lower at every threshold.")
