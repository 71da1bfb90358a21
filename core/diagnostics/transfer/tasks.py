"""Scores of variants over transfer tasks: what is read of a run, the baseline, the mean over tasks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from core.datasets.published.transfer_tasks import LABELLED
from core.diagnostics.transfer.outcomes import Measure
from core.numerics.statistics.intervals import Interval
from core.store.records import RunRecord
from core.types import Variant

DEMO = "demo-negation"
TEN = tuple(name for name in LABELLED if name != DEMO)
PAIR_TASKS = ("mrpc", "sick-e")  # their examples are two texts
QUICK = ("cr", "trec")  # the smallest of those with one text, one without a split of its own and one with
WITHOUT_OVERLAP = "_without_overlap"


@dataclass(frozen=True)
class Score:
    """A score of a run.

    Attributes:
        interval: 95%; None where the run does not say.
    """

    value: float
    interval: Interval | None


def score(run: RunRecord, measure: Measure, *, overlap: bool) -> Score | None:
    """What a run scored; None where nothing is left without the overlap.

    Args:
        overlap: whether examples count that stand in the training part too, or repeat.
    """
    name = measure.value + ("" if overlap else WITHOUT_OVERLAP)
    if name not in run.metrics:
        return None
    ends = [run.metrics.get(f"{name}_{end}") for end in ("low", "high")]
    return Score(run.metrics[name], Interval(*ends) if None not in ends else None)  # type: ignore[arg-type]


def baseline(run: RunRecord, measure: Measure, *, overlap: bool) -> float | None:
    """What always saying the training part's most frequent class scores; None where the run does not say.

    Its macro F1 follows from its accuracy a: that class has precision a and recall 1, the others have F1 0, so it is
    ``2 a / (1 + a) / k``.
    """
    accuracy = run.metrics.get("majority" + ("" if overlap else WITHOUT_OVERLAP))
    if accuracy is None or measure is Measure.ACCURACY:
        return accuracy
    return 2 * accuracy / (1 + accuracy) / run.metrics["classes"]


def in_every(
    tasks: Iterable[str], variants: Sequence[Variant], scores: Mapping[tuple[str, Variant], Score]
) -> list[str]:
    """The tasks of which all the variants have a score: means over them can be compared."""
    return [task for task in tasks if variants and all((task, variant) in scores for variant in variants)]


def means(
    tasks: Sequence[str], variants: Sequence[Variant], scores: Mapping[tuple[str, Variant], Score]
) -> dict[Variant, float]:
    """Mean over tasks, each counting alike; {} without any."""
    if not tasks:
        return {}
    return {v: sum(scores[task, v].value for task in tasks) / len(tasks) for v in variants}
