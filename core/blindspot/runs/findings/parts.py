"""Parts of evidence that diagnostics share: runs that belong together, their rows, and coverage.

A hypothesis with news on one side only is tested one-sided: there its p-value is the two-sided one, on the other side
1 (``one_way``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from blindspot.diagnostic import FIT_ON, Diagnostic
from blindspot.runs.findings import Material
from blindspot.runs.findings.evidence import Evidence, Fact
from blindspot.store.records import RunRecord
from blindspot.store.repository import Repository
from blindspot.types import Bool, Float64, Int64

LOW_COVERAGE = 0.95  # of the rows of a dataset: with fewer, a score is of a part


@dataclass(frozen=True)
class Together:
    """Runs over the same content of one dataset with the same parameters, and those of baselines."""

    runs: Sequence[RunRecord]
    baselines: Sequence[RunRecord]

    @property
    def every(self) -> list[RunRecord]:
        return list({run.run_id: run for run in (*self.runs, *self.baselines)}.values())

    def against_best(self, metric: str) -> list[tuple[RunRecord, RunRecord]]:
        """Each run with the baseline that scores highest; baselines themselves are compared with none."""
        best = max(self.baselines, key=lambda base: base.metrics[metric], default=None)
        encoders = {run.plan.variant.encoder for run in self.baselines}
        return [(run, best) for run in self.runs if best and run.plan.variant.encoder not in encoders]


def together(material: Material, *, on_same_items: bool = False) -> list[Together]:
    """The runs by dataset and parameters, and with ``on_same_items`` also by their texts, in their order."""
    groups: dict[tuple[str, str, str], tuple[list[RunRecord], list[RunRecord]]] = {}
    for side, runs in enumerate((material.runs, material.baselines)):
        for run in runs:
            params = str(sorted((k, v) for k, v in run.plan.params.items() if k != FIT_ON))
            what = (run.plan.dataset_digest, params, run.plan.covered_digest if on_same_items else "")
            groups.setdefault(what, ([], []))[side].append(run)
    return [Together(runs_together, baselines) for runs_together, baselines in groups.values() if runs_together]


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of runs over one dataset of ``n`` rows.

    Attributes:
        about: the dataset's columns for each row, ``[n]`` by number; NaN where no run has it.
        values: by run id the numbers of its rows, and their values.
    """

    about: pd.DataFrame
    values: Mapping[str, tuple[Int64, pd.DataFrame]]

    def has(self, run_id: str) -> Bool:
        """Which rows a run has, ``[n]``."""
        here = np.zeros(len(self.about), dtype=np.bool_)
        here[self.values[run_id][0]] = True
        return here

    def numbers(self, run_id: str, column: str) -> Float64:
        """A run's column, ``[n]``; NaN where it has no such row."""
        places, frame = self.values[run_id]
        out = np.full(len(self.about), np.nan)
        out[places] = frame[column].to_numpy(dtype=np.float64)
        return out

    def words(self, run_id: str, column: str) -> np.ndarray[Any, np.dtype[np.object_]]:
        """A run's column of texts, ``[n]``; None where it has no such row."""
        places, frame = self.values[run_id]
        out = np.full(len(self.about), None, dtype=object)
        out[places] = frame[column].to_numpy(dtype=object)
        return out


def rows_of(entry: Diagnostic, runs: Sequence[RunRecord], repository: Repository) -> Rows:
    """Rows of runs over one dataset; texts are read once for runs over the same part of it."""
    first_of = {run.plan.covered_digest: run.run_id for run in reversed(runs)}
    described = repository.items(entry, list(first_of.values()), texts=True)
    stored_rows = repository.items(entry, [run.run_id for run in runs], texts=False)
    if len(stored_rows) == 0:
        return Rows(pd.DataFrame(), {})
    dropped = {*entry.schema.names, "run_id"}
    about = described[[name for name in described if name not in dropped]]
    if len(first_of) > 1:
        about = about.drop_duplicates("item_no")
    about = about.set_index("item_no")
    n = 1 + int(stored_rows["item_no"].max())
    if not (len(about) == n and (about.index.to_numpy() == np.arange(n)).all()):
        about = about.reindex(pd.RangeIndex(n))
    numbers = stored_rows["item_no"].to_numpy(dtype=np.int64)
    of_run = stored_rows.groupby("run_id", sort=False).indices
    return Rows(about, {str(run_id): (numbers[rows], stored_rows.iloc[rows]) for run_id, rows in of_run.items()})


def low_coverage(runs: Sequence[RunRecord]) -> list[Evidence]:
    """Of every run that looked at less than 95% of its dataset."""
    out = []
    for run in runs:
        counts = run.coverage
        unit = next((name for name in counts if name != "items" and f"{name}_covered" in counts), "items")
        every, covered = counts.get(unit, 0), counts.get(f"{unit}_covered", 0)
        if not every or covered >= LOW_COVERAGE * every:
            continue
        facts: dict[str, Fact] = {
            "is_own": run.plan.own_covered,
            "lacking": counts["items"] - counts["items_covered"],
            "texts": counts["items"],
            "unit": "" if unit == "items" else unit,
            "left_out": every - covered,
        }
        out.append(Evidence("low-coverage", (run,), covered / every, every, facts=facts))
    return out


def one_way(p: float, *, is_news: bool) -> float:
    """A two-sided p-value on the side that a finding speaks of, 1 on the other."""
    return p if is_news else 1.0
