"""A store of made-up rows, for what is found in runs: no encoder, no pipeline, no database."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, cast

import pandas as pd

from blindspot.diagnostic import Diagnostic
from blindspot.runs.findings import Finding, Level, Material
from blindspot.runs.findings.evidence import Evidence
from blindspot.settings import Settings
from blindspot.store.records import RunPlan, RunRecord, RunState
from blindspot.store.repository import Repository
from blindspot.studies.findings import wording
from blindspot.studies.findings.collection import discoveries
from blindspot.variants import Variant

_NUMBERS = itertools.count(1)


@dataclass
class MadeUp:
    """Runs of one diagnostic over one dataset.

    Attributes:
        about: what the dataset says of its rows, with ``item_no``; a row of a run gets it by that number.
        rows: by run id, the diagnostic's own columns with ``item_no``.
    """

    entry: Diagnostic
    about: pd.DataFrame
    dataset: str = "made-up"
    rows: dict[str, pd.DataFrame] = field(default_factory=dict)
    runs: list[RunRecord] = field(default_factory=list)

    def add(
        self,
        encoder: str,
        rows: Mapping[str, Any],
        metrics: Mapping[str, float] | None = None,
        coverage: Mapping[str, int] | None = None,
    ) -> RunRecord:
        frame = pd.DataFrame(rows)
        if "item_no" not in frame:
            frame["item_no"] = range(len(frame))
        number = next(_NUMBERS)
        plan = RunPlan(
            f"{number:016x}",
            self.entry.id,
            self.entry.version,
            Variant(encoder, "none"),
            self.dataset,
            "digest",
            self.entry.check_params({}),
            "",
        )
        counts = coverage or {"items": 100, "items_covered": 100}
        now = datetime(2026, 1, 1, tzinfo=UTC)
        nothing = (None, None, None, None, None)
        run = RunRecord(number, plan, RunState.DONE, now, now, metrics or {}, counts, {}, {}, *nothing)
        self.rows[run.run_id] = frame
        self.runs.append(run)
        return run

    def items(self, entry: Diagnostic, run_ids: Sequence[str], *, texts: bool) -> pd.DataFrame:
        """As ``Repository.items``."""
        assert entry is self.entry
        frames = [self.rows[run_id].assign(run_id=run_id) for run_id in sorted(run_ids) if run_id in self.rows]
        found = pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()
        return found.merge(self.about, on="item_no") if texts and len(found) else found

    def own_columns(self, *_: str) -> tuple[()]:
        return ()

    def material(self) -> Material:
        """Every run; those of ``random-projection`` and ``lsa`` are baselines."""
        baselines = [run for run in self.runs if run.plan.variant.encoder in {"random-projection", "lsa"}]
        return Material(self.runs, baselines, cast(Repository, self), cast(Settings, None))


Find = Callable[[Material], Iterable[Evidence]]


def shown(store: MadeUp, find: Find, kind: str = "") -> list[Finding]:
    """What a reader sees of a made-up store, of one kind or all."""
    kept = [one.finding for one in discoveries(wording.findings(find(store.material())))]
    return [one for one in kept if one.kind.startswith(kind)]


def false_alarms(stores: Callable[[int], MadeUp], find: Find, seeds: int = 200) -> int:
    """In how many of ``seeds`` made-up stores some blind spot is shown."""
    return sum(any(one.level is Level.BLIND_SPOT for one in shown(stores(seed), find)) for seed in range(seeds))
