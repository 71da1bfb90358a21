"""The runs that a page of tasks shows, Transfer or Probing, and the predictions that they stored."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from blindspot.datasets import fetch
from blindspot.datasets.catalog import DatasetRef
from blindspot.datasets.entries import DatasetEntry
from blindspot.datasets.kinds.labeled_texts import LabeledTexts
from blindspot.diagnostic import Diagnostic, find_diagnostic
from blindspot.diagnostics.transfer.outcomes import Measure, Outcomes, outcomes
from blindspot.errors import BlindspotError
from blindspot.figures.theme import Scheme
from blindspot.store.records import RunRecord
from blindspot.ui.pickers import Picks
from blindspot.ui.resources import cached, repository, settings
from blindspot.variants import Variant

Runs = Mapping[str, Mapping[Variant, RunRecord]]  # by task and variant


@dataclass(frozen=True)
class Offered:
    """Tasks that an empty page offers to run at once.

    Attributes:
        key: of its button.
    """

    key: str
    label: str
    tasks: tuple[str, ...]
    is_primary: bool = False


@dataclass(frozen=True, eq=False)
class TaskPage:
    """What is particular to a page of tasks.

    Attributes:
        about: what a task is and where more come from, for an empty page, as Markdown.
        not_here: what a dataset of another kind is or lacks.
        demos: built-in tasks, which are in no mean.
        offered: what an empty page offers to run.
        first: tasks to pick, and to choose in the form, where no task was run.
        titled: gives a task's name in figures and tables.
        place: gives a task's place in the order of tasks.
        asks: what a task asks about a text, or "".
    """

    entry: Diagnostic
    about: str
    not_here: str
    demos: tuple[str, ...]
    offered: tuple[Offered, ...]
    first: tuple[str, ...]
    titled: Callable[[str], str]
    place: Callable[[str], tuple[int, str]]
    asks: Callable[[str], str]


@dataclass(frozen=True, eq=False)
class TransferView:
    """Selection by the controls.

    Attributes:
        variants: those picked, else those that have a run of some task.
        every: by classifier, one run per task and variant, comparable within a task.
        hidden: variants that have a run on other examples than the rest; this run is not in ``every``.
        overlap: whether examples count that are also in training, or repeat.
        own: whether each encoder is tested on the examples that it covers itself.
        is_task: whether the sidebar's dataset is a task.
    """

    page: TaskPage
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
        """The runs of the chosen classifier."""
        return self.every.get(self.classifier, {})

    @property
    def axis(self) -> str:
        """The score's name."""
        return self.measure.in_words + ("" if self.overlap else ", without overlap")


def outcomes_of(runs: Sequence[RunRecord], *, overlap: bool) -> Outcomes:
    """The examples that all the runs of a task tested, with or without those that overlap."""
    plan = runs[0].plan
    answers = _outcomes(plan.diagnostic, tuple(r.run_id for r in runs), classes_of(plan.dataset))
    return answers if overlap else answers.without_overlap()


@cached(24, "Reading predictions …", shared=True)
def _outcomes(diagnostic: str, run_ids: tuple[str, ...], order: tuple[str, ...]) -> Outcomes:
    return outcomes(find_diagnostic(diagnostic), run_ids, repository(), order)


def classes_of(task: DatasetRef) -> tuple[str, ...]:
    """The classes in the dataset's order; () where its file is not here."""
    try:
        entry = task.entry()
        if fetch.dataset_state(entry, settings()) is fetch.DataState.MISSING:
            return ()
        return _classes(entry)
    except BlindspotError:  # a user's file that is gone or changed
        return ()


@cached(50)
def _classes(entry: DatasetEntry) -> tuple[str, ...]:
    dataset = fetch.load(entry, settings())
    return dataset.classes if isinstance(dataset, LabeledTexts) else ()
