"""Background work on screen: buttons that start and cancel it, its progress, its end."""

from __future__ import annotations

from collections.abc import Sequence
from time import monotonic

import streamlit as st

from blindspot.datasets import fetch
from blindspot.datasets.catalog import DatasetRef
from blindspot.datasets.catalog import title_of as called
from blindspot.errors import BlindspotError
from blindspot.jobs.demo import demo_tasks
from blindspot.jobs.queue import Job, JobState, Task
from blindspot.runs import estimates, requesting
from blindspot.runs.cluster.sweeps import ClusterSweep
from blindspot.runs.requests import EncodeRequest, Repetition, RunRequest
from blindspot.runs.sending import sendings
from blindspot.store.records import RunRecord
from blindspot.texts import duration
from blindspot.ui.boundary import redraw_page, repeated
from blindspot.ui.markdown import as_text
from blindspot.ui.page_state import link
from blindspot.ui.resources import cached, explained, jobs, repository, settings, visitor

_MINE = "_my_jobs"  # jobs of this session not yet reported as finished
_PAGE_SAW = "_page_saw_jobs"  # when the page was last run as a whole, and the jobs then
REFRESH_SECONDS = 0.7
PAGE_SECONDS = 5.0  # between two redraws of a whole page for tasks after a job's first: drawing slows the work down
LONG_SECONDS = 2.0  # from which on a task of unknown length says for how long it is under way
DEMO_TITLE = "Demo"
SHOWN = 1  # jobs on every page; the page Run shows all


def run_button(label: str, title: str, requests: Sequence[RunRequest], *, key: str, primary: bool = True) -> None:
    """A button that queues runs; disabled while the same work is under way."""
    _task_button(label, "Running …", ":material/play_arrow:", title, requests, key=key, primary=primary)


def fetch_button(label: str, title: str, dataset: str, *, key: str) -> None:
    """A button that queues the download of a dataset's missing or corrupt files."""
    tasks = [fetch.FetchRequest(DatasetRef(dataset))]
    _task_button(label, "Downloading …", ":material/download:", title, tasks, key=key, primary=True)


def encode_button(label: str, encoders: Sequence[str], dataset: str, *, key: str) -> None:
    """A button that queues the encoding of a dataset by some encoders."""
    tasks = [EncodeRequest(encoder, DatasetRef(dataset)) for encoder in encoders]
    title = tasks[0].label if len(tasks) == 1 else f"Encoding {called(dataset)} with {len(tasks)} encoders"
    _task_button(label, "Encoding …", ":material/play_arrow:", title, tasks, key=key, primary=True)


def task_button(label: str, busy_label: str, title: str, tasks: Sequence[Task], *, key: str) -> None:
    """A button that queues other work; disabled while it is under way."""
    _task_button(label, busy_label, ":material/play_arrow:", title, tasks, key=key, primary=True)


def _task_button(
    label: str, busy_label: str, icon: str, title: str, tasks: Sequence[Task], *, key: str, primary: bool
) -> None:
    busy = any(job.tasks == tuple(tasks) for job in jobs().active())
    for sending in () if busy else sendings(tasks, settings()):
        st.caption(as_text(f"{sending.in_words}."))
    st.button(
        busy_label if busy else label,
        key=key,
        type="primary" if primary else "secondary",
        icon=":material/hourglass_top:" if busy else icon,
        disabled=busy or not tasks or settings().read_only,
        on_click=_start,
        args=(title, tuple(tasks)),
    )


def demo_button() -> None:
    """The button that runs the demo."""
    task_button("Run the demo", "Running …", DEMO_TITLE, demo_tasks(settings()), key="run_demo")


def rerun_button(label: str, title: str, runs: Sequence[RunRecord], *, key: str) -> None:
    """A button that computes stored runs again."""
    try:
        requests = [requesting.request_of(run, settings()) for run in runs]
    except BlindspotError as error:  # made by a version that knew other encoders or datasets
        st.caption(explained(error))
    else:
        run_button(label, title, requests, key=key, primary=False)


