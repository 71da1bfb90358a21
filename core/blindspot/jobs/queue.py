"""Queue of background work: one daemon thread runs it, and every page sees the same jobs."""

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
from typing import TYPE_CHECKING, ClassVar, Protocol

from blindspot import policy
from blindspot.datasets import fetch
from blindspot.datasets.fetch import FetchRequest
from blindspot.diagnostic import FIT_ON
from blindspot.encoders.in_a_row import EncodersInARow
from blindspot.errors import BlindspotError, Cancelled
from blindspot.files.writing import disk_error
from blindspot.runs import estimates, pipeline
from blindspot.runs import log as joblog
from blindspot.runs.at_work import at_work
from blindspot.runs.cluster.sweeps import ClusterSweep
from blindspot.runs.log import JobLine
from blindspot.runs.pipeline import RunOutcome
from blindspot.runs.requests import EncodeRequest, Repetition, RunRequest
from blindspot.settings import Settings
from blindspot.store.repository import Repository
from blindspot.types import CancelToken, Progress
from blindspot.variants import Variant


class SpaceTask(Protocol):
    """Work on a dataset's embeddings other than a run: a map, lists of neighbors. Equal tasks are the same work."""

    @property
    def label(self) -> str: ...

    @property
    def dataset(self) -> str: ...

    @property
    def encoders(self) -> frozenset[str]:
        """References of the encoders that have the embeddings it reads or makes."""

    @property
    def typed_variants(self) -> frozenset[Variant]:
        """Variants that somebody may have typed; empty for work on a stored one."""

    @property
    def line(self) -> JobLine:
        """Its entry in the log."""

    @property
    def takes_uploads(self) -> bool:
        """Whether its dataset may be a visitor's own texts."""

    def do(self, settings: Settings, repository: Repository, progress: Progress, cancel: CancelToken) -> str:
        """Do it; returns a note for the reader, or ""."""


class OnStoredVariant:
    """The part of ``SpaceTask`` that follows from one variant and one dataset."""

    kind: ClassVar[str]  # in the log

    if TYPE_CHECKING:  # fields of the dataclass that this is mixed into

        @property
        def variant(self) -> Variant: ...

        @property
        def dataset(self) -> str: ...

    @property
    def encoders(self) -> frozenset[str]:
        return frozenset({self.variant.encoder})

    @property
    def typed_variants(self) -> frozenset[Variant]:
        return frozenset()

    @property
    def takes_uploads(self) -> bool:
        return True

    @property
    def line(self) -> JobLine:
        return JobLine(self.kind, variant=self.variant.label, dataset=self.dataset)


Task = RunRequest | Repetition | ClusterSweep | EncodeRequest | FetchRequest | SpaceTask

