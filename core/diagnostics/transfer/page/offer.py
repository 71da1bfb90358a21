"""What the page Transfer offers to run: on an empty store, for one task, for what is missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import streamlit as st

from core.datasets import catalog as datasets
from core.datasets import uploads
from core.datasets.own import files as own_files
from core.diagnostic import DiagnosticEntry
from core.diagnostics.transfer.definition import CLASSIFIERS
from core.diagnostics.transfer.page.shown import Shown
from core.diagnostics.transfer.tasks import DEMO, QUICK, TEN
from core.errors import BlindspotError
from core.runs import estimates, pipeline
from core.runs.encoders_here import known_references
from core.runs.pipeline import RunRequest
from core.types import Variant
from core.ui import gone
from core.ui.markdown import as_text
from core.ui.pickers import Picks
from core.ui.resources import jobs, repository, settings
from core.ui.widgets import tables
from core.ui.widgets.missing_runs import cost_in_words, offer_line
from core.ui.widgets.work import run_button

FIRST = tuple(Variant(encoder, "none") for encoder in ("minilm", "minilm-static", "random-projection"))
MANY_RUNS = 500  # more than a page starts at once; the command line has no limit


@dataclass(frozen=True)
class Wanted:
    """Variants by tasks by classifiers."""

    variants: Sequence[Variant]
    tasks: Sequence[str]
    classifiers: Sequence[str]
    seed: str = "1"
    own: bool = False

    def requests(self, diagnostic: str) -> list[RunRequest]:
        """Task by task, so that each encoder's texts are encoded once and classifiers follow each other.

        Raises:
            InputError: an encoder, transform or dataset that cannot be used.
        """
        everybody = () if self.own else [variant.encoder for variant in self.variants]
        return [
            pipeline.request(
                diagnostic,
                variant.encoder,
                variant.transform,
                task,
                {"classifier": classifier, "seed": self.seed},
                settings(),
                everybody,
            )
            for task in self.tasks
            for variant in self.variants
            for classifier in self.classifiers
        ]


def nothing_yet(entry: DiagnosticEntry, picks: Picks) -> None:
    """An empty store: the built-in task, two quick ones, all ten, and a form."""
    variants = gone.usable(picks.variants) or FIRST
    names = ", ".join(f"`{v.label}`" for v in variants)
    mine = [picks.dataset] if is_own_task(entry, picks.dataset) else []
    with st.container(border=True, key="empty"):
        st.subheader("No transfer task was run yet", anchor=False)
        st.markdown(
            f"A task takes an encoder's embeddings of texts with classes, trains a simple classifier on some and tests "
            f"it on others. Start with {names}:"
        )
        if mine:
            _line(entry, "mine", "Run it", Wanted(variants, mine, CLASSIFIERS[:1]))
        for key, label, tasks in (
            ("demo", "Run the demo", (DEMO,)),
            ("quick", "Run two tasks", QUICK),
            ("ten", "Run all ten", TEN),
        ):
            _line(entry, key, label, Wanted(variants, tasks, CLASSIFIERS[:1]))
    with st.expander("Choose what to run", icon=":material/tune:"):
        _form(entry, variants, CLASSIFIERS[0], "1", own=False, tasks=mine or QUICK)


def is_own_task(entry: DiagnosticEntry, dataset: str) -> bool:
    """Whether a dataset is labelled texts of the user's that can be read."""
    try:
        return own_files.is_own(dataset) and datasets.find(dataset).kind is entry.dataset_kind
    except BlindspotError:  # gone, or something else by now
        return False


def one_task(shown: Shown) -> None:
    """The picked task has no run with the chosen classifier and seed."""
    task = shown.picks.dataset
    with st.container(border=True, key="no_runs_of_task"):
        st.markdown(
            f"{tables.dataset_title(task)} was not run with `{shown.classifier}`, seed {shown.seed}, for the variants "
            "shown yet."
        )
        _line(
            shown.entry,
            "task",
            "Run it",
            Wanted(gone.usable(shown.variants or FIRST), (task,), (shown.classifier,), shown.seed, shown.own),
        )


def classifiers(shown: Shown, task: str, missing: Sequence[str], variants: Sequence[Variant]) -> None:
    """Classifiers with which a task was not run for all of some variants."""
    with st.container(border=True, key="no_classifiers"):
        _line(
            shown.entry,
            "classifiers",
            "Run them",
            Wanted(gone.usable(variants), (task,), missing, shown.seed, shown.own),
            f"{tables.dataset_title(task)} with {', '.join(f'`{name}`' for name in missing)}",
        )


