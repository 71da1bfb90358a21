"""Trainings in the store: their steps in order, scores with intervals, and every item at every step."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from blindspot.diagnostic import Diagnostic, find_diagnostic
from blindspot.errors import InputError
from blindspot.numerics.statistics.estimate import Estimate
from blindspot.references import step_of
from blindspot.store.records import RunRecord, RunState
from blindspot.store.repository import Repository
from blindspot.types import Float64, Int64

if TYPE_CHECKING:
    import pandas as pd

_NUMBERED = re.compile(r"step-(\d+)")


@dataclass(frozen=True)
class Step:
    """A step at which a training was evaluated: ``step-20``, ``epoch-1``, or ``call-3``, the third call."""

    label: str
    run: RunRecord

    @property
    def title(self) -> str:
        return title_of(self.label)


def title_of(label: str) -> str:
    """``step 20`` for ``step-20``, ``epoch 1, step 20`` for ``epoch-1-step-20``."""
    words = label.split("-")
    return ", ".join(" ".join(words[i : i + 2]) for i in range(0, len(words), 2))


@dataclass(frozen=True)
class Series:
    """The steps of a training in one diagnostic on one dataset with the same parameters, in the order of evaluation."""

    training: str
    steps: tuple[Step, ...]

    @property
    def entry(self) -> Diagnostic:
        return find_diagnostic(self.steps[0].run.plan.diagnostic)

    @property
    def dataset(self) -> str:
        return self.steps[0].run.plan.dataset

    @property
    def id(self) -> str:
        """Short name for addresses: the id of the first run, which stays the same as steps are added."""
        return self.steps[0].run.run_id

    @property
    def score(self) -> str:
        """Name of the headline score."""
        return self.entry.headline_of(self.steps[0].run.metrics)

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(step.label for step in self.steps)

    @property
    def numbers(self) -> tuple[int, ...] | None:
        """Numbers of the steps; None if some are epochs or calls, or if the numbers do not ascend."""
        matches = [_NUMBERED.fullmatch(label) for label in self.labels]
        numbers = tuple(int(match[1]) for match in matches if match)
        return numbers if len(numbers) == len(matches) and all(a < b for a, b in pairwise(numbers)) else None

    def place(self, label: str) -> int:
        """Index of a step among all; raises ``InputError`` if there is no such step."""
        if label not in self.labels:
            raise InputError(f"there is no '{label}' in {self.training}", expected=f"one of {', '.join(self.labels)}")
        return self.labels.index(label)


def trainings(repository: Repository) -> list[str]:
    """Names of the trainings that have finished runs, the newest first."""
    names = (step_of(variant.encoder)[0] for variant in reversed(repository.variants()))
    return [name for name in dict.fromkeys(names) if name]


def series_of(training: str, repository: Repository) -> list[Series]:
    """The series of a training, in the order in which they were first evaluated."""
    variants = [variant for variant in repository.variants() if step_of(variant.encoder)[0] == training]
    runs = repository.runs(variants=variants, state=RunState.DONE) if variants else []
    steps: dict[tuple[object, ...], dict[str, Step]] = {}
    for run in sorted(runs, key=lambda run: run.run_seq):
        plan = run.plan
        key = (plan.diagnostic, plan.diagnostic_version, plan.dataset_digest, tuple(plan.params.items()))
        label = step_of(plan.variant.encoder)[1]
        steps.setdefault((*key, plan.variant.transform, plan.covered_digest), {})[label] = Step(label, run)
    return [Series(training, tuple(steps_of.values())) for steps_of in steps.values()]


@dataclass(frozen=True, eq=False)
class Evaluated:
    """The headline score and every item of it, at s steps.

    Attributes:
        estimates: the score at every step, with its 95% interval.
        numbers: numbers of the m items in the dataset, ascending.
        texts: ``[m]``, an item in one line.
        scores: each item's part of the score, ``[m, s]``, higher is better; NaN if a step lacks the item.
        shown: the same as people read it, ``[m, s]``: ranks (the lowest is best) if ``is_rank``.
    """

    series: Series
    estimates: tuple[Estimate, ...]
    numbers: Int64
    texts: tuple[str, ...]
    scores: Float64
    shown: Float64
    is_rank: bool

    @property
    def values(self) -> Float64:
        """The score, ``[s]``."""
        return np.array([estimate.value for estimate in self.estimates])

    def frame(self) -> pd.DataFrame:
        """A row per item: ``item_no``, ``text``, and ``shown`` in a column per step, named by its label."""
        import pandas as pd

        frame = pd.DataFrame({"item_no": self.numbers, "text": list(self.texts)})
        for step, label in enumerate(self.series.labels):
            frame[label] = self.shown[:, step]
        return frame

    def gain(self, before: str, after: str) -> Float64:
        """For each item the later step's score minus the earlier one's, ``[m]``; NaN if one of them lacks it."""
        return np.asarray(self.scores[:, self.series.place(after)] - self.scores[:, self.series.place(before)])

    def changed(self, before: str, after: str) -> pd.DataFrame:
        """The items with another score at ``after``: ``item_no, text, before, after`` (as shown) and ``gain`` (of the
        score), the largest losses first.

        Raises:
            InputError: there is no such step.
        """
        import pandas as pd

        gain = self.gain(before, after)
        frame = pd.DataFrame(
            {
                "item_no": self.numbers,
                "text": list(self.texts),
                "before": self.shown[:, self.series.place(before)],
                "after": self.shown[:, self.series.place(after)],
                "gain": gain,
            }
        )
        changed: pd.DataFrame = frame[~np.isnan(gain) & (gain != 0)]
        return changed.sort_values(["gain", "item_no"], ignore_index=True)


def evaluated(series: Series, repository: Repository) -> Evaluated:
    """The headline score of a training at every step, and its items.

    Raises:
        InputError: the score is not a mean over items.
    """
    entry, score = series.entry, series.score
    by_step = [of_step.get(score) for step in series.steps for of_step in entry.item_scores([step.run], repository)]
    means = [score for score in by_step if score is not None and score.is_mean]
    if len(means) < len(series.steps):
        raise InputError(f"{score} of {entry.title} is no mean over items", expected="EvalRank, HEROS or retrieval")
    numbers = np.unique(np.concatenate([score.numbers for score in means]))
    texts = {n: text for score in means for n, text in zip(score.numbers.tolist(), score.texts, strict=True)}
    scores = np.full((len(numbers), len(means)), np.nan)
    for step, item_scores in enumerate(means):
        scores[np.searchsorted(numbers, item_scores.numbers), step] = item_scores.parts
    shown = _ranks(series, numbers, repository)
    return Evaluated(
        series,
        tuple(score.estimate for score in means),
        numbers,
        tuple(texts[n] for n in numbers.tolist()),
        scores,
        scores if shown is None else shown,
        shown is not None,
    )


def _ranks(series: Series, numbers: Int64, repository: Repository) -> Float64 | None:
    """Ranks of the items, ``[m, s]``; None if the diagnostic has no ranks."""
    rows = repository.items(series.entry, [step.run.run_id for step in series.steps], texts=True)
    if "rank" not in rows:
        return None
    ranks = np.full((len(numbers), len(series.steps)), np.nan)
    places = {step.run.run_id: number for number, step in enumerate(series.steps)}
    ranks[np.searchsorted(numbers, rows["item_no"].to_numpy(dtype=np.int64)), rows["run_id"].map(places)] = rows["rank"]
    return ranks
