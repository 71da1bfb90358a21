"""What the cache takes on disk, and what it may take."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from core.files.writing import bytes_of
from core.ui.resources import cached, settings

FRESH_SECONDS = 30  # looking into every folder takes some milliseconds


@cached(1, ttl=FRESH_SECONDS)
def _bytes(cache: Path) -> int:
    return bytes_of(cache)


def note() -> None:
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
