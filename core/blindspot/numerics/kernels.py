"""Compiled loops. Import only inside functions that run in a worker: numba takes a second to import.

None is parallel: they release the interpreter's lock, so that several threads run them at once, each on its own piece
(``blindspot.numerics.threads``). They share one file because numba caches compiled code per file, and would not notice
changes of functions in other files.
"""

from __future__ import annotations

import numba
import numpy as np
from numba.cpython.unsafe.numbers import trailing_zeros

from blindspot.types import Float32, Float64, Int8, Int32, Int64, UInt64

_BLOCK = 512  # columns counted at a time
_SCREENED = 64  # scores compared at once with the lowest that is kept


# Any order of summation is allowed, so that eight products are added at a time. The order is the same for every row, so
# copies of a vector give bit-identical results.
@numba.njit(nogil=True, cache=True, fastmath={"reassoc"})  # type: ignore[untyped-decorator]
def _product(x: Float32, y: Float32) -> float:
    total = 0.0
    for k in range(x.shape[0]):
        total += np.float64(x[k]) * np.float64(y[k])
    return total


@numba.njit(nogil=True, cache=True)  # type: ignore[untyped-decorator]
def measure_rows(matrix: Float32, first: int, norms: Float64) -> None:
    """Lengths of the rows from ``first`` on, in float64, into ``norms [rows]``."""
    for i in range(len(norms)):
        row = matrix[first + i]
        norms[i] = np.sqrt(_product(row, row))


@numba.njit(nogil=True, cache=True)  # type: ignore[untyped-decorator]
def scale_rows(matrix: Float32, items: Int64, factors: Float64, out: Float32) -> None:
    """Rows of the matrix, each multiplied by its factor in float64 and rounded once, into ``out [items, d]``."""
    for i in range(len(items)):
        row, factor = matrix[items[i]], factors[items[i]]
        for k in range(len(row)):
            out[i, k] = np.float32(np.float64(row[k]) * factor)


@numba.njit(nogil=True, cache=True)  # type: ignore[untyped-decorator]
def _longest(row: Float32) -> int:
    """Bits of the largest absolute value. Without signs, floats sort like their bits, and the compiler vectorizes
    comparisons of integers."""
    bits, longest = row.view(np.int32), np.int32(0)
    for k in range(len(bits)):
        longest = max(longest, bits[k] & np.int32(0x7FFFFFFF))
    return int(longest)


# Whatever the order of summation in float32, squares of a row no longer than 1 are accurate to one part in 2^10, and
# each difference to 2^-24 of its element.
_SQUARES = 1.0 + 2.0**-10
_DIFFERENCES = 2.0**-23


@numba.njit(nogil=True, cache=True, fastmath={"reassoc"})  # type: ignore[untyped-decorator]
def _rounded(row: Float32, step: np.float32, codes: Int8) -> np.float32:
    """Write the steps to ``codes``; returns the squared length of the residual, in float32."""
    per_step, half, total = np.float32(1) / step, np.float32(0.5), np.float32(0)
    for k in range(len(row)):
        steps = np.floor(row[k] * per_step + half)
        codes[k] = np.int8(steps)
        rest = row[k] - step * steps
        total += rest * rest
    return total


@numba.njit(nogil=True, cache=True)  # type: ignore[untyped-decorator]
def code_rows(rows: Float32, codes: Int8, steps: Float32, errors: Float64, lengths: Float64) -> None:
    """Quantize each row to 255 steps of its own, with an upper bound on the length of its residual, and its length."""
    longest = np.empty(1, dtype=np.int32)
    for i in range(len(rows)):
        longest[0], lengths[i] = _longest(rows[i]), np.sqrt(_product(rows[i], rows[i]))
        steps[i] = longest.view(np.float32)[0] / np.float32(127)
        if steps[i] > np.float32(1e-30):
            left_out = np.sqrt(np.float64(_rounded(rows[i], steps[i], codes[i])))
            errors[i] = left_out * _SQUARES + _DIFFERENCES
        else:
            codes[i], steps[i] = 0, 0
            errors[i] = lengths[i]


