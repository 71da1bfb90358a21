"""Offers of a page of tasks to run more: on an empty store, for one task, for missing runs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st

from blindspot.datasets.catalog import DatasetRef, title_of
from blindspot.datasets.user_data import files as own_files
from blindspot.diagnostics.transfer.definition import CLASSIFIERS
from blindspot.diagnostics.transfer.page.runs import Offered, TaskPage, TransferView
from blindspot.errors import BlindspotError
from blindspot.runs import estimates, requesting
from blindspot.runs.encoders_here import known_references
from blindspot.runs.requests import RunRequest
from blindspot.store.records import RunRecord
from blindspot.ui import gone
from blindspot.ui.markdown import as_text
from blindspot.ui.pickers import Picks, pick_dataset
from blindspot.ui.resources import explained, jobs, repository, settings
from blindspot.ui.widgets import tables
from blindspot.ui.widgets.missing_runs import cost_in_words, offer_line
from blindspot.ui.widgets.model_choice import own_at_first
from blindspot.ui.widgets.work import run_button
from blindspot.variants import Variant

USUAL = ("minilm", "minilm-static", "bag-of-words")
MANY_RUNS = 500  # more than a page starts at once; the command line has no limit


def nothing_yet(page: TaskPage, picks: Picks) -> None:
    """An empty store: the reader's own task, the built-in ones, and a form."""
    variants = gone.usable(picks.variants) or at_first()
    mine = (picks.dataset,) if _is_own_task(page, picks.dataset) else ()
    with st.container(border=True, key="empty"):
        st.subheader(f"No {page.entry.title.lower()} results yet", anchor=False)
        st.markdown(f"{page.about} Start with {', '.join(f'`{v.label}`' for v in variants)}:")
        for offered in (Offered("mine", "Run it", mine, is_primary=True), *page.offered):
            if offered.tasks:
                _line(page, offered, variants, CLASSIFIERS[:1])
    with st.expander("Choose what to run", icon=":material/tune:"):
        _form(page, variants, mine or page.first)


def at_first() -> list[Variant]:
    """The models to begin with."""
    return [Variant(model, "none") for model in own_at_first() or USUAL]


def _is_own_task(page: TaskPage, dataset: DatasetRef) -> bool:
    try:
        return own_files.is_own(dataset) and dataset.entry().kind is page.entry.dataset_kind
    except BlindspotError:  # gone, or something else by now
        return False


def runs_of_task(shown: TransferView) -> list[RunRecord] | None:
    """The runs of the sidebar's dataset, the best first; without any, offers what to pick or run and returns None."""
    if not shown.is_task:
        other_kind(shown)
        return None
    task = shown.picks.dataset
    runs = [run for v, run in shown.runs.get(task, {}).items() if v in shown.variants]
    if runs:
        return sorted(runs, key=lambda run: -run.metrics[shown.measure.value])
    with st.container(border=True, key="no_runs_of_task"):
        st.markdown(
            f"{tables.dataset_title(task)} has no runs with `{shown.classifier}` and seed {shown.seed} for these "
            "models yet."
        )
        variants = gone.usable(shown.variants or at_first())
        offered = Offered("task", "Run it", (task,), is_primary=True)
        _line(shown.page, offered, variants, (shown.classifier,), shown.seed, own=shown.own)
    return None


def other_kind(shown: TransferView) -> None:
    """Say that the picked dataset is not a task, and offer tasks to pick."""
    with st.container(border=True, key="no_labels"):
        st.markdown(
            f"This view shows one task. {tables.dataset_title(shown.picks.dataset)} {shown.page.not_here}. Pick a task:"
        )
        with st.container(horizontal=True):
            for i, name in enumerate([*shown.runs] or dict.fromkeys((*shown.page.demos, *shown.page.first))):
                st.button(
                    as_text(shown.page.titled(name)),
                    key=f"pick_task_{i}",
                    on_click=pick_dataset,
                    args=(name,),
                    icon=":material/dataset:",
                )


def classifiers(shown: TransferView, task: str, missing: Sequence[str], variants: Sequence[Variant]) -> None:
    """Offer the classifiers that a task was not run with for all of some variants."""
    with st.container(border=True, key="no_classifiers"):
        what = f"{tables.dataset_title(task)} with {', '.join(f'`{name}`' for name in missing)}"
        offered = Offered("classifiers", "Run them", (task,), is_primary=True)
        _line(shown.page, offered, gone.usable(variants), missing, shown.seed, own=shown.own, what=what)


