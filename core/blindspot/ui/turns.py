"""Turns for work that a page does while its reader waits: few at a time, and none for a reader who has left.

An address alone can start such work, and be opened and closed by the hundred. So whatever takes longer than a moment
and depends on what a reader types or sends takes a turn; what reads their texts with code of our own (parsers, rules,
regular expressions) has a process of its own on a demo, which can be ended (``for_reader``).
"""

from __future__ import annotations

import math
import os
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Any, TypeVar

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from blindspot.jobs import in_child
from blindspot.types import CancelToken
from blindspot.ui.resources import allowed

AT_ONCE = max(1, (os.cpu_count() or 1) // 2)  # half the cores are left to readers who only look
LOOK_SECONDS = 0.2
T = TypeVar("T")


class _Turns:
    """Turns, first come, first served."""

    def __init__(self, at_once: int) -> None:
        self._free = at_once
        self._waiting: deque[threading.Event] = deque()
        self._lock = threading.Lock()

    def take(self, reader: CancelToken) -> None:
        mine = threading.Event()
        with self._lock:
            self._waiting.append(mine)
            self._give()
        try:
            while not mine.wait(LOOK_SECONDS):
                reader.check()
        except BaseException:
            with self._lock:
                if mine.is_set():
                    self._free += 1
                else:
                    self._waiting.remove(mine)
                self._give()
            raise

    def give_back(self) -> None:
        with self._lock:
            self._free += 1
            self._give()

    def _give(self) -> None:
        while self._free and self._waiting:
            self._free -= 1
            self._waiting.popleft().set()


_TURNS = _Turns(AT_ONCE)


class WhileRead(CancelToken):
    """Ends the work of a page that its reader has left or changed, reading the session's state then raises; and what
    takes longer than a visitor's turn may."""

    def __init__(self) -> None:
        super().__init__()
        self._most, self._until = math.inf, math.inf

    def begin(self) -> None:
        """The turn has come."""
        if (limits := allowed().work) is not None:
            self._most, self._until = limits.turn, monotonic() + limits.turn

    def check(self) -> None:
        if get_script_run_ctx(suppress_warning=True) is not None:  # a thread that helps has none
            st.session_state.get("_is_still_read")
        if monotonic() > self._until:
            raise in_child.too_long(self._most)
        super().check()


@contextmanager
def turn() -> Iterator[CancelToken]:
    """Wait for a turn; the work within looks at the token.

    Whatever looks raises ``InputError`` where it takes longer than a visitor may.
    """
    reader = WhileRead()
    _TURNS.take(reader)
    try:
        reader.begin()
        yield reader
    finally:
        _TURNS.give_back()


def for_reader(function: Callable[..., T], *args: Any) -> T:
    """``function(*args)``, of what a reader typed or sent, when it is its turn; on a demo in a process of its own.

    Raises:
        InputError: it takes more time or memory than a visitor may.
    """
    with turn() as cancel:
        limits = allowed().work
        return function(*args) if limits is None else in_child.call(function, args, limits, cancel)