log = logging.getLogger(__name__)
JOIN_SECONDS = 2.0
ASSUMED_SECONDS = 10.0  # of work at the expected pace, as a prior: one short task says little about the pace
LEAST_SECONDS = 0.05  # of a run that is already in the store
HOST = "host"  # owner of the jobs of a demo's own server; no visitor has such a name
ENDED_KEPT = 1_000  # ended jobs that are still listed


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
        tasks: in order; ``tasks_done`` of them are finished.
        stage: in words; ``done`` of its ``total`` units are finished.
        fraction: share of the job's work that is done, 0 to 1; of its stage if the job's length is unknown.
        remaining_seconds: of the whole job at the pace so far, never of a single stage; None while unknown, for example
            when its task takes longer than expected.
        task_seconds: time since its current task began.
        error: one line.
        note: the outcome of a single task, if there is more to say than "done".
        owners: visitors that asked for it; the name "" outside of a demo.
        is_private: about a visitor's own texts: other visitors see no details.
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
    task_seconds: float = 0.0
    error: str = ""
    note: str = ""
    owners: frozenset[str] = frozenset()
    is_private: bool = False

    @property
    def requests(self) -> tuple[RunRequest, ...]:
        """The runs among its tasks."""
        requests: list[RunRequest] = []
        for task in self.tasks:
            match task:
                case RunRequest():
                    requests.append(task)
                case Repetition():
                    requests.append(task.request)
                case ClusterSweep():
                    requests.extend(task.requests)
        return tuple(requests)

    @property
    def on_cluster(self) -> bool:
        """Whether its work is done elsewhere, while other jobs run here."""
        return any(isinstance(task, ClusterSweep) for task in self.tasks)

    @property
    def space_tasks(self) -> tuple[SpaceTask, ...]:
        kinds = RunRequest | Repetition | ClusterSweep | EncodeRequest | FetchRequest
        return tuple(task for task in self.tasks if not isinstance(task, kinds))

    @property
    def encoders(self) -> frozenset[str]:
        """References of its encoders."""
        encoded = {task.encoder for task in self.tasks if isinstance(task, EncodeRequest)}
        read = {reference for task in self.space_tasks for reference in task.encoders}
        return frozenset(encoded | read | {request.variant.encoder for request in self.requests})

    @property
    def wanted_variants(self) -> frozenset[Variant]:
        """Variants that somebody may have typed."""
        made = {variant for task in self.space_tasks for variant in task.typed_variants}
        return frozenset(made | {request.variant for request in self.requests})

    @property
    def datasets(self) -> frozenset[str]:
        """References of the datasets that it computes on or encodes."""
        encoded = {task.dataset for task in self.tasks if isinstance(task, EncodeRequest)}
        read = {task.dataset for task in self.space_tasks}
        return frozenset(encoded | read | {request.dataset for request in self.requests})


@dataclass
class _Pace:
    """The start of a stage, and the fraction done then: a resumed stage does not begin at zero."""

    stage: str = ""
    began: float = 0.0
    fraction: float = 0.0


@dataclass
class _Outlook:
    """The remaining time of a job.

    Attributes:
        expected: duration of each task, in seconds if ``in_seconds``, else in any unit; empty if not known.
        spent: seconds of the finished tasks.
        task_began: start of the current task.
        fraction: as shown last; a bar does not go back.
    """

    expected: tuple[float, ...] = ()
    in_seconds: bool = False
    spent: list[float] = field(default_factory=list)
    task_began: float = 0.0
    fraction: float = 0.0

    def remaining(self, now: float, stage: float | None) -> float | None:
        """Seconds until the end of the job, given those until the end of its stage; None while nothing is known."""
        left = self._left(now, stage)
        return None if left is None else sum(left)

    def is_late(self, now: float, stage: float | None) -> bool:
        """Whether the current task takes longer than expected, and nothing tells when it will end."""
        left = self._left(now, stage)
        return left is not None and left[0] <= 0

    def _left(self, now: float, stage: float | None) -> tuple[float, float] | None:
        """Seconds until the end of the current task, at least 0, and seconds of the tasks after it."""
        done, assumed = len(self.spent), ASSUMED_SECONDS if self.in_seconds else 0.0
        expected = sum(self.expected[:done]) + assumed
        if not expected or done >= len(self.expected):
            return None
        pace = (sum(self.spent) + assumed) / expected
        current = max(pace * self.expected[done] - (now - self.task_began), stage or 0.0)
        return max(current, 0.0), pace * sum(self.expected[done + 1 :])

    def share(self, now: float, remaining: float | None) -> float:
        """The share of the job's time that has passed."""
        over = sum(self.spent) + now - self.task_began
        if remaining is not None and over > 0:
            self.fraction = max(self.fraction, over / (over + remaining))
        return self.fraction


@dataclass(frozen=True)
class Place:
    """Place of a job's results: the shared cache and store, or one visitor's."""

    settings: Settings
    repository: Repository


@dataclass
class _Entry:
    job: Job
    place: Place
    round: int
    cancel: CancelToken = field(default_factory=CancelToken)
    pace: _Pace = field(default_factory=_Pace)
    outlook: _Outlook = field(default_factory=_Outlook)
    told: float = 0.0  # moment of the job's remaining time
    stage_left: float | None = None  # seconds of its stage, then

    def seen(self, now: float) -> Job:
        """The job as it is now: a task that says nothing for minutes takes time, too."""
        job, began = self.job, self.outlook.task_began
        if job.state is not JobState.RUNNING or not began:
            return job
        since, left = now - self.told, job.remaining_seconds
        if left is not None:
            stage = None if self.stage_left is None else max(self.stage_left - since, 0.0)
            left = None if self.outlook.is_late(now, stage) or left <= since else left - since
        return replace(job, remaining_seconds=left, task_seconds=now - began)


