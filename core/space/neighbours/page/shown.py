"""What the page Neighbours looks into: a dataset, and the spaces of a few variants over its items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

from core.datasets import catalog as datasets
from core.datasets import fetch
from core.datasets.catalog import DatasetEntry
from core.datasets.kinds.base import Dataset
from core.errors import BlindspotError
from core.figures.theme import Scheme, Style
from core.numerics.similarity import Metric
from core.runs.spaces import Space, lacking, open_spaces
from core.settings import prepare_runtime
from core.types import Variant
from core.ui import gone
from core.ui.markdown import as_text
from core.ui.pickers import Picks
from core.ui.resources import load, repository, scheme, settings
from core.ui.variant_looks import variant_styles
from core.ui.widgets import tables
from core.ui.widgets.work import encode_button, fetch_button

MOST_SIDE_BY_SIDE = 4
FIRST_ENCODER = "minilm"  # what an empty store is offered: it needs no download


@dataclass(frozen=True, eq=False)
class Inside:
    """What the parts of the page are given.

    Attributes:
        spaces: at least one, at most four, over the same items.
        names: per variant its number on the page, ``1`` to ``4``: labels are too long for figures.
    """

    picks: Picks
    dataset: Dataset
    spaces: Sequence[Space]
    metric: Metric
    styles: Mapping[Variant, Style]
    scheme: Scheme

    @property
    def names(self) -> dict[Variant, str]:
        return {space.variant: str(number) for number, space in enumerate(self.spaces, 1)}


def open_inside(picks: Picks) -> Inside | None:
    """What is picked, as far as it is encoded; offers to encode the rest. None where nothing is, having said why."""
    try:
        entry = datasets.find(picks.dataset)
        if not _is_here(entry):
            return None
        dataset = load(entry)
        variants = _encoded(picks, dataset)
        if not variants:
            return None
        prepare_runtime(settings())  # before faiss comes in
        spaces = open_spaces(variants, dataset, settings())
    except BlindspotError as error:
        st.warning(as_text(str(error)), icon=":material/report:")
        return None
    if len(spaces[0].items) < len(dataset.items):
        st.caption(
            f"Looked at: the {len(spaces[0].items):,} of {len(dataset.items):,} items that all of these variants have "
            "a vector for."
        )
    if len(spaces[0].items) < 2:
        st.info("There is one item only, and so no neighbour. Pick a larger dataset.", icon=":material/info:")
        return None
    return Inside(picks, dataset, spaces, Metric(picks.metric), variant_styles(variants), scheme())


def _is_here(entry: DatasetEntry) -> bool:
    """Whether the dataset's files are; offers the download where they are not."""
    state = fetch.dataset_state(entry, settings())
    if state is fetch.DataState.MISSING:
        size = sum(file.size for file in entry.files) / 1e6
        st.info(
            f"{tables.dataset_title(entry.id)} ({size:.1f} MB) is not on this machine yet.",
            icon=":material/cloud_download:",
        )
        fetch_button("Download", f"Download of {entry.title}", entry.id, key="fetch_dataset")
    return state is not fetch.DataState.MISSING


def _encoded(picks: Picks, dataset: Dataset) -> list[Variant]:
    """The variants to show: picked ones, or the first of the store; offers to encode those that are not."""
    stored = repository().variants()
    wanted = list(picks.variants or stored)
    found = gone.encoded(wanted, dataset, told=bool(picks.variants))
    here = [variant for variant, is_here in found.items() if is_here]
    away = list(dict.fromkeys(variant.encoder for variant, is_here in found.items() if not is_here))
    if not stored and not picks.variants:
        first = Variant(FIRST_ENCODER, "none")
        here, away = ([first], []) if not lacking([first], dataset, settings()) else ([], [FIRST_ENCODER])
    if away and (picks.variants or not here):
        _offer(away[:MOST_SIDE_BY_SIDE], dataset)
    if len(here) > MOST_SIDE_BY_SIDE:
        of = "picked variants" if picks.variants else "variants that this dataset is encoded with"
        st.caption(f"Shown: the first {MOST_SIDE_BY_SIDE} of {len(here)} {of}. Pick others in the sidebar.")
    return here[:MOST_SIDE_BY_SIDE]


def _offer(encoders: Sequence[str], dataset: Dataset) -> None:
    """Say what is not encoded yet, with the button that does it."""
    names = ", ".join(as_text(Variant(encoder, "none").label) for encoder in encoders)
    with st.container(border=True, key="to_encode"):
        st.markdown(
            f"**{tables.dataset_title(dataset.id)} is not encoded by {names} yet.** Its {len(dataset.items):,} texts "
            "are encoded in the background; what is done stays, also when it is cancelled."
        )
        encode_button("Encode it", encoders, dataset.id, key="encode_here")
