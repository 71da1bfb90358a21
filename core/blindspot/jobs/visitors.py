"""Visitors of a hosted demo: each has a private part of the cache, deleted a while after they left.

A connection is lost by a tunnel or a closed lid, and the browser opens it again: until then, jobs and texts stay.
"""

from __future__ import annotations

import logging
import os
import re
import secrets
import shutil
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import psutil

from blindspot.jobs.queue import JobQueue, Place
from blindspot.settings import Settings
from blindspot.store.repository import Repository

MOST_AWAY = 100
_FOLDER = re.compile(r"[^\s'\"=]*[/\\]\d+-[0-9a-f]{32}[^\s'\":;,]*")
_UPLOAD = "(an upload)"


@dataclass(frozen=True)
class Visitor:
    """One session with a demo.

    Attributes:
        name: secret; the name of the visitor's folder, which begins with the server's process id.
        place: of the results on their own texts.
        gone: set when they left: their pages deliver no more downloads.
    """

    name: str
    place: Place
    queue: JobQueue
    gone: threading.Event = field(default_factory=threading.Event, repr=False, compare=False)


def begin(settings: Settings, queue: JobQueue) -> Visitor:
    """A new visitor; nothing is written before they upload texts of their own."""
    name = f"{os.getpid()}-{secrets.token_hex(16)}"
    visitors_settings = replace(settings, session=name)
    return Visitor(name, Place(visitors_settings, Repository.at(visitors_settings.store)), queue)


def end(visitor: Visitor) -> None:
    """Forget a visitor: their jobs, their texts and everything computed on these."""
    visitor.gone.set()
    visitor.queue.leave(visitor.name)
    visitor.place.repository.database.close()
    shutil.rmtree(visitor.place.settings.home, ignore_errors=True)  # files held by a job are deleted at the next start


@dataclass
class _Stay:
    visitor: Visitor
    away: threading.Timer | None = None
    came_back: bool = False


class Visitors:
    """The visitors of a server, by session.

    Args:
        is_connected: whether a session has a connection now.
        patience: seconds from the end of a session's connection until its visitor is forgotten.
    """

    def __init__(
        self, settings: Settings, queue: JobQueue, is_connected: Callable[[str], bool], patience: float
    ) -> None:
        self._settings, self._queue = settings, queue
        self._is_connected, self._patience = is_connected, patience
        self._stays: dict[str, _Stay] = {}  # who lost the connection last is last
        self._lock = threading.Lock()

    def arrives(self, session: str) -> Visitor:
        """The visitor of a session: a new one, or the one who had lost the connection."""
        with self._lock:
            if session not in self._stays:
                self._stays[session] = _Stay(begin(self._settings, self._queue))
            stay = self._stays[session]
            stay.came_back |= stay.away is not None
            return stay.visitor

    def leaves(self, session: str) -> None:
        """Note that a connection ended. If too many are away, forget the first at once: their texts fill the disk."""
        with self._lock:
            if (stay := self._stays.pop(session, None)) is None:
                return
            self._stays[session] = stay
            if stay.away is not None:
                stay.away.cancel()
            stay.away = threading.Timer(self._patience, self._sweep, (session,))
            stay.away.daemon = True
            stay.away.start()
            away = [name for name, other in self._stays.items() if other.away is not None]
        for name in away[:-MOST_AWAY]:
            self._sweep(name)

    def _sweep(self, session: str) -> None:
        """Forget a visitor who has not connected again. A page still being drawn may have asked for them since."""
        with self._lock:
            if (stay := self._stays.get(session)) is None or stay.away is None:
                return
            stay.away.cancel()
            stay.away = None
            if self._is_connected(session):
                return
            del self._stays[session]
        end(stay.visitor)

    def came_back(self, session: str) -> bool:
        """Whether a visitor lost the connection and is back; true only once for each return."""
        with self._lock:
            stay = self._stays.get(session)
            if stay is None or not stay.came_back:
                return False
            stay.came_back = False
            return True


def keep_out_of_logs() -> None:
    """Remove visitors' folders from all log records of this process, tracebacks included: their names are secret."""
    make = logging.getLogRecordFactory()
    if getattr(make, "keeps_visitors_out", False):
        return

    def made(*args: Any, **kwargs: Any) -> logging.LogRecord:
        record = make(*args, **kwargs)
        try:
            text = record.getMessage()
        except (TypeError, ValueError):  # its handler says so
            return record
        if _FOLDER.search(text):
            record.msg, record.args = _FOLDER.sub(_UPLOAD, text), ()
        if record.exc_info and record.exc_info[0] is not None:
            told = logging.Formatter().formatException(record.exc_info)
            if _FOLDER.search(told):
                record.exc_text = _FOLDER.sub(_UPLOAD, told)
        return record

    made.keeps_visitors_out = True  # type: ignore[attr-defined]
    logging.setLogRecordFactory(made)


def clear_left_over(settings: Settings) -> None:
    """Delete the folders of visitors of killed servers."""
    for folder in settings.sessions.glob("*-*"):
        process = folder.name.partition("-")[0]
        if not process.isdecimal() or int(process) == os.getpid() or not psutil.pid_exists(int(process)):
            shutil.rmtree(folder, ignore_errors=True)
