"""Page *Models*."""

from pathlib import Path

import streamlit as st

from blindspot import ui
from blindspot.files.writing import bytes_of
from blindspot.ui.resources import cached, settings
from blindspot.workspace.models import adding, encoders

FRESH_SECONDS = 30  # walking every folder takes some milliseconds


def show() -> None:
    picks = ui.page("Models", "Which models can you test, and what do they cost to run?")
    library = encoders.library()
    adding.by_reference(library, picks)
    encoders.empty(library)
    encoders.table(library, adding.added())
    with ui.errors_shown():
        if encoder := encoders.chosen(library):
            encoders.details(encoder, library, picks)
    adding.other_ways(library, picks)
    cache_size()


@cached(1, ttl=FRESH_SECONDS)
def _bytes(cache: Path) -> int:
    return bytes_of(cache)


def cache_size() -> None:
    """Draw a line with the size of the cache and its limit."""
    taken, limit = _bytes(settings().cache), settings().cache_limit
    with st.container(key="cache_size"):
        if limit is None:
            st.caption(
                f"All cached files (embeddings, maps, downloads) take {taken / 1e6:,.1f} MB on disk. No limit is set."
            )
            return
        st.caption(
            f"All cached files (embeddings, maps, downloads) take {taken / 1e6:,.1f} MB on disk. "
            f"Above {limit / 1e6:,.0f} MB, the least recently used are removed and recomputed when needed."
        )
