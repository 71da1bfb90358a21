"""The tested examples of a transfer task with the predictions of several runs, and filters and orders of them.

In a table, *A* is one run and *B*, which may be missing, another.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from itertools import compress

import numpy as np
import pandas as pd

from blindspot import texts
from blindspot.diagnostic import Diagnostic
from blindspot.errors import BlindspotError
from blindspot.numerics.statistics import confusion as tables
from blindspot.numerics.statistics.estimate import Estimate
from blindspot.numerics.statistics.outcomes import Outcomes as Became
from blindspot.numerics.statistics.pairs import Dependence
from blindspot.store.repository import Repository
from blindspot.types import Bool, Float64, Int32, Int64, digest_of_strings
from blindspot.variants import Variant

NUMBER, TEXT, SECOND, GOLD, OVERLAP, SUREST = "no", "text", "second text", "gold", "overlap", "surest mistake"


class Measure(StrEnum):
    """The score that is shown; the values are names of metrics and part of addresses."""

    ACCURACY = "accuracy"
    MACRO_F1 = "macro_f1"

    @property
    def in_words(self) -> str:
        return "accuracy" if self is Measure.ACCURACY else "macro F1"


@dataclass(frozen=True, eq=False)
class Outcomes:
    """The ``m`` examples that all of some runs tested, of ``k`` classes.

    Attributes:
        numbers: ``[m]``, of the examples in the dataset, ascending.
        labels: ``[m]``, the right class.
        known: which examples are independent.
        repeated: ``[m]``, whether an example is also in the training part, or repeats.
        first, second: the ``m`` texts, and the second texts of pairs (else empty).
        predicted, probability: by run id, ``[m]``, the predicted class and its probability.
    """

    numbers: Int64
    classes: tuple[str, ...]
    labels: Int32
    known: Dependence
    repeated: Bool
    first: Sequence[str]
    second: Sequence[str]
    predicted: Mapping[str, Int32]
    probability: Mapping[str, Float64]

    def __len__(self) -> int:
        return len(self.numbers)

    @cached_property
    def digest(self) -> str:
        """A cache key: the runs, the classes and the examples decide everything else."""
        numbers = hashlib.sha256(self.numbers.tobytes()).hexdigest()
        return digest_of_strings([*self.predicted, "", *self.classes, numbers])

    def right(self, run_id: str) -> Bool:
        """Whether a run predicted each example right, ``[m] bool``."""
        return np.asarray(self.predicted[run_id] == self.labels)

    def table(self, run_id: str) -> Int64:
        """The confusion table of a run, ``[k, k] int64``; a row is a right class."""
        return tables.confusion(self.labels, self.predicted[run_id], len(self.classes))

    def without_overlap(self) -> Outcomes:
        """The examples that are not in the training part and do not repeat."""
        return self.part(~self.repeated)

    def part(self, kept: Bool) -> Outcomes:
        """Some of the examples, ``kept [m] bool``."""
        return replace(
            self,
            numbers=self.numbers[kept],
            labels=self.labels[kept],
            known=self.known.among(kept),
            repeated=self.repeated[kept],
            first=list(compress(self.first, kept)),
            second=list(compress(self.second, kept)) if len(self.second) else (),
            predicted={run_id: values[kept] for run_id, values in self.predicted.items()},
            probability={run_id: values[kept] for run_id, values in self.probability.items()},
        )

    def estimate(self, run_id: str, measure: Measure) -> Estimate:
        """A run's score."""
        estimates = tables.estimates(self.labels, self.predicted[run_id], self.known, len(self.classes))
        return estimates[0 if measure is Measure.ACCURACY else 1]

    def influence(self, run_id: str, measure: Measure) -> Float64:
        """How far each example moves a run's score, to first order, ``[m]``."""
        if measure is Measure.MACRO_F1:
            return tables.macro_f1_influence(self.labels, self.predicted[run_id], len(self.classes))
        right = self.right(run_id)
        return np.asarray(right - right.mean())


def outcomes(entry: Diagnostic, run_ids: Sequence[str], repository: Repository, order: Sequence[str] = ()) -> Outcomes:
    """The stored predictions of finished runs over one dataset, for the examples that all of them tested.

    Args:
        order: the classes that come first; others follow by name.

    Raises:
        BlindspotError: a run has no stored rows.
    """
    described = repository.items(entry, run_ids[:1], texts=True)
    rows = {run_ids[0]: described}
    if len(run_ids) > 1:
        others = repository.items(entry, run_ids[1:], texts=False)
        rows |= {str(run_id): rows_of_run for run_id, rows_of_run in others.groupby("run_id")}
    for run_id in run_ids:
        if run_id not in rows or rows[run_id].empty:
            raise BlindspotError(f"run {run_id} has no stored rows", remedy="compute it again")
    indexed = {run_id: rows_of_run.set_index("item_no") for run_id, rows_of_run in rows.items()}
    shared = indexed[run_ids[0]].index
    for run_id in run_ids[1:]:
        shared = shared.intersection(indexed[run_id].index)
    shared = shared.sort_values()
    indexed = {run_id: rows_of_run.loc[shared] for run_id, rows_of_run in indexed.items()}
    about = indexed[run_ids[0]]
    named = set(about["label"]).union(*(rows_of_run["predicted"] for rows_of_run in indexed.values()))
    classes = (*order, *sorted(named - set(order)))
    number = {name: i for i, name in enumerate(classes)}
    second = about["second"].tolist() if about["second"].notna().any() else []
    return Outcomes(
        shared.to_numpy(dtype=np.int64),
        classes,
        _numbers(about["label"], number),
        Dependence.of_texts(about["first"], *([second] if second else [])),
        about["repeated"].to_numpy(dtype=np.bool_),
        about["first"].tolist(),
        second,
        {run_id: _numbers(rows_of_run["predicted"], number) for run_id, rows_of_run in indexed.items()},
        {run_id: rows_of_run["probability"].to_numpy(dtype=np.float64) for run_id, rows_of_run in indexed.items()},
    )


