"""Searching in the items of a dataset, for every page that has such a box; only a few are sent to the browser."""

from __future__ import annotations

import streamlit as st

from core import text_search
from core.text_search import Found, Way
from core.texts import same_text
from core.types import Dataset

MOST_CHARACTERS = 10_000  # of a search: nothing that is longer is a text of a dataset that one would type
NOTHING = "No item contains it, and none is spelled like it."


def found_items(dataset: Dataset, wanted: str) -> Found:
    """The items that match, cached by the dataset's texts."""
    return _found(dataset, dataset.texts_digest, wanted[:MOST_CHARACTERS])


def title_of(found: Found) -> str:
    """How many there are and how they match, for above them."""
    if found.way is Way.SPELLED:
        return f"No item contains it; {len(found.numbers)} that are spelled alike"
    title = f"{found.total:,} items contain it" if found.total > 1 else "1 item contains it"
    return f"{title}; the first {len(found.numbers)}" if found.total > len(found.numbers) else title


@st.cache_resource(show_spinner=False, max_entries=3)
def _folded(_dataset: Dataset, digest: str) -> list[str]:  # noqa: ARG001 - cache key
    return [same_text(text) for text in _dataset.items]


@st.cache_data(show_spinner=False, max_entries=100)
def _found(_dataset: Dataset, digest: str, wanted: str) -> Found:
    return text_search.find_items(wanted, _dataset.items, _folded(_dataset, digest))
