"""Preparation of a hosted demo: everything that *Run the demo* computes, before the server reports ready."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass

from blindspot.errors import BlindspotError
from blindspot.settings import Settings

log = logging.getLogger(__name__)
LOCK = ".demo.lock"  # in the cache: of several servers sharing it one prepares, the others wait and find the results
LOOK_SECONDS = 0.2
RETRY_SECONDS = 30.0


@dataclass(frozen=True)
class Progress:
    """Progress of the preparation: finished tasks out of all, and the remaining seconds, if known."""

    done: int = 0
    of: int = 0
    remaining_seconds: float | None = None
    failed: bool = False  # and will be tried again


class Preparation:
    """The preparation of this process's server."""

    def __init__(self) -> None:
        self._progress: Progress | None = None

    @property
    def progress(self) -> Progress | None:
        """None if there is nothing to prepare, or everything is prepared."""
        return self._progress

    def begin(self, settings: Settings) -> None:
        """Note that preparation is pending; call it before the server answers."""
        self._progress = Progress() if settings.prepare else None

    def run(self, settings: Settings) -> None:
        """Compute what is missing, as the host's job in the queue that visitors use; try again until all is there.

        Stored results are found, so a restarted server continues where the killed one was.
        """
        while self._progress is not None:
            try:
                self.once(settings)
            except BlindspotError as error:
                log.warning("the demo cannot be prepared: %s", error)
                self._progress = Progress(failed=True)
            if self._progress is not None:
                time.sleep(RETRY_SECONDS)

    def once(self, settings: Settings) -> None:
        """Compute what is missing, once.

        Raises:
            BlindspotError: a task failed.
        """
        from blindspot.files.writing import exclusive  # imports numpy, and a server answers before it does
        from blindspot.types import CancelToken

        with exclusive(settings.cache / LOCK, CancelToken()):
            self._compute(settings)

    def _compute(self, settings: Settings) -> None:
        from blindspot.jobs.demo import demo_tasks
        from blindspot.jobs.queue import HOST, JobState
        from blindspot.ui.resources import jobs
        from blindspot.ui.widgets.work import DEMO_TITLE

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
