"""Job queue on the page *Run*, with buttons to reorder and cancel."""

from __future__ import annotations

import streamlit as st

from blindspot.jobs.queue import Job, JobState
from blindspot.ui.boundary import fragment
from blindspot.ui.resources import allowed, jobs
from blindspot.ui.widgets import work

SHOWN = 12  # waiting jobs; each has four buttons
IDLE_REFRESH_SECONDS = 2.0  # so that jobs of other sessions appear


def queue() -> None:
    """Draw the running and waiting jobs of all sessions."""
    work.tell_ends()
    active = jobs().active()
    work.remember_seen(active)
    fragment(_queue, run_every=work.REFRESH_SECONDS if active else IDLE_REFRESH_SECONDS)()


def _queue() -> None:
    active = jobs().active()
    if active:
        running = [job for job in active if job.state is JobState.RUNNING]
        waiting = [job for job in active if job.state is JobState.QUEUED]
        with st.container(border=True, key="jobs"):
            if waiting:
                _all_in_a_line(running, waiting)
                with st.expander("List of all", icon=":material/list:", key="queue_list"):
                    _rows(running, waiting)
            else:
                _rows(running, waiting)
    if work.has_changed(active):
        st.rerun()


def _all_in_a_line(running: list[Job], waiting: list[Job]) -> None:
    """Draw how much there is, how much of it is done, and how long the rest takes."""
    active = [*running, *waiting]
    ended = work.done_of_mine()
    done = len(ended) + sum(job.tasks_done for job in active)
    number = len(ended) + sum(len(job.tasks) for job in active)
    share = (len(ended) + sum(job.fraction * len(job.tasks) for job in running)) / number
    text, button = st.columns([6, 1], vertical_alignment="center")
    what = "runs" if all(len(job.requests) == len(job.tasks) for job in active) else "tasks"
    headline = f"**{number:,} {what}, {done:,} done**{work.left_in_all(active)}"
    text.progress(min(max(share, 0.0), 1.0), text=headline)
    mine = [job for job in waiting if work.may_cancel(job)]
    label = "Cancel all" if allowed().orders_queue else "Cancel mine"
    button.button(label, key="cancel_all", on_click=_cancel, args=(mine,), disabled=not mine, width="stretch")


def _rows(running: list[Job], waiting: list[Job]) -> None:
    """Draw every job with what can be done to it."""
    for job in running:
        work.progress_row(job)
    for number, job in enumerate(waiting[:SHOWN]):
        with st.container(horizontal=True, vertical_alignment="center", key=f"waiting_{job.job_id}"):
            st.markdown(work.title_of(job), width="stretch")
            if allowed().orders_queue:
                _move(job, ":material/vertical_align_top:", "Run it next", -number, number == 0)
                _move(job, ":material/arrow_upward:", "Earlier", -1, number == 0)
                _move(job, ":material/arrow_downward:", "Later", 1, number == len(waiting) - 1)
            st.button(
                "",
                key=f"drop_{job.job_id}",
                icon=":material/close:",
                help="Cancel",
                disabled=not work.may_cancel(job),
                on_click=jobs().cancel,
                args=(job.job_id, work.owner()),
            )
    if len(waiting) > SHOWN:
        st.caption(f"and {len(waiting) - SHOWN} more")


def _move(job: Job, icon: str, what: str, places: int, disabled: bool) -> None:
    st.button(
        "",
        key=f"{what.split(maxsplit=1)[0]}_{job.job_id}",
        icon=icon,
        help=what,
        disabled=disabled,
        on_click=jobs().move,
        args=(job.job_id, places),
    )


def _cancel(waiting: list[Job]) -> None:
    for job in waiting:
        jobs().cancel(job.job_id, work.owner())
