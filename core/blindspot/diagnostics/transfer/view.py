"""Views of a task: models by classifiers, scores by class, and the most frequent mistakes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from blindspot.diagnostics.transfer import stability
from blindspot.diagnostics.transfer.outcomes import Measure, Outcomes
from blindspot.diagnostics.transfer.stability import Agreement
from blindspot.diagnostics.transfer.tasks import score
from blindspot.numerics.statistics import rankings
from blindspot.numerics.statistics.confusion import class_scores
from blindspot.store.records import RunRecord
from blindspot.types import Float64
from blindspot.variants import Variant

MEAN = "mean"


@dataclass(frozen=True, eq=False)
class Crossed:
    """A task's runs ``[e][c]`` and scores ``[e, c]`` by model and classifier, without gaps; ``MEAN`` has no runs."""

    task: str
    variants: tuple[Variant, ...]
    classifiers: tuple[str, ...]
    runs: Sequence[Sequence[RunRecord]]
    values: Float64

    @cached_property
    def agreement(self) -> Agreement:
        return stability.agreement(self.values)

    @property
    def places(self) -> Float64:
        """Places of the models by each classifier, ``[e, c]``."""
        return rankings.places(rankings.oriented(self.values, np.ones(len(self.classifiers))))

    @property
    def pairs(self) -> int:
        """Number of pairs of models."""
        return len(self.variants) * (len(self.variants) - 1) // 2

    @property
    def turned(self) -> int:
        """Number of pairs of models whose order depends on the classifier."""
        return len(stability.turned(self.values))

    def run_ids(self, variants: Sequence[Variant], classifiers: Sequence[str]) -> list[list[str]]:
        """Run ids ``[e][c]`` of some of the models and classifiers."""
        places = [self.classifiers.index(name) for name in classifiers]
        return [[self.runs[self.variants.index(variant)][c].run_id for c in places] for variant in variants]


def crossed(
    task: str,
    by_classifier: Mapping[str, Mapping[Variant, RunRecord]],
    among: Sequence[Variant],
    measure: Measure,
    *,
    overlap: bool,
) -> Crossed | None:
    """The classifiers that two or more models ``among`` have, and the models with all of these; None for under two."""
    classifiers = tuple(name for name, runs in by_classifier.items() if sum(v in runs for v in among) > 1)
    variants = tuple(v for v in among if all(v in by_classifier[name] for name in classifiers))
    if len(variants) < 2 or len(classifiers) < 2:
        return None
    runs = [[by_classifier[name][v] for name in classifiers] for v in variants]
    scores = [[score(run, measure, overlap=overlap) for run in row] for row in runs]
    values = np.array([[float("nan") if estimate is None else estimate.value for estimate in row] for row in scores])
    return None if np.isnan(values).any() else Crossed(task, variants, classifiers, runs, values)


def mean_of(tasks: Sequence[Crossed]) -> Crossed | None:
    """The mean over two or more tasks, for the models and classifiers that all of these tasks have."""
    if len(tasks) < 2:
        return None
    variants = tuple(v for v in tasks[0].variants if all(v in task.variants for task in tasks))
    classifiers = tuple(name for name in tasks[0].classifiers if all(name in task.classifiers for task in tasks))
    if len(variants) < 2 or len(classifiers) < 2:
        return None
    values = [
        task.values[
            np.ix_([task.variants.index(v) for v in variants], [task.classifiers.index(c) for c in classifiers])
        ]
        for task in tasks
    ]
    return Crossed(MEAN, variants, classifiers, [], np.mean(values, 0))


def choices(of_task: Crossed) -> list[dict[str, str | float | None]]:
    """The settings that dev chose for each model: the share of folds with z-norm, C by classifier; none for a mean."""
    names = [
        (title, c, metric)
        for c, name in enumerate(of_task.classifiers)
        for metric, title in (("znorm", "z-norm"), ("c", f"C, {name}"))
        if any(metric in row[c].metrics for row in of_task.runs)
    ]
    if not names:
        return []
    return [
        {"model": variant.label, **{title: row[c].metrics.get(metric) for title, c, metric in names}}
        for variant, row in zip(of_task.variants, of_task.runs, strict=True)
    ]


def per_class(outcomes: Outcomes, sides: Mapping[str, str]) -> pd.DataFrame:
    """A row per class: its examples, precision, recall and F1 of each side, and the difference of two.

    Args:
        sides: run ids by "A" and, with two runs, "B".
    """
    scores = {side: class_scores(outcomes.table(run_id)) for side, run_id in sides.items()}
    rows = pd.DataFrame({"class": list(outcomes.classes), "examples": scores["A"].examples})
    for side, of_side in scores.items():
        mark = f" {side}" if len(sides) > 1 else ""
        rows[f"precision{mark}"], rows[f"recall{mark}"], rows[f"F1{mark}"] = (
            of_side.precision,
            of_side.recall,
            of_side.f1,
        )
    if len(sides) > 1:
        rows["F1, A − B"] = rows["F1 A"] - rows["F1 B"]
    return rows


def mistakes(outcomes: Outcomes, sides: Mapping[str, str], most: int) -> pd.DataFrame:
    """The most frequent mistakes of all sides together: ``gold, predicted``, and how often by each side."""
    counts = {side: outcomes.table(run_id) for side, run_id in sides.items()}
    total = np.sum(list(counts.values()), axis=0)
    wrong = sorted(((i, j) for i, j in np.argwhere(total).tolist() if i != j), key=lambda cell: -total[cell])
    names = [(outcomes.classes[i], outcomes.classes[j], *(of[i, j] for of in counts.values())) for i, j in wrong[:most]]
    return pd.DataFrame(names, columns=["gold", "predicted", *sides])
