"""The page *Models*."""

from pathlib import Path

import streamlit as st

from core import ui
from core.files.writing import bytes_of
from core.ui.resources import cached, settings
from core.workspace.models import adding, encoders

FRESH_SECONDS = 30  # looking into every folder takes some milliseconds


def show() -> None:
    picks = ui.page("Models", "Which encoders are here, what do they cost, and how do you add your own?")
    library = encoders.library()
    encoders.empty(library)
    encoders.table(library)
    cache_size()
    with ui.errors_shown():
        if encoder := encoders.chosen(library):
            encoders.details(encoder, library, picks)
    adding.adding(library, picks)


@cached(1, ttl=FRESH_SECONDS)
def _bytes(cache: Path) -> int:
    return bytes_of(cache)


def cache_size() -> None:
    """A line with the size of the whole cache and its limit."""
    taken, limit = _bytes(settings().cache), settings().cache_limit
    with st.container(key="cache_size"):
        if limit is None:
            st.caption(f"The cache takes {taken / 1e6:,.1f} MB on disk; no limit is set.")
            return
        st.caption(
            f"The cache takes {taken / 1e6:,.1f} MB on disk, of at most {limit / 1e6:,.0f} MB: beyond that, "
            "embeddings and the like that were not used for longest are removed, and made again when they are needed."
        )
