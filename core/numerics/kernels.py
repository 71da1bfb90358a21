"""Compiled loops. Import only inside functions that run in a worker: numba takes a second to import.

None is parallel: they release the interpreter's lock, so that several threads run them at once, each on its own piece
(``blindspot.numerics.threads``). They share one file because numba caches compiled code per file, and would not notice
changes of functions in other files.
"""

from __future__ import annotations

import numba
import numpy as np

from blindspot.types import Float32, Float64, Int8, Int32, Int64

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
def code_rows(rows: Float32, codes: Int8, steps: Float32, errors: Float64) -> None:
    """Quantize each row to 255 steps of its own, with an upper bound on the length of its residual."""
    longest = np.empty(1, dtype=np.int32)
    for i in range(len(rows)):
        longest[0] = _longest(rows[i])
        steps[i] = longest.view(np.float32)[0] / np.float32(127)
        if steps[i] > np.float32(1e-30):
            left_out = np.sqrt(np.float64(_rounded(rows[i], steps[i], codes[i])))
            errors[i] = left_out * _SQUARES + _DIFFERENCES
        else:
            codes[i], steps[i] = 0, 0
            errors[i] = np.sqrt(_product(rows[i], rows[i]))


@numba.njit(nogil=True, cache=True)  # type: ignore[untyped-decorator]
def slack_of_codes(left_error: float, farthest: float) -> float:
    """Error bound of products with rows whose errors are at most ``farthest``; no row is longer than 1.

    ``x.y - x'.y'`` is ``(x - x').y + x'.(y - y')``, and ``x'`` is no longer than 1 plus its own error. Integer products
    are exact; the last term covers their rounding to float32 from a dimension of 1,040 on, and that of the scores.
    """
    return left_error + (1.0 + left_error) * farthest + 2.0**-20 * (1.0 + farthest)


@numba.njit(nogil=True, cache=True)  # type: ignore[untyped-decorator]
def scores_of_products(products: Int32, left_step: np.float32, right_steps: Float32, scores: Float32) -> None:
    """Approximate products of rows from products of their codes; in new memory."""
    for c in range(len(products)):
        scores[c] = np.float32(products[c]) * (right_steps[c] * left_step)


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
def _computed_again(
    found: Int64,
    first_item: int,
    mate: int,
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
        if j != mate:
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
    pair_mates: Int64,
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
                    pair_mates[pair],
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
    slack: float,
    pair_starts: Int64,
    pair_low: Float32,
    pair_high: Float32,
    counts: Int64,
) -> None:
    """About how many items of a sample each query's pairs leave undecided, see ``count_by_part``."""
    for i in range(len(scores)):
        counts[i] = 0
        for pair in range(pair_starts[i] - pair_starts[0], pair_starts[i + 1] - pair_starts[0]):
            low, high = np.float32(pair_low[pair] - slack), np.float32(pair_high[pair] + slack)
            counts[i] += int(_undecided(scores[i], left_rest[i], right_rest, low, high))


@numba.njit(nogil=True, cache=True, fastmath={"contract"})  # type: ignore[untyped-decorator]
def _flag(line: Float32, rest: np.float32, rests: Float32, low: np.float32, flags: Int8) -> None:
    for c in range(len(line)):
        flags[c] = line[c] + rest * rests[c] >= low


