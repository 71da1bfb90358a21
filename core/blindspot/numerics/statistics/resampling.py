"""Resampling of groups of pairs: bootstraps of medians and of ratios of sums, and tests by flips of signs and by swaps.

Pairs that share a text are not independent; the groups are the *components* of the graph whose nodes are the texts and
whose edges are the pairs. Intervals of means need no draws (``blindspot.numerics.statistics.pairs``).

Arrays in, arrays out, float64. ``values [m, k]`` are k quantities measured on the same m pairs; ``left, right [m]`` are
the numbers of each pair's texts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from blindspot.types import Float64, Int64, UInt8

SEED = 20_220_313  # of every draw: the same data give the same interval and p-value
RESAMPLES = 2_000  # of a bootstrap
FLIPS = 9_999  # of a sign-flip test
_NUMBERS_AT_A_TIME = 400_000  # of a matrix of draws: larger ones cost more in fresh memory than they save
# Standard deviations of a sum of signs; by Hoeffding one of ``FLIPS`` sums is further with a probability below 1e-13.
_FAR = 9.0
_ROWS_OF_A_PRODUCT = 64  # of draws: a product of few rows takes twice the time
_ROUNDING = 1e-10  # sums this close, relative to the sum of all sizes, are equal

# --- groups


def components(left: Int64, right: Int64) -> Int64:
    """Connected component of each pair in the pair graph, ``[m]``, numbered from 0."""
    nodes, (a, b) = _nodes(left, right)
    # As scipy's connected_components numbers them, without its import: a tenth of what a cold start computes.
    lowest = np.arange(nodes, dtype=np.int64)  # the lowest text of each text's component, as far as it is known
    before = lowest[:0]
    while not np.array_equal(lowest, before):
        before, candidates = lowest, np.minimum(lowest[a], lowest[b])
        lowest = lowest.copy()
        for ends in (before[a], before[b], a, b):
            np.minimum.at(lowest, ends, candidates)
        lowest = lowest[lowest]
    _, label = np.unique(lowest, return_inverse=True)
    return np.asarray(label[a], dtype=np.int64)


def units(left: Int64, right: Int64) -> Int64:
    """Number of each pair's unordered pair of texts, ``[m]`` from 0: a pair and its reverse share it."""
    ends = np.sort(np.stack([left, right], axis=1), axis=1)
    _, unit = np.unique(ends, axis=0, return_inverse=True)
    return np.asarray(unit.ravel(), dtype=np.int64)


def _nodes(left: Int64, right: Int64) -> tuple[int, tuple[Int64, Int64]]:
    """The number of texts, and both ends of the pairs, renumbered from 0 without gaps."""
    nodes, ends = np.unique(np.concatenate([left, right]), return_inverse=True)
    ends = ends.astype(np.int64)
    return len(nodes), (ends[: len(left)], ends[len(left) :])


def sums_within(values: Float64, groups: Int64) -> Float64:
    """Sums of ``values [m, k]`` per group, ``[groups, k]``; ``groups [m]`` are numbers from 0 without gaps."""
    number = int(groups.max(initial=-1)) + 1
    columns = [np.bincount(groups, weights=column, minlength=number) for column in values.T]
    return np.stack(columns, axis=1) if columns else np.empty((number, 0))


# --- bootstrap over components


def _drawn(n: int, resamples: int, rng: np.random.Generator) -> Float64:
    """Number of times each of ``n`` items is drawn when n are drawn with replacement, ``[resamples, n]``.

    A sum over a resample is then a product with a row. The draws are ``rng.integers(n, size=n)``, one resample after
    another, so they do not depend on the batch size.
    """
    drawn = rng.integers(n, size=(resamples, n)) + n * np.arange(resamples)[:, np.newaxis]
    return np.bincount(drawn.ravel(), minlength=resamples * n).reshape(resamples, n).astype(np.float64)


