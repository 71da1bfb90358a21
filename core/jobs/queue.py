"""Work in the background: one daemon thread runs the queue; every page sees the same jobs (DESIGN section 7)."""

from __future__ import annotations

import atexit
import itertools
import logging
import threading
import weakref
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from enum import StrEnum
from time import monotonic
from typing import Protocol

from core import policy
from core.datasets import catalog as datasets
from core.datasets import fetch
from core.datasets.fetch import FetchRequest
from core.diagnostic import FIT_ON
from core.errors import BlindspotError, Cancelled
from core.files.writing import disk_error
from core.runs import estimates, pipeline
from core.runs.at_work import at_work
from core.runs.log import JobLine
from core.runs.pipeline import EncodeRequest, Repetition, RunOutcome, RunRequest
from core.settings import Settings
from core.store.repository import Repository
from core.types import CancelToken, Progress, Variant


class SpaceTask(Protocol):
    """Work on a dataset's space, of which the store has no run: a map, lists of neighbours. Equal ones are one."""

    @property
    def label(self) -> str: ...

    @property
    def dataset(self) -> str: ...

    @property
    def encoders(self) -> frozenset[str]:
        """References of the encoders whose embeddings it reads or makes."""
        ...

    @property
    def typed_variants(self) -> frozenset[Variant]:
        """Variants that somebody may have typed; none for work on one that is stored."""
        ...

    @property
    def line(self) -> JobLine:
        """What the log says of it."""
        ...

    @property
    def takes_uploads(self) -> bool:
        """Whether a visitor's own texts may be its dataset."""
        ...

    def do(self, settings: Settings, repository: Repository, progress: Progress, cancel: CancelToken) -> str:
        """Do it; what there is to say of it, or ""."""
        ...


Task = RunRequest | Repetition | EncodeRequest | FetchRequest | SpaceTask

log = logging.getLogger(__name__)
JOIN_SECONDS = 2.0
ASSUMED_SECONDS = 2.0  # that are taken to have gone as expected: one short task says little about the pace
LEAST_SECONDS = 0.05  # of a run that is found in the store
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
        fraction: share of the job's work that is done, 0 to 1; of a single task that of its stage.
        remaining_seconds: until the end of the job, at the pace so far; None while it cannot be told. Of a single task
            until the end of its stage.
        error: what went wrong, in one line.
        note: what came out, where there is more to say than that it is done.
        owners: visitors that asked for it; on a machine of one's own there is one, "".
        is_private: it is about a visitor's own texts: other visitors are not told what it is.
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
    owners: frozenset[str] = frozenset()
    is_private: bool = False

    @property
    def requests(self) -> tuple[RunRequest, ...]:
        """The runs among its tasks."""
        return tuple(
            task.request if isinstance(task, Repetition) else task
            for task in self.tasks
            if isinstance(task, RunRequest | Repetition)
        )

    @property
    def space_tasks(self) -> tuple[SpaceTask, ...]:
        known = RunRequest | Repetition | EncodeRequest | FetchRequest
        return tuple(task for task in self.tasks if not isinstance(task, known))

    @property
    def encoders(self) -> frozenset[str]:
        """References of the encoders that it works with."""
        encoded = {task.encoder for task in self.tasks if isinstance(task, EncodeRequest)}
        read = {reference for task in self.space_tasks for reference in task.encoders}
        return frozenset(encoded | read | {request.variant.encoder for request in self.requests})

    @property
    def wanted_variants(self) -> frozenset[Variant]:
        """Those that somebody may have typed; a map or a list of hubs is of one that is stored."""
        made = {variant for task in self.space_tasks for variant in task.typed_variants}
        return frozenset(made | {request.variant for request in self.requests})

    @property
    def datasets(self) -> frozenset[str]:
        """References of the datasets that it computes on, encodes or draws."""
        encoded = {task.dataset for task in self.tasks if isinstance(task, EncodeRequest)}
        read = {task.dataset for task in self.space_tasks}
        return frozenset(encoded | read | {request.dataset for request in self.requests})


@dataclass
class _Pace:
    """When a stage began and how far it was then (a resumed stage does not begin at zero)."""

    stage: str = ""
    began: float = 0.0
    fraction: float = 0.0


@dataclass
class _Outlook:
    """How long a job of several tasks will take, from what its tasks were expected to take.

    Attributes:
        expected: per task, in seconds, or in any unit where ``in_seconds`` is not so.
        spent: seconds of the tasks that are done.
        task_began: of the one that is under way.
        fraction: as shown last: a bar does not go back.
    """

    expected: tuple[float, ...] = ()
    in_seconds: bool = False
    spent: list[float] = field(default_factory=list)
    task_began: float = 0.0
    fraction: float = 0.0

    def remaining(self, now: float, stage: float | None) -> float | None:
        """Seconds until the end of the job; None where nothing is known yet.

        Args:
            stage: seconds until the end of the current stage, where they are known.
        """
        done, assumed = len(self.spent), ASSUMED_SECONDS if self.in_seconds else 0.0
        expected = sum(self.expected[:done]) + assumed
        if not expected:
            return None
        pace = (sum(self.spent) + assumed) / expected
        current = max(pace * self.expected[done] - (now - self.task_began), stage or 0.0)
        return current + pace * sum(self.expected[done + 1 :])

    def share(self, now: float, remaining: float | None) -> float:
        """Of the job's time, what is over."""
        over = sum(self.spent) + now - self.task_began
        if remaining is not None and over > 0:
            self.fraction = max(self.fraction, over / (over + remaining))
        return self.fraction