@numba.njit(nogil=True, cache=True, fastmath={"contract"})  # type: ignore[untyped-decorator]
def _scores_by_part(
    products: Int32, step: np.float32, steps: Float32, head: np.float32, heads: Float32, line: Float32
) -> None:
    """``scores_of_products``, plus the product of the coordinate that has no codes."""
    for c in range(len(line)):
        line[c] = np.float32(products[c]) * (steps[c] * step) + head * heads[c]


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
def count_by_part(  # noqa: PLR0912 - one loop
    scores: Float32,
    products: Int32,
    left_steps: Float32,
    left_errors: Float64,
    right_steps: Float32,
    farthest: float,
    left_rest: Float32,
    right_rest: Float32,
    slack: float,
    width: int,
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
    pair_mates: Int64,
    pair_similarity: Float64,
    pair_low: Float32,
    pair_high: Float32,
    greater: Int64,
    ties: Int64,
) -> None:
    """As ``count_above_and_tied``, for all queries, from ``scores [lines, columns]`` of the first ``width`` of the
    coordinates ``left_rotated [lines, K]`` and ``right_rotated [columns, K]``, or from ``products`` of their codes as
    in ``count_by_codes``, without the first coordinate; the other has no lines.

    Besides the error of codes, they are off by at most ``left_rest[i] * right_rest[c] + slack``. To items which that
    does not decide the other coordinates are added: then they are off by ``left_last[i] * right_last[c]`` instead.
    Those still undecided are multiplied in float32, as rows of ``left`` and ``right``, and those too close even so
    compared in float64.
    """
    lines, columns = len(query_items), len(right)
    flags, found = _room_for_flags(columns), np.empty(columns + 8, dtype=np.int64)
    room, heads = np.empty(columns, dtype=np.float32), np.empty(columns, dtype=np.float32)
    again = np.empty(columns, dtype=np.float32)
    if len(products):
        for c in range(columns):
            heads[c] = right_rotated[c, 0]
    for i in range(lines):
        x, off, line = query_items[i], slack, room
        if len(products):
            _scores_by_part(products[i], left_steps[i], right_steps, left_rotated[i, 0], heads, line)
            off += slack_of_codes(left_errors[i], farthest) * (1.0 + slack)
        else:
            line = scores[i]
        if not cosine:
            _subtract(line, half_squares)
        if first_item <= x < first_item + columns:
            line[x - first_item] = -np.inf  # the query is not its own candidate
        for pair in range(pair_starts[i] - pair_starts[0], pair_starts[i + 1] - pair_starts[0]):
            low = np.nextafter(np.float32(pair_low[pair] - off), np.float32(-np.inf))
            high = np.nextafter(np.float32(pair_high[pair] + off), np.float32(np.inf))
            _flag(line, left_rest[i], right_rest, low, flags[:columns])
            count = _flagged(flags, found)
            if count == 0:
                continue
            for f in range(count):
                again[f] = line[found[f]]
            above, count = _still_open(again, left_rest[i], right_rest, low, high, found, count)
            greater[pair] += above
            if width < left_rotated.shape[1]:
                _products_of(left_rotated[i], right_rotated, width, found[:count], again)
                for f in range(count):
                    again[f] += line[found[f]]
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
                    pair_mates[pair],
                    matrix,
                    norms,
                    cosine,
                    x,
                    pair_similarity[pair],
                    tau,
                )
                greater[pair] += more[0]
                ties[pair] += more[1]


# As ``_count``, for scores that are not stored.
@numba.njit(nogil=True, cache=True, fastmath={"reassoc"})  # type: ignore[untyped-decorator]
def _count_products(
    products: Int32, left_step: np.float32, right_steps: Float32, low: np.float32, high: np.float32
) -> tuple[int, int]:
    one, zero = np.float32(1), np.float32(0)
    above, not_below = zero, zero
    for c in range(len(products)):
        score = np.float32(products[c]) * (right_steps[c] * left_step)
        above += one if score > high else zero
        not_below += one if score >= low else zero
    return int(above), int(not_below)


