"""What is predicted against what is right: tables of counts, scores of classes, and how sure these are.

A bootstrap that draws *groups* (examples with the same text) anew needs no example: groups that hold the same cells are
alike, so a resample is one multinomial draw over the kinds of groups, and a table of counts is a product with them.
That is the distribution of drawing group by group, in a thousandth of the time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.numerics.statistics.estimate import Estimate, Unit
from core.numerics.statistics.intervals import RESAMPLES, Interval, percentile_interval
from core.numerics.statistics.pairs import Dependence, bounded, share
from core.types import Float64, Int32, Int64

SEED = 2_018  # of the resamples: the same examples give the same interval


def confusion(labels: Int32, predicted: Int32, classes: int) -> Int64:
    """How many examples of class i were taken for class j, ``[k, k] int64``, from ``[m]`` class numbers each."""
    cells = labels.astype(np.int64) * classes + predicted
    return np.bincount(cells, minlength=classes * classes).reshape(classes, classes)


def accuracy(counts: Int64 | Float64) -> Float64:
    """Share on the diagonal of tables ``[..., k, k]``, ``[...]``; NaN of an empty one."""
    with np.errstate(invalid="ignore"):
        return np.asarray(np.trace(counts, axis1=-2, axis2=-1) / counts.sum(axis=(-2, -1)))


def macro_f1(counts: Int64 | Float64) -> Float64:
    """Mean over classes of F1 of tables ``[..., k, k]``, ``[...]``; NaN of an empty one.

    ``F1 = 2 tp / (gold + predicted)``; a class that is neither there nor predicted has none and does not count, as in
    scikit-learn, which knows the classes that occur.
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
        precision: NaN of a class that is never predicted.
        recall: NaN of a class of which there is no example.
        f1: NaN where both hold.
        examples, predicted: how many there are, and how many were taken for it.
    """

    precision: Float64
    recall: Float64
    f1: Float64
    examples: Int64
    predicted: Int64


def class_scores(counts: Int64) -> ClassScores:
    """Of a table ``[k, k]``, rows the right classes."""
    right = np.diagonal(counts)
    gold, predicted = counts.sum(axis=1), counts.sum(axis=0)
    with np.errstate(invalid="ignore"):
        return ClassScores(right / predicted, right / gold, 2 * right / (gold + predicted), gold, predicted)


@dataclass(frozen=True, eq=False)
class Kinds:
    """Groups of examples by what they hold.

    Attributes:
        groups: ``[t] int64``, how many there are of each kind.
        held: ``[t, c] float64``, how many examples of each cell one of them holds.
    """

    groups: Int64
    held: Float64

    @classmethod
    def of(cls, cells: Int64, groups: Int64, number: int) -> Kinds:
        """From the cell and the group of each example, ``[m]`` each.

        Args:
            number: of cells, c.
        """
        _, group = np.unique(groups, return_inverse=True)
        order = np.lexsort((cells, group))
        starts = np.flatnonzero(np.r_[True, np.diff(group[order]) > 0])
        found: dict[tuple[int, ...], int] = {}
        for held in np.split(cells[order], starts[1:]):
            key = tuple(held.tolist())
            found[key] = found.get(key, 0) + 1
        table = np.array([np.bincount(key, minlength=number) for key in found], dtype=np.float64)
        return cls(np.fromiter(found.values(), dtype=np.int64), table)

    def resampled(self, resamples: int = RESAMPLES, seed: int = SEED) -> Float64:
        """Examples per cell where as many groups are drawn with replacement as there are, ``[resamples, c]``."""
        total = int(self.groups.sum())
        drawn = np.random.default_rng(seed).multinomial(total, self.groups / total, size=resamples)
        return np.asarray(drawn @ self.held)


def estimates(labels: Int32, predicted: Int32, groups: Int64, classes: int) -> tuple[Estimate, Estimate]:
    """Accuracy and macro F1 with their intervals, of one example at least; groups count, not examples.

    Macro F1 moves with an example, to first order, by ``n/k sum over classes of (2 hit - F1 (gold + predicted)) / D``,
    where D is how often the class is there and predicted, together. Where nothing is wrong it is worth
    ``k^2 / sum over classes of 1/groups``, as a mean over classes is.

    Args:
        labels, predicted: ``[m]`` class numbers.
        groups: ``[m]``; examples of one group belong together.
    """
    known = Dependence.of_groups(groups, Unit.EXAMPLES)
    right = (labels == predicted).astype(np.float64)
    counts = confusion(labels, predicted, classes)
    f1, there = float(macro_f1(counts)), counts.sum(axis=0) + counts.sum(axis=1)
    of_class = np.divide(2.0 * np.diagonal(counts), there, out=np.zeros(classes), where=there > 0)
    weight = len(labels) / np.count_nonzero(there) / np.maximum(there, 1)
    moved = 2 * right * weight[labels] - of_class[labels] * weight[labels] - of_class[predicted] * weight[predicted]
    own = [len(np.unique(groups[labels == c])) for c in np.unique(labels)]
    worth = len(own) ** 2 / sum(1 / n for n in own)
    return share(right, known), bounded(f1, moved, known, min(worth, known.effective))


def resampled_tables(
    labels: Int32, predicted: Int32, groups: Int64, classes: int, resamples: int = RESAMPLES, seed: int = SEED
) -> Float64:
    """Confusion tables of bootstrap resamples over groups, ``[resamples, k, k]``.

    Args:
        labels, predicted: ``[m]`` class numbers.
        groups: ``[m]``; examples of one group are drawn together.
    """
    cells = labels.astype(np.int64) * classes + predicted
    drawn = Kinds.of(cells, groups, classes * classes).resampled(resamples, seed)
    return drawn.reshape(-1, classes, classes)


def resampled_pairs(
    labels: Int32,
    first: Int32,
    second: Int32,
    groups: Int64,
    classes: int,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> tuple[Float64, Float64]:
    """Confusion tables of two that predicted the same examples, on the same resamples: ``[resamples, k, k]`` each.

    Args:
        first, second: ``[m]``, the classes that each predicted; the rest as in ``resampled_tables``.
    """
    triples = np.stack([labels, first, second], axis=1).astype(np.int64)
    seen, cell = np.unique(triples, axis=0, return_inverse=True)
    drawn = Kinds.of(cell.ravel(), groups, len(seen)).resampled(resamples, seed)
    out = []
    for column in (1, 2):
        to_cell = np.zeros((len(seen), classes * classes))
        to_cell[np.arange(len(seen)), seen[:, 0] * classes + seen[:, column]] = 1.0
        out.append((drawn @ to_cell).reshape(-1, classes, classes))
    return out[0], out[1]


def interval_of(draws: Float64) -> Interval | None:
    """The middle 95% of a bootstrap's values; None where some resample has none."""
    return None if np.isnan(draws).any() else percentile_interval(draws)
