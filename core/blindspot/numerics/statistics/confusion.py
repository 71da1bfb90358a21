"""Confusion tables of predictions, scores per class, and their intervals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from blindspot.numerics.statistics.estimate import Estimate
from blindspot.numerics.statistics.pairs import Dependence, bounded, share
from blindspot.types import Float64, Int32, Int64


def confusion(labels: Int32, predicted: Int32, classes: int) -> Int64:
    """Number of examples of class i predicted as class j, ``[k, k] int64``, from ``[m]`` class numbers each."""
    cells = labels.astype(np.int64) * classes + predicted
    return np.bincount(cells, minlength=classes * classes).reshape(classes, classes)


def macro_f1(counts: Int64 | Float64) -> Float64:
    """Mean over classes of F1 of tables ``[..., k, k]``, ``[...]``; NaN for an empty table.

    ``F1 = 2 tp / (gold + predicted)``; a class that neither occurs nor is predicted has no F1 and does not count, as in
    scikit-learn.
    """
    right = np.diagonal(counts, axis1=-2, axis2=-1)
    both = counts.sum(axis=-1) + counts.sum(axis=-2)
    f1 = np.divide(2.0 * right, both, out=np.zeros(both.shape), where=both > 0)
    with np.errstate(invalid="ignore"):
        return np.asarray(f1.sum(axis=-1) / np.count_nonzero(both, axis=-1))


@dataclass(frozen=True, eq=False)
class ClassScores:
    """Scores per class, ``[k]`` each.

    Attributes:
        precision: NaN for a class that is never predicted.
        recall: NaN for a class without examples.
        f1: NaN if both are NaN.
        examples, predicted: numbers of examples, and of predictions.
    """

    precision: Float64
    recall: Float64
    f1: Float64
    examples: Int64
    predicted: Int64


def class_scores(counts: Int64) -> ClassScores:
    """Scores from a table ``[k, k]``, in which rows are the right classes."""
    right = np.diagonal(counts)
    gold, predicted = counts.sum(axis=1), counts.sum(axis=0)
    with np.errstate(invalid="ignore"):
        return ClassScores(right / predicted, right / gold, 2 * right / (gold + predicted), gold, predicted)


def macro_f1_influence(labels: Int32, predicted: Int32, classes: int) -> Float64:
    """First-order influence of each example on macro F1, ``[m]``; the influences add up to 0.

    ``n/k sum over classes of (2 hit - F1 (gold + predicted)) / D``, where D is the number of the class's examples plus
    the number of its predictions.
    """
    counts = confusion(labels, predicted, classes)
    there = counts.sum(axis=0) + counts.sum(axis=1)
    f1 = np.divide(2.0 * np.diagonal(counts), there, out=np.zeros(classes), where=there > 0)
    weight = len(labels) / np.count_nonzero(there) / np.maximum(there, 1)
    hit = 2 * (labels == predicted) * weight[labels]
    return np.asarray(hit - f1[labels] * weight[labels] - f1[predicted] * weight[predicted])


def estimates(labels: Int32, predicted: Int32, dependence: Dependence, classes: int) -> tuple[Estimate, Estimate]:
    """Accuracy and macro F1 with their intervals, from at least one example.

    If no answer is wrong, the effective n of macro F1 is ``k^2 / sum over classes of 1/n``, as for a mean over classes,
    with the effective n of each class.

    Args:
        labels, predicted: ``[m]`` class numbers.
        dependence: which examples are independent.
    """
    right = (labels == predicted).astype(np.float64)
    f1 = float(macro_f1(confusion(labels, predicted, classes)))
    moved = macro_f1_influence(labels, predicted, classes)
    units_of_class = [dependence.among(labels == c).effective for c in np.unique(labels)]
    worth = len(units_of_class) ** 2 / sum(1 / n for n in units_of_class)
    return share(right, dependence), bounded(f1, moved, dependence, min(worth, dependence.effective))
