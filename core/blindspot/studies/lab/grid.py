"""Grids: tasks and settings, the runs that fill their cells, and the scores of the stored ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from blindspot.datasets.catalog import DatasetRef, title_of
from blindspot.datasets.kinds.base import Dataset, DatasetKind
from blindspot.datasets.user_data.files import is_own
from blindspot.diagnostic import Diagnostic, GridRole, all_diagnostics, find_diagnostic
from blindspot.encoders.catalog import encoder_of
from blindspot.errors import InputError
from blindspot.numerics.statistics import rankings
from blindspot.runs.requests import RunRequest
from blindspot.runs.sweeps import Sweep, expand
from blindspot.settings import Settings
from blindspot.store.records import RunRecord, RunState
from blindspot.store.repository import Repository
from blindspot.texts import same_text
from blindspot.transforms.chain import StepCall, TransformChain
from blindspot.types import Float64

# The default: one of each kind of post-processing, and one smaller size.
TRANSFORMS = ("none", "center", "zscore", "abtt:2", "pcr:1", "whiten", "whiten:128", "truncate:128")
REDUCTIONS = ("truncate", "pca", "random-project")  # steps whose purpose is to change the size
FULL = "full"
WHITEN = "whiten"  # keeps fewer dimensions with an argument
# Scores that qualify another one.
_NOT_RANKED = ("_low", "_high", "_optimistic", "_pessimistic", "_ceiling", "_sd", "_chance")


def entries() -> list[Diagnostic]:
    """The diagnostics that a grid can contain."""
    return [entry for entry in all_diagnostics().values() if entry.grid is not GridRole.NONE]


@dataclass(frozen=True)
class Task:
    """A diagnostic on a dataset, written ``evalrank@demo-pairs``."""

    diagnostic: str
    dataset: DatasetRef

    def __str__(self) -> str:
        return f"{self.diagnostic}@{self.dataset}"

    @classmethod
    def parse(cls, text: str) -> Task:
        """Read ``DIAGNOSTIC@DATASET``.

        Raises:
            InputError: an unknown id, a diagnostic that cannot be in a grid, or one that does not fit the dataset.
        """
        diagnostic, at, name = text.partition("@")
        names = [entry.id for entry in entries()]
        if not at or diagnostic not in names:
            raise InputError(f"'{text}' is no task of the lab", expected=f"DIAGNOSTIC@DATASET, of {', '.join(names)}")
        entry = find_diagnostic(diagnostic)
        dataset = DatasetRef(name).of_kind(entry.dataset_kind)
        kind = dataset.entry().kind
        if entry.dataset_kind is not kind:
            raise InputError(
                f"{diagnostic} does not run on '{dataset}', a {kind.in_words}",
                expected=f"a {entry.dataset_kind.in_words}",
            )
        return cls(diagnostic, dataset)

    @property
    def entry(self) -> Diagnostic:
        return find_diagnostic(self.diagnostic)

    @property
    def label(self) -> str:
        return f"{self.entry.title} on {title_of(self.dataset)}"


@dataclass(frozen=True)
class Measure:
    """A score of a task that ranks encoders, written ``evalrank@demo-pairs:mrr``."""

    task: Task
    score: str

    def __str__(self) -> str:
        return f"{self.task}:{self.score}"

    @property
    def name(self) -> str:
        """The score for people, without its dataset."""
        entry = self.task.entry
        return f"{entry.title} {entry.title_of(self.score)}"

    @property
    def label(self) -> str:
        return f"{self.name}, {title_of(self.task.dataset)}"

    @property
    def is_described(self) -> bool:
        """Whether it describes the space instead of how well a task is done; it then ranks encoders only on request."""
        return self.task.entry.grid is GridRole.DESCRIPTION

    @property
    def direction(self) -> int:
        """1 if more is better, -1 if less is, 0 if neither."""
        metrics = self.task.entry.metrics
        better = next((m.higher_is_better for m in metrics if m.name == self.score), None)
        return 0 if better is None else 1 if better else -1


@dataclass(frozen=True)
class Grid:
    """Encoders by transforms (canonical chains) by metrics, for some tasks."""

    encoders: tuple[str, ...]
    transforms: tuple[str, ...]
    metrics: tuple[str, ...]
    tasks: tuple[Task, ...]
    fit_on: str = ""  # the dataset that transforms are fitted on; "" for each task's own items


@dataclass(frozen=True)
class Setting:
    """Everything that a score depends on except for the encoder.

    Attributes:
        metric: the similarity; the cosine for a diagnostic without a choice.
        transform: the chain without the steps that change the size, and ``whiten`` for ``whiten:K``.
        size: the steps that change the size, with ``whiten:K``; or ``FULL``.
        chain, steps: the whole chain.
    """

    measure: Measure
    metric: str
    transform: str
    size: str
    chain: str
    steps: tuple[StepCall, ...]

    @classmethod
    def of(cls, measure: Measure, metric: str, chain: TransformChain) -> Setting:
        steps = chain.steps
        sizes = [str(step) for step in steps if step.name in REDUCTIONS or (step.name == WHITEN and step.argument)]
        rest = [WHITEN if step.name == WHITEN else str(step) for step in steps if step.name not in REDUCTIONS]
        return cls(measure, metric, "+".join(rest) or "none", "+".join(sizes) or FULL, str(chain), steps)

    @property
    def order(self) -> tuple[str, ...]:
        """The names of the chain's steps, in order: truncating before whitening differs from truncating after it."""
        return tuple(step.name for step in self.steps)


