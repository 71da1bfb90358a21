"""Whose counts the Frequency page goes by: the dataset's own, wordfreq's, or those of a vocabulary."""

from __future__ import annotations

import streamlit as st

from core.datasets import catalog as datasets
from core.datasets import fetch, uploads
from core.datasets.catalog import DatasetEntry
from core.datasets.kinds.base import Dataset, DatasetKind
from core.datasets.kinds.vocabulary import Vocabulary
from core.datasets.word_frequency import (
    WORDFREQ,
    Frequencies,
    by_vocabulary,
    by_wordfreq,
    of_vocabulary,
)
from core.errors import BlindspotError
from core.ui.markdown import as_text
from core.ui.resources import cached, load, settings
from core.ui.widgets.work import fetch_button

AUTO = "auto"  # defaults never enter the address, so it must never change


def choose() -> str:
    """The picker; the id of a source. ``AUTO`` stands for the dataset's own counts where it has some, else wordfreq."""
    catalogued = [e.id for e in datasets.DATASETS.values() if e.kind is DatasetKind.VOCABULARY and e.files]
    own = [u.reference for u in uploads.found(settings()) if u.kind is DatasetKind.VOCABULARY]
    chosen = st.selectbox(
        "Counts from",
        [AUTO, WORDFREQ, *catalogued, *own],
        key="counts",
        bind="query-params",
        format_func=lambda source: uploads.short_name(source, settings()),  # which is also its name in the address
        help="How often words occur: by wordfreq, in a vocabulary of the page *Data*, or in one of your own that you "
        "uploaded there (columns word and count). auto: the dataset's own counts where it has some, else wordfreq's.",
    )
    return str(chosen)


def frequencies(dataset: Dataset, entry: DatasetEntry, source: str) -> Frequencies | None:
    """Of all items of a dataset; None, having offered the download, where the counts are not here.

    Raises:
        BlindspotError: the counts cannot be read, or they have none of the items.
    """
    if isinstance(dataset, Vocabulary) and source in (AUTO, entry.id):
        return _of_vocabulary(dataset, f"Frequencies are the dataset's own. {entry.description}")
    if source in (AUTO, WORDFREQ):
        found = _by_wordfreq(dataset)
    else:
        counted = datasets.find(source)
        if fetch.dataset_state(counted, settings()) in (fetch.DataState.MISSING, fetch.DataState.CORRUPT):
            st.info(f"The counts of {as_text(counted.title)} are not on this machine yet.", icon=":material/download:")
            fetch_button("Download", f"Download of {counted.title}", counted.id, key="frequency_fetch_counts")
            return None
        vocabulary = load(counted)
        if not isinstance(vocabulary, Vocabulary):
            raise BlindspotError(f"'{counted.id}' has no counts", expected=f"a {DatasetKind.VOCABULARY}")
        found = _by_vocabulary(dataset, vocabulary, counted)
    if not found.known.any():
        raise BlindspotError(
            f"none of the {len(dataset.items):,} items has a frequency by these counts",
            remedy="choose other counts",
        )
    return found


@cached(8, "Looking frequencies up …", shared=True)
def _by_wordfreq(dataset: Dataset) -> Frequencies:
    return by_wordfreq(dataset)


@cached(4, shared=True)
def _of_vocabulary(dataset: Vocabulary, about: str) -> Frequencies:
    return of_vocabulary(dataset, about)


@cached(8, "Looking frequencies up …", shared=True)
def _by_vocabulary(dataset: Dataset, vocabulary: Vocabulary, entry: DatasetEntry) -> Frequencies:
    about = (
        f"Frequencies are those of {entry.title} ({entry.size}); items that it lacks are left out. Of a text of "
        "several words it is the mean Zipf frequency (log10 of occurrences per billion) of those that it has."
    )
    return by_vocabulary(dataset, vocabulary, about)