@numba.njit(nogil=True, cache=True)  # type: ignore[untyped-decorator]
def code_around(
    rows: Float32, origin: Float32, codes: Int8, steps: Float32, errors: Float64, lengths: Float64, along: Float64
) -> None:
    """``code_rows`` of the rows less ``origin [d]``, and the products of these with it."""
    moved = np.empty((1, rows.shape[1]), dtype=np.float32)
    for i in range(len(rows)):
        for k in range(rows.shape[1]):
            moved[0, k] = rows[i, k] - origin[k]
        code_rows(moved, codes[i : i + 1], steps[i : i + 1], errors[i : i + 1], lengths[i : i + 1])
        along[i] = _product(moved[0], origin)


@numba.njit(nogil=True, cache=True)  # type: ignore[untyped-decorator]
def sum_codes(codes: Int8, width: int, sums: Int32) -> None:
    """Sums of the first ``width`` codes of each row, into the first of ``sums``."""
    for i in range(len(codes)):
        total, row = np.int32(0), codes[i, :width]
        for k in range(len(row)):
            total += np.int32(row[k])
        sums[i] = total


@numba.njit(nogil=True, cache=True)  # type: ignore[untyped-decorator]
def _exact_similarity(x: Float32, y: Float32, x_norm: float, y_norm: float, cosine: bool) -> float:
    total = 0.0
    if cosine:
        if x_norm == 0.0 or y_norm == 0.0:
            return 0.0
        for k in range(x.shape[0]):
            total += np.float64(x[k]) * np.float64(y[k])
        return float(total / (x_norm * y_norm))
    for k in range(x.shape[0]):
        difference = np.float64(x[k]) - np.float64(y[k])
        total += difference * difference
    return float(1.0 / (1.0 + np.sqrt(total)))


# Error bound of any order of summation, even for the longest vectors.
_ROUNDING = 1e-11


@numba.njit(nogil=True, cache=True)  # type: ignore[untyped-decorator]
def _compared(x: Float32, y: Float32, x_norm: float, y_norm: float, cosine: bool, similarity: float, tau: float) -> int:
    """1, 0 or -1: y is more similar to x than ``similarity``, tied with it, or less similar.

    Sums in the fast order first, and in the decisive one only where the two could differ.
    """
    if cosine and x_norm > 0.0 and y_norm > 0.0:
        fast = _product(x, y) / (x_norm * y_norm)
        if fast > similarity + tau + _ROUNDING:
            return 1
        if fast < similarity - tau - _ROUNDING:
            return -1
        if similarity - tau + _ROUNDING < fast < similarity + tau - _ROUNDING:
            return 0
    exact = _exact_similarity(x, y, x_norm, y_norm, cosine)
    if exact > similarity + tau:
        return 1
    return 0 if exact >= similarity - tau else -1


@numba.njit(nogil=True, cache=True)  # type: ignore[untyped-decorator]
def _subtract(block: Float32, halves: Float32) -> None:
    for c in range(len(block)):
        block[c] -= halves[c]


# Whole numbers up to 2^24 are exact in float32 whatever the order of summation; allowing any order lets the compiler
# count 16 scores at a time, three times as fast as with integers.
@numba.njit(nogil=True, cache=True, fastmath={"reassoc"})  # type: ignore[untyped-decorator]
def _count(block: Float32, low: np.float32, high: np.float32) -> tuple[int, int]:
    """Count the scores (at most 2^24) above ``high``, and those not below ``low``."""
    one, zero = np.float32(1), np.float32(0)
    above, not_below = zero, zero
    for c in range(len(block)):
        above += one if block[c] > high else zero
        not_below += one if block[c] >= low else zero
    return int(above), int(not_below)


