"""Answers of a store to earlier questions, valid until its file changes, in this process or in another one.

A page asks some ten small questions, such as which models there are, every time it is drawn. DuckDB takes some
milliseconds for each, tens of them in a store of 100,000 runs, and has to open the file again after a second's rest.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import TypeVar, cast

from blindspot.store.db import Database

MOST_ROWS = 50_000  # of all answers that are kept: some tens of megabytes

A = TypeVar("A")


class Answers:
    """Answers by question; those asked for longest ago are dropped first. Callers share them: nobody may change one."""

    def __init__(self, database: Database, most_rows: int = MOST_ROWS) -> None:
        self._database = database
        self._most = most_rows
        self._lock = threading.Lock()
        self._state: Hashable = None
        self._kept: OrderedDict[Hashable, tuple[object, int]] = OrderedDict()
        self._rows = 0

    def get(self, question: Hashable, ask: Callable[[], tuple[A, int | None]]) -> A:
        """The answer to a question; ``ask`` returns it with its number of rows, None if it can change by itself."""
        before = self._database.state()  # looked at first: what changes meanwhile makes the answer look older
        with self._lock:
            if before != self._state:
                self._kept.clear()
                self._rows, self._state = 0, before
            if question in self._kept:
                self._kept.move_to_end(question)
                return cast("A", self._kept[question][0])
        answer, rows = ask()
        if rows is not None:
            with self._lock:
                if before == self._state and question not in self._kept:
                    self._kept[question] = (answer, rows + 1)
                    self._rows += rows + 1
                    while self._rows > self._most:
                        self._rows -= self._kept.popitem(last=False)[1][1]
        return answer
