"""Items of two runs A and B in tabs: won by A, won by B, wrong in both, and right in both.

An item is won by the run with the higher score on it, as in all comparisons of two runs (``statistics.compare.gains``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from blindspot.types import Bool, Float64, Int8


class Outcome(StrEnum):
    """The outcome of an item; the values are parts of addresses."""

    WON_BY_A = "won-by-a"
    WON_BY_B = "won-by-b"
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
    def of_gains(cls, gain: Float64, right: Bool) -> Outcomes:
        """Outcomes from A's gain over B in each item ``[m]``, NaN where one has no result; where it is 0, ``right``
        says whether both are right."""
        codes = np.where(right, _CODES[Outcome.BOTH_RIGHT], _CODES[Outcome.BOTH_WRONG])
        codes[gain > 0] = _CODES[Outcome.WON_BY_A]
        codes[gain < 0] = _CODES[Outcome.WON_BY_B]
        codes[np.isnan(gain)] = -1
        return cls(codes.astype(np.int8))

    def of(self, outcome: Outcome) -> Bool:
        """Which items have an outcome, ``[m] bool``."""
        return np.asarray(self.codes == _CODES[outcome])

    @property
    def counts(self) -> Mapping[Outcome, int]:
        return {outcome: int(np.count_nonzero(self.codes == code)) for outcome, code in _CODES.items()}


_CODES = {outcome: code for code, outcome in enumerate(Outcome)}