@numba.njit(nogil=True, cache=True)  # type: ignore[untyped-decorator]
def _room_for_flags(columns: int) -> Int8:
    """A flag per column, in eights that can be looked at together."""
    return np.zeros(-(-columns // 8) * 8, dtype=np.int8)


@numba.njit(nogil=True, cache=True)  # type: ignore[untyped-decorator]
def _flagged(flags: Int8, found: Int64) -> int:
    """Columns that are flagged, into ``found``, which has room for all flags and one more; returns their number.

    Most eights are zero. To compare many scores at once and then list the few that count takes a twentieth of the time
    that looking at each takes.
    """
    eights, count = flags.view(np.int64), 0
    for eight in range(len(eights)):
        if eights[eight] != 0:
            for c in range(8 * eight, 8 * eight + 8):
                found[count] = c
                count += flags[c]
    return count


@numba.njit(nogil=True, cache=True)  # type: ignore[untyped-decorator]
def _flag_between(line: Float32, low: np.float32, high: np.float32, flags: Int8) -> None:
    for c in range(len(line)):
        flags[c] = (line[c] >= low) & (line[c] <= high)


@numba.njit(nogil=True, cache=True)  # type: ignore[untyped-decorator]
def _has_flags(words: UInt64) -> bool:
    together = np.uint64(0)
    for word in words:
        together |= word
    return bool(together != 0)


@numba.njit(nogil=True, cache=True)  # type: ignore[untyped-decorator]
def _number_of(words: UInt64) -> int:
    """How many flags are set."""
    pairs, fours, eights = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333), np.uint64(0x0F0F0F0F0F0F0F0F)
    one, two, four, last = np.uint64(1), np.uint64(2), np.uint64(4), np.uint64(56)
    total = np.uint64(0)
    for word in words:
        bits = word - ((word >> one) & pairs)
        bits = (bits & fours) + ((bits >> two) & fours)
        bits = (bits + (bits >> four)) & eights
        total += (bits * np.uint64(0x0101010101010101)) >> last
    return int(total)


@numba.njit(nogil=True, cache=True)  # type: ignore[untyped-decorator]
def _columns_of(words: UInt64, found: Int64) -> int:
    """Columns whose flags are set, into ``found``; returns their number. Most words are zero."""
    count = 0
    for at in range(len(words)):
        word = words[at]
        while word != 0:
            found[count] = 64 * at + np.int64(trailing_zeros(word))
            count += 1
            word &= word - np.uint64(1)
    return count


@numba.njit(nogil=True, cache=True)  # type: ignore[untyped-decorator]
def _computed_again(
    found: Int64,
    first_item: int,
    match: int,
    matrix: Float32,
    norms: Float64,
    cosine: bool,
    x: int,
    similarity: float,
    tau: float,
) -> tuple[int, int]:
    """Count, among the columns ``found``, items above the match of query x and those tied with it, in float64."""
    above, tied = 0, 0
    for c in found:
        j = first_item + c
        if j != match:
            order = _compared(matrix[x], matrix[j], norms[x], norms[j], cosine, similarity, tau)
            above += order > 0
            tied += order == 0
    return above, tied


@numba.njit(nogil=True, cache=True)  # type: ignore[untyped-decorator]
def count_above_and_tied(
    scores: Float32,
    rows: Int64,
    half_squares: Float32,
    first_item: int,
    matrix: Float32,
    norms: Float64,
    cosine: bool,
    tau: float,
    query_items: Int64,
    pair_starts: Int64,
    pair_matches: Int64,
    pair_similarity: Float64,
    pair_low: Float32,
    pair_high: Float32,
    greater: Int64,
    ties: Int64,
) -> None:
    """Count, in one tile of scores, for every pair whose query is one of ``rows``.

    ``scores`` is ``[lines, columns] float32``, approximate, and is overwritten. Column c is item ``first_item + c``,
    line i query item ``query_items[rows[i]]``, whose pairs begin at ``pair_starts[rows[i]]`` and end before the next. A
    score (for l2 less ``half_squares[c]``, which may be empty for cosine) above ``pair_high`` is certainly greater, one
    below ``pair_low`` certainly smaller than the match's; scores between are recomputed in float64 from ``matrix``.
    Arrays named ``pair_...``, ``greater`` and ``ties`` (``int64``, added to) begin with pair ``pair_starts[0]``.
    """
    lines, columns = scores.shape
    flags, found = _room_for_flags(columns), np.empty(columns + 8, dtype=np.int64)
    for i in range(lines):
        x, line = query_items[rows[i]], scores[i]
        if not cosine:
            _subtract(line, half_squares)
        if first_item <= x < first_item + columns:
            line[x - first_item] = -np.inf  # the query is not its own candidate
        for pair in range(pair_starts[rows[i]] - pair_starts[0], pair_starts[rows[i] + 1] - pair_starts[0]):
            low, high = pair_low[pair], pair_high[pair]
            above, not_below = 0, 0
            for start in range(0, columns, _BLOCK):
                more = _count(line[start : start + _BLOCK], low, high)
                above += more[0]
                not_below += more[1]
            greater[pair] += above
            if not_below > above:
                _flag_between(line, low, high, flags[:columns])
                again = _computed_again(
                    found[: _flagged(flags, found)],
                    first_item,
                    pair_matches[pair],
                    matrix,
                    norms,
                    cosine,
                    x,
                    pair_similarity[pair],
                    tau,
                )
                greater[pair] += again[0]
                ties[pair] += again[1]


# Whatever the order of summation; with fused multiplication, which is only more accurate.
@numba.njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})  # type: ignore[untyped-decorator]
def _float32_product(x: Float32, y: Float32) -> np.float32:
    total = np.float32(0)
    for k in range(x.shape[0]):
        total += x[k] * y[k]
    return total


