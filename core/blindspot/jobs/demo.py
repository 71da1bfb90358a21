"""The demo's work, which builds on everything: ``app.py`` declares it, so that buttons on any page can start it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from blindspot.jobs.queue import Task
    from blindspot.settings import Settings

_TASKS: list[Callable[[Settings], list[Task]]] = []


def consists_of(tasks: Callable[[Settings], list[Task]]) -> None:
    """Declare the demo's work; called once per process."""
    _TASKS[:] = [tasks]


def demo_tasks(settings: Settings) -> list[Task]:
    """All work of the demo."""
    (tasks,) = _TASKS
    return tasks(settings)
