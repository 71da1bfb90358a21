"""How often the intervals of the highest and the lowest of many hold the truth, which is the same of all of them.

For the cells of ``promises``. Nothing favors chance more: whichever is named was chosen by noise alone.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.stats import norm, rankdata

from blindspot.numerics.statistics.correlations import spearman_influences
from blindspot.numerics.statistics.estimate import Estimate, Unit
from blindspot.numerics.statistics.intervals import chosen_among, level_of_each
from blindspot.numerics.statistics.pairs import (
    Dependence,
    change,
    correlation,
    difference,
    exact_share,
    share,
)
from blindspot.types import Float64

Rng = np.random.Generator
Measure = Callable[[Rng, int], float | None]


def of(draw: Callable[[Rng], list[Estimate]], truth: float, *, highest_alone: bool = False) -> Measure:
    """Coverage of the highest and the lowest of what is drawn, both at once, or of the highest alone."""

    def measure(rng: Rng, repetitions: int) -> float | None:
        held = 0
        for _ in range(repetitions):
            found = sorted(draw(rng), key=lambda one: one.value)
            ends = [found[-1].interval] if highest_alone else [found[0].interval, found[-1].interval]
            held += all(end is not None and end.low <= truth <= end.high for end in ends)
        return held / repetitions

    return measure


def alone(n: int) -> Dependence:
    return Dependence.of_groups(np.arange(n), Unit.QUERIES)


def models(rng: Rng, k: int, n: int) -> Float64:
    """Normal values ``[k, n]`` of k models on the same items, half of whose variance is of the items."""
    return np.asarray((rng.normal(size=n) + rng.normal(size=(k, n))) / np.sqrt(2))


def best_share(k: int, n: int, truth: float, level: float | None = None) -> Measure:
    """Hits@1 of the best of k models."""
    known, least = alone(n), float(norm.ppf(truth))

    def draw(rng: Rng) -> list[Estimate]:
        return [share((row < least) * 1.0, known, level or level_of_each(chosen_among(k))) for row in models(rng, k, n)]

    return of(draw, truth, highest_alone=True)


def rank_correlations(k: int, n: int, level: float | None = None) -> Measure:
    """Spearman's correlation of models with people."""
    known, r = alone(n), 0.6

    def draw(rng: Rng) -> list[Estimate]:
        people = rng.normal(size=n)
        rows = r * people + np.sqrt(1 - r * r) * models(rng, k, n)
        values = [float(np.corrcoef(rankdata(row), rankdata(people))[0, 1]) for row in rows]
        moved = [spearman_influences(row, people) for row in rows]
        return [correlation(*one, known, level or level_of_each(k)) for one in zip(values, moved, strict=True)]

    return of(draw, 6 / np.pi * np.arcsin(r / 2))


def changes(k: int, n: int, among: int | None = None) -> Measure:
    """Differences of MRR between a model and k others that are as good (Lab)."""
    known = alone(n)

    def draw(rng: Rng) -> list[Estimate]:
        base, *others = 1 / (1 + np.floor(np.exp(1.5 * models(rng, k + 1, n))))
        return [difference(row, base, known, among=among or k) for row in others]

    return of(draw, 0.0)


def flips(k: int, n: int) -> Measure:
    """Differences of accuracy, from how far each example moves them (flips of classifiers)."""
    known = alone(n)

    def draw(rng: Rng) -> list[Estimate]:
        base, *others = (models(rng, k + 1, n) < 1.0) * 1.0
        return [change(float((row - base).mean()), row - base, known, k) for row in others]

    return of(draw, 0.0)


def kinds_lost(k: int, n: int, truth: float) -> Measure:
    """Shares of the items of a kind that a smaller size loses, few of each."""
    known, level = alone(n), level_of_each(k)
    return of(lambda rng: [exact_share((rng.random(n) < truth) * 1.0, known, level) for _ in range(k)], truth)