@numba.njit(nogil=True, cache=True)  # type: ignore[untyped-decorator]
def lengths_left_out(rotated: Float32, lengths: Float64, depths: Int64, error: float, out: Float32) -> None:
    """Upper bounds on the length of what the first ``depths`` coordinates of each row leave out, ``[depths, k]``.

    ``rotated [k, K]`` is within ``error`` of the exact coordinates c. With ``r`` for its first coordinates, ``|c|`` is
    at least ``|r| - error``, so ``|x|^2 - |c|^2`` is at most ``|x|^2 - |r|^2 + 2 error |r| + error^2``.
    """
    for i in range(len(rotated)):
        whole, kept, at = lengths[i] * lengths[i] * (1.0 + 2.0**-20), 0.0, 0
        for depth in range(len(depths)):
            kept += _product(rotated[i, at : depths[depth]], rotated[i, at : depths[depth]])
            at = depths[depth]
            rest = max(whole - kept, 0.0) + 2.0 * error * np.sqrt(kept) + error * error
            out[depth, i] = np.float32(np.sqrt(rest) * (1.0 + 2.0**-20))


@numba.njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})  # type: ignore[untyped-decorator]
def _undecided(line: Float32, rest: np.float32, rests: Float32, low: np.float32, high: np.float32) -> float:
    one, zero, count = np.float32(1), np.float32(0), np.float32(0)
    for c in range(len(line)):
        bound = rest * rests[c]
        count += one if line[c] + bound >= low and line[c] - bound <= high else zero
    return float(count)


@numba.njit(nogil=True, cache=True)  # type: ignore[untyped-decorator]
def count_undecided(
    scores: Float32,
    left_rest: Float32,
    right_rest: Float32,
    off: float,
    pair_starts: Int64,
    pair_low: Float32,
    pair_high: Float32,
    counts: Int64,
) -> None:
    """About how many items of a sample each query's pairs leave undecided, see ``count_by_bounds``."""
    for i in range(len(scores)):
        counts[i] = 0
        for pair in range(pair_starts[i] - pair_starts[0], pair_starts[i + 1] - pair_starts[0]):
            low, high = np.float32(pair_low[pair] - off), np.float32(pair_high[pair] + off)
            counts[i] += int(_undecided(scores[i], left_rest[i], right_rest, low, high))


