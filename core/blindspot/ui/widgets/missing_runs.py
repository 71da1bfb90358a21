"""Stored runs of a diagnostic, and the offer to compute missing ones; shared by all pages."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import streamlit as st

from blindspot import names
from blindspot.datasets import fetch
from blindspot.datasets.catalog import DatasetRef, title_of
from blindspot.datasets.kinds.base import any_of
from blindspot.diagnostic import Diagnostic
from blindspot.errors import BlindspotError
from blindspot.runs import estimates, requesting
from blindspot.runs.requests import RunRequest
from blindspot.store.records import RunRecord, RunState
from blindspot.texts import counted, duration, listed
from blindspot.ui import gone
from blindspot.ui.gone import readable_datasets
from blindspot.ui.markdown import as_text
from blindspot.ui.navigation import entry_of
from blindspot.ui.options import row, runs_asked_for
from blindspot.ui.pickers import DEFAULT_DATASET, DEFAULT_PROTOCOL, Picks, current_page, own_dataset, pick_dataset
from blindspot.ui.resources import explained, repository, settings
from blindspot.ui.widgets import tables
from blindspot.ui.widgets.model_choice import own_at_first
from blindspot.ui.widgets.run_form import run_form
from blindspot.ui.widgets.work import run_button
from blindspot.variants import Variant


def fits(entry: Diagnostic, dataset: DatasetRef) -> bool:
    """Whether a dataset is of the kind that a diagnostic needs."""
    try:
        return dataset.entry().kind is entry.dataset_kind
    except BlindspotError:  # a user's file that is gone: its runs show its kind
        return bool(repository().runs(diagnostic=entry.id, dataset=dataset, state=RunState.DONE, metrics=[], limit=1))


def dataset_shown(entries: Sequence[Diagnostic], picks: Picks, usual: str = "") -> DatasetRef:
    """The picked dataset if it fits one of some diagnostics; else an own one, that of their newest run, or ``usual``,
    with a caption that says so; "" where that is "", too."""
    if any(fits(entry, picks.dataset) for entry in entries):
        return picks.dataset
    newest = [run for entry in entries for run in repository().finished(entry, metrics=[], limit=1)]
    others = max(newest, key=lambda run: run.started_at).plan.dataset if newest else DatasetRef(usual)
    if dataset := own_dataset({entry.dataset_kind for entry in entries}, entry_of(current_page())) or others:
        kinds = any_of(entry.dataset_kind for entry in entries)
        text = f"{tables.dataset_title(picks.dataset)} (sidebar) is not {kinds}. Shown: "
        offer_switch(f"{text}{tables.dataset_title(dataset)}.", dataset)
    return dataset


def readable(entries: Sequence[Diagnostic], picks: Picks) -> Picks | None:
    """The picks with ``dataset_shown``, to measure anew; None, after saying so, where the picked one is gone."""
    if picks.dataset not in readable_datasets(warn=True):
        st.info("The picked dataset cannot be read. Choose another one.", icon=":material/info:")
        return None
    return replace(picks, dataset=dataset_shown(entries, picks, DEFAULT_DATASET))


def offer_switch(text: str, dataset: str) -> None:
    """Say (as Markdown) what another dataset than the picked one has to do with the page, and offer to pick it."""
    with row():
        st.caption(text, width="content")
        st.button("Switch dataset", key="pick_shown", type="tertiary", on_click=pick_dataset, args=(dataset,))


def offer_others(text: str, offered: Mapping[str, str], *, key: str) -> None:
    """Say that the picked dataset is of another kind, and offer datasets of the catalog to pick instead.

    Args:
        text: Markdown.
        offered: what follows the title, by dataset.
    """
    with st.container(border=True, key=key):
        st.markdown(text)
        with st.container(horizontal=True):
            for name, what in offered.items():
                label = f"{title_of(name)} ({what})" if what else title_of(name)
                st.button(label, key=f"pick_{name}", on_click=pick_dataset, args=(name,), icon=":material/dataset:")


def stored(entry: Diagnostic, picks: Picks, dataset: str, params: Mapping[str, str]) -> list[RunRecord]:
    """The finished runs of the models asked for, on any set of texts, newest first."""
    return runs_asked_for(picks, repository().finished(entry, dataset=dataset, params=params))


def offer(
    entry: Diagnostic,
    picks: Picks,
    runs: Sequence[RunRecord],
    dataset: DatasetRef,
    params: Mapping[str, str],
    what: str,
    *,
    usual: Sequence[str] = (),
) -> None:
    """Offer what is not computed on a dataset: picked models, a first run, another model.

    Args:
        runs: from ``stored``.
        what: a run gives, as in "No ranks yet".
        usual: models to begin with where there is no run, if the reader has no own one.
    """
    try:
        described = dataset.entry()
    except BlindspotError as error:  # a file of the user's that is gone, or has something else now
        st.warning("Nothing more can be computed on this file; what is stored is shown.", icon=":material/report:")
        st.text(explained(error))
        return
    on = f"on {tables.dataset_title(dataset)}{_asked(picks) if params else ''}"
    have = {run.plan.variant for run in runs}
    lacking = [variant for variant in picks.variants if variant not in have]
    if lacking:
        names = ", ".join(f"`{variant.label}`" for variant in lacking)
        st.info(f"Not computed yet {on}: {names}.", icon=":material/info:")
        _compute(entry, lacking, dataset, params)
    if runs or lacking:
        with row().popover("Run another model", icon=":material/add:", key="run_another", width="content"):
            run_form(entry, dataset, params)
        return
    with st.container(border=True, key="empty"):
        st.subheader(f"No {what} {on} yet", anchor=False)
        st.markdown(f"{described.description} ({described.size}.)")
        state = fetch.dataset_state(described, settings())
        if state is fetch.DataState.MISSING:
            megabytes = sum(file.download for file in described.files) / 1e6
            st.markdown(f"Its files ({megabytes:.1f} MB) are downloaded first.")
        elif state is fetch.DataState.CORRUPT:
            st.error(f"Its files on disk are corrupt. Repair them with `blindspot data fetch {described.id}`.")
        if first := own_at_first() or usual:
            _compare_at_once(entry, first, dataset, params)
            st.caption("Or choose what to run:")
        run_form(entry, dataset, params)


def offer_line(
    what: str, label: str, title: str, requests: Callable[[], Sequence[RunRequest]], *, key: str, primary: bool = True
) -> None:
    """A line with what could be computed, its cost, and the button that computes it.

    Args:
        what: in Markdown; "" where it was said above.
        title: of the queued work.
        requests: makes the runs; may raise ``BlindspotError``.
    """
    text, button = st.columns([4, 1], vertical_alignment="center")
    try:
        cost = estimates.estimate(requests(), settings(), repository())
    except BlindspotError as error:
        text.error(as_text(explained(error)), icon=":material/error:")
        return
    text.markdown(f"**{what}**: {cost_in_words(cost)}" if what else cost_in_words(cost))
    with button:
        run_button(label, title, list(cost.wanted), key=key, primary=primary)


def cost_in_words(cost: estimates.Estimate) -> str:
    """How many runs are to be computed, and what they take."""
    n = len(cost.wanted)
    if not n:
        return "all results are stored."
    stored_already = len(cost.runs) - n
    parts = [f"about {duration(cost.seconds)}{' (a rough guess)' if cost.guessed else ''}"]
    if cost.downloads:
        parts.append(f"a download of {cost.download_bytes / 1e6:.1f} MB")
    runs = f"{n} run{'s' if n != 1 else ''}" + (f" ({stored_already} stored)" if stored_already else "")
    return f"{runs}, {' and '.join(parts)}."


def runs_to_compute(missing: int, wanted: int, cost: estimates.Estimate) -> str:
    """The cost of the missing runs of a sweep, in a sentence."""
    guess = ", a rough guess" if cost.guessed else ""
    downloads = f", and a download of {cost.downloads_in_words}" if cost.downloads else ""
    some = f"{missing:,} of {wanted:,} runs are missing:"
    what = some if missing < wanted else f"Nothing is computed yet: {counted(wanted, 'run')},"
    return f"{what} about {duration(cost.seconds)}{guess}{downloads}."


def _asked(picks: Picks) -> str:
    protocol = "" if picks.protocol == DEFAULT_PROTOCOL else f", protocol {picks.protocol} (see *Options*)"
    return f" with similarity {picks.metric}{protocol}"


def _compare_at_once(entry: Diagnostic, models: Sequence[str], dataset: DatasetRef, params: Mapping[str, str]) -> None:
    """A button that runs the models to begin with."""
    called = listed([names.current().model(model) for model in models])
    try:
        requests = [requesting.request(entry.id, model, "none", dataset, params, settings()) for model in models]
    except BlindspotError as error:  # the form below says so, too, as soon as the model is chosen there
        st.warning(as_text(explained(error)), icon=":material/report:")
    else:
        run_button(f"Compare {called}", f"{entry.title} on {dataset}", requests, key="run_first")


def _compute(entry: Diagnostic, lacking: Sequence[Variant], dataset: str, params: Mapping[str, str]) -> None:
    """The button for picked models; those that cannot be run are named and left out."""
    requests = []
    for variant in gone.usable(lacking, rankings=entry.takes_rankings):
        try:
            requests.append(
                requesting.request(entry.id, variant.encoder, variant.transform, dataset, params, settings())
            )
        except BlindspotError as error:
            st.warning(as_text(explained(error)), icon=":material/report:")
    if requests:
        title = f"{entry.title} on {dataset}"
        offer_line("", "Compute them", title, lambda: requests, key="run_missing")
