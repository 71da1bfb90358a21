"""Records of runs: their identity, and everything that the store knows about them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from functools import cached_property
from typing import Any, TypedDict

import psutil

from blindspot.datasets.catalog import DatasetRef
from blindspot.diagnostic import FIT_ON, result_table
from blindspot.errors import BlindspotError
from blindspot.variants import Variant


class RunState(StrEnum):
    RUNNING = "running"
    DONE = "done"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True)
class RunCount:
    diagnostic: str
    dataset: str
    finished: bool
    runs: int


@dataclass(frozen=True)
class RunPlan:
    """What identifies a run, before it is computed.

    Attributes:
        covered_by: references of the other encoders that had to have a vector for an item to be ranked.
        covered_digest: which items were ranked; "" for all.
        own_covered: whether only the encoder's own coverage limited the ranked items.
    """

    run_id: str
    diagnostic: str
    diagnostic_version: int
    variant: Variant
    dataset: DatasetRef
    dataset_digest: str
    params: Mapping[str, str]
    embedding_digest: str
    covered_by: tuple[str, ...] = ()
    covered_digest: str = ""
    own_covered: bool = True

    def check_fitted_on_its_items(self) -> None:
        """Raise ``BlindspotError`` for a transform fitted on another dataset: its space cannot be computed again."""
        if FIT_ON in self.params:
            raise BlindspotError(
                f"the transform of run {self.run_id} was fitted on '{self.params[FIT_ON]}'; only its stored results "
                "can be shown",
                remedy="use the same run without fit_on",
            )

    @property
    def columns(self) -> dict[str, Any]:
        """All fields but the id, as the store has them."""
        return {
            "diagnostic": self.diagnostic,
            "diagnostic_version": self.diagnostic_version,
            "encoder": self.variant.encoder,
            "transform": self.variant.transform,
            "dataset": self.dataset,
            "dataset_digest": self.dataset_digest,
            "params": json.dumps(dict(self.params), sort_keys=True),
            "embedding_digest": self.embedding_digest,
            "support": json.dumps(self.covered_by),
            "support_digest": self.covered_digest,
            "own_support": self.own_covered,
        }

    @property
    def table(self) -> str:
        """Name of the table with the run's per-item rows."""
        return result_table(self.diagnostic, self.diagnostic_version)


class StoredJson(Mapping[str, Any]):
    """A JSON object, parsed when it is first read: most objects of a list of runs never are."""

    def __init__(self, text: str | None) -> None:
        self._text = text

    @cached_property
    def _parsed(self) -> Mapping[str, Any]:
        return json.loads(self._text) if self._text else {}

    def __getitem__(self, name: str) -> Any:
        return self._parsed[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._parsed)

    def __len__(self) -> int:
        return len(self._parsed)

    def __repr__(self) -> str:
        return repr(dict(self))


FEWEST_TEXTS = 100  # with fewer, the slow first batch decides


def speed_of(texts: int | None, seconds: float | None) -> float | None:
    """Texts per second without loading, over all texts that a model encoded here; None for too few texts."""
    return texts / seconds if texts is not None and seconds and texts >= FEWEST_TEXTS else None


@dataclass(frozen=True)
class Speed:
    """What a model encoded on a device with one revision of its weights; each pooling of a pass has all its seconds.

    ``measured_at``: when the newest run that encoded began, UTC; None if its runs are gone. At another
    time, under other load, the speed may differ.
    """

    encoder: str
    revision: str
    device: str
    texts: int
    seconds: float
    measured_at: datetime | None

    @property
    def texts_per_second(self) -> float | None:
        return speed_of(self.texts, self.seconds)


@dataclass(frozen=True)
class RunRecord:
    """A run as the store knows it; times are UTC. ``metrics`` has the scores that the query asked for.

    The fields after the manifest describe its embeddings; ``texts_per_second`` is its model's (``Speed``), on
    ``device``.
    """

    run_seq: int
    plan: RunPlan
    state: RunState
    started_at: datetime
    finished_at: datetime | None
    metrics: Mapping[str, float]
    coverage: Mapping[str, int]
    timings: Mapping[str, float]
    manifest: Mapping[str, Any]
    dimension: int | None
    parameters: int | None
    memory_bytes: int | None
    texts_per_second: float | None
    device: str | None

    @property
    def run_id(self) -> str:
        return self.plan.run_id


