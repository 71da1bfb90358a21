"""Engine whose nodes are calls in this process."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field

from blindspot.runs.cluster import node
from blindspot.runs.cluster.engine import Ended, Needs


@dataclass
class Calls:
    """An engine whose nodes take turns; ``before`` is called with a task's node, ``dies`` says which are lost."""

    ids: tuple[str, ...] = ("a", "b")
    before: Callable[[str], object] = lambda node: None
    dies: Callable[[str, bytes], bool] = lambda node, task: False
    limit: int | None = None
    software: dict[str, dict[str, str]] = field(default_factory=dict)
    submitted: list[tuple[bytes, Needs]] = field(default_factory=list)
    closed: int = 0
    title: str = "calls"

    def __post_init__(self) -> None:
        self._waiting: list[tuple[int, bytes, frozenset[str]]] = []
        self._turn = 0

    @property
    def workers(self) -> int:
        return len(self.ids)

    def nodes(self) -> frozenset[str]:
        return frozenset(self.ids)

    def _do(self, number: int, task: bytes, at: str) -> Ended:
        self.before(at)
        if self.dies(at, task):
            return Ended(number, None, "its worker died")
        return Ended(number, node.work(self.software.get(at, node.software()), task, at))

    def check(self, task: bytes) -> list[Ended]:
        return [self._do(0, task, at) for at in self.ids]

    def submit(self, number: int, task: bytes, needs: Needs, avoid: Collection[str]) -> None:
        self.submitted.append((task, needs))
        self._waiting.append((number, task, frozenset(avoid)))
        assert self.limit is None or len(self._waiting) <= self.limit

    def wait(self, seconds: float) -> list[Ended]:
        for place, (number, task, avoid) in enumerate(self._waiting):
            if able := [at for at in self.ids if at not in avoid]:
                self._turn += 1
                del self._waiting[place]
                return [self._do(number, task, able[self._turn % len(able)])]
        return []

    def cancel(self, number: int) -> None:
        self._waiting = [one for one in self._waiting if one[0] != number]

    def close(self) -> None:
        self.closed += 1