def measures(tasks: Iterable[Task]) -> tuple[Measure, ...]:
    """Every score that can rank encoders or describes their space, task by task, the headline first."""
    return tuple(
        Measure(task, metric.name)
        for task in tasks
        for metric in sorted(task.entry.metrics, key=lambda m: m.name != task.entry.headline)
        if not metric.is_count and not metric.name.endswith(_NOT_RANKED)
        if metric.higher_is_better is not None or task.entry.grid is GridRole.DESCRIPTION
    )


def headlines(tasks: Iterable[Task]) -> tuple[Measure, ...]:
    return tuple(Measure(task, task.entry.headline) for task in tasks)


def requests(grid: Grid, settings: Settings) -> tuple[RunRequest, ...]:
    """The runs that fill a grid, task by task, on the items that all its encoders cover.

    Within a task, every encoder comes first with the first transform, so that an unusable one fails early.

    Raises:
        InputError: a list is empty, or see ``sweeps.expand``.
    """
    if not grid.tasks:
        raise InputError("the grid has no task", expected="at least one, for example evalrank@demo-pairs")
    out: list[RunRequest] = []
    for task in grid.tasks:
        sweep = Sweep(
            encoders=grid.encoders,
            transforms=grid.transforms,
            datasets=(task.dataset,),
            diagnostics=(task.diagnostic,),
            params={"metric": grid.metrics} if task.entry.has_metric else {},
            fit_on=grid.fit_on,
        )
        out += expand(sweep, settings).requests
    return tuple(dict.fromkeys(out))


def metric_of(request: RunRequest) -> str:
    """The similarity of a run; the cosine for a diagnostic without a choice."""
    return dict(request.params).get("metric", "cos")


def cannot_be(request: RunRequest, settings: Settings) -> str:
    """Why a transform does not fit the sizes of an encoder and a dataset; "" if it does.

    Other reasons (directions with nothing but noise) need the embeddings and are found when the run is computed.
    """
    d = encoder_of(request.variant.encoder, settings).info.dimension
    n = (request.fit_on or request.dataset).entry().texts
    for step in request.variant.chain.steps:
        k = step.argument
        if step.name == WHITEN and n and (k or d) >= n - 1:
            return f"{step} does not fit {n:,} items"
        if k is None:
            continue
        limit = min(d, n - 1) if n and step.name != "truncate" else d
        if step.name in ("abtt", "pcr"):
            limit -= 1
        if step.name in _NO_LIMIT:
            limit = k
        if k > limit:
            what = f"{d} dimensions" if limit >= d - 1 else f"{n:,} items"
            return f"{step} does not fit {what}"
        if step.name in (*REDUCTIONS, WHITEN):
            d = k
    return ""


