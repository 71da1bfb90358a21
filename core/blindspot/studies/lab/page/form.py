"""Form of the Lab: models and post-processing; under Options tasks, similarities and the dataset to fit on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import streamlit as st

from blindspot import ui
from blindspot.datasets import fetch
from blindspot.datasets.catalog import DatasetEntry, DatasetRef, title_of
from blindspot.datasets.user_data.files import is_own
from blindspot.diagnostic import find_diagnostic
from blindspot.encoders.catalog import variant_named
from blindspot.errors import BlindspotError
from blindspot.names import current, in_address
from blindspot.numerics.similarity import Similarity
from blindspot.numerics.statistics.written import percent
from blindspot.runs.encoders_here import known_references
from blindspot.studies.lab.grid import TRANSFORMS, Grid, Task, share_seen, usual_tasks
from blindspot.studies.lab.grid import entries as in_grids
from blindspot.transforms.chain import READY_CHAINS, TransformChain
from blindspot.ui.gone import readable_datasets, usable
from blindspot.ui.markdown import as_text
from blindspot.ui.pickers import DEFAULT_DATASET, Picks
from blindspot.ui.resources import cached, explained, load, repository, settings
from blindspot.ui.widgets.addressed import begin_with, leave_out_unread, one_named, some_named
from blindspot.ui.widgets.model_choice import own_at_first
from blindspot.ui.widgets.run_form import encoders_in_words, steps_in_words

# Defaults never enter the address, so they must never change.
DEFAULT_ENCODERS = ("minilm", "minilm-cls", "minilm-first-last-avg", "minilm-static")
DEFAULT_METRICS = (Similarity.COS.value, Similarity.L2.value)
OWN_ITEMS = "each task's own items"  # in the address
SEEN = 0.05  # a corpus with a larger share of the tested texts is not called held out
TRIED = 8  # corpora that are compared to find one to offer


def form(picks: Picks) -> Grid | None:
    """The chosen grid, or None with a note on what is wrong."""
    left, right, area = *st.columns(2), ui.options()
    begin_with("lab_enc", own_at_first)
    names = some_named(
        "Models",
        known_references(settings(), repository(), rankings=False),
        default=list(DEFAULT_ENCODERS),
        key="lab_enc",
        name=current().model,
        container=left,
        wrap=True,
        help=f"Models to rank. Add others on the page *Models*.\n\n{encoders_in_words()}",
    )
    leave_out_unread("lab_chain", otherwise=list(TRANSFORMS))
    typed = right.multiselect(
        "Post-processing",
        list(dict.fromkeys([*TRANSFORMS, *READY_CHAINS])),
        default=list(TRANSFORMS),
        key="lab_chain",
        bind="query-params",
        accept_new_options=True,
        wrap=True,
        help="Choose, or type steps joined by `+`, for example `center+whiten:64`.\n\n" + steps_in_words(),
    )
    entries = readable_datasets(warn=True)
    by_name = {in_address(name): name for name in entries}
    tasks = _tasks(entries)
    usual = usual_tasks(picks.dataset if picks.dataset in entries else DEFAULT_DATASET, _available(entries))
    chosen = some_named(
        "Tasks",
        list(tasks),
        key="lab_task",
        name=lambda task: _called(tasks[task]) if task in tasks else task,
        container=area,
        wrap=True,
        placeholder=", ".join(_called(task) for task in usual),
        help="A diagnostic and the dataset it runs on. Empty: every diagnostic, on the picked dataset if it fits, "
        "else on another available one.",
    )
    shown = [tasks[name] for name in chosen] or list(usual)
    st.caption(as_text(f"Tasks: {', '.join(map(_called, shown))}. Change them under Options."))
    with area:
        metrics = st.pills(
            "Similarity",
            [m.value for m in Similarity],
            selection_mode="multi",
            default=list(DEFAULT_METRICS),
            key="lab_metric",
            bind="query-params",
            help="For EvalRank and Similarity. HEROS and Geometry always use the cosine.",
        )
        fit_on = one_named(
            "Fit post-processing on",
            [OWN_ITEMS, *by_name],
            index=0,
            key="lab_fit",
            name=lambda name: title_of(by_name[name]) if name in by_name else name,
            help="Post-processing learns means and directions from texts: those of the test itself, or, held out, "
            "those of another dataset.",
        )
    return _checked(
        names,
        typed,
        [str(metric) for metric in metrics],
        shown,
        "" if fit_on == OWN_ITEMS else by_name.get(str(fit_on), ""),
    )


def _fit_on(dataset: str) -> Callable[[], None]:
    """A callback that changes the dataset that transforms are fitted on; "" for the tasks' own items."""

    def change() -> None:
        st.session_state["lab_fit"] = in_address(dataset) if dataset else OWN_ITEMS

    return change


def _tasks(entries: Mapping[DatasetRef, DatasetEntry]) -> Mapping[str, Task]:
    return {
        address(task): task
        for diagnostic in in_grids()
        for name, entry in entries.items()
        if diagnostic.dataset_kind is entry.kind
        for task in (Task(diagnostic.id, name),)
    }


def address(task: Task) -> str:
    """A task in the address; without a path."""
    return f"{task.diagnostic}@{in_address(task.dataset)}"


def _called(task: Task) -> str:
    """A task for people."""
    return f"{find_diagnostic(task.diagnostic).title} on {title_of(task.dataset)}"