@numba.njit(nogil=True, cache=True)  # type: ignore[untyped-decorator]
def count_by_codes(
    products: Int32,
    left_steps: Float32,
    left_errors: Float64,
    right_steps: Float32,
    farthest: float,
    left: Float32,
    right: Float32,
    first_item: int,
    matrix: Float32,
    norms: Float64,
    tau: float,
    query_items: Int64,
    pair_starts: Int64,
    pair_mates: Int64,
    pair_similarity: Float64,
    pair_low: Float32,
    pair_high: Float32,
    most_unsure: int,
    greater: Int64,
    ties: Int64,
    unsure: Int64,
) -> int:
    """As ``count_above_and_tied`` for cosine, from ``products [lines, columns] int32`` of codes, for all queries.

    Scores (see ``scores_of_products``) have a larger error, which follows from ``left_errors [lines]`` and the largest
    error of an item, ``farthest``. Items that they leave undecided are multiplied in float32, as rows of ``left`` and
    ``right``, and compared in float64 where that is too close. Lines with more than ``most_unsure`` of them are not
    counted but listed in ``unsure [lines]``. Returns their number.
    """
    lines, columns = products.shape
    n_unsure = 0
    scores, flags = np.empty(columns, dtype=np.float32), _room_for_flags(columns)
    found, again = np.empty(columns + 8, dtype=np.int64), np.empty(columns, dtype=np.float32)
    low, high = np.empty(len(pair_mates), dtype=np.float32), np.empty(len(pair_mates), dtype=np.float32)
    above, between = np.empty(len(pair_mates), dtype=np.int64), np.empty(len(pair_mates), dtype=np.int64)
    for i in range(lines):
        x, line = query_items[i], products[i]
        own = x - first_item if first_item <= x < first_item + columns else -1
        first, last = pair_starts[i] - pair_starts[0], pair_starts[i + 1] - pair_starts[0]
        n_between, slack = 0, slack_of_codes(left_errors[i], farthest)
        for pair in range(first, last):
            low[pair] = np.nextafter(np.float32(pair_low[pair] - slack), np.float32(-np.inf))
            high[pair] = np.nextafter(np.float32(pair_high[pair] + slack), np.float32(np.inf))
            above[pair], not_below = _count_products(line, left_steps[i], right_steps, low[pair], high[pair])
            if own >= 0:  # the query is not its own candidate
                score = np.float32(line[own]) * (right_steps[own] * left_steps[i])
                above[pair] -= score > high[pair]
                not_below -= score >= low[pair]
            between[pair] = not_below - above[pair]
            n_between += between[pair]
        if n_between > most_unsure:
            unsure[n_unsure] = i
            n_unsure += 1
            continue
        if n_between > 0:
            scores_of_products(line, left_steps[i], right_steps, scores)
            if own >= 0:
                scores[own] = -np.inf
        for pair in range(first, last):
            greater[pair] += above[pair]
            if between[pair] > 0:
                _flag_between(scores, low[pair], high[pair], flags[:columns])
                count = _flagged(flags, found)
                _products_of(left[i], right, 0, found[:count], again)
                certain, count = _between(again, pair_low[pair], pair_high[pair], found, count)
                greater[pair] += certain
                if count > 0:
                    more = _computed_again(
                        found[:count],
                        first_item,
                        pair_mates[pair],
                        matrix,
                        norms,
                        True,
                        x,
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


@numba.njit(nogil=True, cache=True, fastmath={"contract"})  # type: ignore[untyped-decorator]
def _shifted_scores(
    products: Int32,
    left_step: np.float32,
    right_steps: Float32,
    left_shift: np.float32,
    right_shift: Float32,
    scores: Float32,
) -> None:
    for c in range(len(products)):
        scores[c] = np.float32(products[c]) * (right_steps[c] * left_step) + (right_shift[c] + left_shift)


# As ``_flag``, without a bound to add.
@numba.njit(nogil=True, cache=True)  # type: ignore[untyped-decorator]
def _flag_whole(line: Float32, low: np.float32, flags: Int8) -> None:
    for c in range(len(line)):
        flags[c] = line[c] >= low


@numba.njit(nogil=True, cache=True)  # type: ignore[untyped-decorator]
def keep_above(  # noqa: PLR0912 - one loop
    scores: Float32,
    products: Int32,
    left_steps: Float32,
    right_steps: Float32,
    left_shift: Float32,
    right_shift: Float32,
    left_rest: Float32,
    right_rest: Float32,
    left_off: Float64,
    left: Float32,
    right: Float32,
    halves: Float32,
    first_item: int,
    kept: Float32,
    items: Int64,
    filled: Int64,
    floors: Float32,
) -> None:
    """Add one tile of scores to the highest so far of every query, but none below its floor.

    ``scores [q, columns] float32``, overwritten, or in their place ``products`` of codes (times both steps, plus both
    shifts; else without lines), are off by at most ``left_rest[i] * right_rest[c] + left_off[i]``. Those that may reach
    the floor are multiplied in float32, as rows of ``left`` and ``right``. Where the rests are empty, the scores are
    these products, less ``halves[c]`` (unless empty). Column c is item ``first_item + c``.

    ``kept [q, w] float32`` are min-heaps with the numbers ``items [q, w]``; ``filled [q]`` of their places are taken.
    ``floors [q] float32`` rise to the lowest of a full heap.
    """
    columns, width = len(right), kept.shape[1]
    flags = _room_for_flags(columns)
    eights = flags.view(np.int64)  # most are zero
    room = np.empty(columns, dtype=np.float32)
    is_whole = len(right_rest) == 0
    for i in range(len(left)):
        line = room
        if len(products):
            _shifted_scores(products[i], left_steps[i], right_steps, left_shift[i], right_shift, line)
        else:
            line = scores[i]
        if len(halves):
            _subtract(line, halves)
        floor, count, rest = floors[i], filled[i], np.float32(0)
        low = np.nextafter(np.float32(floor - left_off[i]), np.float32(-np.inf))
        if is_whole:
            _flag_whole(line, low, flags[:columns])
        else:
            rest = left_rest[i]
            _flag(line, rest, right_rest, low, flags[:columns])
        for eight in range(len(eights)):
            if eights[eight] == 0:
                continue
            for c in range(8 * eight, min(8 * eight + 8, columns)):
                if flags[c] == 0:
                    continue
                score = line[c]
                if not is_whole:
                    if score + rest * right_rest[c] < low:  # it has risen
                        continue
                    score = _float32_product(left[i], right[c])
                if score < floor:
                    continue
                if count < width:
                    _rise(kept[i], items[i], count, score, first_item + c)
                    count += 1
                elif score > kept[i, 0]:
                    _sink(kept[i], items[i], score, first_item + c)
                if count == width and kept[i, 0] > floor:
                    floor = kept[i, 0]
                    low = np.nextafter(np.float32(floor - left_off[i]), np.float32(-np.inf))
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