@numba.njit(nogil=True, cache=True)  # type: ignore[untyped-decorator]
def _products_of(x: Float32, right: Float32, first: int, found: Int64, out: Float32) -> None:
    """``x`` times the rows ``found`` of ``right``, from coordinate ``first`` on.

    In a function of its own, numba does not count the owners of every slice, which takes longer than the products.
    """
    for f in range(len(found)):
        out[f] = _float32_product(x[first:], right[found[f], first:])


@numba.njit(nogil=True, cache=True)  # type: ignore[untyped-decorator]
def _still_open(
    scores: Float32,
    rest: np.float32,
    rests: Float32,
    low: np.float32,
    high: np.float32,
    found: Int64,
    count: int,
) -> tuple[int, int]:
    """How many of ``found`` are above ``high`` for certain; and how many are undecided, which are then the first."""
    above, undecided = 0, 0
    for f in range(count):
        c = found[f]
        bound = rest * rests[c]
        is_above, may_be = scores[f] - bound > high, scores[f] + bound >= low
        above += is_above
        found[undecided] = c
        undecided += may_be and not is_above
    return above, undecided


@numba.njit(nogil=True, cache=True)  # type: ignore[untyped-decorator]
def _between(scores: Float32, low: np.float32, high: np.float32, found: Int64, count: int) -> tuple[int, int]:
    """As ``_still_open``, for scores whose bounds are in ``low`` and ``high``."""
    above, undecided = 0, 0
    for f in range(count):
        above += scores[f] > high
        found[undecided] = found[f]
        undecided += low <= scores[f] <= high
    return above, undecided


@numba.njit(nogil=True, cache=True)  # type: ignore[untyped-decorator]
def bounds_of_pairs(
    pair_low: Float32,
    pair_high: Float32,
    pair_starts: Int64,
    shifts: Float64,
    off: float,
    low: Float32,
    high: Float32,
) -> None:
    """Bounds of each query's scores, to which ``shifts [q]`` is still to be added and which are off by up to ``off``:
    below ``low`` an item is certainly below all matches, above ``high`` certainly above them."""
    for i in range(len(low)):
        lowest, highest = np.float32(np.inf), np.float32(-np.inf)
        for pair in range(pair_starts[i] - pair_starts[0], pair_starts[i + 1] - pair_starts[0]):
            lowest, highest = min(lowest, pair_low[pair]), max(highest, pair_high[pair])
        low[i] = np.nextafter(np.float32(lowest - shifts[i] - off), np.float32(-np.inf))
        high[i] = np.nextafter(np.float32(highest - shifts[i] + off), np.float32(np.inf))


@numba.njit(nogil=True, cache=True)  # type: ignore[untyped-decorator]
def _take_out_own(flags: UInt64, query_items: Int64, first_item: int, columns: int) -> None:
    """Clear the flags of queries as their own candidates, and the first ones of items that are above for certain."""
    for i in range(len(query_items)):
        words, above = flags[0, i], flags[1, i]
        own = query_items[i] - first_item
        if 0 <= own < columns:
            kept = ~(np.uint64(1) << np.uint64(own & 63))
            words[own >> 6] &= kept
            above[own >> 6] &= kept
        for at in range(len(words)):
            words[at] &= ~above[at]