def _start(title: str, tasks: tuple[Task, ...]) -> None:
    try:
        reader = visitor()
        private = reader.place if reader and settings().session else None
        job_id = jobs().submit(title, tasks, owner(), private)
    except BlindspotError as error:
        st.error(as_text(explained(error)))
        return
    st.session_state.setdefault(_MINE, set()).add(job_id)
    redraw_page()  # progress is shown on top of it


def owner() -> str:
    """The reader's name in the queue."""
    reader = visitor()
    return reader.name if reader else ""


def may_cancel(job: Job) -> bool:
    """Whether the reader may cancel a job."""
    return jobs().may_cancel(job, owner())


def title_of(job: Job) -> str:
    """A job's title as markdown; not that of another visitor's own texts."""
    return as_text(job.title) if _may_know(job) else "Another visitor's own texts"


def _may_know(job: Job) -> bool:
    return not job.is_private or owner() in job.owners


def submit_each(tasks: Sequence[RunRequest | Repetition]) -> None:
    """Queue runs one by one, so that each can be moved and cancelled; call it in a callback."""
    try:
        jobs().check_room(len(tasks), owner())
    except BlindspotError as error:
        st.error(as_text(explained(error)))
        return
    for task in tasks:
        _start(task.label, (task,))


def submit_to_cluster(requests: Sequence[RunRequest]) -> None:
    """Queue runs as one job of the cluster; call it in a callback."""
    sweep = ClusterSweep(tuple(requests))
    _start(sweep.label, (sweep,))


def job_panel() -> None:
    """Progress of running and waiting work, and how this session's jobs ended."""
    tell_ends()
    active = jobs().active()
    remember_seen(active)
    if active:
        _progress()


def remember_seen(active: Sequence[Job]) -> None:
    """Note the jobs that the whole page has shown, for ``has_changed``."""
    st.session_state[_PAGE_SAW] = monotonic(), _done_so_far(active)


def has_changed(active: Sequence[Job]) -> bool:
    """Whether a job began, ended or finished its first task since the page was last run as a whole, or some seconds
    later another task."""
    moment, before = st.session_state.get(_PAGE_SAW, (0.0, {}))
    now = _done_so_far(active)
    if now == before:
        return False
    is_later = {i: (state, done > 0) for i, (state, done) in now.items()} == {
        i: (state, done > 0) for i, (state, done) in before.items()
    }
    return not is_later or monotonic() - moment >= PAGE_SECONDS


def _done_so_far(active: Sequence[Job]) -> dict[int, tuple[JobState, int]]:
    """State and finished tasks per active job."""
    return {job.job_id: (job.state, job.tasks_done) for job in active}


def being_computed(runs: Sequence[RunRecord]) -> list[bool]:
    """Per stored run, whether a queued or running job computes it."""
    wanted = {(r.diagnostic, r.variant, r.dataset, r.params) for job in jobs().active() for r in job.requests}
    return [
        (r.plan.diagnostic, r.plan.variant, r.plan.dataset, tuple(sorted(r.plan.params.items()))) in wanted
        for r in runs
    ]


@repeated(every=REFRESH_SECONDS)
def _progress() -> None:
    active = jobs().active()
    with st.container(border=True, key="jobs"):
        for job in active[:SHOWN]:
            progress_row(job)
        if len(active) > SHOWN:
            label = f"{len(active) - SHOWN} more waiting{left_in_all(active)}: see the queue"
            link("run", label=label, icon=":material/queue:")
    if has_changed(active):
        st.rerun()


def progress_row(job: Job) -> None:
    """A job's progress, in words and as a bar, with its button to cancel."""
    text, button = st.columns([6, 1], vertical_alignment="center")
    text.progress(min(max(job.fraction, 0.0), 1.0), text=_describe(job))
    button.button(
        "Cancel",
        key=f"cancel_{job.job_id}",
        on_click=jobs().cancel,
        args=(job.job_id, owner()),
        disabled=job.stage == "cancelling" or not may_cancel(job),
        width="stretch",
    )


