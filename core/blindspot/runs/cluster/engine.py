"""Contract of the engines that run tasks on a cluster."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Protocol

from blindspot.runs.cluster.node import Answer


@dataclass(frozen=True)
class Needs:
    """Estimated needs of a task; ``on_gpu`` if a GPU pays off."""

    seconds: float
    memory_bytes: int
    on_gpu: bool


@dataclass(frozen=True)
class Ended:
    """A task that ended, with its answer or, if it was lost, the reason in words."""

    task: int
    answer: Answer | None
    lost: str = ""


class Engine(Protocol):
    """Runs ``node.work`` on nodes; used by one thread."""

    @property
    def title(self) -> str:
        """Where the work goes, in words."""
        ...

    @property
    def workers(self) -> int:
        """Tasks that run at the same time."""
        ...

    @property
    def limit(self) -> int | None:
        """Tasks that may be handed over before one of them ends; None for all."""
        ...

    def nodes(self) -> frozenset[str] | None:
        """Ids of the current nodes; None if they are not known."""
        ...

    def check(self, task: bytes) -> list[Ended]:
        """Let every node do a task without requests."""
        ...

    def submit(self, number: int, task: bytes, needs: Needs, avoid: Collection[str]) -> None:
        """Start a task under a number, on no node that is to be avoided; the engine restarts it if it is lost."""
        ...

    def wait(self, seconds: float) -> list[Ended]:
        """Tasks that ended, as soon as there are some; none after a few seconds without any."""
        ...

    def cancel(self, number: int) -> None:
        """Forget a task, whether it has begun or not."""
        ...

    def close(self) -> None:
        """Stop all tasks and give back what belongs to this process."""
        ...
