"""Groups of the runs of a sweep: what one worker should get at once.

The expensive unit is a model's embeddings of a dataset's texts; diagnostics are cheap and run where the vectors are. So
runs that share such embeddings are never separated (poolings of one forward pass share them), units of one model stay
together where that does not make a worker wait, and all follows from the requests and what is declared about models and
datasets: no store is asked, and every machine finds the same groups.
"""

from __future__ import annotations

import heapq
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from blindspot.encoders.base import EncoderFamily
from blindspot.encoders.catalog import encoder_of
from blindspot.errors import InputError
from blindspot.references import ModelRef
from blindspot.runs import estimates
from blindspot.runs.requests import RunRequest
from blindspot.settings import Settings
from blindspot.store.repository import Repository

# Groups that a worker gets, if there is work for as many: whoever is done early takes the next. More of them wait less
# for each other, and load models more often, so that which is best depends on the models.
PER_WORKER = (0.7, 1, 1.4, 2, 2.8, 4, 5.6, 8, 16)
MOST_SHARDS = 100_000
ENOUGH = 1.03  # of the least time: larger groups, which load less often, are as good


@dataclass(frozen=True)
class Group:
    """Runs of one model, poolings of the same forward pass included.

    Attributes:
        model: the reference that stands for the family.
        seconds: estimated, without loading the model.
        load_seconds: to load it, once per worker.
        memory_bytes: at the peak.
        disk_bytes: of embeddings.
        has_weights: whether a GPU pays.
    """

    model: str
    requests: tuple[RunRequest, ...]
    seconds: float
    load_seconds: float
    memory_bytes: int
    disk_bytes: int
    has_weights: bool

    @property
    def datasets(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(request.dataset for request in self.requests))

    def as_json(self) -> dict[str, Any]:
        return {
            "model": self.model,
            "datasets": list(self.datasets),
            "runs": len(self.requests),
            "seconds": self.seconds + self.load_seconds,
            "memory_bytes": self.memory_bytes,
            "disk_bytes": self.disk_bytes,
        }


@dataclass(frozen=True)
class Shard:
    """One of ``of`` parts, from 1."""

    number: int
    of: int

    @classmethod
    def parse(cls, text: str) -> Shard:
        """``i/n``; "" is 1/1. Raises ``InputError``."""
        match = re.fullmatch(r"([0-9]{1,6})/([0-9]{1,6})", text or "1/1")
        number, of = (int(match[1]), int(match[2])) if match else (0, 0)
        if not 1 <= number <= of <= MOST_SHARDS:
            expected = f"i/n with i from 1 to n, such as 2/8, and n at most {MOST_SHARDS:,}"
            raise InputError(f"--shard {text}", expected=expected)
        return cls(number, of)

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"


def of_requests(
    requests: Sequence[RunRequest], settings: Settings, workers: int = 1, repository: Repository | None = None
) -> tuple[Group, ...]:
    """The groups of some runs, the longest first; raises ``InputError`` for an unusable model or dataset.

    Args:
        workers: that there may be; with more of them, the groups of a model are smaller and more.
        repository: a store whose runs are left out and whose speeds count, for one machine alone; None where several
            machines have to find the same groups.
    """
    costs = [run for run in estimates.estimate(requests, settings, repository).runs if not run.is_stored]
    families: dict[str, str] = {}
    for request in requests:
        if request.variant.encoder not in families:
            families[request.variant.encoder] = family_of(request.variant.encoder, settings)
    return grouped(costs, families.__getitem__, workers)


def family_of(model: ModelRef, settings: Settings) -> str:
    """The reference that stands for all models of a forward pass; of a fusion, for that of its first model with
    vectors."""
    first = next((part for part in model.models if part.has_vectors), None)
    if first is None:
        return model
    encoder = encoder_of(first, settings)
    siblings = encoder.family if isinstance(encoder, EncoderFamily) else ()
    return min((sibling.identity.reference for sibling in siblings), default=first)