def missing(shown: TransferView) -> None:
    """The form for more runs, of several tasks at once."""
    with st.expander("Run more models, tasks or classifiers", icon=":material/add:"):
        page, dataset = shown.page, shown.picks.dataset
        tasks = [dataset] if _is_own_task(page, dataset) else page.first
        _form(page, shown.variants or at_first(), tasks, shown.classifier, shown.seed, own=shown.own)


def _requests(
    page: TaskPage,
    variants: Sequence[Variant],
    tasks: Sequence[str],
    classifiers: Sequence[str],
    seed: str,
    *,
    own: bool,
) -> list[RunRequest]:
    """Requests, task by task, so that each encoder's texts are encoded once and classifiers follow each other.

    Raises:
        InputError: an encoder, transform or dataset that cannot be used.
    """
    everybody = () if own else [variant.encoder for variant in variants]
    return [
        requesting.request(
            page.entry.id, v.encoder, v.transform, task, {"classifier": name, "seed": seed}, settings(), everybody
        )
        for task in tasks
        for v in variants
        for name in classifiers
    ]


def _line(
    page: TaskPage,
    offered: Offered,
    variants: Sequence[Variant],
    classifiers: Sequence[str],
    seed: str = "1",
    *,
    own: bool = False,
    what: str = "",
) -> None:
    tasks, titles = offered.tasks, _titles(offered.tasks)
    offer_line(
        what or (titles if len(tasks) <= 2 else f"{len(tasks)} tasks: {titles}"),
        offered.label,
        f"{page.entry.title}, {titles}",
        partial(_requests, page, variants, tasks, classifiers, seed, own=own),
        key=f"transfer_run_{offered.key}",
        primary=offered.is_primary,
    )


def _titles(tasks: Sequence[str]) -> str:
    return ", ".join(tables.dataset_title(task) for task in tasks)


def _form(
    page: TaskPage,
    shown: Sequence[Variant],
    tasks: Sequence[str],
    classifier: str = CLASSIFIERS[0],
    seed: str = "1",
    *,
    own: bool = False,
) -> None:
    """A form for variants, tasks and classifiers; an empty choice means what is shown. ``tasks`` are preselected."""
    choices = [
        *repository().variants(),
        *(Variant(name, "none") for name in known_references(settings(), repository())),
    ]
    left, right = st.columns(2)
    ids = list(dict.fromkeys(map(str, choices)))
    names = left.multiselect(
        "Models",
        ids,
        format_func=lambda name: Variant.parse(name).label if name in ids else name,
        key="transfer_run_variants",
        persist_state="session",
        accept_new_options=True,
        placeholder=", ".join(v.label for v in shown[:4]) + (" …" if len(shown) > 4 else ""),
        help="A model, or model~post-processing. Choose, or type. Empty means those shown.",
    )
    known_tasks = [name for name, task in gone.readable_datasets().items() if task.kind is page.entry.dataset_kind]
    chosen_tasks = right.multiselect(
        "Tasks",
        known_tasks,
        default=[name for name in tasks if name in known_tasks],
        key="transfer_run_tasks",
        persist_state="session",
        format_func=title_of,
        help=f"Add a {page.entry.dataset_kind.in_words} of your own on the page *Data*.",
    )
    chosen = left.pills(
        "Classifiers",
        CLASSIFIERS,
        selection_mode="multi",
        default=[classifier],
        key="transfer_run_classifiers",
        persist_state="session",
        help=f"With none chosen: `{classifier}`.",
    )
    variants = gone.usable([Variant.parse(name) for name in names] or list(shown))
    if not variants:
        return
    wanted = [name for name in CLASSIFIERS if name in (chosen or [classifier])]
    try:
        requests = list(dict.fromkeys(_requests(page, variants, chosen_tasks, wanted, seed, own=own)))
        cost = estimates.estimate(requests, settings(), repository())
    except BlindspotError as error:
        right.error(as_text(explained(error)), icon=":material/error:")
        return
    if len(cost.wanted) > MANY_RUNS:
        right.error(
            f"These are {len(cost.wanted):,} runs, more than the {MANY_RUNS} that this page starts at once. Choose "
            "fewer, or use `blindspot sweep`.",
            icon=":material/error:",
        )
        return
    under_way = {request for job in jobs().active() for request in job.requests}
    left_over = [request for request in cost.wanted if request not in under_way]
    with right:
        st.caption(as_text(cost_in_words(cost)) if requests else "Choose a task.")
        run_button(
            f"Run {len(left_over)}" if left_over else "All available" if not under_way else "Running …",
            f"{page.entry.title}, {_titles(chosen_tasks)}",
            left_over,
            key="transfer_run_form",
        )
