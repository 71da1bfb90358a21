"""Items that a second model fixed or broke: what becomes of each from A, the baseline, to B.

Fixed is wrong in A and right in B, broken the other way round; a change among the wrong is neither.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from blindspot.types import Bool, Float64, Int8


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
        codes = np.full(len(a), _CODES[Outcome.BOTH_WRONG])
        codes[a & b] = _CODES[Outcome.BOTH_RIGHT]
        codes[b & ~a] = _CODES[Outcome.FIXED]
        codes[a & ~b] = _CODES[Outcome.BROKEN]
        if known is not None:
            codes[~known] = -1
        return cls(codes.astype(np.int8))

    def of(self, outcome: Outcome) -> Bool:
        """Which items have an outcome, ``[m] bool``."""
        return np.asarray(self.codes == _CODES[outcome])

    @property
    def counts(self) -> Mapping[Outcome, int]:
        return {outcome: int(np.count_nonzero(self.codes == code)) for outcome, code in _CODES.items()}


@dataclass(frozen=True)
class Leads:
    """On how many items B scores higher than A, lower, and the same; items without a score in one do not count."""

    higher: int
    lower: int
    equal: int

    @classmethod
    def of_scores(cls, a: Float64, b: Float64) -> Leads:
        """Of scores ``[m]``; NaN is no score."""
        return cls(*(int(np.count_nonzero(mask)) for mask in (b > a, b < a, a == b)))

    @classmethod
    def of(cls, outcomes: Outcomes) -> Leads:
        """Of items that are right or wrong."""
        n = outcomes.counts
        return cls(n[Outcome.FIXED], n[Outcome.BROKEN], n[Outcome.BOTH_WRONG] + n[Outcome.BOTH_RIGHT])


_CODES = {outcome: code for code, outcome in enumerate(Outcome)}