@dataclass(frozen=True)
class Place:
    """Where a job's work is kept: what all visitors share, or what is one visitor's."""

    settings: Settings
    repository: Repository


@dataclass
class _Entry:
    job: Job
    place: Place
    cancel: CancelToken = field(default_factory=CancelToken)
    pace: _Pace = field(default_factory=_Pace)
    outlook: _Outlook = field(default_factory=_Outlook)


_QUEUES: weakref.WeakSet[JobQueue] = weakref.WeakSet()


@atexit.register
def close_all() -> None:
    """End the work of this process; once is enough."""
    for queue in list(_QUEUES):
        queue.close()


class JobQueue:
    """Does tasks one after another in a daemon thread that lives as long as the process."""

    def __init__(self, settings: Settings, repository: Repository) -> None:
        self._place = Place(settings, repository)
        self._policy = policy.of(settings)
        self._entries: dict[int, _Entry] = {}
        self._waiting: list[int] = []  # ids of queued jobs, in the order in which they will run
        self._numbers = itertools.count(1)
        self._changed = threading.Condition()
        self._closing = False
        self._thread = threading.Thread(target=self._work, name="blindspot-jobs", daemon=True)
        self._thread.start()
        _QUEUES.add(self)

    def submit(self, title: str, tasks: Sequence[Task], owner: str = "", place: Place | None = None) -> int:
        """Queue some tasks as one job; the id of the job that already does the same, where there is one.

        Args:
            owner: who asks for it; on a demo a visitor.
            place: where its work is kept, if that is not where everybody's is.

        Raises:
            InputError: there is no room, or it is about what visitors of this server may not name.
        """
        wanted = tuple(tasks)
        place = place or self._place
        job = Job(0, title, wanted, owners=frozenset({owner}), is_private=bool(place.settings.session))
        _check(job, place.settings)
        with self._changed:
            for entry in self._entries.values():
                same = entry.job.tasks == wanted and entry.place.settings == place.settings
                if same and entry.job.state.active and not entry.cancel.cancelled:
                    entry.job = replace(entry.job, owners=entry.job.owners | {owner})
                    return entry.job.job_id
            self._check_room(len(wanted), owner)
            job_id = next(self._numbers)
            self._entries[job_id] = _Entry(replace(job, job_id=job_id), place)
            self._waiting.append(job_id)
            ended = [i for i, entry in self._entries.items() if not entry.job.state.active]
            for i in ended[:-ENDED_KEPT]:
                del self._entries[i]
            self._changed.notify_all()
            return job_id

    def check_room(self, tasks: int, owner: str) -> None:
        """Raise ``InputError`` where so many tasks more of a visitor would be too many."""
        with self._changed:
            self._check_room(tasks, owner)

    def _check_room(self, tasks: int, owner: str) -> None:
        active = [entry.job for entry in self._entries.values() if entry.job.state.active]
        mine = sum(len(job.tasks) for job in active if owner in job.owners)
        self._policy.check_room(tasks, mine, sum(len(job.tasks) for job in active))

    def may_cancel(self, job: Job, owner: str) -> bool:
        """Whether a visitor asked for a job, or all may cancel what anybody did."""
        return self._policy.orders_queue or owner in job.owners

    def move(self, job_id: int, places: int) -> None:
        """Let a queued job run so many places earlier (negative) or later; at most first or last of the queued.

        On a demo the order stays: what waits is of many visitors.
        """
        if not self._policy.orders_queue:
            return
        with self._changed:
            if job_id not in self._waiting:
                return  # it runs or has ended by now
            place = self._waiting.index(job_id) + places
            self._waiting.remove(job_id)
            self._waiting.insert(max(0, place), job_id)

    def cancel(self, job_id: int, owner: str = "") -> None:
        """Stop a job at its next batch; a queued one at once. A job that has ended stays as it is.

        On a demo nothing happens to a job that others asked for; one that others want too only loses this visitor.
        """
        with self._changed:
            entry = self._entries.get(job_id)
            if entry is None or not self.may_cancel(entry.job, owner):
                return
            others = entry.job.owners - {owner}
            if others and entry.job.state.active and not self._policy.orders_queue:
                entry.job = replace(entry.job, owners=others)
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

    def leave(self, owner: str) -> None:
        """A visitor is gone: cancel what nobody else asked for."""
        for job in self.active():
            if owner in job.owners:
                self.cancel(job.job_id, owner)

    def close(self, patience: float | None = None) -> None:
        """Cancel everything and wait for the thread, ``patience`` seconds at most (``JOIN_SECONDS``)."""
        with self._changed:
            self._closing = True
            for entry in self._entries.values():
                entry.cancel.cancel()
            self._changed.notify_all()
        self._thread.join(JOIN_SECONDS if patience is None else patience)

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
                details = f" {type(error).__name__}: {error}" if self._policy.error_details else ""
                message = str(disk_error(error) or f"unexpected{details}; the server's log has the details")
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
            if len(entry.job.tasks) > 1:
                remaining = entry.outlook.remaining(now, remaining)
                share = entry.outlook.share(now, remaining)
            with self._changed:  # so that no cancel comes in between
                if not entry.cancel.cancelled:
                    self._update(
                        entry, stage=stage, done=done, total=total, fraction=share, remaining_seconds=remaining
                    )

        outlook = entry.outlook = _expected(entry.job.tasks, entry.place)
        for number, task in enumerate(entry.job.tasks, 1):
            entry.cancel.check()
            entry.pace = _Pace()
            began = outlook.task_began = monotonic()
            left = outlook.remaining(began, None) if len(entry.job.tasks) > 1 else None
            share = outlook.share(began, left)
            self._update(entry, stage="starting", done=0, total=0, fraction=share, remaining_seconds=left)
            line = line_of(task)
            with at_work(entry.place.settings, line) if line else nullcontext():
                note = self._do(task, entry.place, progress, entry.cancel)
            outlook.spent.append(monotonic() - began)
            self._update(entry, tasks_done=number, note=note or entry.job.note)

    def _do(self, task: Task, place: Place, progress: Progress, cancel: CancelToken) -> str:
        """Do one task; what there is to say of it."""
        listeners = progress, cancel
        settings, repository = place.settings, place.repository
        match task:
            case FetchRequest():
                fetch.fetch_dataset(datasets.find(task.dataset), settings, *listeners)
            case EncodeRequest():
                pipeline.encode(task, settings, repository, *listeners)
            case Repetition():
                outcome = _compute(task.request, place, *listeners, again=True)
                return repeated(task, outcome)
            case RunRequest():
                _compute(task, place, *listeners)
            case _:
                return task.do(settings, repository, *listeners)
        return ""

    def _update(self, entry: _Entry, **changes: object) -> None:
        with self._changed:
            entry.job = replace(entry.job, **changes)  # type: ignore[arg-type]  # replace() checks the names