def _numbers(names: pd.Series[str], number: Mapping[str, int]) -> Int32:
    return np.array([number[name] for name in names], dtype=np.int32)


# --- the examples as a table; a *sure mistake* is a wrong class with a high probability


class Which(StrEnum):
    """Filters of one run's examples; the values are part of addresses."""

    ALL = "all"
    WRONG = "A wrong"
    RIGHT = "A right"


class Order(StrEnum):
    """What comes first; the values are part of addresses."""

    MISTAKE = "surest mistake"
    UNSURE = "least sure"
    NUMBER = "number"


def predicted(side: str) -> str:
    return f"{side} predicts"


def probability(side: str) -> str:
    return f"{side}'s probability"


def described(answers: Outcomes, sides: Mapping[str, str]) -> pd.DataFrame:
    """A row per example: ``no, text, second text`` (of pairs), ``gold``, each side's prediction and probability,
    ``overlap``, and ``surest mistake``: the highest probability of a side's wrong prediction, NaN without one.

    Args:
        sides: run ids by "A" and, with two runs, "B".
    """
    classes = np.array(answers.classes, dtype=object)
    out = pd.DataFrame({NUMBER: answers.numbers, TEXT: list(answers.first)})
    if len(answers.second):
        out[SECOND] = list(answers.second)
    out[GOLD] = classes[answers.labels]
    mistakes = []
    for side, run_id in sides.items():
        out[predicted(side)] = classes[answers.predicted[run_id]]
        out[probability(side)] = answers.probability[run_id]
        mistakes.append(np.where(answers.right(run_id), np.nan, answers.probability[run_id]))
    out[OVERLAP] = answers.repeated
    out[SUREST] = np.fmax.reduce(mistakes)
    return out


def kept(rows: pd.DataFrame, which: Which) -> Bool:
    """The rows of ``described`` that a filter keeps, ``[m] bool``."""
    a = rows[predicted("A")] == rows[GOLD]
    masks = {Which.ALL: a | True, Which.RIGHT: a, Which.WRONG: ~a}
    return masks[which].to_numpy(dtype=np.bool_, copy=True)


def became(answers: Outcomes, a: str, b: str) -> Became:
    """Which of the runs ``a`` and ``b`` wins each example."""
    right = answers.right(a)
    return Became.of_gains(right.astype(np.float64) - answers.right(b), right)


def alike(rows: pd.DataFrame) -> Bool:
    """The rows of ``described`` on which A and B predict the same wrong class, ``[m] bool``."""
    same = (rows[predicted("A")] == rows[predicted("B")]) & (rows[predicted("A")] != rows[GOLD])
    return same.to_numpy(dtype=np.bool_, copy=True)


def containing(rows: pd.DataFrame, wanted: str) -> Bool:
    """The rows with ``wanted`` in a text (``blindspot.texts.containing``), ``[m] bool``."""
    hit = np.zeros(len(rows), dtype=np.bool_)
    for name in (TEXT, SECOND):
        if name in rows:
            hit |= np.array(texts.containing(rows[name], wanted), dtype=np.bool_)
    return hit


def ordered(rows: pd.DataFrame, order: Order) -> pd.DataFrame:
    """The rows sorted; ties keep the dataset's order, rows without a mistake come last."""
    if order is Order.NUMBER:
        return rows.sort_values(NUMBER, kind="stable")
    if order is Order.MISTAKE:
        return rows.sort_values(SUREST, ascending=False, kind="stable", na_position="last")
    sure = rows[[name for name in (probability("A"), probability("B")) if name in rows]].min(axis=1)
    return rows.loc[sure.sort_values(kind="stable").index]


def for_export(rows: pd.DataFrame, variants: Mapping[str, Variant]) -> pd.DataFrame:
    """The rows for a file, with the variants' names in place of A and B."""
    names = {NUMBER: "item_no", TEXT: "first", SECOND: "second", GOLD: "label", OVERLAP: "repeated"}
    for side, variant in variants.items():
        names |= {predicted(side): f"predicted {variant}", probability(side): f"probability {variant}"}
    return rows.rename(columns=names).drop(columns=SUREST)