_QUEUES: weakref.WeakSet[JobQueue] = weakref.WeakSet()


@atexit.register
def close_all() -> None:
    """Close all queues of this process."""
    for queue in list(_QUEUES):
        queue.close()


class JobQueue:
    """Tasks done one after another in a daemon thread that lives as long as the process; a second thread waits for the
    cluster."""

    def __init__(self, settings: Settings, repository: Repository) -> None:
        self._place = Place(settings, repository)
        self._policy = policy.of(settings)
        self._entries: dict[int, _Entry] = {}
        self._waiting: list[int] = []  # ids of queued jobs, in the order in which they will run
        self._numbers = itertools.count(1)
        self._round = 0  # of the job that began last
        self._rounds: dict[str, int] = {}  # per owner, of their last job
        self._changed = threading.Condition()
        self._closing = False
        self._threads: dict[bool, threading.Thread] = {}
        self._begin(on_cluster=False)
        _QUEUES.add(self)

    def _begin(self, *, on_cluster: bool) -> None:
        """Start the thread for jobs of this machine, or of the cluster, unless it runs."""
        if on_cluster not in self._threads:
            name = "blindspot-cluster" if on_cluster else "blindspot-jobs"
            self._threads[on_cluster] = threading.Thread(target=self._work, args=(on_cluster,), name=name, daemon=True)
            self._threads[on_cluster].start()

    def submit(self, title: str, tasks: Sequence[Task], owner: str = "", place: Place | None = None) -> int:
        """Queue tasks as one job; returns its id, or the id of an active job with the same tasks.

        Args:
            owner: on a demo the visitor who asks for it, or ``HOST``, for whom there is always room.
            place: where its results go, if not to the shared place.

        Raises:
            InputError: there is no room, or visitors of this server may not name one of its encoders or datasets, or
                the store is only read.
        """
        policy.check_runs(self._place.settings)
        wanted = tuple(tasks)
        place = place or self._place
        job = Job(0, title, wanted, owners=frozenset({owner}), is_private=bool(place.settings.session))
        _check(job, place.settings)
        with self._changed:
            for entry in self._entries.values():
                same = entry.job.tasks == wanted and entry.place.settings == place.settings
                if same and entry.job.state.active and not entry.cancel.cancelled:
                    entry.job = replace(entry.job, owners=entry.job.owners | {owner})
                    entry.round = min(entry.round, self._next_round(owner))
                    return entry.job.job_id
            if owner != HOST:
                self.check_room(len(wanted), owner)
            job_id = next(self._numbers)
            self._rounds[owner] = self._next_round(owner)
            self._entries[job_id] = _Entry(replace(job, job_id=job_id), place, self._rounds[owner])
            self._waiting.append(job_id)
            self._begin(on_cluster=job.on_cluster)
            ended = [i for i, entry in self._entries.items() if not entry.job.state.active]
            for i in ended[:-ENDED_KEPT]:
                del self._entries[i]
            self._changed.notify_all()
            return job_id

    def check_room(self, tasks: int, owner: str) -> None:
        """Raise ``InputError`` if the queue has no room for these tasks of a visitor."""
        policy.check_runs(self._place.settings)
        with self._changed:
            jobs = [entry.job for entry in self._entries.values() if entry.job.state.active]
        active = [job for job in jobs if HOST not in job.owners]
        mine = sum(len(job.tasks) for job in active if owner in job.owners)
        self._policy.check_room(tasks, mine, sum(len(job.tasks) for job in active))

    def may_cancel(self, job: Job, owner: str) -> bool:
        """Whether a visitor asked for a job, or everybody may cancel all jobs."""
        return self._policy.orders_queue or owner in job.owners

    def move(self, job_id: int, places: int) -> None:
        """Move a queued job by ``places``, earlier if negative; does nothing on a demo, which many share."""
        if not self._policy.orders_queue:
            return
        with self._changed:
            if job_id not in self._waiting:
                return  # it runs or has ended by now
            position = self._waiting.index(job_id) + places
            self._waiting.remove(job_id)
            self._waiting.insert(max(0, position), job_id)

    def cancel(self, job_id: int, owner: str = "") -> None:
        """Stop a running job at its next batch, a queued one at once.

        On a demo visitors cancel only what they asked for; a job that others want too only loses this visitor.
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
        now = monotonic()
        with self._changed:
            return [entry.seen(now) for entry in reversed(self._entries.values())]

    def active(self) -> list[Job]:
        """Running and queued jobs, in the order of execution."""
        now = monotonic()
        with self._changed:
            running = [entry.seen(now) for entry in self._entries.values() if entry.job.state is JobState.RUNNING]
            return running + [self._entries[job_id].job for job_id in self._in_order()]

    def _in_order(self) -> list[int]:
        """Queued jobs in the order in which they will run: if many share the queue, one job per owner in each round."""
        if self._policy.orders_queue:
            return list(self._waiting)
        return sorted(self._waiting, key=lambda job_id: self._entries[job_id].round)

    def _next_round(self, owner: str) -> int:
        """The round of an owner's next job: after the running job's round, so that nobody is first by being new."""
        return max(self._rounds.get(owner, 0), self._round) + 1

    def leave(self, owner: str) -> None:
        """Cancel jobs that only this visitor asked for."""
        with self._changed:
            self._rounds.pop(owner, None)
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
        ends = monotonic() + (JOIN_SECONDS if patience is None else patience)
        for thread in self._threads.values():
            thread.join(max(ends - monotonic(), 0.0))

    # --- the worker's side

    def _work(self, on_cluster: bool) -> None:
        while (entry := self._next(on_cluster)) is not None:
            try:
                self._run(entry)
            except Cancelled:
                self._update(entry, state=JobState.CANCELLED, stage="cancelled", remaining_seconds=None)
            except BlindspotError as error:
                told = error if self._policy.error_details else joblog.place_of(error)  # messages may quote texts
                log.warning("job %s failed: %s", entry.job.job_id, told)
                self._update(entry, state=JobState.FAILED, error=self._policy.explained(error), remaining_seconds=None)
            except Exception as error:
                log.exception("job %s failed", entry.job.job_id)
                details = f" {type(error).__name__}: {error}" if self._policy.error_details else ""
                told = disk_error(error) or BlindspotError(f"unexpected{details}; the server's log has the details")
                message = self._policy.explained(told)
                self._update(entry, state=JobState.FAILED, error=" ".join(message.split()), remaining_seconds=None)
            else:
                self._update(entry, state=JobState.DONE, stage="done", remaining_seconds=None)

    def _next(self, on_cluster: bool) -> _Entry | None:
        """Wait for the next queued job; None when the queue closes."""
        with self._changed:
            while True:
                if self._closing:
                    return None
                mine = (i for i in self._in_order() if self._entries[i].job.on_cluster is on_cluster)
                if (job_id := next(mine, None)) is not None:
                    self._waiting.remove(job_id)
                    entry = self._entries[job_id]
                    self._round = max(self._round, entry.round)
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
            stage_left = remaining
            if outlook.expected:
                remaining = outlook.remaining(now, stage_left)
                share = outlook.share(now, None if outlook.is_late(now, stage_left) else remaining)
            elif has_stages:
                remaining = None
            with self._changed:  # so that no cancellation intervenes
                if not entry.cancel.cancelled:
                    entry.told, entry.stage_left = now, stage_left
                    self._update(
                        entry, stage=stage, done=done, total=total, fraction=share, remaining_seconds=remaining
                    )

        outlook = entry.outlook = _expected(entry.job.tasks, entry.place)
        has_stages = any(isinstance(task, RunRequest | Repetition) for task in entry.job.tasks)
        encoders = EncodersInARow(entry.place.settings)
        is_alone = len(entry.job.tasks) == 1  # of several, as the demo's, a note would not say which it is of
        for number, task in enumerate(entry.job.tasks, 1):
            entry.cancel.check()
            entry.pace = _Pace()
            began = outlook.task_began = entry.told = monotonic()
            entry.stage_left = None
            left = outlook.remaining(began, None) if outlook.expected else None
            share = outlook.share(began, left)
            self._update(entry, stage="starting", done=0, total=0, fraction=share, remaining_seconds=left)
            line = line_of(task)
            with at_work(entry.place.settings, line) if line else nullcontext():
                note = self._do(task, entry.place, encoders, progress, entry.cancel)
            outlook.spent.append(monotonic() - began)
            self._update(entry, tasks_done=number, note=note if is_alone else entry.job.note)

    def _do(self, task: Task, place: Place, encoders: EncodersInARow, progress: Progress, cancel: CancelToken) -> str:
        """Do one task; returns its note."""
        listeners = progress, cancel
        settings, repository = place.settings, place.repository
        match task:
            case FetchRequest():
                fetch.fetch_dataset(task.dataset.entry(), settings, *listeners)
            case EncodeRequest():
                pipeline.encode(task, settings, repository, *listeners, encoders)
            case Repetition():
                outcome = _compute(task.request, place, encoders, *listeners, again=True)
                return repeated(task, outcome)
            case RunRequest():
                _compute(task, place, encoders, *listeners)
            case _:
                return task.do(settings, repository, *listeners)
        return ""

    def _update(self, entry: _Entry, **changes: object) -> None:
        with self._changed:
            entry.job = replace(entry.job, **changes)  # type: ignore[arg-type]  # replace() checks the names


def _expected(tasks: Sequence[Task], place: Place) -> _Outlook:
    """Expected durations of tasks: runs as estimated before they start, other tasks as the mean run."""
    runs = [task for task in tasks if isinstance(task, RunRequest)]
    if len(tasks) < 2 and not runs:
        return _Outlook()
    try:
        estimated = estimates.estimate(runs, place.settings, place.repository).runs if runs else ()
    except BlindspotError as error:  # a run that cannot start reports that when its turn comes
        log.info("what the job will take is not known: %s", error)
        estimated = ()
    seconds = {estimate.request: max(estimate.seconds or 0.0, LEAST_SECONDS) for estimate in estimated}
    if len(tasks) < 2 and not any(estimate.seconds for estimate in estimated):
        return _Outlook()
    usual = sum(seconds.values()) / len(seconds) if seconds else 1.0
    expected = (seconds.get(task, usual) if isinstance(task, RunRequest) else usual for task in tasks)
    return _Outlook(tuple(expected), in_seconds=bool(seconds))


def _compute(
    request: RunRequest,
    place: Place,
    encoders: EncodersInARow,
    progress: Progress,
    cancel: CancelToken,
    again: bool = False,
) -> RunOutcome:
    """Compute a run, and keep the embeddings, which pages read."""
    settings, repository = place.settings, place.repository
    return pipeline.run(request, settings, repository, progress, cancel, True, again, encoders)


def _check(job: Job, settings: Settings) -> None:
    """Refuse references that visitors of this server may not use, however they were given."""
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
    if job.on_cluster:
        policy.of(settings).check_change("nothing is sent to a cluster")
    if job.is_private and not all(task.takes_uploads for task in job.space_tasks):
        raise policy.refused("items for raters are not made of uploads")


def line_of(task: Task) -> JobLine | None:
    """A task's entry in the log; None for tasks that the pipeline logs itself."""
    match task:
        case FetchRequest():
            return JobLine("fetch", dataset=task.dataset)
        case RunRequest() | Repetition() | EncodeRequest():
            return None
        case ClusterSweep():
            return JobLine("cluster", variant=f"{len(task.requests)} runs")
        case _:
            return task.line


def repeated(task: Repetition, outcome: RunOutcome) -> str:
    """The outcome of computing a stored run again, as a sentence."""
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
