"""Background work on screen: when a page is drawn anew while jobs run."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from blindspot.jobs.queue import Job, JobState
from blindspot.ui.widgets import work


def job(tasks_done: int, number: int = 1, state: JobState = JobState.RUNNING) -> Job:
    return Job(number, "Demo", (), state=state, tasks_done=tasks_done)


def test_a_page_is_drawn_anew_after_a_jobs_first_task_then_at_most_every_few_seconds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 100.0
    monkeypatch.setattr(work, "monotonic", lambda: now)
    monkeypatch.setattr(work, "st", SimpleNamespace(session_state={}))
    assert work.has_changed([job(0)]), "no page has been drawn"
    work.remember_seen([job(0)])
    assert not work.has_changed([job(0)])
    assert work.has_changed([job(1)]), "first findings come at once"
    work.remember_seen([job(1)])
    assert not work.has_changed([job(2)]), "the next ones wait"
    assert work.has_changed([]), "an end does not"
    assert work.has_changed([job(1), job(0, 2, JobState.QUEUED)]), "nor does a new job"
    assert work.has_changed([job(1, 2)]), "nor another one that goes on"
    now += work.PAGE_SECONDS
    assert work.has_changed([job(2)])
    assert not work.has_changed([job(1)]), "nothing is new"
