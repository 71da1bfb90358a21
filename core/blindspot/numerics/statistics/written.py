"""Numbers as people read them: the one way in which scores, differences, intervals and p-values are written.

No other code writes "95% CI" with its ends, so that an interval is that of the value beside it. Negative numbers have a
minus sign, as on axes of figures, and 0 has no sign. A p-value of random flips cannot be below one in ``FLIPS + 1``,
however different the two are, and a small one is known only to within a factor. So small p-values are written as
bounds, and so are p-values corrected from them. Files for programs have the numbers themselves.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import Protocol

from blindspot.numerics.statistics.intervals import ALPHA, Interval
from blindspot.numerics.statistics.resampling import FLIPS

LEAST = 1 / (FLIPS + 1)  # smaller ones are not told apart
# Below it a p-value is written as a bound: also the least possible one after a correction for the choice among ten.
BOUND = 10 * LEAST
DIFFERENCE = "the difference"  # for ``ci_in_words``
NONE = "–"  # in place of a missing value
SCORE = ".3f"  # of a score; CHANGE of a difference of two
CHANGE = f"+{SCORE}"
IS_HALF = 1e-6  # of the last written digit: closer than this to a half counts as a half
_FIXED = re.compile(r"(\+?),?\.(\d+)(f|%|pp)")  # specs with so many decimals: sign, digits, unit


def number(value: float, spec: str = ".2f") -> str:
    """``0.71``, ``−0.02``; for a difference (``+`` in ``spec``) ``+0.02``; 0 has no sign. Shares as in ``percent``,
    differences of two (``+.1%``) in points: ``+7.9 points``, or ``+7.9`` for ``+.1pp``. NaN is a dash.

    Up to 1 a half is rounded as that of a share, so that a score, a difference and their percents have the same digits.
    """
    if math.isnan(value):
        return NONE
    fixed = _FIXED.fullmatch(spec)
    sign, digits, unit = fixed.groups() if fixed else ("+" * spec.startswith("+"), "", "")
    if unit == "%" and not sign:
        return percent(value, int(digits))
    if unit in {"%", "pp"}:
        text = percent(value, int(digits)).removesuffix("%")
        text = f"{sign}{text}" if value > 0 and text.strip("0.") else text
        return text if unit == "pp" else f"{text} {'point' if text.strip('+−') == '1' else 'points'}"
    if math.isinf(value):
        return f"{'−' if value < 0 else sign}∞"
    if fixed and abs(value) <= 1:  # 37.3% and 0.373, not 0.372
        value = _units(value, 10 ** int(digits)) / 10 ** int(digits)
    text = f"{value:{spec}}"
    if text[0] in "+-" and not text.strip("+-0.%"):
        text = text[1:]
    return text.replace("-", "−")


def each_written(values: Iterable[float], spec: str = SCORE) -> list[str]:
    """Many numbers as texts. Figures write those of hovers with it: a browser rounds and writes in its own way."""
    return [number(value, spec) for value in values]


def score_written(value: float) -> str:
    """``0.507``; of large values, such as ranks in the thousands, one decimal."""
    return number(value, SCORE if abs(value) < 10 else ",.1f")


class HasInterval(Protocol):
    """An ``Estimate``, or a ``PairedTest`` with its difference and the interval of the difference."""

    @property
    def value(self) -> float: ...

    @property
    def interval(self) -> Interval | None: ...

    @property
    def of_many(self) -> int: ...

    @property
    def despite(self) -> str: ...


def interval(bounds: Interval | None, spec: str = ".2f") -> str:
    """``0.68 to 0.74``; with ``%`` at the end of ``spec``, percents or points: ``68 to 74%``. A dash for none."""
    if bounds is None:
        return NONE
    low, high = (number(end, spec) for end in (bounds.low, bounds.high))
    return f"{low.partition(' ')[0].removesuffix('%')} to {high}"


def ci_in_words(estimate: HasInterval | Interval | None, spec: str = ".2f", of: str = "") -> str:
    """``95% CI 0.68 to 0.74``; "" for none.

    An extreme of many is marked: ``95% CI 0.61 to 0.80, of all 14 at once``. If a difference's test disagrees with its
    interval, it says why: ``95% CI +0.01 to +0.09; p = 0.03, 0.06 after correction for several scores``; a tested
    difference without an interval says why, too.

    Args:
        of: the quantity of the interval, if it is not the value before it, such as ``DIFFERENCE``.
    """
    ends, many, despite = (
        (estimate, 1, "")
        if isinstance(estimate, Interval | None)
        else (estimate.interval, estimate.of_many, estimate.despite)
    )
    if ends is None:
        return despite
    at_once = f", of all {many:,} at once" if many > 1 else ""
    return f"95% CI{f' of {of}' if of else ''} {interval(ends, spec)}{at_once}{despite and f'; {despite}'}"


def ci(estimate: HasInterval | Interval | None, spec: str = ".2f", more: str = "") -> str:
    """``ci_in_words`` in brackets, after a space: `` (95% CI 0.68 to 0.74, over 22 verbs)``; ``more``: what follows."""
    text = ci_in_words(estimate, spec)
    return f" ({text}{f', {more}' if more else ''})" if text else ""


def with_ci(estimate: HasInterval, spec: str = ".2f") -> str:
    """A value with its interval: ``0.71 (95% CI 0.68 to 0.74)``."""
    return f"{number(estimate.value, spec)}{ci(estimate, spec)}"


def percent(share: float, decimals: int = 0) -> str:
    """``46%`` for 0.455; halves are rounded toward the middle, so that a share and its complement add up to 100%.

    45.5 and 54.5 become 46 and 54, not 46 and 55; −45.5 is −46. NaN is a dash; infinity stays infinity.
    """
    if not math.isfinite(share):
        return NONE if math.isnan(share) else f"{'−' * (share < 0)}∞%"
    return f"{_units(share, 100 * 10**decimals) / 10**decimals:.{decimals}f}%".replace("-", "−")


def has_half(value: float) -> bool:
    """Whether a fourth digit of 5 ends it, so that a library may write the third one otherwise than ``number``."""
    return abs(value) <= 1 and abs(1000 * abs(value) % 1 - 0.5) < IS_HALF


def _units(value: float, scale: int) -> int:
    """How many units, ``scale`` of which are 1; those of ``-value`` are as many below 0."""
    size = abs(value) * scale
    below = math.floor(size)
    is_half = abs(size - below - 0.5) < IS_HALF
    units = below + (abs(value) < 0.5) if is_half else round(size)
    return -units if value < 0 else units


def p_in_words(p: float, before: float | None = None) -> str:
    """``p = 0.03``, ``p ≤ 0.0001``.

    Args:
        before: the p-value without a correction for several tests, if ``p`` is corrected: if small, ``p`` is a bound.
    """
    sign, number = _written(p, before)
    return f"p {sign} {number}"


def p_in_cell(p: float | None, before: float | None = None) -> str:
    """For a table with p as its heading: ``0.03``, ``≤ 0.0001``, and a dash where there is no test (None, NaN)."""
    if p is None or math.isnan(p):
        return "–"
    sign, number = _written(p, before)
    return number if sign == "=" else f"{sign} {number}"


def _written(p: float, before: float | None) -> tuple[str, str]:
    if (p if before is None else min(before, p)) < BOUND:
        return "≤", f"{_up(max(p, LEAST)):.2g}"
    exact = (f"{p:.{digits}g}" for digits in range(2, 18))
    return "=", next(text for text in exact if float(text) != ALPHA or p == ALPHA)  # 0.04996 is below 0.05


def _up(p: float) -> float:
    """Rounded up to two digits, as a bound is."""
    scale = 10.0 ** (1 - math.floor(math.log10(p)))
    return math.ceil(p * scale - 1e-6) / scale
