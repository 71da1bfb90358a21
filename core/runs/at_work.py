"""What surrounds every piece of work, of the app's worker and of the command line: it holds the files of the cache
that it reads, its line goes into the log, and the cache is kept below its limit afterwards."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter

from core.errors import BlindspotError
from core.files.in_use import holding
from core.runs import log as joblog
from core.runs.cache_limit import keep_to_limit
from core.runs.log import JobLine
from core.settings import Settings

_DEPTH = threading.local()


@contextmanager
def at_work(settings: Settings, line: JobLine) -> Iterator[JobLine]:
    """Do a piece of work within; work within work has a line of its own, and nothing is removed before the end of all.

    Raises:
        BlindspotError: whatever the work raises. Making room raises nothing: it leaves what it cannot remove.
    """
    depth = getattr(_DEPTH, "value", 0)
    _DEPTH.value = depth + 1
    try:
        with holding(), joblog.recorded(settings, line):
            yield line
    finally:
        _DEPTH.value = depth
        if not depth:
            make_room(settings)


def make_room(settings: Settings) -> None:
    """Keep the cache below its limit, and log what was removed for that."""
    began = perf_counter()
    try:
        removed = keep_to_limit(settings)
    except (BlindspotError, OSError) as error:  # what was computed is there, and matters more
        logging.getLogger(__name__).warning("the cache cannot be kept below its limit: %s", error)
        return
    if removed:
        kinds = ", ".join(
            f"{sum(each.kind == kind for each in removed)} {kind}" for kind in dict.fromkeys(r.kind for r in removed)
        )
        freed = sum(each.size for each in removed)
        line = JobLine("evict", variant=kinds, outcome="removed", freed_bytes=freed)
        line.seconds = round(perf_counter() - began, 3)
        joblog.write(settings, line)
