"""The tasks of Transfer and Probing, and a run's score and baseline as a page shows them."""

from __future__ import annotations

from blindspot.datasets.kinds.probing import Probe, probe_of
from blindspot.datasets.published.transfer_tasks import LABELED
from blindspot.datasets.user_data.files import is_own, path_of
from blindspot.diagnostic import find_diagnostic
from blindspot.diagnostics.transfer.outcomes import Measure
from blindspot.numerics.statistics.estimate import Measured
from blindspot.store.records import RunRecord

DEMO = "demo-negation"
TEN = tuple(name for name in LABELED if name != DEMO)
PAIR_TASKS = ("mrpc", "sick-e")  # their examples are two texts
QUICK = ("cr", "trec")  # the smallest ones with single texts, without and with a split
WITHOUT_OVERLAP = "_without_overlap"


def probe_asked(dataset: str) -> Probe | None:
    """The probing task that a dataset's file, or its id, is named after; None for another."""
    return probe_of(path_of(dataset).stem if is_own(dataset) else dataset.removeprefix("demo-"))


def score(run: RunRecord, measure: Measure, *, overlap: bool) -> Measured | None:
    """A run's score, over all tested examples or without ``overlap`` with training; None if no example is left."""
    name = measure.value + ("" if overlap else WITHOUT_OVERLAP)
    return find_diagnostic(run.plan.diagnostic).measured(run.metrics, name)


def baseline(run: RunRecord, measure: Measure, *, overlap: bool) -> float | None:
    """The score of always predicting the training part's most frequent class; None if the run has not stored it.

    Macro F1 follows from the accuracy a: that class has precision a and recall 1, the other classes have F1 0, so it
    is ``2 a / (1 + a) / k``.
    """
    accuracy = run.metrics.get("majority" + ("" if overlap else WITHOUT_OVERLAP))
    if accuracy is None or measure is Measure.ACCURACY:
        return accuracy
    return 2 * accuracy / (1 + accuracy) / run.metrics["classes"]
