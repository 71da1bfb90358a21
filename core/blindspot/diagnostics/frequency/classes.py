"""Accuracy of a linear classifier of frequent and rare items (Schnabel 2015, section 6, figure 3).

The items at each threshold follow from the counts alone, so that all encoders are compared on the same ones.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from blindspot.errors import BlindspotError
from blindspot.numerics.similarity import unit_rows
from blindspot.numerics.statistics.estimate import Estimate, Unit
from blindspot.numerics.statistics.intervals import Z_95, wilson_interval
from blindspot.numerics.threads import in_threads, one_blas_thread
from blindspot.types import Bool, CancelToken, Float32, Float64, Int64, Progress, no_progress

PERCENTILES = (5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95)
PAPER_COUNTS = (100, 500, 1_000, 5_000, 10_000, 50_000)  # within the 100 to 50,000 of figure 3
PAPER_CLASS = 250  # least items per class at one of the paper's counts
LEAST = 10  # items per class: two in each fold
ENOUGH = 200  # items per class from which guessing stays within 5 points of chance (``strays``)
MOST = 500  # with more, the time doubles and the accuracies move by less than their standard deviation
FOLDS = 5
DRAWS = 10  # of items: at one threshold a single draw strays by about 0.02, the mean of ten by a third of that
SEED = 2015
ALIKE = 1e-6  # difference of unit vectors that is rounding
ROWS_AT_ONCE = 4_096


@dataclass(frozen=True)
class Threshold:
    """Items that occur at least ``count`` times are frequent, the others rare.

    Attributes:
        name: "p50" for the median of the counts, "1000" for one of the paper's.
        share: share of rare items among those with a known count.
    """

    name: str
    count: float
    share: float


@dataclass(frozen=True)
class Design:
    """The thresholds in the order of their counts, and the number of items per class at each of them."""

    thresholds: tuple[Threshold, ...]
    per_class: int


@dataclass(frozen=True)
class Accuracy:
    """Mean accuracy on held-out items in five-fold cross-validation, over several draws of items.

    ``sd`` is the standard deviation over the draws; the mean strays less. ``control`` has shuffled labels.
    """

    threshold: Threshold
    mean: float
    sd: float
    control: float
    control_sd: float


def design(counts: Float64, *, with_paper: bool) -> Design:
    """Choose the thresholds and the size of the classes.

    Args:
        counts: ``[n] float64``; an item whose count is NaN is in no class.
        with_paper: whether these are counts of words in a corpus, so that the paper's thresholds apply.

    Raises:
        BlindspotError: the smaller class has fewer than ten items at every threshold.
    """
    sorted_counts = np.sort(counts[~np.isnan(counts)])
    n = len(sorted_counts)
    thresholds: dict[int, Threshold] = {}  # by the number of rare items: equal counts can make two percentiles one
    for percentile in PERCENTILES if n else ():
        count = sorted_counts[min(int(np.ceil(n * percentile / 100)), n - 1)]
        rare = int(np.searchsorted(sorted_counts, count))
        # Where many items share a count, a split may be far from the percentile of its name.
        if 2 * min(rare, n - rare) >= n * min(percentile, 100 - percentile) / 100 and min(rare, n - rare) >= LEAST:
            thresholds.setdefault(rare, Threshold(f"p{percentile}", float(count), rare / n))
    for count in PAPER_COUNTS if with_paper else ():
        rare = int(np.searchsorted(sorted_counts, count))
        if min(rare, n - rare) >= PAPER_CLASS:
            thresholds.setdefault(rare, Threshold(str(count), float(count), rare / n))
    if not thresholds:
        different = len(np.unique(sorted_counts))
        raise BlindspotError(
            f"frequent and rare cannot be told apart among {n:,} items with {different:,} different counts",
            expected=f"at least {LEAST} frequent and {LEAST} rare ones",
            remedy="choose a dataset with more items, other counts, or models with vectors for more of the items",
        )
    smallest = min(min(rare, n - rare) for rare in thresholds)
    return Design(tuple(thresholds[rare] for rare in sorted(thresholds)), min(smallest, MOST))


def drawn(counts: Float64, threshold: Threshold, per_class: int, draw: int = 0, seed: int = SEED) -> tuple[Int64, Bool]:
    """The items of a draw ``[2 per_class] int64`` and whether each is frequent: the same for all encoders."""
    rng = np.random.default_rng([seed, draw, *threshold.name.encode()])
    with np.errstate(invalid="ignore"):
        rare, frequent = np.flatnonzero(counts < threshold.count), np.flatnonzero(counts >= threshold.count)
    items = np.concatenate([rng.choice(those, per_class, replace=False) for those in (rare, frequent)])
    return items, np.repeat([False, True], per_class)


def classify(
    vectors: Float32 | Float64,
    counts: Float64,
    asked: Design,
    progress: Progress = no_progress,
    cancel: CancelToken | None = None,
    seed: int = SEED,
    draws: int = DRAWS,
) -> tuple[Accuracy, ...]:
    """Accuracy at every threshold, and with shuffled labels.

    Vectors ``[n, d]`` are normalized; a zero vector stays zero. Draws run in one thread per core, and each draw has
    its own random numbers.

    Args:
        counts: ``[n] float64``, the counts that the design was made from.
    """
    shape = len(asked.thresholds), draws
    real, control = np.empty(shape), np.empty(shape)

    def pieces() -> Iterator[tuple[int, int]]:
        for done, cell in enumerate(np.ndindex(shape)):
            progress("classifying", done, real.size)
            yield cell

    def work(cell: tuple[int, int]) -> None:
        if cancel is not None:
            cancel.check()
        threshold, draw = asked.thresholds[cell[0]], cell[1]
        items, frequent = drawn(counts, threshold, asked.per_class, draw, seed)
        rng = np.random.default_rng([seed, 1, draw, *threshold.name.encode()])
        units = unit_rows(vectors, items)
        real[cell] = cross_validated(units, frequent, rng).mean()
        control[cell] = cross_validated(units, rng.permutation(frequent), rng).mean()

    with one_blas_thread() as threads:
        in_threads(pieces(), work, threads)
    progress("classifying", real.size, real.size)
    return tuple(
        Accuracy(
            threshold,
            *(float(v) for accuracies in (real[i], control[i]) for v in (accuracies.mean(), accuracies.std(ddof=1))),
        )
        for i, threshold in enumerate(asked.thresholds)
    )


def cross_validated(units: Float64, frequent: Bool, rng: np.random.Generator) -> Float64:
    """Accuracy of a logistic regression on each of five stratified held-out folds, ``[5]``.

    Args:
        units: ``[m, d] float64``.
        frequent: ``[m] bool``.
    """
    fold = np.empty(len(frequent), dtype=np.int64)
    for members in (np.flatnonzero(frequent), np.flatnonzero(~frequent)):
        fold[members] = rng.permutation(len(members)) % FOLDS
    return np.array([_accuracy(units, frequent, fold == held_out) for held_out in range(FOLDS)])


def _accuracy(units: Float64, frequent: Bool, held_out: Bool) -> float:
    from sklearn import config_context
    from sklearn.linear_model import LogisticRegression

    # Centered, since liblinear would penalize the intercept. It is ten times as fast here as scikit-learn's default,
    # whose threads get in each other's way. Checking what is right by construction would take a quarter of the time.
    learnt = units[~held_out]
    centre = learnt.mean(axis=0)
    model = LogisticRegression(C=1.0, solver="liblinear", max_iter=1_000)
    with config_context(assume_finite=True, skip_parameter_validation=True):
        model.fit(learnt - centre, frequent[~held_out])
    predicted = (units[held_out] - centre) @ model.coef_[0] + model.intercept_ > 0
    return float((predicted == frequent[held_out]).mean())


def all_alike(vectors: Float32 | Float64) -> bool:
    """Whether all rows of ``[n, d]`` have the same direction, or none has a direction."""
    first = unit_rows(vectors, np.arange(1))
    for start in range(0, len(vectors), ROWS_AT_ONCE):
        units = unit_rows(vectors, np.arange(start, min(start + ROWS_AT_ONCE, len(vectors))))
        if (np.abs(units - first) > ALIKE).any():
            return False
    return True


def strays(per_class: int) -> float:
    """How far from chance guessing comes in one draw, 19 times in 20.

    The mean over draws strays less, but only a little less if there are so few items that all draws nearly agree.
    """
    return Z_95 * 0.5 / math.sqrt(2 * per_class)


def mean_estimate(mean: float, per_class: int) -> Estimate:
    """The mean accuracy over the thresholds with a conservative interval.

    A mean of correlated accuracies varies no more than a single one does, and the variance of a share is concave, so
    the variance at the mean accuracy is an upper bound: the interval is that of a share of the words of one draw.
    """
    words = 2 * per_class
    how = "Wilson, at most the variance of the held-out words of one draw"
    return Estimate(mean, wilson_interval(mean, words), how, Unit.WORDS, words, float(words))


def mean_of(accuracies: Sequence[Accuracy]) -> tuple[float, float]:
    """Mean accuracy over the thresholds, and mean accuracy of the controls."""
    return float(np.mean([a.mean for a in accuracies])), float(np.mean([a.control for a in accuracies]))
