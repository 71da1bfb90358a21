"""What all views of the page Transfer stand on: which runs, and one task's examples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from core.datasets import catalog as datasets
from core.datasets import fetch, uploads
from core.datasets.entries import DatasetEntry
from core.datasets.kinds.labelled_texts import LabelledTexts
from core.diagnostic import DiagnosticEntry
from core.diagnostics.transfer.definition import CLASSIFIERS, SEEDS
from core.diagnostics.transfer.outcomes import Measure, Outcomes, outcomes
from core.diagnostics.transfer.page import offer as transfer_offer
from core.diagnostics.transfer.page.shown import Shown
from core.diagnostics.transfer.tasks import DEMO, PAIR_TASKS, TEN, WITHOUT_OVERLAP
from core.errors import BlindspotError
from core.store.records import RunRecord, RunState
from core.types import Variant
from core.ui.markdown import as_text
from core.ui.pickers import Picks, pick_dataset
from core.ui.resources import cached, repository, scheme, settings
from core.ui.widgets import missing_runs, tables

CLASSIFIERS_IN_WORDS = {
    "logreg": "logistic regression",
    "logreg-znorm": "logistic regression, z-normalised",
    "mlp": "perceptron",
    "mlp-znorm": "perceptron, z-normalised",
}
SCORES = [
    f"{measure}{suffix}{end}"
    for measure in Measure
    for suffix in ("", WITHOUT_OVERLAP)
    for end in ("", "_low", "_high")
]
COUNTS = ["majority", f"majority{WITHOUT_OVERLAP}", "tested", "trained", "overlap", "shared_text", "classes"]
OFFERED = (DEMO, "cr", "trec")


def gather(entry: DiagnosticEntry, picks: Picks) -> Shown | None:
    """The newest comparable runs of every task and classifier; None, with something to run, where there is none."""
    found = repository().runs(
        diagnostic=entry.id,
        version=entry.version,
        state=RunState.DONE,
        current=True,
        metrics=[*SCORES, *COUNTS],
    )
    if not found:
        transfer_offer.nothing_yet(entry, picks)
        return None
    classifier, seed, measure, overlap, own = _controls(any(r.plan.support_digest for r in found))
    every: dict[str, dict[str, list[RunRecord]]] = {}
    with_runs = set()
    for run in found:
        kind = run.plan.params.get("classifier", "")
        if dict(run.plan.params) == {"classifier": kind, "seed": seed} and picks.keeps(run.plan.variant):
            every.setdefault(kind, {}).setdefault(run.plan.dataset, []).append(run)
            with_runs.add(run.plan.variant)
    comparable = {
        kind: {
            task: {run.plan.variant: run for run in tables.on_one_support(runs, own)}
            for task, runs in sorted(by_task.items(), key=lambda pair: place(pair[0]))
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
    return Shown(
        entry,
        picks,
        variants,
        comparable,
        [v for v in variants if v in hidden],
        classifier,
        seed,
        measure,
        overlap,
        own,
        missing_runs.fits(entry, picks.dataset),
        scheme(),
    )


def _controls(in_parts: bool) -> tuple[str, str, Measure, bool, bool]:
    """Classifier, seed, measure, whether overlap counts, and whether each encoder is on its own examples.

    Args:
        in_parts: whether some run was of a part of its examples.
    """
    with st.container(horizontal=True, vertical_alignment="bottom"):
        classifier = st.segmented_control(
            "Classifier",
            CLASSIFIERS,
            default=CLASSIFIERS[0],
            required=True,
            key="classifier",
            bind="query-params",
            help="\n".join(f"- **{name}**: {CLASSIFIERS_IN_WORDS.get(name, name)}" for name in CLASSIFIERS),
        )
        measure = st.segmented_control(
            "Score",
            [measure.value for measure in Measure],
            default=Measure.ACCURACY.value,
            required=True,
            key="transfer_score",
            bind="query-params",
            help="accuracy: the share of tested examples whose class is predicted. macro_f1: the mean over classes of "
            "F1, in which a rare class counts as much as a frequent one.",
        )
        overlap = st.segmented_control(
            "Overlap",
            ["with", "without"],
            default="with",
            required=True,
            key="overlap",
            bind="query-params",
            help="Tested examples that stand in the training part too, or, where a task has no split of its own, stand "
            "more than once. without: scored without them; the classifiers are the same.",
        )
        seed = st.selectbox(
            "Seed", SEEDS, key="seed", bind="query-params", width=90, help="What folds and weights start from."
        )
        own = False
        if in_parts:
            own = (
                st.segmented_control(
                    "Examples",
                    ["common", "own"],
                    default="common",
                    required=True,
                    key="transfer_support",
                    bind="query-params",
                    help="Word vectors lack some texts. common: per task the examples that all the encoders cover, so "
                    "that their scores can be compared. own: each encoder on the examples that it covers itself.",
                )
                == "own"
            )
    return str(classifier), str(seed), Measure(str(measure)), overlap == "with", own


def place(task: str) -> tuple[int, str]:
    """Where a task stands: the ten, the user's own, the demo."""
    return (TEN.index(task) if task in TEN else len(TEN) + (task == DEMO), task)


