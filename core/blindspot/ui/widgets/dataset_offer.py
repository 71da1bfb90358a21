"""Further datasets that a page needs: read where they are here, otherwise offered for download."""

from __future__ import annotations

import streamlit as st

from blindspot.datasets import fetch
from blindspot.datasets.catalog import DATASETS, SOURCES, DatasetEntry, title_of
from blindspot.datasets.kinds.scored_pairs import ScoredPairs
from blindspot.errors import BlindspotError
from blindspot.ui.markdown import as_text
from blindspot.ui.resources import cached, explained, settings
from blindspot.ui.widgets.work import fetch_button


def entry_of(dataset: str) -> DatasetEntry | None:
    """The scored pairs that a dataset's pairs were taken from, as far as the catalog knows them."""
    entry = DATASETS.get(dataset)
    return SOURCES[entry.sources] if entry and entry.sources else None


def is_here(entry: DatasetEntry) -> bool:
    """Whether all its files are on this machine and sound; built-in data and a user's own need none to be fetched."""
    return _state(entry) not in {fetch.DataState.MISSING, fetch.DataState.CORRUPT}


@cached(8)
def _state(entry: DatasetEntry) -> fetch.DataState:
    return fetch.dataset_state(entry, settings())


def offer(entry: DatasetEntry, what_for: str, *, key: str) -> None:
    """Say what is missing and what for, with the button that downloads it."""
    size = sum(file.download for file in entry.files) / 1e6
    text, button = st.columns([4, 1], vertical_alignment="center")
    text.info(f"{what_for} needs {title_of(entry.id)} ({size:.1f} MB), which is not on this machine yet.")
    with button:
        fetch_button("Download", f"Download of {entry.title}", entry.id, key=key)


def scored_pairs(entry: DatasetEntry) -> ScoredPairs | None:
    """The scored pairs; None, having said why, where their files cannot be read."""
    try:
        return _scored(entry)
    except BlindspotError as error:
        st.error(as_text(explained(error)), icon=":material/report:")
        return None


@cached(4, "Reading the source sets …", shared=True)
def _scored(entry: DatasetEntry) -> ScoredPairs:
    data = fetch.load(entry, settings())
    if not isinstance(data, ScoredPairs):
        raise TypeError(f"{entry.id} is no set of scored pairs")
    return data
