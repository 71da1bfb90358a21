"""Work that a page does itself while its reader waits: little of it at a time, and none for a reader who has gone.

An address alone can start such work, and be opened and closed by the hundred. Whatever takes longer than a moment and
depends on what a reader types takes a turn.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from core.types import CancelToken

AT_ONCE = max(1, (os.cpu_count() or 1) // 2)  # half the cores stay with those who only look
LOOK_SECONDS = 0.2
_TURNS = threading.BoundedSemaphore(AT_ONCE)


class WhileRead(CancelToken):
    """Ends the work of a page that its reader has left, or wants otherwise by now.

    Streamlit ends a run of a page, by an exception of its own, where it next looks at the session's state.
    """

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
