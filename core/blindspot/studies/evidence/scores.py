"""Table of all stored scores: models by benchmark scores and by scores on tasks.

Runs are chosen as on other pages (``Repository.leaderboards``): over a dataset's newest content, with the parameters
below, the transform fitted on the run's own items, on the items that most variants cover, the newest of each variant.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from pathlib import Path

import numpy as np

from blindspot.datasets.catalog import DATASETS, catalogued, title_of
from blindspot.datasets.user_data.files import is_own
from blindspot.diagnostic import Reading, all_diagnostics, find_diagnostic
from blindspot.diagnostics.transfer.definition import CLASSIFIERS, SEEDS
from blindspot.encoders.catalog import entry_of
from blindspot.encoders.references import DirReference, FileReference, HubReference
from blindspot.encoders.served.reference import ServedReference
from blindspot.errors import BlindspotError
from blindspot.numerics.statistics.correlations import DECIMALS
from blindspot.store.records import RunRecord
from blindspot.store.repository import Repository
from blindspot.studies.judgments.store import Judgments
from blindspot.studies.judgments.tallies import tally
from blindspot.studies.judgments.types import Task
from blindspot.types import Float64, digest_of_strings
from blindspot.variants import Variant

ALL_RUNS = 1_000_000
LIKE_SIMILARITY = ("mrpc", "sick-e")  # the paper leaves these tasks out at the sentence level (section 6.1)
ENTRY = find_diagnostic("transfer")


class Level(StrEnum):
    """The items of an evaluator. Tasks are of sentences at both levels (Wang 2022, tables 3 and 6)."""

    SENTENCE = "sentence"
    WORD = "word"


class Outcome(StrEnum):
    """A score on a task."""

    ACCURACY = "accuracy"
    MACRO_F1 = "macro_f1"


@dataclass(frozen=True)
class Downstream:
    """Which runs on tasks count, and which of their scores: with or without texts that repeat or are in training."""

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
    """An evaluator or a task: a score that variants have."""

    diagnostic: str
    dataset: str  # or the id of a set of items, for human judgment
    metric: str
    name: str  # of the score alone, for people
    sign: int  # 1 if more is better, else -1
    unit: str  # of the dataset's items: "sentence", "word", or "text" if not known

    @property
    def id(self) -> str:
        """The measure in addresses."""
        return self.dataset if self.is_task else f"{self.diagnostic}:{self.dataset}:{self.metric}"

    @property
    def is_task(self) -> bool:
        return self.diagnostic == ENTRY.id

    @property
    def source(self) -> str:
        """The dataset's short name; of a user's file its file name."""
        return self.dataset.rpartition("/")[2] if is_own(self.dataset) else self.dataset

    @property
    def label(self) -> str:
        """The measure for people; an arrow says that less is better."""
        title = title_of(self.dataset) if self.dataset else self.source
        if self.is_task:
            return title
        return f"{self.name}{' ↓' if self.sign < 0 else ''}, {title}" if self.source else self.name

    @property
    def phrase(self) -> str:
        """The measure within a sentence."""
        title = title_of(self.dataset) if self.dataset else self.source
        return title if self.is_task else f"{self.name} on {title}" if title else self.name

    def is_at(self, level: Level) -> bool:
        """Whether its items are of a level, or not known."""
        return self.unit in {level.value, "text"}


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """Stored scores ``values [v, m]``, NaN if missing; variants are in the order of their first runs."""

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
        return {measure.id: number for number, measure in enumerate(self.measures)}

    def of(self, measure: Measure) -> Float64:
        """As stored, ``[v]``."""
        return np.asarray(self.values[:, self._places[measure.id]])

    def better(self, measure: Measure) -> Float64:
        """With the sign that makes more better, ``[v]``, and rounded so that another batch size does not break ties."""
        return np.asarray(np.round(self.of(measure), DECIMALS) * measure.sign + 0.0)

    def find(self, measure_id: str) -> Measure | None:
        number = self._places.get(measure_id)
        return None if number is None else self.measures[number]

    @property
    def family_list(self) -> tuple[str, ...]:
        """Each family once, in the order of first variants."""
        return tuple(dict.fromkeys(self.families))

    def rows(self, keep: Iterable[bool]) -> ScoreTable:
        """Some of the variants."""
        kept = np.flatnonzero(np.fromiter(keep, dtype=np.bool_, count=len(self.variants)))
        return ScoreTable(
            tuple(self.variants[i] for i in kept),
            tuple(self.families[i] for i in kept),
            self.measures,
            self.values[kept],
        )

    def columns(self, wanted: Sequence[Measure]) -> ScoreTable:
        """Some of the scores, in this order; variants without any of them stay."""
        places = [self._places[m.id] for m in wanted]
        return ScoreTable(self.variants, self.families, tuple(wanted), self.values[:, places])

    def with_column(self, measure: Measure, values: Mapping[Variant, float]) -> ScoreTable:
        """The table with one more score, which is NaN for variants without a value."""
        column = np.array([values.get(variant, np.nan) for variant in self.variants]).reshape(-1, 1)
        measures = (*self.measures, measure)
        return ScoreTable(self.variants, self.families, measures, np.hstack([self.values, column]))

    def at(self, level: Level, *, like_similarity: bool = False) -> ScoreTable:
        """Evaluators of a level, and the tasks that the paper compares with them (sections 5.1 and 6.1).

        Args:
            like_similarity: whether to keep MRPC and SICK-E, which resemble similarity tasks, at the sentence level.
        """
        dropped = () if like_similarity or level is Level.WORD else LIKE_SIMILARITY
        return self.columns([m for m in self.measures if (m.dataset not in dropped if m.is_task else m.is_at(level))])

    @property
    def comparable(self) -> ScoreTable:
        """The variants with at least one benchmark score and at least one score on a task."""
        has_value = ~np.isnan(self.values)
        tasks = np.array([m.is_task for m in self.measures], dtype=np.bool_)
        return self.rows(np.logical_and(has_value[:, tasks].any(axis=1), has_value[:, ~tasks].any(axis=1)).tolist())

    @cached_property
    def digest(self) -> str:
        """A cache key: everything that decides the correlations."""
        names = [*map(str, self.variants), *self.families, *(repr(measure) for measure in self.measures)]
        return digest_of_strings([*names, self.values.tobytes().hex()])


def score_table(repository: Repository, downstream: Downstream | None = None) -> ScoreTable:
    """All stored scores, for variants with at least one."""
    scores: dict[tuple[Measure, Variant], float] = {}
    revisions: dict[str, str] = {}
    for measure, run, value in _of_runs(repository, downstream or Downstream()):
        scores[measure, run.plan.variant] = value
        encoder = run.plan.variant.encoder
        if ":" in encoder and encoder not in revisions:
            revisions[encoder] = str(run.manifest.get("encoder", {}).get("revision", ""))
    for measure, variant, value in _of_people(Judgments(repository.database)):
        scores[measure, variant] = value
    seen = {variant for _, variant in scores}
    variants = [v for v in repository.variants() if v in seen]
    variants += sorted(seen.difference(variants), key=str)
    measures = tuple(dict.fromkeys(measure for measure, _ in scores))
    values = [[scores.get((measure, variant), np.nan) for measure in measures] for variant in variants]
    return ScoreTable(
        tuple(variants),
        family_names([v.encoder for v in variants], revisions),
        measures,
        np.array(values, dtype=np.float64).reshape(len(variants), len(measures)),
    )


def _of_runs(repository: Repository, downstream: Downstream) -> Iterator[tuple[Measure, RunRecord, float]]:
    for entry in all_diagnostics().values():
        for board in repository.leaderboards(entry, entry.check_params({}), (), entry.read_metrics, ALL_RUNS):
            there = list(dict.fromkeys(name for run in board.runs for name in run.metrics))
            yield from _of_board(board.runs, entry.readings_among(there))
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
    """The unit of a dataset's items; "text" for a user's own dataset, or for one that has left the catalog."""
    entry = catalogued(dataset)
    return "text" if entry is None else entry.unit


def _place(dataset: str) -> int:
    names = list(DATASETS)
    return names.index(dataset) if dataset in names else len(names)


def _of_people(judgments: Judgments) -> Iterator[tuple[Measure, Variant, float]]:
    """Intruder precision per set of items: votes for a variant's own intruder over the votes on its items.

    It does not count sessions whose results are not revealed.
    """
    hidden = [session.name for session in judgments.sessions() if not session.revealed]
    for summary in judgments.sets(Task.INTRUDER):
        items = judgments.find_set(summary.set_id)
        if items is None:  # removed in between
            continue
        counted = tally(items, judgments.votes(summary.set_id, without=hidden))
        unit = unit_of(str(items.manifest.get("dataset", "")))
        measure = Measure("intruder", summary.set_id, "precision", "intruder precision", 1, unit)
        for number, variant in enumerate(items.variants):
            if votes := counted.votes_on(number).sum():
                yield measure, variant, float(counted.hits_of(number).sum() / votes)


# --- families: variants of one model, which are not independent evidence, whatever their transform, pooling or size

_DIGITS = 12  # of a checksum


def family_of(reference: str, revision: str = "") -> str:
    """The family of a canonical encoder reference.

    It is what the catalog's entry declares, or the repository of ``hf:`` (so that the catalog's encoders of a model and
    the model itself are one family), or the address and model of ``api:``. For ``dir:``, ``vectors:`` and ``table:``
    it is the content of the file, so that copies are one family, or the path if ``revision``
    (``EncoderIdentity.revision``) is not known. Several models as one (``cat:A+B``) are of the first one's family.
    """
    if len(parts := Variant(reference, "none").encoder.models) > 1:
        return family_of(parts[0])
    if (entry := entry_of(reference.partition("?")[0])) is not None:
        return entry.family or entry.id
    scheme = reference.partition(":")[0]
    try:
        if scheme == "hf":
            return HubReference.parse(reference).repo
        if scheme == "api":
            return str(ServedReference.parse(reference).of_model)
        if scheme in {"dir", "vectors", "table", "run"}:
            return f"{scheme}:{revision}" if revision else f"{scheme}:{_path(scheme, reference)}"
    except BlindspotError:  # stored by an older version, in another notation
        pass
    return reference


def _path(scheme: str, reference: str) -> Path:
    return DirReference.parse(reference).path if scheme == "dir" else FileReference.parse(reference).path


def family_names(encoders: Sequence[str], revisions: Mapping[str, str]) -> tuple[str, ...]:
    """A name for the family of each encoder; ``revisions`` are by encoder, as far as they are known."""
    keys = [family_of(encoder, revisions.get(encoder, "")) for encoder in encoders]
    names: dict[str, str] = {}
    for encoder, key in zip(encoders, keys, strict=True):
        if key in names:
            continue
        name = Variant(encoder, "none").label if key.startswith(("dir:", "vectors:", "table:")) else key
        names[key] = name if name not in names.values() else f"{name} ({key.partition(':')[2][:_DIGITS]})"
    return tuple(names[key] for key in keys)
