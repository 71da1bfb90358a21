"""Estimates: values with intervals, which always say what they count as independent."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from blindspot.numerics.statistics.intervals import LEVEL, Interval

ROUNDING = 1e-6  # within which a value may be outside of its interval


class Unit(StrEnum):
    """Independent units, in the plural."""

    COMPONENTS = "groups of pairs"  # that share no text
    TEXTS = "texts"  # pairs that share one depend on each other
    PAIRS = "pairs"
    TRIPLETS = "groups of triplets"  # that share no text
    EXAMPLES = "examples"  # equal ones count once
    SENTENCES = "sentences"
    SENTENCE_GROUPS = "groups of sentences"  # that share no text
    QUERIES = "queries"
    RATERS = "raters"
    FAMILIES = "families of models"
    WORDS = "words"
    CLASSES = "classes"  # of words
    CASES = "groups of cases"  # that share no word
    GROUPS = "groups and outliers"  # cases that share one depend on each other
    EVENTS = "groups of events"  # that share neither verb nor agent
    VERBS = "verbs and agents"  # events that share one depend on each other
    PASSAGES = "passages"


@dataclass(frozen=True)
class Measured:
    """A value with its 95% interval, None if it has none: all that a store or a file keeps of an ``Estimate``.

    Raises:
        ValueError: the interval belongs to another value.
    """

    value: float
    interval: Interval | None

    def __post_init__(self) -> None:
        check_is_inside(self.value, self.interval)

    @property
    def low(self) -> float | None:
        return None if self.interval is None else self.interval.low

    @property
    def high(self) -> float | None:
        return None if self.interval is None else self.interval.high

    @property
    def of_many(self) -> int:
        """How many intervals such as this hold at once in 95% of cases."""
        return 1

    @property
    def despite(self) -> str:
        """As in a ``PairedTest``; always "" here, since nothing is decided."""
        return ""


@dataclass(frozen=True)
class Estimate(Measured):
    """A value with its interval, or with the reason why it has none.

    Attributes:
        method: how the interval was computed, in words.
        unit: the independent unit; ``units`` is their number.
        effective: the equivalent number of equally large units; less than ``units`` if some have much of the data.
        refusal: why there is no interval; "" if there is one.
        level: of the interval.

    Raises:
        ValueError: it has both an interval and a refusal, or neither, or the interval belongs to another value.
    """

    method: str
    unit: Unit
    units: int
    effective: float
    refusal: str = ""
    level: float = LEVEL

    def __post_init__(self) -> None:
        if (self.interval is None) != bool(self.refusal):
            raise ValueError("an estimate has either an interval or the reason why it has none")
        super().__post_init__()

    @property
    def of_many(self) -> int:
        """How many intervals such as this hold at once (``intervals.level_of_each``)."""
        return round((1 - LEVEL) / (1 - self.level))

    @property
    def independent(self) -> str:
        """Independent units, to show with every interval."""
        return independent(self.unit, self.units, self.effective)


@dataclass(frozen=True)
class Sure(Estimate):
    """An estimate that always has its interval."""

    interval: Interval


def independent(unit: Unit, units: int, effective: float) -> str:
    """``3,301 independent groups of pairs``, with the effective n where sizes differ much."""
    text = f"{units:,} independent {unit}"
    worth = round(effective)
    return text if worth >= 0.9 * units else f"{text}, worth {worth:,} of equal size"


def check_is_inside(value: float, interval: Interval | None) -> None:
    """Raises ``ValueError`` for a value outside its interval, except for rounding: value and interval then belong to
    different things."""
    stray = ROUNDING * max(1.0, abs(value))
    if interval is not None and (value < interval.low - stray or value > interval.high + stray):
        raise ValueError(f"{value} is outside of its interval, {interval}")
