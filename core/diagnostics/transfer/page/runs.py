"""The runs that the page Transfer shows, and the predictions that they stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from blindspot.datasets import fetch
from blindspot.datasets.catalog import find_dataset, title_of
from blindspot.datasets.entries import DatasetEntry
from blindspot.datasets.kinds.labelled_texts import LabelledTexts
from blindspot.diagnostics.transfer.definition import ENTRY
from blindspot.diagnostics.transfer.outcomes import Measure, Outcomes, outcomes
from blindspot.diagnostics.transfer.tasks import PAIR_TASKS
from blindspot.errors import BlindspotError
from blindspot.figures.theme import Scheme
from blindspot.store.records import RunRecord
from blindspot.types import Variant
from blindspot.ui.pickers import Picks
from blindspot.ui.resources import cached, repository, settings

Runs = Mapping[str, Mapping[Variant, RunRecord]]  # by task and variant


@dataclass(frozen=True, eq=False)
class TransferView:
    """Selection by the controls.

    Attributes:
        variants: those picked, else those that have a run of some task.
        every: by classifier, one run per task and variant, comparable within a task.
        hidden: variants with a run on other examples than the rest, which is not in ``every``.
        overlap: whether examples count that are also in training, or repeat.
        own: whether each encoder is tested on the examples that it covers itself.
        is_task: whether the sidebar's dataset has labeled texts.
    """

    picks: Picks
    variants: Sequence[Variant]
    every: Mapping[str, Runs]
    hidden: Sequence[Variant]
    classifier: str
    seed: str
    measure: Measure
    overlap: bool
    own: bool
    is_task: bool
    scheme: Scheme

    @property
    def runs(self) -> Runs:
        """Those of the chosen classifier."""
        return self.every.get(self.classifier, {})

    @property
    def axis(self) -> str:
        """The score's name."""
        return self.measure.in_words + ("" if self.overlap else ", without overlap")


def title(task: str) -> str:
    """A task's name in a figure, with a note if its examples are pairs."""
    name = title_of(task)
    return f"{name} (pairs)" if task in PAIR_TASKS else name


def outcomes_of(runs: Sequence[RunRecord], *, overlap: bool) -> Outcomes:
    """The examples that all the runs of a task tested, with or without those that overlap."""
    found = _outcomes(tuple(r.run_id for r in runs), classes_of(runs[0].plan.dataset))
    return found if overlap else found.without_overlap()


@cached(24, "Reading predictions …", shared=True)
def _outcomes(run_ids: tuple[str, ...], order: tuple[str, ...]) -> Outcomes:
    return outcomes(ENTRY, run_ids, repository(), order)


def classes_of(task: str) -> tuple[str, ...]:
    """The classes in the dataset's order; () where its file is not here."""
    try:
        entry = find_dataset(task)
        if fetch.dataset_state(entry, settings()) is fetch.DataState.MISSING:
            return ()
        return _classes(entry)
    except BlindspotError:  # a user's file that is gone or changed
        return ()


@cached(50)
def _classes(entry: DatasetEntry) -> tuple[str, ...]:
    dataset = fetch.load(entry, settings())
    return dataset.classes if isinstance(dataset, LabelledTexts) else ()