def _expected(tasks: Sequence[Task], place: Place) -> _Outlook:
    """What several tasks are expected to take: of runs as it was estimated before they were started."""
    if len(tasks) < 2:
        return _Outlook()
    runs = [task for task in tasks if isinstance(task, RunRequest)]
    try:
        estimated = estimates.estimate(runs, place.settings, place.repository).runs if runs else ()
    except BlindspotError as error:  # of what cannot be used: its run will say so when its turn comes
        log.info("what the job will take is not known: %s", error)
        estimated = ()
    seconds = {found.request: max(found.seconds or 0.0, LEAST_SECONDS) for found in estimated}
    usual = sum(seconds.values()) / len(seconds) if seconds else 1.0
    expected = (seconds.get(task, usual) if isinstance(task, RunRequest) else usual for task in tasks)
    return _Outlook(tuple(expected), in_seconds=bool(seconds))


def _compute(
    request: RunRequest, place: Place, progress: Progress, cancel: CancelToken, again: bool = False
) -> RunOutcome:
    """Run it; the pages look into the embeddings, so they are kept."""
    return pipeline.run(request, place.settings, place.repository, progress, cancel, keep_embeddings=True, again=again)


def _check(job: Job, settings: Settings) -> None:
    """Nothing is queued that reaches out of what visitors may name, however it was asked for."""
    for reference in job.encoders:
        policy.check_encoder(reference, settings)
    for variant in job.wanted_variants:
        policy.check_transform(variant.transform, settings)
    fitted_on = {value for request in job.requests for name, value in request.params if name == FIT_ON}
    fetched = {task.dataset for task in job.tasks if isinstance(task, FetchRequest)}
    for reference in job.datasets | fitted_on | fetched:
        policy.check_dataset(reference, settings)
    if any(isinstance(task, Repetition) for task in job.tasks):
        policy.of(settings).check_change("stored runs are not computed again")
    if job.is_private and not all(task.takes_uploads for task in job.space_tasks):
        raise policy.refused("items for raters are not made of uploads")


def line_of(task: Task) -> JobLine | None:
    """What the log says of a task before it is done; None for those of the pipeline, which logs them itself."""
    match task:
        case FetchRequest():
            return JobLine("fetch", dataset=task.dataset)
        case RunRequest() | Repetition() | EncodeRequest():
            return None
        case _:
            return task.line


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
