"""Work in the background: one daemon thread runs the queue; every page sees the same jobs (DESIGN section 7)."""

from __future__ import annotations

import atexit
import itertools
import logging
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from time import monotonic

from core import hubness, maps, pipeline
from core.datasets import catalog as datasets
from core.datasets import fetch
from core.datasets.fetch import FetchRequest
from core.errors import BlindspotError, Cancelled
from core.hubness import HubsRequest
from core.judgement import making
from core.judgement.making import ItemsRequest
from core.maps import MapRequest
from core.pipeline import EncodeRequest, Repetition, RunOutcome, RunRequest
from core.scored import learned
from core.scored.learned import LearnRequest
from core.settings import Settings
from core.store.repository import Repository
from core.types import CancelToken, Progress

# Work on a dataset's space, of which the store has no run.
SpaceRequest = EncodeRequest | MapRequest | HubsRequest | LearnRequest | ItemsRequest
Task = RunRequest | Repetition | FetchRequest | SpaceRequest

log = logging.getLogger(__name__)
JOIN_SECONDS = 2.0
ENDED_KEPT = 1_000  # jobs that have ended and are still told of


class JobState(StrEnum):
    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def active(self) -> bool:
        return self in {JobState.QUEUED, JobState.RUNNING}


@dataclass(frozen=True)
class Job:
    """A job at one moment.

    Attributes:
        tasks: what it does, in order.
        tasks_done: how many of them are finished.
        stage: what it is doing, in words.
        done, total: units of that stage.
        fraction: share of the stage's work that is done, 0 to 1.
        remaining_seconds: until the end of the stage, at the pace so far; None while it cannot be told.
        error: what went wrong, in one line.
        note: what came out, where there is more to say than that it is done.
    """

    job_id: int
    title: str
    tasks: tuple[Task, ...]
    state: JobState = JobState.QUEUED
    tasks_done: int = 0
    stage: str = "waiting"
    done: int = 0
    total: int = 0
    fraction: float = 0.0
    remaining_seconds: float | None = None
    error: str = ""
    note: str = ""

    @property
    def requests(self) -> tuple[RunRequest, ...]:
        """The runs among its tasks."""
        return tuple(
            task.request if isinstance(task, Repetition) else task
            for task in self.tasks
            if not isinstance(task, FetchRequest | SpaceRequest)
        )

    @property
    def encoders(self) -> frozenset[str]:
        """References of the encoders that it works with."""
        encoded = {task.encoder for task in self.tasks if isinstance(task, EncodeRequest)}
        on_one = MapRequest | HubsRequest | LearnRequest
        encoded |= {task.variant.encoder for task in self.tasks if isinstance(task, on_one)}
        encoded |= {v.encoder for task in self.tasks if isinstance(task, ItemsRequest) for v in task.variants}
        return frozenset(encoded | {request.variant.encoder for request in self.requests})

    @property
    def datasets(self) -> frozenset[str]:
        """References of the datasets that it computes on, encodes or draws."""
        encoded = {task.dataset for task in self.tasks if isinstance(task, SpaceRequest)}
        return frozenset(encoded | {request.dataset for request in self.requests})


@dataclass
class _Pace:
    """When a stage began and how far it was then (a resumed stage does not begin at zero)."""

    stage: str = ""
    began: float = 0.0
    fraction: float = 0.0


@dataclass
class _Entry:
    job: Job
    cancel: CancelToken = field(default_factory=CancelToken)
    pace: _Pace = field(default_factory=_Pace)