def grouped(costs: Sequence[estimates.RunEstimate], family: Callable[[str], str], workers: int) -> tuple[Group, ...]:
    """As ``of_requests``, from the cost of each run; a pure function.

    A unit is never split. Groups are as large as they can be without making any worker wait.
    """
    loads: dict[str, float] = {}
    for cost in costs:
        model = family(cost.request.variant.encoder)
        loads[model] = max(loads.get(model, 0.0), cost.load_seconds)
    units: dict[str, dict[str, list[estimates.RunEstimate]]] = {}  # runs on a dataset, by model
    for cost in costs:
        units.setdefault(family(cost.request.variant.encoder), {}).setdefault(cost.request.dataset, []).append(cost)
    whole = _chunks(units, loads, math.inf)
    if workers == 1 or not costs:
        return whole
    share = _seconds(costs) / workers
    ways = [whole, *(_chunks(units, loads, share / n) for n in PER_WORKER)]
    took = [makespan([group.seconds + group.load_seconds for group in way], workers) for way in ways]
    return next(way for way, seconds in zip(ways, took, strict=True) if seconds <= ENOUGH * min(took))


def makespan(seconds: Sequence[float], workers: int) -> float:
    """Seconds until all is done if each worker takes the next as soon as it has nothing to do."""
    busy = [0.0] * workers
    for each in seconds:
        heapq.heapreplace(busy, busy[0] + each)
    return max(busy)


def _chunks(
    units: Mapping[str, Mapping[str, Sequence[estimates.RunEstimate]]], loads: Mapping[str, float], most: float
) -> tuple[Group, ...]:
    """Groups of at most so many seconds, unless a single unit takes longer; the longest first."""
    groups: list[Group] = []
    for model, of_model in units.items():
        chunk: list[estimates.RunEstimate] = []
        seconds = 0.0
        for unit in of_model.values():
            if chunk and seconds + _seconds(unit) > most:
                groups.append(_group(model, chunk, loads[model]))
                chunk, seconds = [], 0.0
            chunk.extend(unit)
            seconds += _seconds(unit)
        groups.append(_group(model, chunk, loads[model]))
    return tuple(sorted(groups, key=_longest_first))


def shard(groups: Sequence[Group], number: int, of: int) -> tuple[Group, ...]:
    """The groups of one of several workers, those of a model one after another; a pure function of all groups.

    The longest group goes to whoever would be done with it first, the loading of its model included.

    Args:
        number: from 1.

    Raises:
        InputError: there is no such worker.
    """
    if not 1 <= number <= of:
        raise InputError(f"shard {number}/{of}", expected="i/n with i from 1 to n, such as 2/8")
    ends, loaded = [0.0] * of, [set[str]() for _ in range(of)]
    mine: list[Group] = []
    for group in sorted(groups, key=_longest_first):

        def end(worker: int, group: Group = group) -> float:
            return ends[worker] + group.seconds + (0.0 if group.model in loaded[worker] else group.load_seconds)

        worker = min(range(of), key=end)
        ends[worker] = end(worker)
        loaded[worker].add(group.model)
        if worker == number - 1:
            mine.append(group)
    order = list(dict.fromkeys(group.model for group in mine))
    return tuple(sorted(mine, key=lambda group: order.index(group.model)))


def _longest_first(group: Group) -> tuple[float, str, tuple[str, ...]]:
    return -group.seconds - group.load_seconds, group.model, group.datasets


def _seconds(costs: Sequence[estimates.RunEstimate]) -> float:
    """Without loading."""
    return sum((cost.seconds or 0.0) - cost.load_seconds for cost in costs)


def _group(model: str, costs: Sequence[estimates.RunEstimate], load_seconds: float) -> Group:
    return Group(
        model,
        tuple(cost.request for cost in costs),
        _seconds(costs),
        load_seconds,
        max(cost.memory_bytes for cost in costs),
        sum(cost.disk_bytes for cost in costs),
        load_seconds > 0,
    )
