"""The cells of a grid: which stored run answers which request, and their scores as a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from core import diagnostic as diagnostics
from core.datasets.kinds.base import Dataset
from core.runs.pipeline import RunRequest
from core.store.records import RunRecord, RunState
from core.store.repository import Repository
from core.studies.lab.grid import Reading, Setting, Task, metric_of
from core.texts import same_text
from core.types import Float64


def stored(
    requests: Sequence[RunRequest], repository: Repository, metrics: Sequence[str] | None = None
) -> dict[RunRequest, RunRecord]:
    """The newest finished run that answers each request, those that have one; told by what was asked for.

    A request that names other encoders (common support) is also answered by a run over all items, where the runs of
    these requests show that all of those encoders have a vector for every item: what all cover is then everything.

    Args:
        metrics: names of the scores that are wanted; all where it is left out.
    """
    runs = repository.runs(
        variants=list({r.variant for r in requests}), state=RunState.DONE, current=True, metrics=metrics
    )
    exact: dict[RunRequest, RunRecord] = {}
    over_all: dict[RunRequest, RunRecord] = {}
    covers_all: set[tuple[str, str]] = set()  # encoder and dataset
    for run in reversed(runs):  # the newest last
        plan = run.plan
        entry = diagnostics.every().get(plan.diagnostic)
        if entry is None or entry.version != plan.diagnostic_version:
            continue
        params = tuple(sorted(plan.params.items()))
        exact[RunRequest(plan.diagnostic, plan.variant, plan.dataset, params, plan.support)] = run
        if not plan.support_digest:
            over_all[RunRequest(plan.diagnostic, plan.variant, plan.dataset, params)] = run
            if plan.params.get("protocol", "definition") == "definition":
                covers_all.add((plan.variant.encoder, plan.dataset))
    out: dict[RunRequest, RunRecord] = {}
    for request in requests:
        found = exact.get(request)
        if found is None and all((other, request.dataset) in covers_all for other in request.support):
            found = over_all.get(RunRequest(request.diagnostic, request.variant, request.dataset, request.params))
        if found is not None:
            out[request] = found
    return out


@dataclass(frozen=True, eq=False)
class Scores:
    """Scores of e encoders under s settings.

    Attributes:
        values: ``[e, s] float64``, NaN where the cell has not been computed, or the run has no such score.
    """

    encoders: tuple[str, ...]
    settings: tuple[Setting, ...]
    values: Float64

    @property
    def directions(self) -> Float64:
        """``[s] float64``: 1 where more is better, -1 where less is, 0 where neither is."""
        return np.array([setting.reading.direction for setting in self.settings], dtype=np.float64)

    def only(self, keep: Sequence[int]) -> Scores:
        """Some of the settings, by their numbers."""
        return Scores(self.encoders, tuple(self.settings[i] for i in keep), self.values[:, list(keep)])

    @property
    def ranked(self) -> Scores:
        """Those that encoders can be ranked by: more or less is better, and at least two encoders have a value."""
        enough = (~np.isnan(self.values)).sum(axis=0) > 1
        return self.only(np.flatnonzero(enough & (self.directions != 0)).tolist())


def scores(requests: Sequence[RunRequest], found: Mapping[RunRequest, RunRecord], wanted: Sequence[Reading]) -> Scores:
    """The table of a grid: encoders in the order of the requests, settings by reading, transform, then metric."""
    encoders = tuple(dict.fromkeys(request.variant.encoder for request in requests))
    rows = {encoder: i for i, encoder in enumerate(encoders)}
    places: dict[Setting, int] = {}
    cells: list[tuple[int, int, float]] = []
    for reading in wanted:
        own = [r for r in requests if Task(r.diagnostic, r.dataset) == reading.task]
        chains = {chain: i for i, chain in enumerate(dict.fromkeys(r.variant.transform for r in own))}
        for request in sorted(own, key=lambda r: chains[r.variant.transform]):
            setting = Setting.of(reading, metric_of(request), request.variant.transform)
            column = places.setdefault(setting, len(places))
            run = found.get(request)
            if run is not None and reading.score in run.metrics:
                cells.append((rows[request.variant.encoder], column, run.metrics[reading.score]))
    values = np.full((len(encoders), len(places)), np.nan)
    for row, column, value in cells:
        values[row, column] = value
    return Scores(encoders, tuple(places), values)


# Whether a corpus is held out: how many of the tested texts stand in what a transform is fitted on.


def share_seen(tested: Dataset, corpus: Dataset) -> float:
    """Share of the tested items that the corpus has too (``same_text``), 0 to 1; 0 where nothing is tested."""
    known = set(map(same_text, corpus.items))
    return sum(same_text(text) in known for text in tested.items) / max(len(tested.items), 1)
