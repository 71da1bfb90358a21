"""Rows of a table that are none: names of types under the header, and sums or means of the rows above at the end."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence

from blindspot.texts import column_key

_TYPES = frozenset(
    "string str text varchar char object category categorical float float32 float64 double real decimal number numeric "
    "int int32 int64 integer bigint long short bool boolean enum date datetime timestamp list".split()
)
_Statistic = Callable[[Sequence[float]], float]
_SUM = "total totals sum subtotal grandtotal gesamt summe suma totale totaal soma итого всего 合计 合計"
_MEAN = "mean average avg mittelwert durchschnitt moyenne media promedio média gemiddelde średnia среднее 平均"
_COUNT = "count n anzahl nombre número numero aantal rows 件数"
_STATISTICS: dict[str, tuple[_Statistic, ...]] = {
    **dict.fromkeys(_SUM.split(), (math.fsum, len)),  # a total of texts is their number
    **dict.fromkeys(_MEAN.split(), (statistics.fmean,)),
    **dict.fromkeys(_COUNT.split(), (len,)),
}
# The least of some counts is often that of the last word, too: these count beside a sum or a mean only.
_BESIDE: dict[str, tuple[_Statistic, ...]] = {
    "min": (min,),
    "minimum": (min,),
    "max": (max,),
    "maximum": (max,),
    **dict.fromkeys(("median", "50"), (statistics.median,)),
    **dict.fromkeys(("std", "sd", "stdev", "stddev"), (statistics.stdev, statistics.pstdev)),
}
_MOST = 8  # rows at the end
_FEWEST = 3  # rows above them


def are_types(cells: Sequence[str]) -> bool:
    """Whether a row under a header says of which type each column is."""
    keys = [column_key(cell) for cell in cells]
    return len(keys) > 1 and all(key in _TYPES for key in keys) and not any(" " in cell.strip() for cell in cells)


def may_sum_up(cells: Sequence[object]) -> bool:
    """Whether a row has the name of a sum or mean, and else numbers or nothing."""
    texts = [str(cell).strip() for cell in cells if cell is not None]
    others = [text for text in texts if text and column_key(text) not in _STATISTICS]
    return len(others) < sum(map(bool, texts)) and None not in map(_number, others)


def summaries(rows: Sequence[Sequence[str]]) -> set[int]:
    """Numbers of the last rows that are sums, means or the like of the rows above them, which is computed."""
    begins = len(rows)
    while begins > max(0, len(rows) - _MOST) and _named(rows[begins - 1]) is not None:
        begins -= 1
    if begins < _FEWEST:
        return set()
    summing = {n for n in range(begins, len(rows)) if _sums_up(rows[n], rows[:begins])}
    return summing if any(_named(rows[n]) in _STATISTICS for n in summing) else set()


def _named(cells: Sequence[str]) -> str | None:
    """The statistic that a row names beside numbers or nothing; None for other rows."""
    names = [key for cell in cells if (key := column_key(cell)) in _STATISTICS or key in _BESIDE]
    texts = [cell for cell in cells if cell.strip() and column_key(cell) not in names]
    return names[0] if names and None not in map(_number, texts) else None


def _sums_up(cells: Sequence[str], above: Sequence[Sequence[str]]) -> bool:
    name = _named(cells) or ""
    of = _STATISTICS.get(name) or _BESIDE.get(name) or ()
    numbers = [(column, value) for column, cell in enumerate(cells) if (value := _number(cell)) is not None]
    return bool(numbers) and all(_is_of(cells[c], value, [row[c] for row in above], of) for c, value in numbers)


def _is_of(written: str, value: float, cells: Sequence[str], of: Sequence[_Statistic]) -> bool:
    values = [number for cell in cells if (number := _number(cell)) is not None]
    if not values:  # of texts there is only their number
        return len in of and value == len(cells)
    unit = 10.0 ** -len(written.strip().partition(".")[2])
    return any(abs(statistic(values) - value) <= 0.51 * unit for statistic in of)


def _number(cell: str) -> float | None:
    try:
        value = float(cell)
    except ValueError:
        return None
    return value if math.isfinite(value) else None
