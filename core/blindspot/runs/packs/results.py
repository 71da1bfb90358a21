"""Folder of result packs in place of a store."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Unpack

import numpy as np

from blindspot.datasets.kinds.base import Dataset, Part
from blindspot.diagnostic import Diagnostic, DiagnosticResult
from blindspot.encoders.base import EncoderInfo
from blindspot.encoders.cache import EmbeddingFacts
from blindspot.errors import InputError
from blindspot.runs.packs.folders import Folder
from blindspot.runs.packs.format import manifest_name, read_pack, write_pack
from blindspot.store.records import RunPlan, RunQuery, RunRecord, RunState
from blindspot.store.repository import items_of
from blindspot.store.whole_runs import EncodingCost, WholeRun


@dataclass
class _Begun:
    plan: RunPlan
    started_at: datetime
    costs: dict[str, EncodingCost] = field(default_factory=dict)


class PackResults:
    """A folder of packs in place of a store (``planning.Results``), for one thread."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self._begun: _Begun | None = None
        self._done: dict[str, RunRecord] = {}

    def runs(self, **wanted: Unpack[RunQuery]) -> list[RunRecord]:
        """The run whose id is asked for, if its pack is there; a damaged one is written anew."""
        run_id = wanted["run_id"]
        if run_id not in self._done and self._folder.has(manifest_name(run_id)):
            try:
                self._done[run_id] = _record(read_pack(self._folder, run_id).run)
            except InputError:
                return []
        return [self._done[run_id]] if run_id in self._done else []

    @contextmanager
    def running(self, plan: RunPlan) -> Iterator[int]:
        self._begun = _Begun(plan, datetime.now(UTC))
        try:
            yield 0
        finally:
            self._begun = None

    def remember_embedding(self, facts: EmbeddingFacts, info: EncoderInfo) -> None:
        """Keep the costs of an encoding for the run that is being computed."""
        self._current.costs[facts.digest] = EncodingCost(
            facts.digest,
            facts.encoder,
            facts.revision,
            facts.dimension,
            info.parameters,
            info.memory_bytes,
            facts.texts,
            facts.seconds,
            facts.device,
        )

    def finish(
        self,
        run_seq: int,  # noqa: ARG002 - of a store
        entry: Diagnostic,
        dataset: Dataset,
        result: DiagnosticResult,
        timings: Mapping[str, float],
        manifest: Mapping[str, Any],
        ranked: Part | None = None,
    ) -> None:
        """Write the pack of the run that was computed; raises ``BlindspotError``."""
        begun = self._current
        limited = ranked is not None and bool(ranked.digest)
        run = WholeRun(
            plan=begun.plan,
            started_at=begun.started_at,
            finished_at=datetime.now(UTC),
            metrics=result.metrics,
            coverage=result.coverage,
            timings=dict(timings),
            manifest=manifest,
            items=items_of(entry, result),
            covered=(len(ranked.covered), np.packbits(ranked.covered).tobytes()) if ranked and limited else None,
            costs=tuple(begun.costs.values()),
            own_columns=dataset.own_columns,
        )
        write_pack(self._folder, run, dataset, fitted_on_of(manifest))
        self._done[begun.plan.run_id] = _record(run)

    def remember_alias(self, dataset: str, dataset_digest: str) -> None:
        """A store's; the run carries the name under which it was computed first."""

    def remember_own_columns(self, dataset: Dataset) -> None:
        """A store's; the pack has those that the file had."""

    @property
    def _current(self) -> _Begun:
        if self._begun is None:
            raise RuntimeError("no run was begun")
        return self._begun


def fitted_on_of(manifest: Mapping[str, Any]) -> str:
    """Digest of the texts of another dataset that a run's transform was fitted on, or ""; manifests of older runs lack
    it."""
    return str(manifest.get("transform", {}).get("held_out", {}).get("texts", ""))


def _record(run: WholeRun) -> RunRecord:
    return RunRecord(
        run_seq=0,
        plan=run.plan,
        state=RunState.DONE,
        started_at=run.started_at,
        finished_at=run.finished_at,
        metrics=run.metrics,
        coverage=run.coverage,
        timings=run.timings,
        manifest=run.manifest,
        dimension=None,
        parameters=None,
        memory_bytes=None,
        texts_per_second=None,
        device=None,
    )
