"""Effect of each choice on the ranking of models, and whether two models keep their order under all choices.

All of this compares scores as they are. Nothing is tested, so nothing here is a verdict.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations

import numpy as np

from blindspot.names import current
from blindspot.numerics.statistics import rankings
from blindspot.studies.lab.grid import Scores, Setting
from blindspot.types import Float64


class Knob(StrEnum):
    """A choice that a score depends on."""

    METRIC = "similarity"
    TRANSFORM = "transform"
    SIZE = "size"
    MEASURE = "score"

    def choice(self, setting: Setting) -> str:
        """The value that a setting has for it."""
        return setting.measure.label if self is Knob.MEASURE else str(getattr(setting, self.name.lower()))

    def context(self, setting: Setting) -> tuple[str, ...]:
        """The values of all other choices."""
        return tuple(knob.choice(setting) for knob in Knob if knob is not self)


def contexts(settings: Sequence[Setting], knob: Knob) -> list[list[int]]:
    """Groups of settings that differ only in one choice, as lists of their numbers; two or more each.

    Chains of the same steps in another order have the same transform and size, so that their order decides too.
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
    """The effect of one choice on the ranking, over pairs of settings that differ in this choice alone."""

    knob: Knob
    pairs: int
    mean: float  # of Kendall's tau-b
    least: float
    same: float  # share of the pairs with the same ranking, ties included


CORRELATIONS = {"kendall": rankings.kendall, "spearman": rankings.spearman}


def places(scores: Scores, decimals: int = rankings.DECIMALS) -> Float64:
    """The places of e encoders under s settings, ``[e, s]``; ties share their mean place."""
    return rankings.places(scores.better(decimals))


def agreement(scores: Scores, kind: str, decimals: int = rankings.DECIMALS) -> Float64:
    """The correlation, one of ``CORRELATIONS``, of the rankings by every two of s settings, ``[s, s]``."""
    return CORRELATIONS[kind](scores.better(decimals))


def effects(scores: Scores, decimals: int = rankings.DECIMALS) -> tuple[Effect, ...]:
    """The effect of every choice that varies in ``Scores.ranked``, the largest first."""
    better = scores.better(decimals)
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
    """Contexts in which a choice is decisive, and how many of them put the trailing encoder ahead with this value."""

    value: str
    leads: int
    cases: int

    def __lt__(self, other: Lead) -> bool:
        """Sort by the larger share of its cases, then by frequency."""
        return (-self.leads / self.cases, -self.leads) < (-other.leads / other.cases, -other.leads)


@dataclass(frozen=True)
class Flip:
    """A choice that alone reverses the order of two encoders."""

    knob: Knob
    turned: int  # contexts (all other choices fixed) in which it does
    cases: int  # contexts in which it varies
    where: tuple[Lead, ...]  # its values that put the encoder ahead that is usually behind, the most frequent first


@dataclass(frozen=True)
class Order:
    """The order of two encoders over the settings that both have; ``first`` leads in as many or more.

    Attributes:
        choices: how many different settings these are if the score does not count: similarity, post-processing, size.
    """

    first: str
    second: str
    leads: int
    trails: int
    ties: int
    flips: tuple[Flip, ...]
    choices: int

    @property
    def settings(self) -> int:
        return self.leads + self.trails + self.ties

    @property
    def is_stable(self) -> bool:
        """Whether the first leads somewhere and never trails."""
        return self.leads > 0 and self.trails == 0

    @property
    def is_tied(self) -> bool:
        """Whether they are equal in every setting."""
        return self.settings > 0 and self.leads == self.trails == 0


def orders(scores: Scores, decimals: int = rankings.DECIMALS) -> tuple[Order, ...]:
    """The order of every two encoders that share a setting of ``Scores.ranked``, rounded to some decimals."""
    better = scores.better(decimals)
    return tuple(
        order
        for a, b in combinations(range(len(scores.encoders)), 2)
        if (order := _order(scores, a, b, np.sign(better[a] - better[b]))).settings
    )


def _order(scores: Scores, a: int, b: int, signs: Float64) -> Order:
    """``signs [s]`` are 1 if a leads, -1 if b does, 0 for a tie, NaN if one is missing."""
    leads, trails = int((signs > 0).sum()), int((signs < 0).sum())
    if trails > leads:
        a, b, signs, leads, trails = b, a, -signs, trails, leads
    flips = tuple(_flips(scores.settings, signs))
    choices = {Knob.MEASURE.context(scores.settings[i]) for i in np.flatnonzero(~np.isnan(signs)).tolist()}
    return Order(scores.encoders[a], scores.encoders[b], leads, trails, int((signs == 0).sum()), flips, len(choices))


def _flips(settings: Sequence[Setting], signs: Float64) -> Iterator[Flip]:
    settings_known = [i for i in range(len(settings)) if not np.isnan(signs[i])]
    for knob in Knob:
        groups = [[settings_known[i] for i in group] for group in contexts([settings[i] for i in settings_known], knob)]
        turning = [group for group in groups if {1.0, -1.0} <= {float(signs[i]) for i in group}]
        if turning:
            leads: Mapping[str, list[bool]] = defaultdict(list)
            for group in turning:
                for i in group:
                    leads[knob.choice(settings[i])].append(bool(signs[i] < 0))
            where = [Lead(value, sum(cases), len(cases)) for value, cases in leads.items() if any(cases)]
            yield Flip(knob, len(turning), len(groups), tuple(sorted(where)))


def in_words(order: Order, most: int = 4) -> str:
    """An order as one or two sentences, naming the ``most`` frequent values of each choice."""
    first, second, n = current().model(order.first), current().model(order.second), order.settings
    everywhere = f"all {n} settings" if n > 1 else "the only setting"
    if order.is_tied:
        return f"{first} and {second} have the same score after rounding in {everywhere}."
    if order.is_stable and not order.ties:
        return f"{first} scores better than {second} in {everywhere}."
    ties = f", the same in {order.ties}" if order.ties else ""
    start = f"{first} scores better than {second} in {order.leads} of {n} settings{ties}, worse in "
    if order.is_stable:
        return f"{start}none."
    start = f"{start}{order.trails}."
    if not order.flips:
        return f"{start} No single choice reverses the order, only several at once."
    parts = []
    for flip in sorted(order.flips, key=lambda f: -f.turned / f.cases):
        named = [f"{lead.value} ({lead.leads} of {lead.cases})" for lead in flip.where[:most]]
        more = f" and {len(flip.where) - most} more" if len(flip.where) > most else ""
        parts.append(
            f"the {flip.knob} (reverses it in {flip.turned} of {flip.cases} cases: {second} scores better with "
            f"{', '.join(named)}{more})"
        )
    return f"{start} It depends on {'; on '.join(parts)}."
