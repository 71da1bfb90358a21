"""Spaces of the pages Neighbors and Map: the picked models over one dataset, and the search of its texts."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

from blindspot.datasets import fetch
from blindspot.datasets.catalog import DatasetEntry
from blindspot.datasets.kinds.base import Dataset
from blindspot.errors import BlindspotError
from blindspot.figures.theme import Scheme, Style
from blindspot.numerics.similarity import Similarity
from blindspot.runs.spaces import Space, open_spaces
from blindspot.settings import prepare_runtime
from blindspot.ui import gone
from blindspot.ui.markdown import as_text
from blindspot.ui.options import asked_for
from blindspot.ui.pickers import Picks
from blindspot.ui.resources import explained, load, repository, scheme, settings
from blindspot.ui.variant_looks import variant_styles
from blindspot.ui.widgets import item_search, tables
from blindspot.ui.widgets.work import encode_button, fetch_button
from blindspot.variants import Variant

MOST_SIDE_BY_SIDE = 4
FIRST_VARIANT = Variant("minilm", "none")  # offered while nothing is stored: it needs no download


@dataclass(frozen=True, eq=False)
class Opened:
    """One to four spaces over the same items of a dataset."""

    picks: Picks
    dataset: Dataset
    spaces: Sequence[Space]
    styles: Mapping[Variant, Style]
    scheme: Scheme

    @property
    def metric(self) -> Similarity:
        return Similarity(self.picks.metric)

    @property
    def names(self) -> dict[Variant, str]:
        """Per variant ``1`` to ``4``: labels are too long for figures."""
        return {space.variant: str(number) for number, space in enumerate(self.spaces, 1)}


def open_picked(picks: Picks) -> Opened | None:
    """The picked spaces that are encoded, with an offer to encode the others; None, with the reason shown, if none."""
    try:
        entry = picks.dataset.entry()
        if not _is_here(entry):
            return None
        dataset = load(entry)
        variants = _encoded(picks, dataset)
        if not variants:
            return None
        prepare_runtime(settings())  # before faiss is imported
        spaces = open_spaces(variants, dataset, settings())
    except BlindspotError as error:
        st.warning(as_text(explained(error)), icon=":material/report:")
        return None
    if len(spaces[0].items) < len(dataset.items):
        st.caption(
            f"Compared on the {len(spaces[0].items):,} of {len(dataset.items):,} texts that all of these models cover."
        )
    return Opened(picks, dataset, spaces, variant_styles(variants), scheme())


def _is_here(entry: DatasetEntry) -> bool:
    """Whether the dataset's files are on this machine; offers the download if not."""
    if fetch.dataset_state(entry, settings()) not in {fetch.DataState.MISSING, fetch.DataState.CORRUPT}:
        return True
    st.info(
        f"The files of {tables.dataset_title(entry.id)} are not on this machine: {as_text(entry.size)}.",
        icon=":material/cloud_download:",
    )
    fetch_button("Download", f"Download of {entry.title}", entry.id, key="fetch_dataset")
    return False


def _encoded(picks: Picks, dataset: Dataset) -> list[Variant]:
    """The variants to show: picked ones, or the first of the store; offers to encode those that are not."""
    stored = gone.encoded(
        picks.variants or repository().variants() or [FIRST_VARIANT], dataset, are_picked=bool(picks.variants)
    )
    here = asked_for(picks, (variant for variant, is_here in stored.items() if is_here))
    if not picks.variants:
        here = picks.subject_first(here)
    away = list(dict.fromkeys(variant.encoder for variant, is_here in stored.items() if not is_here))
    if away and (picks.variants or not here):
        _offer(away[:MOST_SIDE_BY_SIDE], dataset)
    if len(here) > MOST_SIDE_BY_SIDE:
        of = "picked models" if picks.variants else "models that this dataset is encoded with"
        st.caption(f"Shown: the first {MOST_SIDE_BY_SIDE} of {len(here)} {of}. Pick others under Models.")
    return here[:MOST_SIDE_BY_SIDE]


def _offer(encoders: Sequence[str], dataset: Dataset) -> None:
    names = ", ".join(as_text(Variant(encoder, "none").label) for encoder in encoders)
    with st.container(border=True, key="to_encode"):
        st.markdown(
            f"**{tables.dataset_title(dataset.id)} is not encoded by {names} yet.** Encoding its "
            f"{len(dataset.items):,} texts runs in the background; you can cancel and resume."
        )
        encode_button("Encode it", encoders, dataset.id, key="encode_here")


def offer_found(dataset: Dataset, wanted: str, choose: Callable[[int], None]) -> None:
    """Matches of a search, to choose one from."""
    if not wanted.strip():
        return
    items = item_search.found_items(dataset, wanted)
    if not items.numbers:
        st.info(item_search.NOTHING_LONG if len(wanted) > item_search.MOST_SPELLED else item_search.NOTHING)
        return
    # Another query empties the box, so that an item can be chosen again.
    drawn = (items.numbers, st.session_state.get("item"), st.session_state.get("q"))
    key = f"found_{zlib.crc32(str(drawn).encode())}"
    st.selectbox(
        item_search.title_of(items),
        items.numbers,
        index=None,
        key=key,
        format_func=lambda item: short_text(dataset.items[item]),
        placeholder="Choose one",
        on_change=lambda: choose(st.session_state[key]),
    )


def short_text(text: str) -> str:
    return text if len(text) <= 300 else f"{text[:300]} …"
