"""Preparation of a hosted demo: everything that *Run the demo* computes, before the server reports ready."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass

from core.errors import BlindspotError
from core.files.writing import exclusive
from core.jobs.queue import HOST, JobState
from core.settings import Settings
from core.types import CancelToken

log = logging.getLogger(__name__)
LOCK = ".demo.lock"  # in the cache: of several servers on it one prepares, the others wait and find the results
LOOK_SECONDS = 0.2
RETRY_SECONDS = 30.0


@dataclass(frozen=True)
class Progress:
    """How far the preparation is: finished tasks of all, and the seconds that the rest takes, if known."""

    done: int = 0
    of: int = 0
    remaining_seconds: float | None = None
    failed: bool = False  # it is tried again


class Preparation:
    """The preparation of this process's server."""

    def __init__(self) -> None:
        self._progress: Progress | None = None

    @property
    def progress(self) -> Progress | None:
        """None where nothing is to be prepared, or all is."""
        return self._progress

    def begin(self, settings: Settings) -> None:
        """Note that there is something to do; call it before the server answers."""
        self._progress = Progress() if settings.prepare else None

    def run(self, settings: Settings) -> None:
        """Compute what is missing, as a job of the host's in the queue that visitors use; until all is there.

        What is stored is found, so a killed server goes on where it was.
        """
        while self._progress is not None:
            try:
                with exclusive(settings.cache / LOCK, CancelToken()):
                    self._once(settings)
            except BlindspotError as error:
                log.warning("the demo cannot be prepared: %s", error)
                self._progress = Progress(failed=True)
            if self._progress is not None:
                time.sleep(RETRY_SECONDS)

    def _once(self, settings: Settings) -> None:
        from core.ui.resources import jobs
        from core.ui.widgets.work import DEMO_TITLE, demo_tasks

        queue = jobs()
        wanted = demo_tasks(settings)
        number = queue.submit(DEMO_TITLE, wanted, HOST)
        while True:
            (job,) = (job for job in queue.jobs() if job.job_id == number)
            self._progress = Progress(job.tasks_done, len(wanted), job.remaining_seconds)
            if not job.state.active:
                break
            time.sleep(LOOK_SECONDS)
        if job.state is JobState.DONE:
            self._progress = None
        else:
            raise BlindspotError(job.error or "it was cancelled")