class RunQuery(TypedDict, total=False):
    """Filter of runs, and the scores to read; a key that is left out does not filter.

    Attributes:
        run_id: the beginning of their ids.
        version: of the diagnostic.
        dataset: its name, or another name of the same content (``Repository.remember_alias``).
        current: only runs over the newest content of their dataset; a user's file may have changed.
        metrics: the scores to read, None for all; thousands of runs are read much faster with few scores.
        limit, skip: the most runs to return, and how many to skip before them.
    """

    run_id: str
    diagnostic: str | None
    version: int
    encoder: str
    variants: Sequence[Variant] | None
    dataset: str | None
    params: Mapping[str, str]
    state: RunState | None
    current: bool
    run_seqs: Sequence[int]
    metrics: Sequence[str] | None
    limit: int | None
    skip: int


@dataclass(frozen=True)
class RunPage:
    """Some runs, and the number of all runs."""

    total: int
    runs: tuple[RunRecord, ...]


@dataclass(frozen=True)
class Leaderboard:
    """The best comparable runs on one dataset, best first, and the number of variants they were chosen from."""

    variants: int
    runs: tuple[RunRecord, ...]

    @property
    def dataset(self) -> str:
        return self.runs[0].plan.dataset


@dataclass(frozen=True)
class StoredReference:
    """An encoder that was added by reference: when it was checked last (UTC), and the facts found then, if any."""

    reference: str
    checked_at: datetime
    is_removed: bool
    facts: Mapping[str, Any]


def record_of(row: Mapping[str, Any]) -> RunRecord:
    """A row of the query ``runs`` as a record."""
    state = RunState(row["status"])
    if state is RunState.RUNNING and not _alive(row["process_id"], row["started_at"]):
        state = RunState.INTERRUPTED
    return RunRecord(
        run_seq=row["run_seq"],
        plan=plan_of(row),
        state=state,
        started_at=row["started_at"].replace(tzinfo=UTC),
        finished_at=row["finished_at"].replace(tzinfo=UTC) if row["finished_at"] else None,
        metrics=dict(zip(row["names"] or (), row["scores"] or (), strict=True)),
        coverage=StoredJson(row["coverage"]),
        timings=StoredJson(row["timings"]),
        manifest=StoredJson(row["manifest"]),
        dimension=row["dimension"],
        parameters=row["parameters"],
        memory_bytes=row["memory_bytes"],
        texts_per_second=speed_of(row["texts"], row["seconds"]),
        device=row["device"],
    )


def plan_of(row: Mapping[str, Any]) -> RunPlan:
    """The part of a stored run that says what was computed."""
    return RunPlan(
        run_id=row["run_id"],
        diagnostic=row["diagnostic"],
        diagnostic_version=row["diagnostic_version"],
        variant=Variant(row["encoder"], row["transform"]),
        dataset=DatasetRef(row["dataset"]),
        dataset_digest=row["dataset_digest"],
        params=json.loads(row["params"]),
        embedding_digest=row["embedding_digest"],
        covered_by=tuple(json.loads(row["support"])),
        covered_digest=row["support_digest"],
        own_covered=row["own_support"],
    )


def _alive(process_id: int, started_at: datetime) -> bool:
    """Whether the process that began a run at ``started_at`` still lives; process ids are used again, 0 is unused."""
    if process_id == 0:
        return False
    try:
        process = psutil.Process(process_id)
        born = process.create_time()
        if process.status() == psutil.STATUS_ZOMBIE:  # killed, and its parent has not noticed yet
            return False
    except psutil.NoSuchProcess:
        return False
    return bool(born <= started_at.replace(tzinfo=UTC).timestamp() + 1.0)
