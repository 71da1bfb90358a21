"""Context of every job: it locks the cache files that it reads, is logged, and trims the cache afterwards."""

from __future__ import annotations

import logging
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter

from blindspot.errors import BlindspotError
from blindspot.files.in_use import holding
from blindspot.runs import log as joblog
from blindspot.runs.cache_limit import keep_to_limit
from blindspot.runs.log import JobLine
from blindspot.settings import Settings

_DEPTH = threading.local()


@contextmanager
def at_work(settings: Settings, line: JobLine) -> Iterator[JobLine]:
    """Context for a job. Nested jobs are logged too; the cache is trimmed after the outermost one, without raising."""
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
    """Trim the cache to its limit, and log what was removed."""
    began = perf_counter()
    try:
        removed = keep_to_limit(settings)
    except (BlindspotError, OSError) as error:  # the job's result matters more
        logging.getLogger(__name__).warning("the cache cannot be kept below its limit: %s", error)
        return
    if removed:
        kinds = ", ".join(f"{count} {kind}" for kind, count in Counter(each.kind for each in removed).items())
        freed, seconds = sum(each.size for each in removed), round(perf_counter() - began, 3)
        joblog.write(settings, JobLine("evict", variant=kinds, seconds=seconds, outcome="removed", freed_bytes=freed))
