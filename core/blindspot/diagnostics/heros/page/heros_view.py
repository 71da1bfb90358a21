"""Runs that the HEROS page shows, one per model, and the data that its views share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from blindspot.datasets.catalog import DatasetRef
from blindspot.diagnostic import Diagnostic
from blindspot.diagnostics.heros import browsing
from blindspot.diagnostics.heros.browsing import Sentences
from blindspot.diagnostics.heros.figures.profile import label
from blindspot.diagnostics.heros.orderings import Cosines
from blindspot.diagnostics.heros.view import OrderingsView, orderings_view
from blindspot.figures.theme import Scheme, Style
from blindspot.store.records import RunRecord
from blindspot.ui.headline import subject_first
from blindspot.ui.markdown import as_text
from blindspot.ui.pickers import Picks
from blindspot.ui.resources import Keys, cached, repository
from blindspot.ui.widgets import missing_runs, shown_runs
from blindspot.variants import Variant

DEFAULT = "demo-minimal"


@dataclass(frozen=True, eq=False)
class HerosView:
    """Input of every view.

    Attributes:
        dataset: reference of the minimal-pair set; it may differ from the picked one.
        runs: one per variant, all on that dataset.
        subsets: those that all runs have, in the order of display.
        rows: a row per run, original and subset: run_id, item_no, subset, cosine, similarity, original, rewrite.
    """

    entry: Diagnostic
    dataset: str
    runs: Sequence[RunRecord]
    subsets: Sequence[str]
    rows: pd.DataFrame
    styles: Mapping[Variant, Style]
    scheme: Scheme


BY_RUNS: Keys = {
    HerosView: lambda shown: ([run.run_id for run in shown.runs], list(shown.subsets))
}  # rows never change


TWO_POOLINGS = ("minilm", "minilm-cls")


def finished_runs(entry: Diagnostic, dataset: DatasetRef, picks: Picks) -> list[RunRecord]:
    """The newest run of each picked model: first the one that sentences are about, then the others, best first."""
    # Without parameters, which leaves out those whose transform was fitted on another dataset.
    return subject_first(shown_runs.newest(entry, picks, dataset, {}), picks)


def offer(entry: Diagnostic, dataset: DatasetRef, picks: Picks, runs: Sequence[RunRecord]) -> None:
    """Offer to compute what is missing: picked models, a first run, another model."""
    missing_runs.offer(entry, picks, runs, dataset, {}, "HEROS run", usual=TWO_POOLINGS)


@cached(16, "Reading similarities …")
def rows(entry: Diagnostic, run_ids: tuple[str, ...]) -> pd.DataFrame:
    """Every minimal pair of the runs, in the dataset's order."""
    return repository().items(entry, run_ids, texts=True)


def subsets_of(entry: Diagnostic, runs: Sequence[RunRecord], rows: pd.DataFrame) -> list[str]:
    """The subsets that all runs have: HEROS's in its order, then any others in the order of the dataset."""
    present = list(rows.loc[rows["run_id"] == runs[0].run_id, "subset"].unique())
    declared = [metric.name for metric in entry.metrics if metric.name in present]
    names = dict.fromkeys([*declared, *present])
    return [name for name in names if all(name in run.metrics for run in runs)]


@cached(16, "Comparing rewrites …", keys=BY_RUNS)
def cosines(shown: HerosView) -> Mapping[str, Cosines]:
    """The cosines of each run, by id, over the subsets shown; raises ``BlindspotError`` if stored rows are missing."""
    by_run = dict(tuple(shown.rows.groupby("run_id")))
    same_texts = repository().same_texts(shown.runs[0].plan.dataset_digest)
    return {run.run_id: Cosines.of_rows(by_run[run.run_id], same_texts, shown.subsets) for run in shown.runs}


@cached(16, "Comparing rewrites …", keys=BY_RUNS)
def orderings_of(shown: HerosView) -> Mapping[str, OrderingsView]:
    """How often one rewrite is nearer than another, by run id; raises ``BlindspotError`` if stored rows are missing."""
    return {run_id: orderings_view(cosines_of_run) for run_id, cosines_of_run in cosines(shown).items()}


def shared_texts(shown: HerosView) -> str:
    """A sentence, after a space, on what counts as independent where sentences share texts; "" where they do not.

    Raises:
        BlindspotError: stored rows are missing.
    """
    dependence = cosines(shown)[shown.runs[0].run_id].dependence
    if dependence.is_of_singles:
        return ""
    return f" Some sentences share texts, so that intervals and tests count {dependence.independent}."


@cached(16, "Reading similarities …", keys=BY_RUNS)
def sentences(shown: HerosView) -> Sentences:
    """The originals with their rewrites, side by side for all runs."""
    return browsing.sentences(shown.rows, shown.subsets)


def subset_in_words(subset: str) -> str:
    """A subset's name for a sentence in Markdown."""
    return as_text(label(subset))


def named(run: RunRecord) -> str:
    """A run's model in bold Markdown."""
    return f"**{as_text(run.plan.variant.label)}**"
