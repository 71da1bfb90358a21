"""What a grid is made of: tasks, settings and the runs that fill its cells."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from core import diagnostic as diagnostics
from core.datasets import catalog as datasets
from core.datasets.kinds.base import DatasetKind
from core.diagnostic import DiagnosticEntry, GridRole, Metric
from core.encoders import catalog as encoders
from core.errors import InputError
from core.runs.pipeline import RunRequest
from core.runs.sweeps import Sweep, expand
from core.settings import Settings
from core.transforms.chain import TransformChain

# What a grid starts with: a kind of post-processing each, and one smaller size.
TRANSFORMS = ("none", "center", "zscore", "abtt:2", "pcr:1", "whiten", "whiten:128", "truncate:128")
REDUCTIONS = ("truncate", "pca", "random-project")  # steps that change the size and are meant to change nothing else
FULL = "full"
WHITEN = "whiten"  # keeps fewer dimensions with an argument
COSINE = "cos"
# Scores that say how another one was read, or how far it can be trusted.
_NOT_RANKED = ("_low", "_high", "_optimistic", "_pessimistic", "_ceiling", "_sd", "_chance")


def entries() -> list[DiagnosticEntry]:
    """The diagnostics that a grid can have."""
    return [entry for entry in diagnostics.every().values() if entry.grid is not GridRole.NONE]


@dataclass(frozen=True)
class Task:
    """A diagnostic on a dataset, written ``evalrank@demo-pairs``."""

    diagnostic: str
    dataset: str

    def __str__(self) -> str:
        return f"{self.diagnostic}@{self.dataset}"

    @classmethod
    def parse(cls, text: str) -> Task:
        """Read ``DIAGNOSTIC@DATASET``.

        Raises:
            InputError: an unknown id, a diagnostic that is no part of the lab, or one that does not fit the dataset.
        """
        diagnostic, at, dataset = text.partition("@")
        known = [entry.id for entry in entries()]
        if not at or diagnostic not in known:
            raise InputError(f"'{text}' is no task of the lab", expected=f"DIAGNOSTIC@DATASET, of {', '.join(known)}")
        entry, kind = diagnostics.find(diagnostic), datasets.find(dataset).kind
        if entry.dataset_kind is not kind:
            raise InputError(f"{diagnostic} does not run on '{dataset}', a {kind}", expected=f"a {entry.dataset_kind}")
        return cls(diagnostic, dataset)

    @property
    def entry(self) -> DiagnosticEntry:
        return diagnostics.find(self.diagnostic)

    @property
    def label(self) -> str:
        return f"{self.entry.title} on {self.dataset}"


@dataclass(frozen=True)
class Reading:
    """A score of a task: what a ranking is read off. Written ``evalrank@demo-pairs:mrr``."""

    task: Task
    score: str

    def __str__(self) -> str:
        return f"{self.task}:{self.score}"

    @property
    def label(self) -> str:
        return f"{self.task.entry.title} {self.score}, {self.task.dataset}"

    @property
    def is_described(self) -> bool:
        """Whether it tells of the space rather than of how well a task is done; then nobody is ranked by it unasked."""
        return self.task.entry.grid is GridRole.DESCRIPTION

    @property
    def direction(self) -> int:
        """1 where more is better, -1 where less is, 0 where neither is."""
        metrics = self.task.entry.metrics
        better = next((m.higher_is_better for m in metrics if m.name == self.score), None)
        return 0 if better is None else 1 if better else -1


@dataclass(frozen=True)
class Grid:
    """What the reader asks for: encoders by transforms by metrics, for some tasks.

    Attributes:
        transforms: canonical chains.
        fit_on: the dataset that transforms are fitted on; "" for the items of each task themselves.
    """

    encoders: tuple[str, ...]
    transforms: tuple[str, ...]
    metrics: tuple[str, ...]
    tasks: tuple[Task, ...]
    fit_on: str = ""


@dataclass(frozen=True)
class Setting:
    """All that a score depends on beside the encoder.

    Attributes:
        metric: the similarity; what has no choice of it compares by the cosine.
        transform: the chain without the steps that change the size; ``whiten`` of ``whiten:K``.
        size: the steps that change it, ``whiten:K`` too; or ``FULL``.
        chain: the whole chain, as it is run.
    """

    reading: Reading
    metric: str
    transform: str
    size: str
    chain: str

    @classmethod
    def of(cls, reading: Reading, metric: str, chain: str) -> Setting:
        steps = TransformChain.parse(chain).steps
        sizes = [str(step) for step in steps if step.name in REDUCTIONS or (step.name == WHITEN and step.argument)]
        rest = [WHITEN if step.name == WHITEN else str(step) for step in steps if step.name not in REDUCTIONS]
        return cls(reading, metric, "+".join(rest) or "none", "+".join(sizes) or FULL, chain)

    @property
    def order(self) -> tuple[str, ...]:
        """The names of the chain's steps: whitening what is left of the dimensions is not the same as cutting what
        whitening makes."""
        return tuple(step.name for step in TransformChain.parse(self.chain).steps)

    @property
    def label(self) -> str:
        return f"{self.reading.score} · {self.chain} · {self.metric}"


def readings(tasks: Iterable[Task]) -> tuple[Reading, ...]:
    """Every score that encoders can be ranked by or that describes their space, task by task, the headline first."""
    return tuple(
        Reading(task, metric.name)
        for task in tasks
        for metric in sorted(task.entry.metrics, key=lambda m: m.name != task.entry.headline)
        if _is_read(task, metric)
    )


def _is_read(task: Task, metric: Metric) -> bool:
    if metric.is_count or metric.name.endswith(_NOT_RANKED):
        return False
    return metric.higher_is_better is not None or task.entry.grid is GridRole.DESCRIPTION


def headlines(tasks: Iterable[Task]) -> tuple[Reading, ...]:
    """Per task the score that stands for it."""
    return tuple(Reading(task, task.entry.headline) for task in tasks)


def requests(grid: Grid, settings: Settings) -> tuple[RunRequest, ...]:
    """The runs that fill a grid, task by task, on the items that all its encoders cover.

    Of each task every encoder comes first with the first transform, so that one that cannot be used is noticed early.

    Raises:
        InputError: a list is empty, or as ``sweeps.expand``.
    """
    if not grid.tasks:
        raise InputError("the grid has no task", expected="at least one, for example evalrank@demo-pairs")
    out: list[RunRequest] = []
    for task in grid.tasks:
        has_metric = any(parameter.name == "metric" for parameter in task.entry.parameters)
        sweep = Sweep(
            encoders=grid.encoders,
            transforms=grid.transforms,
            datasets=(task.dataset,),
            diagnostics=(task.diagnostic,),
            params={"metric": grid.metrics} if has_metric else {},
            fit_on=grid.fit_on,
        )
        out += expand(sweep, settings).requests
    return tuple(dict.fromkeys(out))


def metric_of(request: RunRequest) -> str:
    """The similarity that a run compares by; what has no choice of it takes the cosine."""
    return dict(request.params).get("metric", COSINE)


def cannot_be(request: RunRequest, settings: Settings) -> str:
    """Why a transform does not fit an encoder and a dataset, as far as their sizes tell; "" where it may.

    What only the embeddings tell (directions that hold nothing but noise) is noticed when it is computed.
    """
    d = encoders.resolve(request.variant.encoder, settings).info.dimension
    n = datasets.find(request.fit_on or request.dataset).texts
    for step in TransformChain.parse(request.variant.transform).steps:
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


_NO_LIMIT = ("random-project", "flow")


def usual_tasks(dataset: str, available: Sequence[str]) -> tuple[Task, ...]:
    """What a grid looks at where nothing is chosen: every diagnostic on the picked dataset where it is of its kind,
    else on what needs the least.

    Args:
        available: datasets whose files are here.
    """
    kind = datasets.find(dataset).kind
    out = []
    for entry in entries():
        wanted = entry.dataset_kind
        if wanted is kind:
            out.append(Task(entry.id, dataset))
        elif found := next((name for name in _FALLBACKS.get(wanted, ()) if name in available), ""):
            out.append(Task(entry.id, found))
    return tuple(out)


_FALLBACKS = {
    DatasetKind.PAIR_SET: ("demo-pairs",),
    DatasetKind.SCORED_PAIRS: ("stsb-test", "sts16", "sts12"),
    DatasetKind.MINIMAL_PAIR_SET: ("demo-minimal",),
}
