"""One table of all that is stored: variants by scores without a task, and by how well they do on tasks.

Which run counts is the rule of the other pages (``Repository.leaderboards``): of a dataset's newest content, by the
parameters below, the transform fitted on the run's own items, on the support that most variants were run on, of each
variant the newest.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

import numpy as np

from core import diagnostic as diagnostics
from core.datasets import catalog as datasets
from core.diagnostic import Reading
from core.diagnostics.transfer.definition import CLASSIFIERS, SEEDS
from core.numerics.statistics.correlations import DECIMALS
from core.store.records import RunRecord
from core.store.repository import Repository
from core.studies.evidence.families import family_names
from core.studies.judgement.store import Judgements
from core.studies.judgement.tallies import tally
from core.studies.judgement.types import Task
from core.types import Float64, Variant, digest_of_strings

ALL_RUNS = 1_000_000  # as many as there are
LIKE_SIMILARITY = ("mrpc", "sick-e")  # tasks that the paper leaves out at the sentence level (section 6.1)
ENTRY = diagnostics.find("transfer")


class Level(StrEnum):
    """What the items of an evaluator are. Tasks are of sentences at both (Wang 2022, tables 3 and 6)."""

    SENTENCE = "sentence"
    WORD = "word"


class Outcome(StrEnum):
    """What counts as doing well on a task."""

    ACCURACY = "accuracy"
    MACRO_F1 = "macro_f1"


@dataclass(frozen=True)
class Downstream:
    """Which of the runs on tasks are looked at, and which of their scores.

    Attributes:
        without_overlap: whether tested texts that stand in training too, or repeat, are left out.
    """

    classifier: str = CLASSIFIERS[0]
    outcome: Outcome = Outcome.ACCURACY
    without_overlap: bool = False
    seed: str = SEEDS[0]

    @property
    def metric(self) -> str:
        return f"{self.outcome}_without_overlap" if self.without_overlap else self.outcome.value

    @property
    def params(self) -> dict[str, str]:
        return ENTRY.check_params({"classifier": self.classifier, "seed": self.seed})


@dataclass(frozen=True)
class Measure:
    """A score that variants have: an evaluator, or a task.

    Attributes:
        diagnostic, dataset, metric: where it is stored; of human judgement the id of the set of items.
        name: of the score alone, for people.
        sign: 1 where more counts as better; -1 where less does: then the sign is turned before ranking.
        unit: what the items of its dataset are ("sentence", "word"); "text" where that is not known.
    """

    diagnostic: str
    dataset: str
    metric: str
    name: str
    sign: int
    unit: str

    @property
    def id(self) -> str:
        """In addresses."""
        return self.dataset if self.is_task else f"{self.diagnostic}:{self.dataset}:{self.metric}"

    @property
    def is_task(self) -> bool:
        return self.diagnostic == ENTRY.id

    @property
    def source(self) -> str:
        """The dataset, short: of a user's file its name."""
        return self.dataset.rpartition("/")[2] if self.dataset.startswith(datasets.OWN_PREFIX) else self.dataset

    @property
    def label(self) -> str:
        """For people; the arrow says that less counts as better."""
        title = datasets.DATASETS[self.dataset].title if self.dataset in datasets.DATASETS else self.source
        if self.is_task:
            return title
        return f"{self.name}{' ↓' if self.sign < 0 else ''}, {self.source}" if self.source else self.name

    def is_at(self, level: Level) -> bool:
        """Whether its items are of a level, or of none that is known."""
        return self.unit in {level.value, "text"}


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """Scores of v variants.

    Attributes:
        variants: ``[v]``, in the order in which they were first run.
        families: ``[v]``, the name of each one's family.
        measures: ``[m]``, evaluators and tasks.
        values: ``[v, m] float64`` as they are stored; NaN where a variant has none.
    """

    variants: tuple[Variant, ...]
    families: tuple[str, ...]
    measures: tuple[Measure, ...]
    values: Float64

    @property
    def evaluators(self) -> tuple[Measure, ...]:
        return tuple(m for m in self.measures if not m.is_task)

    @property
    def tasks(self) -> tuple[Measure, ...]:
        return tuple(m for m in self.measures if m.is_task)

    @cached_property
    def _places(self) -> Mapping[str, int]:
        return {measure.id: place for place, measure in enumerate(self.measures)}

    def of(self, measure: Measure) -> Float64:
        """As stored, ``[v]``."""
        return np.asarray(self.values[:, self._places[measure.id]])

    def better(self, measure: Measure) -> Float64:
        """More is better, ``[v]``; what is nearer than floats of other batches differ is equal."""
        return np.asarray(np.round(self.of(measure), DECIMALS) * measure.sign + 0.0)

    def find(self, measure_id: str) -> Measure | None:
        place = self._places.get(measure_id)
        return None if place is None else self.measures[place]

    @property
    def family_list(self) -> tuple[str, ...]:
        """Each family once, in the order of their first variants."""
        return tuple(dict.fromkeys(self.families))

    def rows(self, keep: Iterable[bool]) -> ScoreTable:
        """The same of some of the variants."""
        kept = np.flatnonzero(np.fromiter(keep, dtype=np.bool_, count=len(self.variants)))
        return ScoreTable(
            tuple(self.variants[i] for i in kept),
            tuple(self.families[i] for i in kept),
            self.measures,
            self.values[kept],
        )

    def columns(self, wanted: Sequence[Measure]) -> ScoreTable:
        """The same of some of the scores, in the order given; variants that have none of them stay."""
        places = [self._places[m.id] for m in wanted]
        return ScoreTable(self.variants, self.families, tuple(wanted), self.values[:, places])

    def at(self, level: Level, *, like_similarity: bool = False) -> ScoreTable:
        """Evaluators of a level, and the tasks that the paper holds against them (sections 5.1 and 6.1).

        Args:
            like_similarity: whether at the sentence level MRPC and SICK-E stay, which are much like similarity tasks.
        """
        dropped = () if like_similarity or level is Level.WORD else LIKE_SIMILARITY
        return self.columns([m for m in self.measures if (m.dataset not in dropped if m.is_task else m.is_at(level))])

    @property
    def comparable(self) -> ScoreTable:
        """The same of the variants that have both a score without a task and one on a task."""
        own = ~np.isnan(self.values)
        tasks = np.array([m.is_task for m in self.measures], dtype=np.bool_)
        return self.rows(np.logical_and(own[:, tasks].any(axis=1), own[:, ~tasks].any(axis=1)).tolist())

    @cached_property
    def digest(self) -> str:
        """Of all that decides its correlations, for caches."""
        names = [*map(str, self.variants), *self.families, *(repr(measure) for measure in self.measures)]
        return digest_of_strings([*names, self.values.tobytes().hex()])


