"""Visitors of a hosted demo: each has a private part of the cache, deleted when they leave."""

from __future__ import annotations

import os
import secrets
import shutil
import threading
from dataclasses import dataclass, field, replace

import psutil

from blindspot.jobs.queue import JobQueue, Place
from blindspot.settings import Settings
from blindspot.store.repository import Repository


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
    own = replace(settings, session=name)
    return Visitor(name, Place(own, Repository.at(own.store)), queue)


def end(visitor: Visitor) -> None:
    """Forget a visitor: their jobs, their texts and everything computed on these."""
    visitor.gone.set()
    visitor.queue.leave(visitor.name)
    visitor.place.repository.database.close()
    shutil.rmtree(visitor.place.settings.home, ignore_errors=True)  # files held by a job are deleted at the next start


def clear_left_over(settings: Settings) -> None:
    """Delete the folders of visitors of killed servers."""
    for folder in settings.sessions.glob("*-*"):
        process = folder.name.partition("-")[0]
        if not process.isdecimal() or int(process) == os.getpid() or not psutil.pid_exists(int(process)):
            shutil.rmtree(folder, ignore_errors=True)