def _available(entries: Mapping[DatasetRef, DatasetEntry]) -> list[DatasetRef]:
    absent = (fetch.DataState.MISSING, fetch.DataState.CORRUPT)
    return [name for name, entry in entries.items() if fetch.dataset_state(entry, settings()) not in absent]


def _checked(names: list[str], typed: list[str], metrics: list[str], tasks: list[Task], fit_on: str) -> Grid | None:
    lists = {"model": names, "post-processing (or none)": typed, "similarity": metrics}
    if lacking := [what for what, chosen in lists.items() if not chosen]:
        st.info(f"Choose at least one {' and one '.join(lacking)}.", icon=":material/info:")
        return None
    try:
        chains = [str(TransformChain.parse(text)) for text in typed]
    except BlindspotError as error:
        st.error(as_text(explained(error)), icon=":material/error:")
        return None
    variants = [variant_named(name) for name in names]
    references = tuple(dict.fromkeys(variant.encoder for variant in usable(variants)))
    if not references:
        return None
    # An address can repeat anything.
    once = tuple(dict.fromkeys(chains)), tuple(dict.fromkeys(metrics)), tuple(dict.fromkeys(tasks))
    return Grid(references, *once, fit_on)


# --- the data that transforms are fitted on


def fit_note(grid: Grid, key: str = "lab_fit") -> None:
    """Say what transforms were fitted on, warn if that is the test data, and offer the alternative as a button.

    Args:
        key: what the keys of its elements begin with.
    """
    learned = [chain for chain in grid.transforms if TransformChain.parse(chain).learns]
    if not learned:
        st.caption("No post-processing of this grid learns from texts, so none has seen the test.")
        return
    names = ", ".join(learned)
    tested = list(dict.fromkeys(task.dataset for task in grid.tasks))
    with st.container(border=True, key=f"{key}_note"):
        text, button = st.columns([5, 2], vertical_alignment="center")
        if grid.fit_on:
            text.markdown(_on_another(names, tested, DatasetRef(grid.fit_on)))
            button.button("Fit on the test texts", key=f"{key}_own", on_click=_fit_on(""), width="stretch")
            return
        corpora = "; ".join(_items(name) for name in tested)
        are = "is" if len(learned) == 1 else "are"
        text.markdown(
            f":material/warning: {as_text(f'{names} {are} fitted on the test texts themselves ({corpora}).')} Part of "
            "a gain may come from that. Fitted on other texts, it cannot."
        )
        if other := _other(tested, grid.encoders):
            button.button(
                f"Fit on {title_of(other)}",
                key=f"{key}_other",
                on_click=_fit_on(other),
                help="The same grid, held out, as separate runs. Choose another dataset under Options.",
                width="stretch",
            )


def _on_another(names: str, tested: Sequence[DatasetRef], corpus: DatasetRef) -> str:
    """Markdown: share of each test that is also in the corpus."""
    here = _available(readable_datasets())
    shares = {name: _seen(name, corpus, here) for name in tested}
    seen = [f"{percent(share)} of {title_of(n)}" for n, share in shares.items() if share]
    fitted = f"{names}: fitted on {_items(corpus)}."
    if not seen:
        return as_text(f"Held out. {fitted} No test text is among them.")
    among = f"Some test texts are among them: {', '.join(seen)}."
    if max(shares.values()) > SEEN:
        return f":material/warning: {as_text(f'Not held out. {fitted} {among}')}"
    return as_text(f"Held out except for a few texts. {fitted} {among}")


def _items(dataset: DatasetRef) -> str:
    entry = dataset.entry()
    name = title_of(dataset)
    return f"{entry.texts:,} {entry.unit}s of {name}" if entry.texts else f"texts of {name}"


def _other(tested: Sequence[DatasetRef], encoders: Sequence[str]) -> DatasetRef | None:
    """A corpus of words or sentences, like the tested texts but with almost none of them: the largest encoded one, or
    else the smallest."""
    encoded = {(facts.encoder, facts.texts) for facts in repository().embeddings()}
    readable = readable_datasets()
    here = _available(readable)
    of_words = {_of_words(name, here) for name in tested}
    corpora = [name for name in here if name not in tested and _of_words(name, here) in of_words]

    def order(name: DatasetRef) -> tuple[bool, int]:
        entry = readable[name]
        is_here = all((encoder, entry.texts) in encoded for encoder in encoders)
        return not is_here, -entry.texts if is_here else entry.texts

    candidates = sorted(corpora, key=order)[:TRIED]
    return next((name for name in candidates if all(_seen(test, name, here) <= SEEN for test in tested)), None)


def _of_words(name: DatasetRef, here: Sequence[DatasetRef]) -> bool:
    """Whether it consists of words; a user's file may be either."""
    entry = name.entry()
    return load(entry).of_words if is_own(name) and name in here else entry.unit == "word"


def _seen(tested: DatasetRef, corpus: DatasetRef, here: Sequence[DatasetRef]) -> float:
    """Share of the tested texts that are in a corpus; 0 if either is not ``here`` yet."""
    if tested not in here or corpus not in here:
        return 0.0
    return _share(tested.entry(), corpus.entry())


@cached(512, "Comparing texts …")
def _share(tested: DatasetEntry, corpus: DatasetEntry) -> float:
    return share_seen(fetch.load(tested, settings()), fetch.load(corpus, settings()))
