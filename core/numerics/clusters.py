"""Intervals around means over pairs of texts, which are not independent: one text stands in many pairs."""

from __future__ import annotations

import numpy as np
from scipy.special import stdtrit

from core.numerics.stats import Interval
from core.types import Float64, Int32, Int64


def pairs_unordered(queries: Int32 | Int64, mates: Int32 | Int64) -> Int64:
    """A number per pair that it shares with its reverse and its copies alone, ``[m] int64`` from 0."""
    low = np.minimum(queries, mates).astype(np.int64)
    high = np.maximum(queries, mates).astype(np.int64)
    if not len(low):
        return np.empty(0, dtype=np.int64)
    numbers: Int64 = np.unique(low * (int(high.max()) + 1) + high, return_inverse=True)[1]
    return numbers.astype(np.int64)


def variance_of_mean(values: Float64, queries: Int32 | Int64, mates: Int32 | Int64) -> float:
    """Dyadic-robust variance of the mean of ``values`` ``[m]`` (Aronow, Samii and Assenova 2015).

    ``1/m^2`` times the sum of ``e_i e_j`` over all (i, j) whose pairs share a text, ``e`` being the deviations from
    the mean; corrected for few pairs by ``g/(g-1)``, g the number of unordered pairs. That sum can come out smaller
    than what a pair and its reverse alone give, or below 0: then it is that of those alone. NaN for fewer than two
    unordered pairs.
    """
    m = len(values)
    same_pair = pairs_unordered(queries, mates)
    g = int(same_pair.max()) + 1 if m else 0
    if g < 2:
        return float("nan")
    deviations = values - values.mean()
    per_pair = np.bincount(same_pair, weights=deviations)
    alone = float(per_pair @ per_pair)
    texts, numbers = np.unique(np.concatenate([queries, mates]), return_inverse=True)
    first, second = numbers[:m], numbers[m:]
    apart = first != second  # a pair of a text with itself has one text
    per_text = np.bincount(first, weights=deviations, minlength=len(texts))
    per_text += np.bincount(second[apart], weights=deviations[apart], minlength=len(texts))
    # (i, j) of the same two texts were counted once per text; of one text (with itself) once.
    twice = np.bincount(same_pair[apart], weights=deviations[apart], minlength=g)
    total = float(per_text @ per_text) - float(twice @ twice)
    return max(total, alone) / m**2 * g / (g - 1)


def interval_of_mean(values: Float64, queries: Int32 | Int64, mates: Int32 | Int64) -> Interval:
    """95% interval of a mean score over pairs ``[m]``, between 0 and 1.

    Student's t with one degree of freedom less than there are unordered pairs, on ``variance_of_mean``. NaN where
    there are fewer than two, or all values are the same: then nothing tells how far they could spread.
    """
    if not len(values) or np.ptp(values) == 0:
        return Interval(float("nan"), float("nan"))
    variance = variance_of_mean(values, queries, mates)
    if np.isnan(variance):
        return Interval(variance, variance)
    free = int(pairs_unordered(queries, mates).max())
    half = float(stdtrit(free, 0.975)) * float(np.sqrt(variance))
    mean = float(values.mean())
    return Interval(max(0.0, mean - half), min(1.0, mean + half))
