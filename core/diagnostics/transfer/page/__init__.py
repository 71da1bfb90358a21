"""The page Transfer: its controls, the runs that they select, and its views."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from blindspot import ui
from blindspot.diagnostics.transfer.classifiers import IN_WORDS
from blindspot.diagnostics.transfer.definition import CLASSIFIERS, ENTRY, SEEDS
from blindspot.diagnostics.transfer.outcomes import Measure
from blindspot.diagnostics.transfer.page import classifiers, offer, one_task, tasks
from blindspot.diagnostics.transfer.page.runs import TransferView
from blindspot.diagnostics.transfer.tasks import DEMO, TEN, WITHOUT_OVERLAP
from blindspot.store.records import RunRecord
from blindspot.ui.options import options, runs_asked_for
from blindspot.ui.pickers import Picks
from blindspot.ui.resources import repository, scheme
from blindspot.ui.widgets import missing_runs, tables
from blindspot.ui.widgets.choices import one_of
from blindspot.ui.widgets.views import View, choose_view

SCORES = [f"{m}{part}{end}" for m in Measure for part in ("", WITHOUT_OVERLAP) for end in ("", "_low", "_high")]
COUNTS = ["majority", f"majority{WITHOUT_OVERLAP}", "tested", "trained", "overlap", "shared_text", "classes"]

# The keys are also in the address; the first is the default.
VIEWS: Mapping[str, View[TransferView]] = {
    "tasks": View("Which model is best on which task?", tasks.show),
    "classifiers": View("Does the ranking of models depend on the classifier?", classifiers.show),
    "confusion": View("Which classes are confused?", one_task.confusion),
    "items": View("Which examples does one model get right and the other wrong?", one_task.items),
}


def show() -> None:
    """The page."""
    picks = ui.page("Transfer", ENTRY.question)
    with ui.errors_shown():
        if shown := _selected(picks):
            tasks.show_headline(shown)
            choose_view(shown, VIEWS, "Look closer", key="transfer_view")
    ui.how_computed(ENTRY)


def _selected(picks: Picks) -> TransferView | None:
    found = repository().finished(ENTRY, metrics=[*SCORES, *COUNTS])
    if not found:
        offer.nothing_yet(picks)
        return None
    classifier, seed, measure, overlap, own = _controls(any(r.plan.support_digest for r in found))
    every: dict[str, dict[str, list[RunRecord]]] = {}
    with_runs = set()
    of_seed = [r for r in found if dict(r.plan.params) == {"classifier": _kind(r), "seed": seed}]
    for run in runs_asked_for(picks, of_seed):
        every.setdefault(_kind(run), {}).setdefault(run.plan.dataset, []).append(run)
        with_runs.add(run.plan.variant)
    comparable = {
        kind: {
            task: {run.plan.variant: run for run in tables.on_one_support(by_task[task], own)}
            for task in sorted(by_task, key=_place)
        }
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
        picks,
        variants,
        comparable,
        [v for v in variants if v in hidden],
        classifier,
        seed,
        measure,
        overlap,
        own,
        missing_runs.fits(ENTRY, picks.dataset),
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
        support = "common"
        if in_parts:
            support = one_of(
                "Examples",
                ["common", "own"],
                "transfer_support",
                "Word vectors lack some texts. common: per task the examples that all models cover, so that scores "
                "are comparable. own: for each model the examples that it covers itself.",
            )
    return classifier, str(seed), measure, overlap == "with", support == "own"


def _place(task: str) -> tuple[int, str]:
    return (TEN.index(task) if task in TEN else len(TEN) + (task == DEMO), task)