class JobQueue:
    """Does tasks one after another in a daemon thread that lives as long as the process."""

    def __init__(self, settings: Settings, repository: Repository) -> None:
        self._settings = settings
        self._repository = repository
        self._entries: dict[int, _Entry] = {}
        self._waiting: list[int] = []  # ids of queued jobs, in the order in which they will run
        self._numbers = itertools.count(1)
        self._changed = threading.Condition()
        self._closing = False
        self._thread = threading.Thread(target=self._work, name="blindspot-jobs", daemon=True)
        self._thread.start()
        atexit.register(self.close)

    def submit(self, title: str, tasks: Sequence[Task]) -> int:
        """Queue some tasks as one job; the id of the job that already does the same, where there is one."""
        wanted = tuple(tasks)
        with self._changed:
            for entry in self._entries.values():
                if entry.job.state.active and entry.job.tasks == wanted and not entry.cancel.cancelled:
                    return entry.job.job_id
            job_id = next(self._numbers)
            self._entries[job_id] = _Entry(Job(job_id, title, wanted))
            self._waiting.append(job_id)
            ended = [i for i, entry in self._entries.items() if not entry.job.state.active]
            for i in ended[:-ENDED_KEPT]:
                del self._entries[i]
            self._changed.notify_all()
            return job_id

    def move(self, job_id: int, places: int) -> None:
        """Let a queued job run so many places earlier (negative) or later; at most first or last of the queued."""
        with self._changed:
            if job_id not in self._waiting:
                return  # it runs or has ended by now
            place = self._waiting.index(job_id) + places
            self._waiting.remove(job_id)
            self._waiting.insert(max(0, place), job_id)

    def cancel(self, job_id: int) -> None:
        """Stop a job at its next batch; a queued one at once. A job that has ended stays as it is."""
        with self._changed:
            entry = self._entries.get(job_id)
            if entry is None:
                return
            entry.cancel.cancel()
            if entry.job.state is JobState.QUEUED:
                self._waiting.remove(job_id)
                entry.job = replace(entry.job, state=JobState.CANCELLED, stage="cancelled")
            elif entry.job.state is JobState.RUNNING:
                entry.job = replace(entry.job, stage="cancelling", remaining_seconds=None)

    def jobs(self) -> list[Job]:
        """All jobs of this process, newest first."""
        with self._changed:
            return [entry.job for entry in reversed(self._entries.values())]

    def active(self) -> list[Job]:
        """Running and queued jobs, in the order in which they run."""
        with self._changed:
            running = [entry.job for entry in self._entries.values() if entry.job.state is JobState.RUNNING]
            return running + [self._entries[job_id].job for job_id in self._waiting]

    def close(self) -> None:
        """Cancel everything and wait a moment for the thread."""
        with self._changed:
            self._closing = True
            for entry in self._entries.values():
                entry.cancel.cancel()
            self._changed.notify_all()
        self._thread.join(JOIN_SECONDS)

    # --- the worker's side

    def _work(self) -> None:
        while (entry := self._next()) is not None:
            try:
                self._run(entry)
            except Cancelled:
                self._update(entry, state=JobState.CANCELLED, stage="cancelled", remaining_seconds=None)
            except BlindspotError as error:
                self._update(entry, state=JobState.FAILED, error=str(error), remaining_seconds=None)
            except Exception as error:
                log.exception("job %s failed", entry.job.job_id)
                message = f"unexpected {type(error).__name__}: {error}; the server's log has the details"
                self._update(entry, state=JobState.FAILED, error=" ".join(message.split()), remaining_seconds=None)
            else:
                self._update(entry, state=JobState.DONE, stage="done", remaining_seconds=None)

    def _next(self) -> _Entry | None:
        """Wait for the next queued job; None when the queue closes."""
        with self._changed:
            while True:
                if self._closing:
                    return None
                if self._waiting:
                    entry = self._entries[self._waiting.pop(0)]
                    entry.job = replace(entry.job, state=JobState.RUNNING, stage="starting")
                    return entry
                self._changed.wait()

    def _run(self, entry: _Entry) -> None:
        def progress(stage: str, done: int, total: int, fraction: float | None = None) -> None:
            share = fraction if fraction is not None else done / total if total else 1.0
            now, pace = monotonic(), entry.pace
            if pace.stage != stage:
                entry.pace = pace = _Pace(stage, now, share)
            gained = share - pace.fraction
            remaining = (now - pace.began) * (1.0 - share) / gained if gained > 0.01 else None
            with self._changed:  # so that no cancel comes in between
                if not entry.cancel.cancelled:
                    self._update(
                        entry, stage=stage, done=done, total=total, fraction=share, remaining_seconds=remaining
                    )

        for number, task in enumerate(entry.job.tasks, 1):
            entry.cancel.check()
            entry.pace = _Pace()
            self._update(entry, stage="starting", done=0, total=0, fraction=0.0, remaining_seconds=None)
            note = self._do(task, progress, entry.cancel)
            self._update(entry, tasks_done=number, note=note or entry.job.note)

    def _do(self, task: Task, progress: Progress, cancel: CancelToken) -> str:
        """Do one task; what there is to say of it."""
        listeners = progress, cancel
        match task:
            case FetchRequest():
                fetch.fetch_dataset(datasets.find(task.dataset), self._settings, *listeners)
            case EncodeRequest():
                pipeline.encode(task, self._settings, self._repository, *listeners)
            case MapRequest():
                maps.make(task, self._settings, *listeners)
            case HubsRequest():
                hubness.make(task, self._settings, *listeners)
            case ItemsRequest():
                return making.told(making.make(task, self._settings, self._repository, *listeners))
            case LearnRequest():
                learned.make(task, self._settings, *listeners)
            case Repetition():
                outcome = self._compute(task.request, *listeners, again=True)
                return repeated(task, outcome)
            case RunRequest():
                self._compute(task, *listeners)
        return ""

    def _compute(self, request: RunRequest, progress: Progress, cancel: CancelToken, again: bool = False) -> RunOutcome:
        """Run it; the pages look into the embeddings, so they are kept."""
        return pipeline.run(
            request, self._settings, self._repository, progress, cancel, keep_embeddings=True, again=again
        )

    def _update(self, entry: _Entry, **changes: object) -> None:
        with self._changed:
            entry.job = replace(entry.job, **changes)  # type: ignore[arg-type]  # replace() checks the names


def repeated(task: Repetition, outcome: RunOutcome) -> str:
    """What computing a stored run again showed, as a sentence."""
    if outcome.record.run_id != task.run_id:
        return (
            f"It is another run now, {outcome.record.run_id}: something that decides its numbers has changed since "
            f"{task.run_id} was computed. Comparing the two shows what."
        )
    if not outcome.changed:
        return f"All {len(outcome.record.metrics)} scores are the same as those stored."
    name, (before, now) = next(iter(outcome.changed.items()))
    return (
        f"{len(outcome.changed)} of {len(outcome.record.metrics)} scores differ from those stored, which stay: "
        f"{name} was {before:.10g} and is {now:.10g}."
    )
