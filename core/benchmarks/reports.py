"""The time of a report of two variants under every diagnostic."""

from __future__ import annotations

from time import perf_counter

from benchmarks.app_store import filled, settings_of
from benchmarks.measuring import BenchmarkResult
from blindspot.store.repository import Repository
from blindspot.studies.findings.collection import Selection
from blindspot.studies.report.content import gather
from blindspot.studies.report.making import as_html
from blindspot.types import Progress

REPEATS = 3


def report(progress: Progress) -> list[BenchmarkResult]:
    """Seconds from the store to the file's content with cold caches, and its size in MB."""
    settings = settings_of(filled(progress).cache)
    repository = Repository.at(settings.store)
    variants = tuple(repository.variants()[:2])
    seconds, content = [], ""
    for i in range(REPEATS):
        progress("report", i, REPEATS)
        start = perf_counter()
        content = as_html(gather(repository, settings, Selection(variants)))
        seconds.append(perf_counter() - start)
    repository.database.close()
    megabytes = len(content.encode()) / 1e6
    return [
        BenchmarkResult("report", seconds[0], "s", tuple(seconds)),
        BenchmarkResult("report_size", megabytes, "MB", (megabytes,)),
    ]
