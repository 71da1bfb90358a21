"""The Lab's form: encoders, transforms, similarities, tasks, and what transforms are fitted on."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import streamlit as st

from core.datasets import fetch, uploads
from core.datasets.catalog import DatasetEntry
from core.encoders import catalog as encoders
from core.errors import BlindspotError
from core.numerics.similarity import Metric
from core.runs.encoders_here import known_references
from core.studies.lab.grid import TRANSFORMS, Grid, Task, usual_tasks
from core.studies.lab.grid import entries as in_grids
from core.transforms.chain import READY_CHAINS, TransformChain
from core.types import Variant
from core.ui.gone import readable_datasets, usable
from core.ui.markdown import as_text
from core.ui.pickers import DEFAULT_DATASET, Picks
from core.ui.resources import repository, settings
from core.ui.widgets.run_form import encoders_in_words, steps_in_words

# Defaults never enter the address, so they must never change.
DEFAULT_ENCODERS = ("minilm", "minilm-cls", "minilm-first-last-avg", "minilm-static")
DEFAULT_METRICS = (Metric.COS.value, Metric.L2.value)
OWN_ITEMS = "each task's own items"


def form(picks: Picks) -> Grid | None:
    """What the reader asks for; None, having said what is wrong with it."""
    left, right = st.columns(2)
    names = left.multiselect(
        "Encoders",
        list(dict.fromkeys([*DEFAULT_ENCODERS, *known_references(settings(), repository())])),
        default=list(DEFAULT_ENCODERS),
        key="lab_enc",
        bind="query-params",
        wrap=True,
        help=f"Whose ranking is watched. Add others on the page *Models*.\n\n{encoders_in_words()}",
    )
    typed = right.multiselect(
        "Transforms",
        list(dict.fromkeys([*TRANSFORMS, *READY_CHAINS])),
        default=list(TRANSFORMS),
        key="lab_chain",
        bind="query-params",
        accept_new_options=True,
        wrap=True,
        help="Choose, or type steps joined by `+`, for example `center+whiten:64`.\n\n" + steps_in_words(),
    )
    entries = readable_datasets(told=True)
    by_name = {uploads.short_name(name, settings()): name for name in entries}
    tasks = _tasks(entries)
    usual = usual_tasks(picks.dataset if picks.dataset in entries else DEFAULT_DATASET, available(entries))
    chosen = left.multiselect(
        "Tasks",
        list(tasks),
        key="lab_task",
        bind="query-params",
        wrap=True,
        placeholder=", ".join(address(task) for task in usual),
        help="A diagnostic and a dataset of its kind, as diagnostic@dataset. Empty means: every diagnostic, on the "
        "dataset of the sidebar where it fits, else on what is here.",
    )
    if not chosen:
        left.caption(as_text(f"Looked at: {', '.join(address(task) for task in usual)}."))
    with right.container(horizontal=True):
        metrics = st.pills(
            "Similarity",
            [m.value for m in Metric],
            selection_mode="multi",
            default=list(DEFAULT_METRICS),
            key="lab_metric",
            bind="query-params",
            help="Of EvalRank and Similarity. HEROS and Geometry compare by the cosine.",
        )
        fit_on = st.selectbox(
            "Fit transforms on",
            [OWN_ITEMS, *by_name],
            key="lab_fit",
            bind="query-params",
            help="Transforms learn means and directions from items. From the very items that are tested, or, held out, "
            "from those of another dataset.",
        )
    return _checked(
        names,
        typed,
        [str(metric) for metric in metrics],
        [tasks[name] for name in chosen] or list(usual),
        "" if fit_on == OWN_ITEMS else by_name.get(str(fit_on), ""),
    )


def fit_on(dataset: str) -> Callable[[], None]:
    """What a button does that changes the dataset that transforms are fitted on; "" for the tasks' own items."""

    def change() -> None:
        st.session_state["lab_fit"] = uploads.short_name(dataset, settings()) if dataset else OWN_ITEMS

    return change


def _tasks(entries: Mapping[str, DatasetEntry]) -> Mapping[str, Task]:
    """Every diagnostic on every dataset of its kind, by what stands for it in the address."""
    return {
        address(task): task
        for diagnostic in in_grids()
        for name, entry in entries.items()
        if diagnostic.dataset_kind is entry.kind
        for task in (Task(diagnostic.id, name),)
    }


def address(task: Task) -> str:
    """What stands for a task in the address: an upload goes by its short name."""
    return f"{task.diagnostic}@{uploads.short_name(task.dataset, settings())}"


def available(entries: Mapping[str, DatasetEntry]) -> list[str]:
    """Datasets whose files are here, of those that can be read."""
    absent = (fetch.DataState.MISSING, fetch.DataState.CORRUPT)
    return [name for name, entry in entries.items() if fetch.dataset_state(entry, settings()) not in absent]


def _checked(names: list[str], typed: list[str], metrics: list[str], tasks: list[Task], fit_on: str) -> Grid | None:
    lacking = [
        what for what, chosen in (("encoder", names), ("transform", typed), ("similarity", metrics)) if not chosen
    ]
    if lacking:
        st.info(f"Choose at least one {' and one '.join(lacking)}.", icon=":material/info:")
        return None
    chains: list[str] = []
    for text in typed:
        try:
            chains.append(str(TransformChain.parse(text)))
        except BlindspotError as error:
            st.error(as_text(str(error)), icon=":material/error:")
            return None
    variants = [Variant(encoders.canonical(name), "none") for name in names]
    references = tuple(dict.fromkeys(variant.encoder for variant in usable(variants)))
    if not references:
        return None
    # An address may name anything twice.
    once = tuple(dict.fromkeys(chains)), tuple(dict.fromkeys(metrics)), tuple(dict.fromkeys(tasks))
    return Grid(references, *once, fit_on)
