"""One rule for the level of every tested finding: what a score must be ahead of, or behind.

A strength is ahead of chance, or of a written value beyond chance, and of every baseline that was compared: words alone
and encoders without meaning. A blind spot is behind chance or behind a baseline; that less was reached than a written
value asks for does not suffice, since it may be more than anything could reach. All that a level takes must be
significant together: its p is the largest (an intersection-union test, Berger 1982).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from blindspot.numerics.statistics.intervals import ALPHA


class Level(StrEnum):
    """How much a finding matters, worst first."""

    BLIND_SPOT = "blind spot"  # worse than chance or than a baseline
    CAUTION = "caution"  # not comparable, no significant difference, less than is asked for, ties, leak, low coverage
    STRENGTH = "strength"  # better than chance and than the baselines


class Rule(StrEnum):
    """How the level of a finding follows from what its value is compared with."""

    FACT = "a caution: counted, or tested against what it should be"
    STRENGTH = "a strength, if ahead of all"
    BLIND_SPOT = "a blind spot, if behind all"
    IF_SURE = "a blind spot if it is significant, otherwise a caution"
    LESS = "less than is asked for: a caution, and a blind spot where chance or a baseline is better; untested a fact"
    GRADED = "a strength if more is reached than is asked for, otherwise as LESS"


class Rival(StrEnum):
    """What a score is compared with."""

    CHANCE = "chance"
    ASKED = "the value asked for"  # written beside the finding, and beyond chance
    BASELINE = "baseline"  # knows only spelling and words


@dataclass(frozen=True)
class Compared:
    """A score against a rival.

    Attributes:
        lead: how much better the score is; negative where it is worse.
        p: two-sided, corrected for the choice of the rival; NaN where there is no test.
    """

    rival: Rival
    lead: float
    p: float

    @property
    def ahead(self) -> float:
        """The p-value of being better; 1 on the other side, and without a test."""
        return self.p if self.lead > 0 and not math.isnan(self.p) else 1.0

    @property
    def behind(self) -> float:
        """The p-value of being worse; 1 on the other side, and without a test."""
        return self.p if self.lead < 0 and not math.isnan(self.p) else 1.0


def by_chance(lead: float, p: float) -> tuple[Compared]:
    """The comparison with chance, where nothing else is compared."""
    return (Compared(Rival.CHANCE, lead, p),)


def p_of(level: Level, against: Sequence[Compared]) -> float:
    """The p-value that the rule gives a strength or blind spot.

    Raises:
        ValueError: the level takes a comparison that was not made, or there is no rule for it.
    """
    rivals = {rival_test.rival for rival_test in against}
    if level is Level.STRENGTH and rivals & {Rival.CHANCE, Rival.ASKED}:
        return max(rival_test.ahead for rival_test in against)
    if level is Level.BLIND_SPOT and rivals & {Rival.CHANCE, Rival.BASELINE}:
        return max(rival_test.behind for rival_test in against)
    raise ValueError(f"a {level} against {', '.join(sorted(rivals)) or 'nothing'}")


def furthest_ahead(rivals: Iterable[Compared]) -> Compared | None:
    """The rival that a score is most surely behind, its p corrected for the choice (Bonferroni); None for none."""
    tests = list(rivals)
    if not tests:
        return None
    surest = min(tests, key=lambda rival_test: (rival_test.behind, rival_test.lead))
    return Compared(surest.rival, surest.lead, min(1.0, surest.p * len(tests)))


@dataclass(frozen=True)
class Graded:
    """A level with the comparisons that it takes; ``better``: the rival of a blind spot by ``Rule.LESS``."""

    level: Level
    p: float | None
    against: tuple[Compared, ...] = ()
    better: Rival | None = None


def levels(rule: Rule, p: float | None, against: Sequence[Compared]) -> list[Graded]:
    """The levels of which a value is a hypothesis, significant or not.

    A caution and a blind spot are of one kind, so that the worse one is shown alone.

    Args:
        p: of a fact; None if it is counted.
        against: the value asked for comes first, where the rule takes one; then chance, if the score can be worse than
            it, and baselines.
    """
    if rule is Rule.FACT or (rule is Rule.LESS and not against) or (rule is Rule.IF_SURE and (p is None or p >= ALPHA)):
        return [Graded(Level.CAUTION, p)]
    if rule in {Rule.STRENGTH, Rule.BLIND_SPOT, Rule.IF_SURE} or (rule is Rule.GRADED and against[0].lead >= 0):
        level = Level.BLIND_SPOT if rule in {Rule.BLIND_SPOT, Rule.IF_SURE} else Level.STRENGTH
        return [Graded(level, p_of(level, against), tuple(against))]
    asked, *others = against
    out = [Graded(Level.CAUTION, asked.behind)]
    if better := furthest_ahead(others):
        both = (asked, better)
        out.append(Graded(Level.BLIND_SPOT, p_of(Level.BLIND_SPOT, both), both, better.rival))
    return out