def missing(shown: Shown) -> None:
    """The form for whatever is not there, several tasks at once."""
    with st.expander("Run more: encoders, tasks, classifiers", icon=":material/add:"):
        picked = shown.picks.dataset
        tasks = [picked] if is_own_task(shown.entry, picked) else QUICK
        _form(shown.entry, shown.variants or FIRST, shown.classifier, shown.seed, own=shown.own, tasks=tasks)


def _line(entry: DiagnosticEntry, key: str, label: str, wanted: Wanted, what: str = "") -> None:
    """What it is, what it costs, and its button."""
    titles = _titles(wanted.tasks)
    offer_line(
        what or (titles if len(wanted.tasks) <= 2 else f"{len(wanted.tasks)} tasks: {titles}"),
        label,
        f"Transfer, {titles}",
        partial(wanted.requests, entry.id),
        key=f"transfer_run_{key}",
        primary=key not in {"quick", "ten"},
    )


def _titles(tasks: Sequence[str]) -> str:
    return ", ".join(tables.dataset_title(task) for task in tasks)


def _form(
    entry: DiagnosticEntry,
    shown: Sequence[Variant],
    classifier: str,
    seed: str,
    *,
    own: bool,
    tasks: Sequence[str],
) -> None:
    """Variants by tasks by classifiers; what is left empty means what is shown.

    Args:
        tasks: that are chosen at first.
    """
    known = [str(v) for v in repository().variants()]
    known += [str(Variant(name, "none")) for name in known_references(settings(), repository())]
    left, right = st.columns(2)
    names = left.multiselect(
        "Variants",
        list(dict.fromkeys(known)),
        key="transfer_run_variants",
        persist_state="session",
        accept_new_options=True,
        placeholder=", ".join(v.label for v in shown[:4]) + (" …" if len(shown) > 4 else ""),
        help="An encoder, or encoder~transform. Choose some, or type. Empty means those that are shown.",
    )
    known_tasks = [name for name, task in gone.readable_datasets().items() if task.kind is entry.dataset_kind]
    chosen_tasks = right.multiselect(
        "Tasks",
        known_tasks,
        default=[name for name in tasks if name in known_tasks],
        key="transfer_run_tasks",
        persist_state="session",
        format_func=lambda name: uploads.short_name(name, settings()),
        help="Labelled texts of your own are among them once they were uploaded on the page *Data* or run.",
    )
    chosen = left.pills(
        "Classifiers",
        CLASSIFIERS,
        selection_mode="multi",
        default=[],
        key="transfer_run_classifiers",
        persist_state="session",
        help=f"None chosen means `{classifier}`.",
    )
    variants = gone.usable([Variant.parse(name) for name in names] or list(shown))
    if not variants:
        return
    wanted = Wanted(variants, chosen_tasks, [c for c in CLASSIFIERS if c in (chosen or [classifier])], seed, own)
    try:
        requests = list(dict.fromkeys(wanted.requests(entry.id)))
        cost = estimates.estimate(requests, settings(), repository())
    except BlindspotError as error:
        right.error(as_text(str(error)), icon=":material/error:")
        return
    if len(cost.wanted) > MANY_RUNS:
        right.error(
            f"These are {len(cost.wanted):,} runs, more than the {MANY_RUNS} that this page starts at once. Choose "
            "fewer, or use `python -m core sweep`.",
            icon=":material/error:",
        )
        return
    under_way = {request for job in jobs().active() for request in job.requests}
    left_over = [request for request in cost.wanted if request not in under_way]
    with right:
        st.caption(as_text(cost_in_words(cost)) if requests else "Choose a task.")
        run_button(
            f"Run {len(left_over)}" if left_over else "Nothing to run" if not under_way else "Running …",
            f"Transfer, {_titles(chosen_tasks)}",
            left_over,
            key="transfer_run_form",
        )


def without_scores(shown: Shown, tasks: Sequence[str]) -> Mapping[str, list[Variant]]:
    """Per task the variants that have no run, where there are any."""
    out = {task: [v for v in shown.variants if v not in shown.runs.get(task, {})] for task in tasks}
    return {task: variants for task, variants in out.items() if variants}