_NO_LIMIT = ("random-project", "flow", "rescore")


def usual_tasks(dataset: DatasetRef, available: Sequence[DatasetRef]) -> tuple[Task, ...]:
    """The default tasks: every diagnostic on the picked dataset if that fits, else on an ``available`` one: the user's
    newest own dataset, or a small one."""
    kind = dataset.entry().kind
    user_datasets = {name.entry().kind: name for name in available if is_own(name)}
    out = []
    for entry in entries():
        wanted = entry.dataset_kind
        if wanted is kind:
            out.append(Task(entry.id, dataset))
        elif task_name := user_datasets.get(wanted) or next(
            (name for name in _FALLBACKS.get(wanted, ()) if name in available), ""
        ):
            out.append(Task(entry.id, DatasetRef(task_name)))
    return tuple(out)


_FALLBACKS = {
    DatasetKind.PAIR_SET: ("demo-pairs",),
    DatasetKind.SCORED_PAIRS: ("stsb-test", "sts16", "sts12"),
    DatasetKind.MINIMAL_PAIR_SET: ("demo-minimal",),
}


# --- the cells of a grid


def stored_runs(requests: Sequence[RunRequest], repository: Repository) -> dict[RunRequest, RunRecord]:
    """The newest finished run of each request that has one.

    A request on the texts that several encoders cover is also answered by a run over all texts, if stored runs show
    that each of these encoders covers every text.
    """
    runs = repository.runs(variants=list({r.variant for r in requests}), state=RunState.DONE, current=True)
    exact: dict[RunRequest, RunRecord] = {}
    over_all: dict[RunRequest, RunRecord] = {}
    covers_all: set[tuple[str, str]] = set()  # encoder and dataset
    for run in reversed(runs):  # the newest last
        plan = run.plan
        entry = all_diagnostics().get(plan.diagnostic)
        if entry is None or entry.version != plan.diagnostic_version:
            continue
        params = tuple(sorted(plan.params.items()))
        exact[RunRequest(plan.diagnostic, plan.variant, plan.dataset, params, plan.covered_by)] = run
        if not plan.covered_digest:
            over_all[RunRequest(plan.diagnostic, plan.variant, plan.dataset, params)] = run
            if plan.params.get("protocol", "definition") == "definition":
                covers_all.add((plan.variant.encoder, plan.dataset))
    out: dict[RunRequest, RunRecord] = {}
    for request in requests:
        stored = exact.get(request)
        if stored is None and all((other, request.dataset) in covers_all for other in request.covered_by):
            stored = over_all.get(RunRequest(request.diagnostic, request.variant, request.dataset, request.params))
        if stored is not None:
            out[request] = stored
    return out


@dataclass(frozen=True, eq=False)
class Scores:
    """Scores of e encoders under s settings, ``[e, s]``; NaN if a cell is not computed or its run has no such score."""

    encoders: tuple[str, ...]
    settings: tuple[Setting, ...]
    values: Float64

    @property
    def directions(self) -> Float64:
        """1 if more is better, -1 if less is, 0 if neither, ``[s]``."""
        return np.array([setting.measure.direction for setting in self.settings], dtype=np.float64)

    def better(self, decimals: int = rankings.DECIMALS) -> Float64:
        """The scores, rounded to some decimals, with more always better, ``[e, s]``."""
        return rankings.oriented(self.values, self.directions, decimals)

    def only(self, keep: Sequence[int]) -> Scores:
        """Some of the settings, by their numbers."""
        return Scores(self.encoders, tuple(self.settings[i] for i in keep), self.values[:, list(keep)])

    def without_gaps(self) -> Scores:
        """Only the encoders and settings that have any score."""
        has = ~np.isnan(self.values)
        rows, columns = np.flatnonzero(has.any(axis=1)).tolist(), np.flatnonzero(has.any(axis=0)).tolist()
        kept = self.only(columns)
        return Scores(tuple(self.encoders[i] for i in rows), kept.settings, kept.values[rows])

    @property
    def ranked(self) -> Scores:
        """The settings that rank encoders: those with a direction and with values of at least two encoders."""
        enough = (~np.isnan(self.values)).sum(axis=0) > 1
        return self.only(np.flatnonzero(enough & (self.directions != 0)).tolist())


