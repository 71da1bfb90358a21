"""Turns for work that a page does while its reader waits: few at a time, and none for a reader who has left.

An address alone can start such work, and be opened and closed by the hundred. So whatever takes longer than a moment
and depends on what a reader types takes a turn.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from blindspot.types import CancelToken

AT_ONCE = max(1, (os.cpu_count() or 1) // 2)  # half the cores are left to readers who only look
LOOK_SECONDS = 0.2
_TURNS = threading.BoundedSemaphore(AT_ONCE)


class WhileRead(CancelToken):
    """Ends the work of a page that its reader has left or changed: reading the session's state then raises."""

    def check(self) -> None:
        st.session_state.get("_is_still_read")
        super().check()


@contextmanager
def turn() -> Iterator[CancelToken]:
    """Wait for a turn; the work within looks at the token."""
    reader = WhileRead()
    while not _TURNS.acquire(timeout=LOOK_SECONDS):
        reader.check()
    try:
        yield reader
    finally:
        _TURNS.release()