@numba.njit(nogil=True, cache=True)  # type: ignore[untyped-decorator]
def count_by_bounds(  # noqa: PLR0912 - one loop
    flags: UInt64,
    scores: Float32,
    left_rest: Float32,
    right_rest: Float32,
    width: int,
    slack: float,
    left_rotated: Float32,
    right_rotated: Float32,
    left_last: Float32,
    right_last: Float32,
    left: Float32,
    right: Float32,
    half_squares: Float32,
    first_item: int,
    matrix: Float32,
    norms: Float64,
    cosine: bool,
    tau: float,
    query_items: Int64,
    pair_starts: Int64,
    pair_matches: Int64,
    pair_similarity: Float64,
    pair_low: Float32,
    pair_high: Float32,
    most_unsure: int,
    few: int,
    greater: Int64,
    ties: Int64,
    unsure: Int64,
) -> int:
    """As ``count_above_and_tied``, for all queries, from what approximate scores tell of the items.

    ``flags`` (overwritten, see ``blindspot.numerics.flagging``) say which items may be above a match or tied with it,
    and which are above all for certain. Lines with more than ``most_unsure`` of the former alone are not counted but
    listed in ``unsure [lines]``, unless there are only ``few``; their number is returned.

    The others are looked at more closely, step by step. ``scores [lines, >= columns]``, if there are lines, are of the
    first ``width`` coordinates, and off by ``left_rest[i] * right_rest[c] + slack``; products of all coordinates, if
    there are any, ``left_rotated [lines, K]`` and ``right_rotated [columns, K]``, by ``left_last[i] * right_last[c] +
    slack``. Then come products in float32, of rows of ``left`` and ``right``, and those too close even so are compared
    in float64.
    """
    columns, n_unsure = len(right), 0
    _take_out_own(flags, query_items, first_item, columns)
    for i in range(len(query_items)):
        if most_unsure < columns and _number_of(flags[0, i]) > most_unsure:
            unsure[n_unsure] = i
            n_unsure += 1
    if n_unsure <= few:
        most_unsure, n_unsure = columns, 0
    flagged, found = np.empty(columns, dtype=np.int64), np.empty(columns, dtype=np.int64)
    again = np.empty(columns, dtype=np.float32)
    for i in range(len(query_items)):
        n_above = _number_of(flags[1, i]) if _has_flags(flags[1, i]) else 0
        n_flagged = _columns_of(flags[0, i], flagged) if _has_flags(flags[0, i]) else 0
        if n_above + n_flagged == 0 or n_flagged > most_unsure:
            continue
        for pair in range(pair_starts[i] - pair_starts[0], pair_starts[i + 1] - pair_starts[0]):
            greater[pair] += n_above
            count, known = n_flagged, 0
            low = np.nextafter(np.float32(pair_low[pair] - slack), np.float32(-np.inf))
            high = np.nextafter(np.float32(pair_high[pair] + slack), np.float32(np.inf))
            for f in range(count):
                found[f] = flagged[f]
            if len(scores):
                known = width
                for f in range(count):
                    again[f] = scores[i, found[f]]
                above, count = _still_open(again, left_rest[i], right_rest, low, high, found, count)
                greater[pair] += above
            if known < left_rotated.shape[1]:
                _products_of(left_rotated[i], right_rotated, known, found[:count], again)
                if len(scores):
                    for f in range(count):
                        again[f] += scores[i, found[f]]
                above, count = _still_open(again, left_last[i], right_last, low, high, found, count)
                greater[pair] += above
            if count == 0:
                continue
            _products_of(left[i], right, 0, found[:count], again)
            if not cosine:
                for f in range(count):
                    again[f] -= half_squares[found[f]]
            above, count = _between(again, pair_low[pair], pair_high[pair], found, count)
            greater[pair] += above
            if count > 0:
                more = _computed_again(
                    found[:count],
                    first_item,
                    pair_matches[pair],
                    matrix,
                    norms,
                    cosine,
                    query_items[i],
                    pair_similarity[pair],
                    tau,
                )
                greater[pair] += more[0]
                ties[pair] += more[1]
    return n_unsure


@numba.njit(nogil=True, cache=True, fastmath={"reassoc"})  # type: ignore[untyped-decorator]
def _has_above(block: Float32, low: np.float32) -> bool:
    """Whether a score is above ``low``; 16 at a time, as in ``_count``."""
    one, zero = np.float32(1), np.float32(0)
    above = zero
    for c in range(len(block)):
        above += one if block[c] > low else zero
    return bool(above > zero)