def score_cells(
    requests: Sequence[RunRequest], runs: Mapping[RunRequest, RunRecord], wanted: Sequence[Measure]
) -> Scores:
    """The table of a grid: encoders in the order of the requests, settings by measure, transform, then metric."""
    encoders = tuple(dict.fromkeys(request.variant.encoder for request in requests))
    rows = {encoder: i for i, encoder in enumerate(encoders)}
    places: dict[Setting, int] = {}
    cells: list[tuple[int, int, float]] = []
    for measure in wanted:
        of_task = [r for r in requests if Task(r.diagnostic, r.dataset) == measure.task]
        chains = {chain: i for i, chain in enumerate(dict.fromkeys(r.variant.transform for r in of_task))}
        for request in sorted(of_task, key=lambda r: chains[r.variant.transform]):
            setting = _setting(measure, request)
            column = places.setdefault(setting, len(places))
            run = runs.get(request)
            if run is not None and measure.score in run.metrics:
                cells.append((rows[request.variant.encoder], column, run.metrics[measure.score]))
    values = np.full((len(encoders), len(places)), np.nan)
    for row, column, value in cells:
        values[row, column] = value
    return Scores(encoders, tuple(places), values)


@dataclass(frozen=True)
class Change:
    """The score of an encoder under a setting, against its score without post-processing under the first metric."""

    measure: Measure
    setting: Setting
    plain_setting: Setting
    run: RunRecord
    plain: RunRecord

    @property
    def gain(self) -> float:
        """Positive if the setting's score is better, or simply higher if it has no direction."""
        higher = self.run.metrics[self.measure.score] - self.plain.metrics[self.measure.score]
        return higher * (self.measure.direction or 1)


def changes(
    requests: Sequence[RunRequest], runs: Mapping[RunRequest, RunRecord], wanted: Sequence[Measure]
) -> list[Change]:
    """Every stored score that is not an encoder's plain one and can be compared with it, measure by measure.

    Scores that describe a space count only if there are no others.
    """
    all_changes = [(measure, change) for measure in wanted for change in _changes(requests, runs, measure)]
    decisive = [change for measure, change in all_changes if not measure.is_described]
    return decisive or [change for _, change in all_changes]


def _changes(requests: Sequence[RunRequest], runs: Mapping[RunRequest, RunRecord], measure: Measure) -> list[Change]:
    of_task = [r for r in requests if Task(r.diagnostic, r.dataset) == measure.task]
    computed = [r for r in of_task if r in runs and measure.score in runs[r].metrics]
    first = metric_of(of_task[0]) if of_task else ""
    plain = {r.variant.encoder: r for r in computed if r.variant.transform == "none" and metric_of(r) == first}
    return [
        Change(measure, _setting(measure, r), _setting(measure, before), runs[r], runs[before])
        for r in computed
        if (before := plain.get(r.variant.encoder)) is not None and before != r
    ]


def _setting(measure: Measure, request: RunRequest) -> Setting:
    return Setting.of(measure, metric_of(request), request.variant.chain)


def share_seen(tested: Dataset, corpus: Dataset) -> float:
    """Share of the tested items that are also in the corpus (``same_text``), 0 to 1; 0 without tested items."""
    keys = set(map(same_text, corpus.items))
    return sum(same_text(text) in keys for text in tested.items) / max(len(tested.items), 1)
