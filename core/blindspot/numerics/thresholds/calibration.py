"""Probability that two texts are the same, by their similarity: isotonic and logistic calibration, cross-fitted.

Each pair's probability comes from pairs of the other folds. Pairs that share a text, directly or through others, are in
one fold. The logistic curve is Platt's (1999): its targets are smoothed, so that it stays finite where a similarity
separates the two kinds. Measures: Brier's score, the mean squared error of the probabilities, and the expected
calibration error (ECE) over ten bins of about equally many pairs. The ECE is above 0 even for perfect probabilities,
so their average ECE is given too.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from blindspot.errors import InputError
from blindspot.numerics.statistics.estimate import Estimate
from blindspot.numerics.statistics.pairs import difference, share
from blindspot.numerics.statistics.resampling import SEED
from blindspot.numerics.thresholds.curves import FOLDS, LabeledPairs, folds_of
from blindspot.texts import counted
from blindspot.types import Bool, Float64, Int64

BINS = 10
_DRAWS = 200  # of labels, for the ECE by chance
_NO_PENALTY = 1e6


class Way(StrEnum):
    ISOTONIC = "isotonic"
    LOGISTIC = "logistic"


@dataclass(frozen=True, eq=False)
class Fitted:
    """Probability as a function of similarity.

    Attributes:
        knots: of isotonic regression, ``[k, 2]``: similarity and probability, ascending; straight lines between them,
            constant beyond.
        slope, intercept: of the logistic curve.
    """

    way: Way
    knots: Float64 | None = None
    slope: float = 0.0
    intercept: float = 0.0

    def probability(self, similarity: Float64) -> Float64:
        if self.knots is not None:
            return np.asarray(np.interp(similarity, self.knots[:, 0], self.knots[:, 1]))
        return np.asarray(np.exp(-np.logaddexp(0.0, -(self.slope * similarity + self.intercept))))


@dataclass(frozen=True)
class Bin:
    """Pairs of similar probability: the mean probability, and the share of pairs that are the same."""

    predicted: float
    same: Estimate
    pairs: int


@dataclass(frozen=True, eq=False)
class Calibration:
    """Cross-fitted probabilities of one way.

    Attributes:
        probability: ``[m]``.
        brier: lower is better.
        gain: how much lower it is than if every pair had the share of same pairs as its probability.
        ece, ece_by_chance: the latter is the mean ECE if these probabilities were perfect.
        fitted: on all pairs, for use.
    """

    way: Way
    probability: Float64
    brier: Estimate
    gain: Estimate
    ece: float
    ece_by_chance: float
    bins: tuple[Bin, ...]
    fitted: Fitted


def calibrate(pairs: LabeledPairs, way: Way) -> Calibration:
    """Cross-fit one way.

    Raises:
        InputError: too few pairs of one kind for the folds.
    """
    folds = folds_of(pairs)
    y = pairs.same.astype(np.float64)
    probability, base = np.empty(len(y)), np.empty(len(y))
    for fold in range(FOLDS):
        held_out = folds == fold
        rest = ~held_out
        if len(np.unique(pairs.same[rest])) < 2:
            few = int(min(pairs.same.sum(), (~pairs.same).sum()))
            raise InputError(
                f"{counted(few, 'pair')} of one kind: too few to calibrate",
                expected=f"some outside of each of {FOLDS} folds",
            )
        fitted = fit(way, pairs.similarity[rest], pairs.same[rest])
        probability[held_out] = fitted.probability(pairs.similarity[held_out])
        base[held_out] = y[rest].mean()
    dependence = pairs.dependence()
    errors = (probability - y) ** 2
    bins = bins_of(probability)
    return Calibration(
        way,
        probability,
        share(errors, dependence),
        difference((base - y) ** 2, errors, dependence),
        ece(probability, pairs.same, bins),
        _by_chance(probability, bins),
        tuple(_bin(probability, pairs, bins == number) for number in np.unique(bins)),
        fit(way, pairs.similarity, pairs.same),
    )


def fit(way: Way, similarity: Float64, same: Bool) -> Fitted:
    """Fit one way to pairs ``[m]`` of both kinds."""
    if way is Way.ISOTONIC:
        from sklearn.isotonic import IsotonicRegression

        fitted = IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip").fit(similarity, same)
        return Fitted(way, np.stack([fitted.X_thresholds_, fitted.y_thresholds_], axis=1).astype(np.float64))
    from sklearn.linear_model import LogisticRegression

    center, spread = float(similarity.mean()), float(similarity.std()) or 1.0
    x = ((similarity - center) / spread)[:, np.newaxis]
    positives, m = int(same.sum()), len(same)
    target = np.where(same, (positives + 1) / (positives + 2), 1 / (m - positives + 2))
    line = LogisticRegression(C=_NO_PENALTY, max_iter=1_000, tol=1e-8).fit(
        np.concatenate([x, x]), np.repeat([1, 0], m), sample_weight=np.concatenate([target, 1 - target])
    )
    slope = float(line.coef_[0, 0]) / spread
    return Fitted(way, slope=slope, intercept=float(line.intercept_[0]) - slope * center)


def bins_of(probability: Float64) -> Int64:
    """The bin of each pair, ``[m]``; bins have about equally many pairs, and equal probabilities share one."""
    from scipy.stats import rankdata

    middle = (rankdata(probability) - 0.5) / len(probability)
    return np.minimum(np.floor(middle * BINS), BINS - 1).astype(np.int64)


def ece(probability: Float64, same: Bool, bins: Int64) -> float:
    """Mean distance between the bins' probability and share of same pairs, weighted by pairs."""
    return _gaps(probability - same, bins)


def _gaps(off: Float64, bins: Int64) -> float:
    return float(np.abs(np.bincount(bins, weights=off, minlength=BINS)).sum()) / len(off)


def _by_chance(probability: Float64, bins: Int64) -> float:
    rng = np.random.default_rng(SEED)
    draws = (rng.random(len(probability)) < probability for _ in range(_DRAWS))
    return float(np.mean([_gaps(probability - drawn, bins) for drawn in draws]))


def _bin(probability: Float64, pairs: LabeledPairs, inside: Bool) -> Bin:
    share_same = share(pairs.same[inside].astype(np.float64), pairs.dependence(inside))
    return Bin(float(probability[inside].mean()), share_same, int(inside.sum()))