@numba.njit(nogil=True, cache=True)  # type: ignore[untyped-decorator]
def _sink(heap: Float32, items: Int64, score: np.float32, item: int) -> None:
    """Replace the lowest of a full min-heap."""
    at, width = 0, len(heap)
    while True:
        child = 2 * at + 1
        if child >= width:
            break
        if child + 1 < width and heap[child + 1] < heap[child]:
            child += 1
        if heap[child] >= score:
            break
        heap[at], items[at] = heap[child], items[child]
        at = child
    heap[at], items[at] = score, item


@numba.njit(nogil=True, cache=True)  # type: ignore[untyped-decorator]
def _rise(heap: Float32, items: Int64, at: int, score: np.float32, item: int) -> None:
    """Add to a min-heap with ``at`` entries."""
    while at > 0 and heap[(at - 1) // 2] > score:
        heap[at], items[at] = heap[(at - 1) // 2], items[(at - 1) // 2]
        at = (at - 1) // 2
    heap[at], items[at] = score, item


@numba.njit(nogil=True, cache=True)  # type: ignore[untyped-decorator]
def _keep_highest_of(
    line: Float32, first_item: int, heap: Float32, items: Int64, filled: int, floor: np.float32
) -> np.float32:
    """Add one query's scores to its heap, see ``keep_highest``; returns the new floor."""
    width = len(heap)
    start = min(width - filled, len(line))
    for c in range(start):
        _rise(heap, items, filled + c, line[c], first_item + c)
    if filled + start < width:
        return floor
    low = max(floor, heap[0])
    for first in range(start, len(line), _SCREENED):
        block = line[first : first + _SCREENED]
        if not _has_above(block, low):
            continue
        for c in range(len(block)):
            score = block[c]
            if score <= low:
                continue
            _sink(heap, items, score, first_item + first + c)
            low = max(low, heap[0])
    return np.float32(low)


@numba.njit(nogil=True, cache=True)  # type: ignore[untyped-decorator]
def keep_highest(
    scores: Float32, halves: Float32, first_item: int, kept: Float32, rows: Int64, filled: int, floors: Float32
) -> None:
    """Add one tile of scores to the highest so far of every query.

    ``scores`` is ``[q, columns] float32`` and is overwritten; column c is item ``first_item + c``, from whose scores
    ``halves[c]`` is subtracted (unless empty). ``kept [q, w] float32`` are min-heaps with items ``rows [q, w]``;
    ``filled`` of their places are taken. Up to w items, the heaps hold all of them.

    ``floors [q] float32`` are scores that w items are known to reach, -inf at first; full heaps leave scores up to them
    out, and raise them. Several threads may share them: whichever writes last, what it wrote is true.
    """
    for i in range(scores.shape[0]):
        if len(halves):
            _subtract(scores[i], halves)
        floors[i] = _keep_highest_of(scores[i], first_item, kept[i], rows[i], filled, floors[i])


@numba.njit(nogil=True, cache=True)  # type: ignore[untyped-decorator]
def keep_above(
    scores: Float32,
    flags: UInt64,
    left: Float32,
    right: Float32,
    first_item: int,
    kept: Float32,
    items: Int64,
    filled: Int64,
    floors: Float32,
) -> None:
    """Add one tile of scores to the highest so far of every query, but none below its floor.

    ``flags`` (see ``blindspot.numerics.flagging``) say which items may reach the floor. Their scores are taken from
    ``scores [q, >= columns]``, or if that has no lines computed in float32, as products of rows of ``left`` and
    ``right``. Column c is item ``first_item + c``.

    ``kept [q, w] float32`` are min-heaps with the numbers ``items [q, w]``; ``filled [q]`` of their places are taken.
    ``floors [q] float32`` rise to the lowest of a full heap.
    """
    width = kept.shape[1]
    found, again = np.empty(len(right), dtype=np.int64), np.empty(len(right), dtype=np.float32)
    for i in range(len(left)):
        if not _has_flags(flags[0, i]):
            continue
        n = _columns_of(flags[0, i], found)
        if len(scores):
            for f in range(n):
                again[f] = scores[i, found[f]]
        else:
            _products_of(left[i], right, 0, found[:n], again)
        floor, count = floors[i], filled[i]
        for f in range(n):
            score = again[f]
            if score < floor:
                continue
            if count < width:
                _rise(kept[i], items[i], count, score, first_item + found[f])
                count += 1
            elif score > kept[i, 0]:
                _sink(kept[i], items[i], score, first_item + found[f])
            if count == width and kept[i, 0] > floor:
                floor = kept[i, 0]
        floors[i], filled[i] = floor, count


@numba.njit(nogil=True, cache=True, fastmath={"reassoc"})  # type: ignore[untyped-decorator]
def _squared_distance(x: Float32, y: Float32) -> float:
    total = 0.0
    for k in range(x.shape[0]):
        difference = np.float64(x[k]) - np.float64(y[k])
        total += difference * difference
    return total


@numba.njit(nogil=True, cache=True)  # type: ignore[untyped-decorator]
def _order(numbers: Int64, end: int) -> Int64:
    """Counting sort: indices of numbers from 0 up to ``end``, lowest number first."""
    starts = np.zeros(end + 1, dtype=np.int64)
    for number in numbers:
        starts[number + 1] += 1
    for number in range(end):
        starts[number + 1] += starts[number]
    places = np.empty(len(numbers), dtype=np.int64)
    for place in range(len(numbers)):
        number = numbers[place]
        places[starts[number]] = place
        starts[number] += 1
    return places


@numba.njit(nogil=True, cache=True)  # type: ignore[untyped-decorator]
def take_most_similar(
    matrix: Float32,
    norms: Float64,
    vectors: Float32,
    found: Int64,
    own: Int64,
    cosine: bool,
    rows: Int64,
    similarity: Float64,
) -> None:
    """The k most similar candidates of each of ``vectors [q, d] float32``, compared in float64.

    Candidates are rows ``found [q, c]`` of the matrix, in any order, without ``own [q]`` (-1 for none). Writes ``rows,
    similarity [q, k]``, lower number first among equals; the cosine with a zero vector is 0.
    """
    k, candidates = rows.shape[1], found.shape[1]
    lengths = np.empty(len(vectors))
    for i in range(len(vectors)):
        lengths[i] = np.sqrt(_product(vectors[i], vectors[i]))
    # In the order of items, so that each row of the matrix is fetched from memory once, not once per query.
    all_values = np.empty(found.shape)
    for at in _order(found.ravel(), len(matrix)):
        i, c = at // candidates, at % candidates
        j = found[i, c]
        if not cosine:
            all_values[i, c] = 1.0 / (1.0 + np.sqrt(_squared_distance(matrix[j], vectors[i])))
        elif lengths[i] > 0.0 and norms[j] > 0.0:
            all_values[i, c] = _product(matrix[j], vectors[i]) / (norms[j] * lengths[i])
        else:
            all_values[i, c] = 0.0
    ranked, values = np.empty(candidates, dtype=np.int64), np.empty(candidates)
    for i in range(len(vectors)):
        kept = 0
        for c in range(candidates - 1, -1, -1):  # a heap's highest come last, and then need few moves
            j, value = found[i, c], all_values[i, c]
            if j == own[i]:
                continue
            at = kept
            while at > 0 and (value > values[at - 1] or (value == values[at - 1] and j < ranked[at - 1])):
                values[at], ranked[at] = values[at - 1], ranked[at - 1]
                at -= 1
            values[at], ranked[at] = value, j
            kept += 1
        rows[i], similarity[i] = ranked[:k], values[:k]
