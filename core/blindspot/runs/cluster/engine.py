"""Contract of the engines that run tasks on a cluster."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Protocol

from blindspot.runs.cluster.node import Answer


@dataclass(frozen=True)
class Needs:
    """What a task takes, estimated; ``on_gpu`` where a GPU pays."""

    seconds: float
    memory_bytes: int
    on_gpu: bool


@dataclass(frozen=True)
class Ended:
    """A task that ended: with an answer, or lost, with the reason in words."""

    task: int
    answer: Answer | None
    lost: str = ""


class Engine(Protocol):
    """Runs ``node.work`` on nodes; used by one thread."""

    @property
    def title(self) -> str:
        """Where the work goes, for a line that tells it."""
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
        """Ids of the nodes that there are now; None where that is not known."""
        ...

    def check(self, task: bytes) -> list[Ended]:
        """Let each node that there is do a task without requests."""
        ...

    def submit(self, number: int, task: bytes, needs: Needs, avoid: Collection[str]) -> None:
        """Start a task under a number, on a node that is not to be avoided; the engine starts it anew if it is lost."""
        ...

    def wait(self, seconds: float) -> list[Ended]:
        """Tasks that ended, as soon as there are any, or none after some seconds."""
        ...

    def cancel(self, number: int) -> None:
        """Forget a task, whether it has begun or not."""
        ...

    def close(self) -> None:
        """Stop all tasks and give back what belongs to this process."""
        ...
