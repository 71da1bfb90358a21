"""Items that a second model fixed or broke: what becomes of each from A, the baseline, to B."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from core.types import Bool, Float64, Int8


class Outcome(StrEnum):
    """What became of an item; the values are parts of addresses."""

    FIXED = "fixed"
    BROKEN = "broken"
    BOTH_WRONG = "both-wrong"
    BOTH_RIGHT = "both-right"


@dataclass(frozen=True, eq=False)
class Outcomes:
    """Outcomes of ``m`` items.

    Attributes:
        codes: ``[m] int8``, places in ``Outcome``; -1 where one of the two has no result.
    """

    codes: Int8

    @classmethod
    def of_right(cls, a: Bool, b: Bool, known: Bool | None = None) -> Outcomes:
        """By whether A and B get each item right, ``[m]``; ``known`` is False where one has no result."""
        return cls.of_scores(a.astype(np.float64), b.astype(np.float64), a & b, known)

    @classmethod
    def of_scores(cls, a: Float64, b: Float64, right: Bool, known: Bool | None = None) -> Outcomes:
        """By which score of each item is higher, ``[m]``: fixed where B's is, broken where A's is.

        Args:
            a, b: where one is NaN, there is no result.
            right: whether an item on which both score alike is right.
        """
        alike = np.where(right, _CODES[Outcome.BOTH_RIGHT], _CODES[Outcome.BOTH_WRONG])
        codes = np.where(b > a, _CODES[Outcome.FIXED], np.where(b < a, _CODES[Outcome.BROKEN], alike))
        lacking = np.isnan(a) | np.isnan(b)
        if known is not None:
            lacking |= ~known
        return cls(np.where(lacking, -1, codes).astype(np.int8))

    def of(self, outcome: Outcome) -> Bool:
        """Which items have an outcome, ``[m] bool``."""
        return np.asarray(self.codes == _CODES[outcome])

    @property
    def counts(self) -> Mapping[Outcome, int]:
        return {outcome: int(np.count_nonzero(self.codes == code)) for outcome, code in _CODES.items()}


_CODES = {outcome: code for code, outcome in enumerate(Outcome)}
