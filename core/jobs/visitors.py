"""Visitors of a hosted demo: each has a part of the cache that nobody else sees and that goes when they go."""

from __future__ import annotations

import os
import secrets
import shutil
import threading
from dataclasses import dataclass, field, replace

import psutil

from core.jobs.queue import JobQueue, Place
from core.settings import Settings
from core.store.repository import Repository


@dataclass(frozen=True)
class Visitor:
    """One session with a demo.

    Attributes:
        name: told to nobody; it names the visitor's folder, after the process that made it.
        place: where the work on their own texts is kept.
        queue: the server's.
        gone: set when they left; what their pages still offer is not delivered any more.
    """

    name: str
    place: Place
    queue: JobQueue
    gone: threading.Event = field(default_factory=threading.Event, repr=False, compare=False)


def begin(settings: Settings, queue: JobQueue) -> Visitor:
    """A new visitor; nothing is written before they bring texts of their own."""
    name = f"{os.getpid()}-{secrets.token_hex(16)}"
    own = replace(settings, session=name)
    return Visitor(name, Place(own, Repository.at(own.store)), queue)


def end(visitor: Visitor) -> None:
    """Forget a visitor: their work in the queue, their texts and all that was made of them."""
    visitor.gone.set()
    visitor.queue.leave(visitor.name)
    visitor.place.repository.database.close()
    shutil.rmtree(visitor.place.settings.home, ignore_errors=True)  # what a job still holds goes at the next start


def clear_left_over(settings: Settings) -> None:
    """Delete what visitors of servers left behind that were killed."""
    for folder in settings.sessions.glob("*-*"):
        process = folder.name.partition("-")[0]
        if not process.isdecimal() or int(process) == os.getpid() or not psutil.pid_exists(int(process)):
            shutil.rmtree(folder, ignore_errors=True)
