"""Numbers in a user's file: a cell that should hold one, and what is said where it does not."""

from __future__ import annotations

import math
from decimal import Decimal

from core.errors import InputError

LONGEST_SHOWN = 40


def finite_number(place: str, cell: object, expected: str, example: str = "") -> float:
    """The number in a cell.

    Args:
        place: file, row and column, for the error.
        expected, example: what should stand there, likewise.

    Raises:
        InputError: there is nothing, no number, or one that is not finite.
    """
    missing = "fill it in or remove the row"
    if cell is None or (isinstance(cell, str) and not cell.strip()):
        raise InputError(f"{place}: nothing there", expected=expected, remedy=missing)
    value = _number(cell)
    if value is None:
        shown = str(cell)
        shown = shown if len(shown) <= LONGEST_SHOWN else f"{shown[:LONGEST_SHOWN]}..."
        raise InputError(f"{place}: '{shown}' is no number", expected=f"{expected}{example}")
    if not math.isfinite(value):
        raise InputError(f"{place}: {value:g}", expected=expected, remedy=missing)
    return value


def _number(cell: object) -> float | None:
    if isinstance(cell, bool) or not isinstance(cell, str | int | float | Decimal):
        return None
    try:
        return float(cell)
    except (ValueError, OverflowError):
        return None