def _describe(job: Job) -> str:
    if job.state is JobState.QUEUED:
        return f"**{title_of(job)}** · waiting"
    head = []
    if len(job.tasks) > 1:
        head.append(f"{min(job.tasks_done + 1, len(job.tasks))} of {len(job.tasks)}")
    if job.remaining_seconds is not None:
        head.append(f"about {duration(job.remaining_seconds)} left")
    stage = as_text(job.stage) if _may_know(job) else "running"
    if job.stage.startswith(fetch.STAGE):  # in bytes
        stage += f", {job.done / 1e6:.1f} of {job.total / 1e6:.1f} MB" if job.total else f", {job.done / 1e6:.1f} MB"
    elif job.total > 1:
        stage += f", {job.done:,} of {job.total:,}"
    if job.remaining_seconds is None and job.task_seconds >= LONG_SECONDS:
        stage += f", for {duration(job.task_seconds)} already"
    return f"**{title_of(job)}**{': ' * bool(head)}{', '.join(head)} · {stage}"


def left_in_all(active: Sequence[Job]) -> str:
    """``, about 3 min left in all``: of the running job and all that wait; "" where that is not known."""
    if any(job.on_cluster for job in active):  # which works at the same time
        return ""
    running = [job.remaining_seconds for job in active if job.state is JobState.RUNNING]
    waiting = [job for job in active if job.state is JobState.QUEUED]
    if None in running or any(job.is_private or len(job.requests) < len(job.tasks) for job in waiting):
        return ""
    ids = tuple(job.job_id for job in waiting)
    expected = _expected_seconds(repository().digest(), ids, tuple(r for job in waiting for r in job.requests))
    if expected is None:
        return ""
    return f", about {duration(sum(left or 0.0 for left in running) + expected)} left in all"


@cached(16)
def _expected_seconds(
    digest: str,  # noqa: ARG001 - what ran already tells how long the rest takes
    ids: tuple[int, ...],  # noqa: ARG001 - decide what waits
    _requests: tuple[RunRequest, ...],
) -> float | None:
    """What waiting runs are expected to take; None where one of them cannot be estimated."""
    try:
        return estimates.estimate(_requests, settings(), repository()).seconds
    except BlindspotError:  # it says so when its turn comes
        return None


def done_of_mine() -> list[Job]:
    """This session's jobs that are done while others of it are not."""
    mine: set[int] = st.session_state.get(_MINE, set())
    return [job for job in jobs().jobs() if job.job_id in mine and job.state is JobState.DONE]


def tell_ends() -> None:
    """Report once how this session's jobs ended: failures and cancellations at once, the rest when all are done."""
    mine: set[int] = st.session_state.get(_MINE, set())
    ended = [job for job in jobs().jobs() if job.job_id in mine and not job.state.active]
    failed: dict[str, list[Job]] = {}
    for job in ended:
        if job.state is JobState.FAILED:
            failed.setdefault(job.error, []).append(job)
    for error, group in failed.items():
        what = group[0].title if len(group) == 1 else f"{len(group)} runs"
        st.error(as_text(f"{what} failed: {error}"), icon=":material/error:")
    if cancelled := [job for job in ended if job.state is JobState.CANCELLED]:
        kept = ""
        if any(job.requests for job in cancelled):
            kept = f"{'Finished runs' if cancelled[0].on_cluster else 'Computed embeddings'} are kept. "
        runs = sum(len(job.requests) if job.on_cluster else 1 for job in cancelled)
        what = f"{cancelled[0].title} {'was' if runs == 1 else 'were'}" if len(cancelled) == 1 else f"{runs} runs were"
        again = "it" if runs == 1 else "them"
        st.info(f"{as_text(what)} cancelled. {kept}Start {again} again to continue.")
    done = [job for job in ended if job.state is JobState.DONE]
    for job in done:
        if job.note:
            st.info(f"{as_text(job.title)}: {as_text(job.note)}", icon=":material/fact_check:")
    mine -= {job.job_id for job in ended if job.state is not JobState.DONE or job.note}
    done = [job for job in done if not job.note]
    if done and len(done) == len(mine):  # one word for all of them, not one for each
        mine.clear()
        st.toast(
            f"{as_text(done[0].title)}: done" if len(done) == 1 else f"{len(done)} runs: done", icon=":material/check:"
        )
