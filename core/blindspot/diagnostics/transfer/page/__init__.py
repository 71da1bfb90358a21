"""The page Transfer, and what it shares with other pages of tasks: controls, the runs that they select, views."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from blindspot import ui
from blindspot.datasets.catalog import title_of
from blindspot.diagnostics.transfer.classifiers import IN_WORDS
from blindspot.diagnostics.transfer.definition import CLASSIFIERS, ENTRY, SEEDS
from blindspot.diagnostics.transfer.learning_curve import ENTRY as LEARNING_CURVE
from blindspot.diagnostics.transfer.outcomes import Measure
from blindspot.diagnostics.transfer.page import classifiers, offer, one_task, scarce, tasks
from blindspot.diagnostics.transfer.page.runs import Offered, TaskPage, TransferView
from blindspot.diagnostics.transfer.tasks import DEMO, PAIR_TASKS, QUICK, TEN, WITHOUT_OVERLAP
from blindspot.store.records import RunRecord
from blindspot.ui.options import options, runs_asked_for
from blindspot.ui.pickers import Picks
from blindspot.ui.resources import repository, scheme
from blindspot.ui.widgets import missing_runs, shown_runs
from blindspot.ui.widgets.choices import one_of
from blindspot.ui.widgets.views import View, choose_view

SCORES = [f"{m}{part}{end}" for m in Measure for part in ("", WITHOUT_OVERLAP) for end in ("", "_low", "_high")]
COUNTS = ["chance", "majority", f"majority{WITHOUT_OVERLAP}", "tested", "trained", "overlap", "shared_text", "classes"]
CHOICES = ["c", "znorm"]

# The keys are also in the address; the first is the default.
VIEWS: Mapping[str, View[TransferView]] = {
    "tasks": View("Which model is best on which task?", tasks.show),
    "classifiers": View("Does the ranking of models depend on the classifier?", classifiers.show),
    "scarce": View("Which model is best with few training examples?", scarce.show),
    "confusion": View("Which classes are confused?", one_task.confusion),
    "items": View("Which examples does one model get right and the other wrong?", one_task.items),
}


def _title(task: str) -> str:
    """A task's name, with a note if its examples are pairs."""
    name = title_of(task)
    return f"{name} (pairs)" if task in PAIR_TASKS else name


PAGE = TaskPage(
    ENTRY,
    "A task trains a simple classifier on a model's embeddings of labeled texts and tests it on others.",
    "has no labeled texts",
    (DEMO,),
    (
        Offered("demo", "Run the demo", (DEMO,), is_primary=True),
        Offered("quick", "Run two tasks", QUICK),
        Offered("ten", "Run all ten", TEN),
    ),
    QUICK,
    titled=_title,
    place=lambda task: (TEN.index(task) if task in TEN else len(TEN) + (task == DEMO), task),
    asks=lambda task: "",  # noqa: ARG005 - descriptions of datasets tell
)


def show() -> None:
    """The page."""
    show_tasks(PAGE, VIEWS)


def show_tasks(page: TaskPage, views: Mapping[str, View[TransferView]]) -> None:
    """A page of tasks."""
    picks = ui.page(page.entry.title, page.entry.question)
    with ui.errors_shown():
        curves = _curves_alone(page) if "scarce" in views else []
        if shown := _selected(page, picks, curves):
            tasks.show_headline(shown)
            choose_view(shown, {"scarce": views["scarce"], **views} if curves else views)
    ui.how_computed(page.entry, *([LEARNING_CURVE] if "scarce" in views else []))


def _curves_alone(page: TaskPage) -> list[RunRecord]:
    """Learning curves, if there is nothing else to show."""
    return [] if repository().finished(page.entry) else repository().finished(LEARNING_CURVE)


def _selected(page: TaskPage, picks: Picks, curves: Sequence[RunRecord]) -> TransferView | None:
    runs = repository().finished(page.entry, metrics=[*SCORES, *COUNTS, *CHOICES])
    if not runs and not curves:
        offer.nothing_yet(page, picks)
        return None
    classifier, seed, measure, overlap, covers_own = _controls(any(r.plan.covered_digest for r in runs))
    every: dict[str, dict[str, list[RunRecord]]] = {}
    with_runs = {run.plan.variant for run in curves}
    of_seed = [r for r in runs if dict(r.plan.params) == {"classifier": _kind(r), "seed": seed}]
    for run in runs_asked_for(picks, of_seed):
        every.setdefault(_kind(run), {}).setdefault(run.plan.dataset, []).append(run)
        with_runs.add(run.plan.variant)
    comparable = {
        kind: shown_runs.by_variant({task: by_task[task] for task in sorted(by_task, key=page.place)}, covers_own)
        for kind, by_task in every.items()
    }
    variants = picks.variants or [v for v in repository().variants() if v in with_runs]
    hidden = {
        run.plan.variant
        for task, runs in every.get(classifier, {}).items()
        for run in runs
        if run.plan.variant not in comparable[classifier][task]
    }
    return TransferView(
        page,
        picks,
        variants,
        comparable,
        [v for v in variants if v in hidden],
        classifier,
        seed,
        measure,
        overlap,
        covers_own,
        missing_runs.fits(page.entry, picks.dataset),
        scheme(),
    )


def _kind(run: RunRecord) -> str:
    return run.plan.params.get("classifier", "")


def _controls(in_parts: bool) -> tuple[str, str, Measure, bool, bool]:
    """Classifier, seed, measure, whether overlap counts, and whether each model is on its own examples.

    Args:
        in_parts: whether some run was of a part of its examples.
    """
    with options():
        names = "\n".join(f"- **{name}**: {IN_WORDS.get(name, name)}" for name in CLASSIFIERS)
        classifier = one_of("Classifier", CLASSIFIERS, "classifier", names)
        measure = one_of(
            "Score",
            Measure,
            "transfer_score",
            "accuracy: the share of tested examples whose class is predicted right. macro_f1: the mean over classes of "
            "F1, in which a rare class counts as much as a frequent one.",
        )
        overlap = one_of(
            "Overlap",
            ["with", "without"],
            "overlap",
            "Tested examples that are also in the training part or, in a task without a split, occur more than once. "
            "without: scored without them; the classifiers are the same.",
        )
        seed = st.selectbox(
            "Seed", SEEDS, key="seed", bind="query-params", width=90, help="Of folds and initial weights."
        )
        covers_own = in_parts and shown_runs.choose_own("Examples", "examples", "transfer_covered")
    return classifier, str(seed), measure, overlap == "with", covers_own
