"""A number with what is known of how sure it is: never an interval without what it counts as independent."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from core.numerics.statistics.intervals import LEVEL, Interval


class Unit(StrEnum):
    """What is taken for independent of each other, in the plural."""

    COMPONENTS = "groups of pairs"  # that share no text
    TEXTS = "texts"  # pairs that share one depend on each other
    PAIRS = "pairs"
    EXAMPLES = "examples"  # those that say the same are one
    SENTENCES = "sentences"
    QUERIES = "queries"
    RATERS = "raters"
    FAMILIES = "families of models"
    WORDS = "words"
    CLASSES = "classes"  # of words


@dataclass(frozen=True)
class Estimate:
    """A value with its interval, or with the sentence that says why there is none.

    Attributes:
        method: how the interval was computed, in words.
        unit: what is independent; ``units`` are so many of them.
        effective: how many equally large units would say as much; less than ``units`` where a few hold much of the
            data.
        refusal: why there is no interval; empty where there is one.
        level: of the interval.

    Raises:
        ValueError: it has an interval and a refusal, or neither.
    """

    value: float
    interval: Interval | None
    method: str
    unit: Unit
    units: int
    effective: float
    refusal: str = ""
    level: float = LEVEL

    def __post_init__(self) -> None:
        if (self.interval is None) != bool(self.refusal):
            raise ValueError("an estimate has either an interval or a sentence that says why it has none")

    @property
    def low(self) -> float | None:
        return None if self.interval is None else self.interval.low

    @property
    def high(self) -> float | None:
        return None if self.interval is None else self.interval.high

    @property
    def independent(self) -> str:
        """What stands beside every interval."""
        return independent(self.unit, self.units, self.effective)


def independent(unit: Unit, units: int, effective: float) -> str:
    """``3,301 independent groups of pairs``, and what they are worth where some hold far more than others."""
    said = f"{units:,} independent {unit}"
    worth = round(effective)
    return said if worth >= 0.9 * units else f"{said} (effective n = {worth:,})"