def score_table(repository: Repository, downstream: Downstream | None = None) -> ScoreTable:
    """All that is stored, of variants with a score that is looked at."""
    found: dict[tuple[Measure, Variant], float] = {}
    revisions: dict[str, str] = {}
    for measure, run, value in _of_runs(repository, downstream or Downstream()):
        found[measure, run.plan.variant] = value
        encoder = run.plan.variant.encoder
        if ":" in encoder and encoder not in revisions:
            revisions[encoder] = str(run.manifest.get("encoder", {}).get("revision", ""))
    for measure, variant, value in _of_people(Judgements(repository.database)):
        found[measure, variant] = value
    seen = {variant for _, variant in found}
    variants = [v for v in repository.variants() if v in seen]
    variants += sorted(seen.difference(variants), key=str)
    measures = tuple(dict.fromkeys(measure for measure, _ in found))
    values = [[found.get((measure, variant), np.nan) for measure in measures] for variant in variants]
    return ScoreTable(
        tuple(variants),
        family_names([v.encoder for v in variants], revisions),
        measures,
        np.array(values, dtype=np.float64).reshape(len(variants), len(measures)),
    )


# --- what is stored


def _of_runs(repository: Repository, downstream: Downstream) -> Iterator[tuple[Measure, RunRecord, float]]:
    for entry in diagnostics.every().values():
        among = entry.readings_among
        if not entry.readings and among is None:
            continue
        names = [reading.metric for reading in entry.readings] if among is None else None
        for board in repository.leaderboards(entry, entry.check_params({}), (), names, ALL_RUNS):
            there = list(dict.fromkeys(name for run in board.runs for name in run.metrics))
            yield from _of_board(board.runs, entry.readings if among is None else among(there))
    boards = repository.leaderboards(ENTRY, downstream.params, (), [downstream.metric], ALL_RUNS)
    for board in sorted(boards, key=lambda board: _place(board.dataset)):
        yield from _of_board(board.runs, [Reading(downstream.metric, downstream.metric)])


def _of_board(runs: Sequence[RunRecord], readings: Iterable[Reading]) -> Iterator[tuple[Measure, RunRecord, float]]:
    dataset, diagnostic = runs[0].plan.dataset, runs[0].plan.diagnostic
    for reading in readings:
        measure = Measure(diagnostic, dataset, reading.metric, reading.name, reading.sign, unit_of(dataset))
        for run in runs:
            if reading.metric in run.metrics:
                yield measure, run, run.metrics[reading.metric]


def unit_of(dataset: str) -> str:
    """What the items of a dataset are; "text" of a user's own, and of one that is not in the catalog any more."""
    entry = datasets.DATASETS.get(dataset)
    return "text" if entry is None else entry.unit


def _place(dataset: str) -> int:
    """Tasks stand in the catalog's order, a user's own last."""
    names = list(datasets.DATASETS)
    return names.index(dataset) if dataset in names else len(names)


def _of_people(judgements: Judgements) -> Iterator[tuple[Measure, Variant, float]]:
    """Intruder precision per set of items: votes for a variant's own intruder over the votes on its items.

    Votes of sessions whose results are not revealed are left out.
    """
    hidden = [session.name for session in judgements.sessions() if not session.revealed]
    for summary in judgements.sets(Task.INTRUDER):
        items = judgements.find_set(summary.set_id)
        if items is None:  # removed in between
            continue
        counted = tally(items, judgements.votes(summary.set_id, without=hidden))
        unit = unit_of(str(items.manifest.get("dataset", "")))
        measure = Measure("intruder", summary.set_id, "precision", "intruder precision", 1, unit)
        for place, variant in enumerate(items.variants):
            if votes := counted.votes_on(place).sum():
                yield measure, variant, float(counted.hits_of(place).sum() / votes)
