"""Background work on screen: the button that starts it, its progress, cancel, and how it ended."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from core import pipeline
from core.datasets import fetch
from core.errors import BlindspotError
from core.jobs import Job, JobState, Task
from core.pipeline import RunRequest
from core.store.records import RunRecord
from core.ui.markdown import as_text
from core.ui.resources import jobs, settings

_MINE = "_my_jobs"  # jobs that this session started and has not heard the end of
_PAGE_SAW = "_page_saw_jobs"  # what was running when the page was last run as a whole
REFRESH_SECONDS = 0.7


def run_button(label: str, title: str, requests: Sequence[RunRequest], *, key: str, primary: bool = True) -> None:
    """A button that queues runs; while the same work is under way it says so instead."""
    _task_button(label, "Running …", ":material/play_arrow:", title, requests, key=key, primary=primary)


def fetch_button(label: str, title: str, dataset: str, *, key: str) -> None:
    """A button that queues the download of a dataset's missing or corrupt files."""
    tasks = [fetch.FetchRequest(dataset)]
    _task_button(label, "Downloading …", ":material/download:", title, tasks, key=key, primary=True)


def _task_button(
    label: str, busy_label: str, icon: str, title: str, tasks: Sequence[Task], *, key: str, primary: bool
) -> None:
    busy = any(job.tasks == tuple(tasks) for job in jobs().active())
    st.button(
        busy_label if busy else label,
        key=key,
        type="primary" if primary else "secondary",
        icon=":material/hourglass_top:" if busy else icon,
        disabled=busy or not tasks,
        on_click=_start,
        args=(title, tuple(tasks)),
    )


def demo_button(*, key: str) -> None:
    """The button that runs what an empty store is offered."""
    run_button("Run the demo", "Demo", pipeline.demo_requests(settings()), key=key)


def rerun_button(label: str, title: str, runs: Sequence[RunRecord], *, key: str) -> None:
    """A button that computes stored runs again, where they were interrupted or lost their embeddings."""
    try:
        requests = [pipeline.request_of(run, settings()) for run in runs]
    except BlindspotError as error:  # made by a version that knew other encoders or datasets
        st.caption(str(error))
    else:
        run_button(label, title, requests, key=key, primary=False)


def _start(title: str, tasks: tuple[Task, ...]) -> None:
    try:
        job_id = jobs().submit(title, tasks)
    except BlindspotError as error:
        st.error(str(error))
        return
    st.session_state.setdefault(_MINE, set()).add(job_id)


def job_panel() -> None:
    """Progress of running and queued work, and the end of what this session started."""
    _tell_ends()
    active = jobs().active()
    st.session_state[_PAGE_SAW] = _done_so_far(active)
    if active:
        _progress()


def _done_so_far(active: Sequence[Job]) -> dict[int, tuple[JobState, int]]:
    """State and finished tasks per active job: whenever this changes, the page has something else to show."""
    return {job.job_id: (job.state, job.tasks_done) for job in active}


def being_computed(runs: Sequence[RunRecord]) -> list[bool]:
    """Per stored run, whether a queued or running job of this server is about it."""
    wanted = {(r.diagnostic, r.variant, r.dataset, r.params) for job in jobs().active() for r in job.requests}
    return [
        (r.plan.diagnostic, r.plan.variant, r.plan.dataset, tuple(sorted(r.plan.params.items()))) in wanted
        for r in runs
    ]


@st.fragment(run_every=REFRESH_SECONDS)
def _progress() -> None:
    active = jobs().active()
    with st.container(border=True, key="jobs"):
        for job in active:
            text, button = st.columns([6, 1], vertical_alignment="center")
            text.progress(min(max(job.fraction, 0.0), 1.0), text=_describe(job))
            button.button(
                "Cancel",
                key=f"cancel_{job.job_id}",
                on_click=jobs().cancel,
                args=(job.job_id,),
                disabled=job.stage == "cancelling",
                width="stretch",
            )
    if st.session_state.get(_PAGE_SAW) != _done_so_far(active):
        st.rerun()


def _describe(job: Job) -> str:
    if job.state is JobState.QUEUED:
        return f"**{as_text(job.title)}** · waiting for its turn"
    parts = [f"**{as_text(job.title)}**"]
    if len(job.tasks) > 1:
        parts.append(f"run {min(job.tasks_done + 1, len(job.tasks))} of {len(job.tasks)}")
    stage = as_text(job.stage)
    if job.stage.startswith(fetch.STAGE):  # in bytes
        stage += f", {job.done / 1e6:.1f} of {job.total / 1e6:.1f} MB" if job.total else f", {job.done / 1e6:.1f} MB"
    elif job.total > 1:
        stage += f", {job.done:,} of {job.total:,}"
    parts.append(stage)
    if job.remaining_seconds is not None:
        parts.append(f"about {_duration(job.remaining_seconds)} left")
    return " · ".join(parts)


def _duration(seconds: float) -> str:
    whole = max(1, round(seconds))
    return f"{whole} s" if whole < 90 else f"{round(whole / 60)} min"


def _tell_ends() -> None:
    """Once, how each job of this session ended; errors stay until the next action."""
    mine: set[int] = st.session_state.get(_MINE, set())
    for job in jobs().jobs():
        if job.job_id not in mine or job.state.active:
            continue
        mine.discard(job.job_id)
        if job.state is JobState.FAILED:
            st.error(as_text(f"{job.title} failed: {job.error}"), icon=":material/error:")
        elif job.state is JobState.CANCELLED:
            kept = (
                "What was encoded is kept: start it again to continue." if job.requests else "Start it again to go on."
            )
            st.info(f"{as_text(job.title)} was cancelled. {kept}")
        else:
            st.toast(f"{as_text(job.title)}: done", icon=":material/check:")