def title(task: str) -> str:
    """A task's name in a figure: its title, and whether its examples are pairs."""
    name = datasets.DATASETS[task].title if task in datasets.DATASETS else uploads.short_name(task, settings())
    return f"{name} (pairs)" if task in PAIR_TASKS else name


# --- one task


def runs_of_task(shown: Shown) -> list[RunRecord] | None:
    """The runs of the sidebar's dataset, the best first; None, with something to pick or to run, without any."""
    if not shown.is_task:
        _other_kind(shown)
        return None
    runs = [run for v, run in shown.runs.get(shown.picks.dataset, {}).items() if v in shown.variants]
    if not runs:
        transfer_offer.one_task(shown)
        return None
    return sorted(runs, key=lambda run: -run.metrics[shown.measure.value])


def _other_kind(shown: Shown) -> None:
    """The sidebar's dataset has no labels: say so, and offer those that have runs."""
    offered = [*shown.runs] or list(OFFERED)
    with st.container(border=True, key="no_labels"):
        st.markdown(
            f"This view is of one task. {tables.dataset_title(shown.picks.dataset)}, picked in the sidebar, has no "
            "labelled texts. Pick a task:"
        )
        with st.container(horizontal=True):
            for i, name in enumerate(offered):
                st.button(
                    as_text(title(name)),
                    key=f"pick_task_{i}",
                    on_click=pick_dataset,
                    args=(name,),
                    icon=":material/dataset:",
                )


def outcomes_of(shown: Shown, runs: Sequence[RunRecord]) -> Outcomes:
    """The examples that all the runs of a task tested, those that overlap left out where that is asked."""
    task = runs[0].plan.dataset
    found = _outcomes(shown.entry, tuple(r.run_id for r in runs), class_order(task))
    return found if shown.overlap else found.without_overlap()


@cached(24, "Reading predictions …", shared=True)
def _outcomes(entry: DiagnosticEntry, run_ids: tuple[str, ...], order: tuple[str, ...]) -> Outcomes:
    return outcomes(entry, run_ids, repository(), order)


def class_order(task: str) -> tuple[str, ...]:
    """The classes in their dataset's order; () where the dataset is not here: then by name."""
    try:
        entry = datasets.find(task)
        if fetch.dataset_state(entry, settings()) is fetch.DataState.MISSING:
            return ()
        return _classes(entry)
    except BlindspotError:  # a user's file that is gone, or changed into something else
        return ()


@cached(50)
def _classes(entry: DatasetEntry) -> tuple[str, ...]:
    dataset = fetch.load(entry, settings())
    return dataset.classes if isinstance(dataset, LabelledTexts) else ()


def coverage_in_words(runs: Mapping[Variant, RunRecord]) -> str:
    """Of how many examples the encoders of a task have vectors, where one lacks some; "" where they have all."""
    covered = {v.label: (r.coverage["examples_covered"], r.coverage["examples"]) for v, r in runs.items()}
    partly = {label: f"{some:,} of {every:,}" for label, (some, every) in covered.items() if some < every}
    if len(partly) == len(covered) > 1 and len(set(partly.values())) == 1:
        return f"each {next(iter(partly.values()))}"
    return "; ".join(f"{label} {count}" for label, count in partly.items())
