"""Texts of p-values: the one way in which they are written, in sentences and in tables.

A p-value of random flips cannot be below one in ``FLIPS + 1``, however different the two are, and a small one is known
to within a factor only. So small ones are written as bounds, and what a correction for several tests makes of them too.
Files for programs have the numbers themselves.
"""

from __future__ import annotations

import math

from blindspot.numerics.statistics.intervals import ALPHA
from blindspot.numerics.statistics.resampling import FLIPS

LEAST = 1 / (FLIPS + 1)  # smaller ones are not told apart
# Below it a p-value is written as a bound: also the least one after a correction for the choice among ten.
BOUND = 10 * LEAST


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
    said = f"{p:.2g}"
    return "=", f"{p:.3g}" if float(said) == ALPHA != p else said  # 0.0496 is below 0.05


def _up(p: float) -> float:
    """Rounded up to two digits, as a bound is."""
    scale = 10.0 ** (1 - math.floor(math.log10(p)))
    return math.ceil(p * scale - 1e-6) / scale
