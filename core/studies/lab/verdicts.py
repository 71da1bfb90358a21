"""Which choice moves the ranking of encoders, and whether one encoder is before another whatever is chosen."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations

import numpy as np

from core.numerics.statistics import rankings
from core.studies.lab.cells import Scores
from core.studies.lab.grid import Setting
from core.types import Float64


class Knob(StrEnum):
    """A choice that a score depends on."""

    METRIC = "similarity"
    TRANSFORM = "transform"
    SIZE = "size"
    READING = "score"

    def choice(self, setting: Setting) -> str:
        """What is chosen."""
        match self:
            case Knob.METRIC:
                return setting.metric
            case Knob.TRANSFORM:
                return setting.transform
            case Knob.SIZE:
                return setting.size
            case Knob.READING:
                return setting.reading.label

    def context(self, setting: Setting) -> tuple[str, ...]:
        """All the other choices."""
        return tuple(knob.choice(setting) for knob in Knob if knob is not self)


def contexts(settings: Sequence[Setting], knob: Knob) -> list[list[int]]:
    """Settings that differ in one choice alone, as lists of their numbers; those that stand alone are left out.

    Chains of the same steps in another order have the same transform and size: they are told apart by their order.
    """
    groups: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for number, setting in enumerate(settings):
        groups[knob.context(setting)].append(number)
    out = []
    for group in groups.values():
        if len({knob.choice(settings[i]) for i in group}) == len(group):
            out.append(group)
            continue
        by_order: dict[tuple[str, ...], list[int]] = defaultdict(list)
        for i in group:
            by_order[settings[i].order].append(i)
        out += by_order.values()
    return [group for group in out if len(group) > 1]


@dataclass(frozen=True)
class Effect:
    """How far the ranking stays when one choice alone changes.

    Attributes:
        pairs: of settings that differ in this choice alone, and whose rankings can be correlated.
        mean, least: Kendall's tau-b of their rankings.
        same: share of them with the very same ranking, ties included.
    """

    knob: Knob
    pairs: int
    mean: float
    least: float
    same: float


def effects(scores: Scores, decimals: int = rankings.DECIMALS) -> tuple[Effect, ...]:
    """Per choice that was varied, how far the ranking of encoders stays; the one that moves it most first.

    Args:
        scores: of settings that can be ranked (``Scores.ranked``).
    """
    better = rankings.oriented(scores.values, scores.directions, decimals)
    tau, places = rankings.kendall(better), rankings.places(better)
    out = []
    for knob in Knob:
        pairs = [pair for group in contexts(scores.settings, knob) for pair in combinations(group, 2)]
        pairs = [(i, j) for i, j in pairs if not np.isnan(tau[i, j])]
        if pairs:
            values = np.array([tau[i, j] for i, j in pairs])
            same = [bool(np.array_equal(places[:, i], places[:, j], equal_nan=True)) for i, j in pairs]
            out.append(Effect(knob, len(pairs), float(values.mean()), float(values.min()), float(np.mean(same))))
    return tuple(sorted(out, key=lambda effect: effect.mean))


@dataclass(frozen=True)
class Lead:
    """With one value of a choice, in how many of the contexts that it is decisive in the trailing encoder leads."""

    value: str
    leads: int
    cases: int


@dataclass(frozen=True)
class Flip:
    """A choice that alone turns which of two encoders is before the other.

    Attributes:
        turned: contexts (all other choices held) in which it does, out of ``cases`` in which it was varied.
        where: values with which the encoder that is otherwise behind leads, in those contexts; most often first.
    """

    knob: Knob
    turned: int
    cases: int
    where: tuple[Lead, ...]


@dataclass(frozen=True)
class Verdict:
    """How two encoders stand to each other over all settings that both have.

    Attributes:
        first: the encoder that leads in more of them; of equally many, the one that was named first.
        leads, trails, ties: settings in which it is before ``second``, behind it, or equal.
    """

    first: str
    second: str
    leads: int
    trails: int
    ties: int
    flips: tuple[Flip, ...]

    @property
    def settings(self) -> int:
        return self.leads + self.trails + self.ties

    @property
    def is_stable(self) -> bool:
        """Never the other way round, and not always equal."""
        return self.leads > 0 and self.trails == 0

    @property
    def is_tied(self) -> bool:
        """Equal wherever they were compared."""
        return self.settings > 0 and self.leads == self.trails == 0


def verdicts(scores: Scores, decimals: int = rankings.DECIMALS) -> tuple[Verdict, ...]:
    """Of every two encoders that share a setting, in their order.

    Args:
        scores: of settings that can be ranked (``Scores.ranked``).
        decimals: to which scores are rounded: what is equal then is tied.
    """
    better = rankings.oriented(scores.values, scores.directions, decimals)
    return tuple(
        verdict
        for a, b in combinations(range(len(scores.encoders)), 2)
        if (verdict := _verdict(scores, a, b, np.sign(better[a] - better[b]))).settings
    )


def _verdict(scores: Scores, a: int, b: int, signs: Float64) -> Verdict:
    """Of two encoders; ``signs [s]``: 1 where a leads, -1 where b does, 0 where tied, NaN where one is missing."""
    leads, trails = int((signs > 0).sum()), int((signs < 0).sum())
    if trails > leads:
        a, b, signs, leads, trails = b, a, -signs, trails, leads
    flips = tuple(_flips(scores.settings, signs))
    return Verdict(scores.encoders[a], scores.encoders[b], leads, trails, int((signs == 0).sum()), flips)


def _flips(settings: Sequence[Setting], signs: Float64) -> Iterator[Flip]:
    known = [i for i in range(len(settings)) if not np.isnan(signs[i])]
    for knob in Knob:
        groups = [[known[i] for i in group] for group in contexts([settings[i] for i in known], knob)]
        turning = [group for group in groups if {1.0, -1.0} <= {float(signs[i]) for i in group}]
        if turning:
            leads: Mapping[str, list[bool]] = defaultdict(list)
            for group in turning:
                for i in group:
                    leads[knob.choice(settings[i])].append(bool(signs[i] < 0))
            where = [Lead(value, sum(cases), len(cases)) for value, cases in leads.items() if any(cases)]
            where.sort(key=lambda lead: (-lead.leads / lead.cases, -lead.leads))
            yield Flip(knob, len(turning), len(groups), tuple(where))


def in_words(verdict: Verdict, most: int = 4) -> str:
    """A verdict as one or two plain sentences.

    Args:
        most: values that are named per choice.
    """
    first, second, n = verdict.first, verdict.second, verdict.settings
    everywhere = f"all {n} settings" if n > 1 else "the only setting"
    if verdict.is_tied:
        return f"{first} and {second} are equal in {everywhere}."
    if verdict.is_stable:
        if not verdict.ties:
            return f"{first} is before {second} in {everywhere}."
        return (
            f"{first} is before {second} in {verdict.leads} of {n} settings, equal in {verdict.ties}, behind in none."
        )
    equal = f", equal in {verdict.ties}" if verdict.ties else ""
    start = f"{first} is before {second} in {verdict.leads} of {n} settings, behind in {verdict.trails}{equal}."
    if not verdict.flips:
        return f"{start} No choice turns it alone: only several at once."
    parts = []
    for flip in sorted(verdict.flips, key=lambda f: -f.turned / f.cases):
        named = [f"{lead.value} ({lead.leads} of {lead.cases})" for lead in flip.where[:most]]
        more = f" and {len(flip.where) - most} more" if len(flip.where) > most else ""
        parts.append(
            f"the {flip.knob} (turns it in {flip.turned} of {flip.cases} cases: {second} leads with "
            f"{', '.join(named)}{more})"
        )
    return f"{start} It depends on {'; on '.join(parts)}."
