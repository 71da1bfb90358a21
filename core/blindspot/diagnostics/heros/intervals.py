"""Certainty of the means of HEROS: intervals over originals in groups that share no text. Not in the paper."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from blindspot.datasets.kinds.minimal_pairs import MinimalPairSet
from blindspot.numerics.similarity import unit_rows
from blindspot.numerics.statistics.intervals import Interval, quantile
from blindspot.numerics.statistics.pairs import Dependence
from blindspot.numerics.statistics.resampling import sums_within
from blindspot.types import Bool, Float32, Float64


@dataclass(frozen=True)
class Intervals:
    """95% intervals over originals: of ``cos_avg``, and per subset of its mean normalized similarity."""

    cos_avg: Interval
    similarities: list[Interval]


def intervals(
    embeddings: Float32 | Float64, dataset: MinimalPairSet, cosines: Float64, dependence: Dependence
) -> Intervals | None:
    """How sure the means are for originals like these; None if too few originals share no text.

    ``cos_avg`` is a mean over pairs of an original of one half and one of the other, so its variance is the sum of the
    variances over either half, less what both count (two-way, as for crossed votes). It moves the similarity too: to
    first order, an original moves this by ``(c - mean c) / (1 - cos_avg) - (1 - mean c) / (1 - cos_avg)^2 m``, where m
    is how the original moves ``cos_avg``. Originals that share a text move together, so variances are of sums over
    groups, and a group in both halves adds the covariance of its two parts. Both intervals use Student's t, with fewer
    degrees of freedom where a few groups carry the variance; the interval of the similarity is on the scale of
    ``log(1 - similarity)``, since it ends at 1.

    Args:
        cosines: ``[n, subsets]``, cosine of each original and its rewrites.
        dependence: of the originals.
    """
    if dependence.refusal:
        return None
    n, half = len(cosines), len(cosines) // 2
    first = np.arange(n) < half
    halves = dependence.among(first), dependence.among(~first)
    asking = dataset.rows_as_queries(dataset.originals, len(embeddings))
    units = [unit_rows(embeddings, rows) for rows in (asking[:half], dataset.originals[half:])]
    sizes = np.array([half, n - half])
    means = [unit.mean(axis=0) for unit in units]
    apart = [unit - mean for unit, mean in zip(units, means, strict=True)]
    cos_avg = float(means[0] @ means[1])
    means_without = [apart[0] @ means[1], apart[1] @ means[0]]  # what each original has, above the mean of its half
    over = [float(part.variances(o[:, np.newaxis])[0]) for o, part in zip(means_without, halves, strict=True)]
    within = [sums_within(rows, part.groups) for rows, part in zip(apart, halves, strict=True)]
    both = float(((within[0].T @ within[0]) * (within[1].T @ within[1])).sum() / np.prod(sizes**2.0))
    both *= halves[0].enlarged * halves[1].enlarged
    moved = np.concatenate([o * n / k for o, k in zip(means_without, sizes, strict=True)])
    variance = both + sum(max(each - both, 0.0) for each in over) + _shared_by_halves(moved, dependence, first)
    reach = _reach(moved, variance, dependence)
    ends = Interval(max(-1.0, cos_avg - reach), min(1.0, cos_avg + reach))
    room, change = 1.0 - cos_avg, 1.0 - cosines.mean(axis=0)
    influence = (change - (1.0 - cosines)) / room - change / room**2 * moved[:, np.newaxis]
    ends_of_subsets = []
    for column, mean in zip(influence.T, change / room, strict=True):
        of_halves = [
            float(part.variances(column[inside][:, np.newaxis])[0]) * (inside.sum() / n) ** 2
            for part, inside in zip(halves, (first, ~first), strict=True)
        ]
        variance = sum(of_halves) + _shared_by_halves(column, dependence, first)
        reach = _reach(column, variance, dependence) / mean if mean > 0 else 0.0
        ends_of_subsets.append(Interval(1 - mean * float(np.exp(reach)), 1 - mean * float(np.exp(-reach))))
    return Intervals(ends, ends_of_subsets)


def _shared_by_halves(influence: Float64, dependence: Dependence, first: Bool) -> float:
    """The part that groups with originals in both halves add to the variance of a mean of ``influence [n]``, >= 0."""
    parts = [np.where(side, influence - influence[side].mean(), 0.0) for side in (first, ~first)]
    sums = sums_within(np.stack(parts, axis=1), dependence.groups)
    return max(0.0, 2 * float(sums[:, 0] @ sums[:, 1]) / len(influence) ** 2)


def _reach(influence: Float64, variance: float, dependence: Dependence) -> float:
    """How far an interval reaches out, from the influence of each original ``[n]`` and the variance of the mean."""
    squared = sums_within(influence[:, np.newaxis], dependence.groups).ravel() ** 2
    carried = float(squared.sum() ** 2 / (squared**2).sum()) if squared.any() else np.inf
    return float(quantile(max(min(dependence.freedom - 1, 1.5 * carried - 1), 1.0))) * float(np.sqrt(variance))