def _draws(groups: int, resamples: int, seed: int) -> Iterator[Float64]:
    """Number of times each group is drawn, in slices ``[some, groups]`` of the resamples, which are always the same."""
    rng = np.random.default_rng(seed)
    at_a_time = max(1, _NUMBERS_AT_A_TIME // groups)
    for first in range(0, resamples, at_a_time):
        yield _drawn(groups, min(at_a_time, resamples - first), rng)


def bootstrap_medians(values: Float64, groups: Int64, resamples: int = RESAMPLES, seed: int = SEED) -> Float64:
    """Medians of ``values [m, k]`` when whole groups are drawn with replacement, ``[resamples, k]``.

    Each distinct value is counted per group once; its count in a resample is then a product with the draws, and the
    median is where cumulative counts pass the middle. Values far from the median are merged; a median at the edge of
    the merged range is recomputed from all values.
    """
    near = [_near_the_median(column) for column in values.T]
    low, high = np.array([[n[0] for n in near], [n[1] for n in near]])
    middles = _middles(np.clip(values, low, high), groups, resamples, seed)
    at_edge = (middles <= low) & (low > values.min(axis=0)) | (middles >= high) & (high < values.max(axis=0))
    if (again := np.any(at_edge, axis=(0, 1))).any():
        middles[..., again] = _middles(values[:, again], groups, resamples, seed)
    return np.asarray(middles.mean(axis=1))


def bootstrap_sums(values: Float64) -> Float64:
    """Sums of ``values [m, k]`` when m rows are drawn with replacement, ``[RESAMPLES, k]``: for ratios of sums like F1.

    Every row is a unit of its own. All sums of one resample are over the same rows.
    """
    return np.concatenate([drawn @ values for drawn in _draws(len(values), RESAMPLES, SEED)])


def _near_the_median(column: Float64) -> tuple[float, float]:
    """Values below and above the middle fifth of a column."""
    distinct = np.unique(column)
    first, last = np.searchsorted(distinct, np.quantile(column, [0.4, 0.6]))
    return float(distinct[max(first - 1, 0)]), float(distinct[min(last + 1, len(distinct) - 1)])


def _middles(values: Float64, groups: Int64, resamples: int, seed: int) -> Float64:
    """The lower and the upper middle value in each resample, ``[resamples, 2, k]``."""
    from scipy.sparse import csr_array

    number = int(groups.max()) + 1
    tables = []
    for column in values.T:
        distinct, inverse = np.unique(column, return_inverse=True)
        shape = (len(distinct), number)
        tables.append((distinct, csr_array((np.ones(len(column)), (inverse.ravel(), groups)), shape=shape)))
    out = []
    for drawn in _draws(number, resamples, seed):
        turned = np.ascontiguousarray(drawn.T)
        columns = []
        for distinct, table in tables:
            up_to = np.cumsum(np.asarray(table @ turned), axis=0)
            total = up_to[-1]
            middle = [distinct[(up_to <= position).sum(axis=0)] for position in ((total - 1) // 2, total // 2)]
            columns.append(np.stack(middle, axis=1))
        out.append(np.stack(columns, axis=2))
    return np.concatenate(out)


# --- test of a paired difference


def sign_flip_p_values(differences: Float64, unit: Int64, flips: int = FLIPS) -> Float64:
    """Two-sided p-values of mean paired differences ``[m, k]``, ``[k]``.

    Under the null hypothesis the two are exchangeable in every unit (a group of pairs) independently, which flips the
    sign of the unit's differences. ``p = (b + 1) / (flips + 1)``, where b counts the random flips whose mean is at
    least as far from 0 as the observed one. For few units (``2^units <= flips``, not counting those without any
    difference) all flips are enumerated, and p is exact. A column's p-value does not depend on the others.
    """
    sums = sums_within(differences, unit)
    sizes = np.abs(sums).sum(axis=0)
    observed = np.abs(sums.sum(axis=0))
    p = np.ones(sums.shape[1])
    number, turned = len(sums), np.flatnonzero(np.any(sums != 0, axis=1))
    sums = sums[turned]
    few = np.count_nonzero(sums, axis=0) <= int(np.log2(flips + 1))
    for column in np.flatnonzero(few):
        nonzero = sums[sums[:, column] != 0, column]
        bits = (np.arange(2 ** len(nonzero))[:, np.newaxis] >> np.arange(len(nonzero))) & 1
        far = np.abs((2 * bits - 1) @ nonzero) >= observed[column] - _ROUNDING * sizes[column]
        p[column] = far.mean()
    if few.all():
        return p
    many = ~few
    # Where no flip can be expected to reach as far, none is drawn: p is what it would be.
    reach = observed - _ROUNDING * sizes
    p[many & (reach >= _FAR * np.sqrt((sums**2).sum(axis=0)))] = 1 / (flips + 1)
    open_ = np.flatnonzero(many & (p == 1))
    if not len(open_):
        return p
    # Columns are copied once: a selection for each product took longer than the product.
    tested, reach, b = np.ascontiguousarray(sums[:, open_]), reach[open_], np.zeros(len(open_))
    total = tested.sum(axis=0)
    for kept in _coins(number, turned, flips):
        # A signed sum is twice the sum of the terms that keep their sign, minus the sum of all.
        b += np.count_nonzero(np.abs(2 * (kept @ tested) - total) >= reach, axis=0)
    p[open_] = (b + 1) / (flips + 1)
    return p


def swap_p_value(first: Float64, second: Float64, score: Callable[[Float64], Float64]) -> float:
    """Two-sided p-value of a difference of scores that are not means over units (Yeh 2000: approximate randomization).

    Under the null hypothesis a unit's values in ``first [m, k]`` and ``second [m, k]`` are exchangeable. ``score``
    takes sums over all units, ``[..., k]``. ``p = (b + 1) / (FLIPS + 1)``, where b counts the random swaps
    whose difference of scores is at least as large as the observed one. Units without any difference change nothing.
    """
    ones, others = first.sum(axis=0), second.sum(axis=0)
    observed = abs(float(score(ones) - score(others)))
    moved = first - second
    number, turned = len(moved), np.flatnonzero(np.any(moved != 0, axis=1))
    moved = moved[turned]
    if not len(moved):
        return 1.0
    b = 0
    for swapped in _coins(number, turned, FLIPS):
        sums = swapped @ moved
        b += int(np.count_nonzero(np.abs(score(ones - sums) - score(others + sums)) >= observed - _ROUNDING))
    return (b + 1) / (FLIPS + 1)


def _coins(number: int, wanted: Int64, tosses: int) -> Iterator[Float64]:
    """0 or 1 for each of the ``wanted`` among ``number`` units, in slices ``[some, wanted]`` of the tosses.

    A unit's tosses are always the same, whichever others are wanted.
    """
    rng = np.random.default_rng(SEED)
    row = -(-number // 8)  # bytes
    at_a_time = max(1, _NUMBERS_AT_A_TIME // number)
    together = min(_ROWS_OF_A_PRODUCT, 8 * at_a_time)
    thrown: list[UInt8] = []
    for first in range(0, tosses, at_a_time):  # the tosses depend on how many are drawn at a time
        some = min(at_a_time, tosses - first)
        thrown.append(rng.integers(256, size=(some, row), dtype=np.uint8))
        if sum(map(len, thrown)) >= together or first + some == tosses:
            bits = np.concatenate(thrown)
            if len(wanted) == number:
                yield np.unpackbits(bits, axis=1, count=number).astype(np.float64)
            else:
                yield ((bits[:, wanted >> 3] >> (7 - (wanted & 7)).astype(np.uint8)) & 1).astype(np.float64)
            thrown = []
