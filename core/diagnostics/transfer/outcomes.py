"""The tested examples of a transfer task with what several runs predicted, side by side."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property

import numpy as np
import pandas as pd

from core.datasets.kinds.labelled_texts import same_examples
from core.diagnostic import DiagnosticEntry
from core.errors import BlindspotError
from core.numerics.statistics import confusion as tables
from core.numerics.statistics.intervals import Interval
from core.store.repository import Repository
from core.types import Bool, Float64, Int32, Int64, digest_of_strings


class Measure(StrEnum):
    """What stands for a run; the values are names of metrics, and stand in addresses too."""

    ACCURACY = "accuracy"
    MACRO_F1 = "macro_f1"

    @property
    def in_words(self) -> str:
        return "accuracy" if self is Measure.ACCURACY else "macro F1"

    def of(self, counts: Int64 | Float64) -> Float64:
        """Of confusion tables ``[..., k, k]``, ``[...]``."""
        return tables.accuracy(counts) if self is Measure.ACCURACY else tables.macro_f1(counts)


@dataclass(frozen=True, eq=False)
class Outcomes:
    """The examples that all of some runs tested.

    Attributes:
        numbers: ``[m] int64``, of the examples in the dataset, rising.
        classes: names of the k classes.
        labels: ``[m] int32``, which class is right.
        groups: ``[m] int64``; examples that say the same (``same_examples``) share it.
        repeated: ``[m] bool``, whether an example stands in the training part too, or more than once.
        first: the ``m`` texts; ``second`` the second texts, empty where examples are single texts.
        predicted: per run id ``[m] int32``, a class; ``probability`` what the classifier gave it, ``[m] float64``.
    """

    numbers: Int64
    classes: tuple[str, ...]
    labels: Int32
    groups: Int64
    repeated: Bool
    first: Sequence[str]
    second: Sequence[str]
    predicted: Mapping[str, Int32]
    probability: Mapping[str, Float64]

    def __len__(self) -> int:
        return len(self.numbers)

    @cached_property
    def digest(self) -> str:
        """Of the runs, the classes and which examples there are, as a key: all else follows from these."""
        numbers = hashlib.sha256(self.numbers.tobytes()).hexdigest()
        return digest_of_strings([*self.predicted, "", *self.classes, numbers])

    def right(self, run_id: str) -> Bool:
        """Which examples a run got right, ``[m] bool``."""
        return np.asarray(self.predicted[run_id] == self.labels)

    def table(self, run_id: str) -> Int64:
        """Its confusion table, ``[k, k] int64``, rows the right classes."""
        return tables.confusion(self.labels, self.predicted[run_id], len(self.classes))

    def place(self, number: int) -> int | None:
        """The row of an example; None where not all runs tested it."""
        found = np.flatnonzero(self.numbers == number)
        return int(found[0]) if len(found) else None

    def without_overlap(self) -> Outcomes:
        """Those examples that stand neither in the training part nor more than once."""
        return self.only(~self.repeated)

    def only(self, kept: Bool) -> Outcomes:
        """The examples of a mask ``[m] bool``."""
        rows = np.flatnonzero(kept)
        places = rows.tolist()
        return replace(
            self,
            numbers=self.numbers[rows],
            labels=self.labels[rows],
            groups=self.groups[rows],
            repeated=self.repeated[rows],
            first=[self.first[i] for i in places],
            second=[self.second[i] for i in places] if len(self.second) else (),
            predicted={run_id: values[rows] for run_id, values in self.predicted.items()},
            probability={run_id: values[rows] for run_id, values in self.probability.items()},
        )

    def interval(self, run_id: str, measure: Measure) -> Interval | None:
        """95% interval of a run's score, by groups of same texts; None where there are too few of them."""
        if not len(self):
            return None
        found = tables.estimates(self.labels, self.predicted[run_id], self.groups, len(self.classes))
        return found[0 if measure is Measure.ACCURACY else 1].interval

    def differences(self, first: str, second: str, measure: Measure, seed: int = tables.SEED) -> Float64:
        """The first run's score less the second's in resamples over groups of same texts, ``[resamples]``."""
        one, other = tables.resampled_pairs(
            self.labels, self.predicted[first], self.predicted[second], self.groups, len(self.classes), seed=seed
        )
        return np.asarray(measure.of(one) - measure.of(other))


def outcomes(
    entry: DiagnosticEntry, run_ids: Sequence[str], repository: Repository, order: Sequence[str] = ()
) -> Outcomes:
    """Of finished runs over one dataset; examples that one of them did not test are left out.

    Args:
        order: the classes in the order in which they are shown; those that it does not name come last, by name.

    Raises:
        BlindspotError: a run has no stored rows.
    """
    described = repository.items(entry, run_ids[:1], texts=True)
    rows = {run_ids[0]: described}
    if len(run_ids) > 1:
        others = repository.items(entry, run_ids[1:], texts=False)
        rows |= {str(run_id): found for run_id, found in others.groupby("run_id")}
    for run_id in run_ids:
        if run_id not in rows or rows[run_id].empty:
            raise BlindspotError(f"run {run_id} has no stored rows", remedy="compute it again")
    indexed = {run_id: found.set_index("item_no") for run_id, found in rows.items()}
    shared = indexed[run_ids[0]].index
    for run_id in run_ids[1:]:
        shared = shared.intersection(indexed[run_id].index)
    shared = shared.sort_values()
    indexed = {run_id: found.loc[shared] for run_id, found in indexed.items()}
    about = indexed[run_ids[0]]
    named = set(about["label"]).union(*(found["predicted"] for found in indexed.values()))
    classes = (*order, *sorted(named - set(order)))
    number = {name: i for i, name in enumerate(classes)}
    second = about["second"].tolist() if about["second"].notna().any() else []
    return Outcomes(
        shared.to_numpy(dtype=np.int64),
        classes,
        _numbers(about["label"], number),
        same_examples(about["first"], second or None),
        about["repeated"].to_numpy(dtype=np.bool_),
        about["first"].tolist(),
        second,
        {run_id: _numbers(found["predicted"], number) for run_id, found in indexed.items()},
        {run_id: found["probability"].to_numpy(dtype=np.float64) for run_id, found in indexed.items()},
    )


def _numbers(names: pd.Series[str], number: Mapping[str, int]) -> Int32:
    return np.array([number[name] for name in names], dtype=np.int32)
