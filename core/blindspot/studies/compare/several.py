"""Comparison of several variants: wins between each two, and scores against costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from blindspot.numerics.statistics.compare import PairedTest, Verdict
from blindspot.numerics.statistics.intervals import Interval
from blindspot.studies.compare.costs import Cost, CostKind
from blindspot.studies.compare.rows import Row
from blindspot.types import Bool, Float64, Int64
from blindspot.variants import Variant

ByPair = Mapping[tuple[Variant, Variant], Sequence[Row]]


@dataclass(frozen=True, eq=False)
class Wins:
    """On how many scores one variant is better than another by more than chance.

    Attributes:
        wins: ``[v, v]``, of the row's variant over the column's; ``shared``: scores that both have, tested or not.
    """

    variants: tuple[Variant, ...]
    wins: Int64
    shared: Int64

    @property
    def total(self) -> Int64:
        """Wins minus losses of each variant against all others, ``[v]``."""
        return np.asarray(self.wins.sum(axis=1) - self.wins.sum(axis=0))


def wins(by_pair: ByPair, variants: Sequence[Variant]) -> Wins:
    """The matrix of ``rows.compare_all``; only scores that decide count."""
    row_of = {variant: i for i, variant in enumerate(variants)}
    won, shared = (np.zeros((len(variants), len(variants)), dtype=np.int64) for _ in range(2))
    for (a, b), rows in by_pair.items():
        i, j = row_of[a], row_of[b]
        deciding = [row for row in rows if row.decides]
        shared[i, j] = shared[j, i] = len(deciding)
        won[i, j] = sum(row.verdict is Verdict.BETTER for row in deciding)
        won[j, i] = sum(row.verdict is Verdict.WORSE for row in deciding)
    return Wins(tuple(variants), won, shared)


# --- scores against costs


@dataclass(frozen=True)
class Point:
    """A variant's score on a dataset, with its 95% interval where there is one, and its cost."""

    variant: Variant
    score: float
    interval: Interval | None
    cost: float
    on_front: bool


def scored(by_pair: ByPair) -> list[tuple[str, str]]:
    """Diagnostic and dataset of every score that decides, in the order of the rows."""
    rows_that_decide = (row for rows in by_pair.values() for row in rows if row.decides)
    return list(dict.fromkeys((row.entry.id, row.dataset) for row in rows_that_decide))


def difference_of(by_pair: ByPair, score: tuple[str, str]) -> PairedTest | None:
    """One of the differences of a score: it knows the score's name and which way is better."""
    every_row = (row for rows in by_pair.values() for row in rows)
    return next((row.difference for row in every_row if (row.entry.id, row.dataset) == score), None)


@dataclass(frozen=True)
class Points:
    """Variants that have a score on the same items and a known cost; ``elsewhere`` have it on other items alone."""

    points: tuple[Point, ...]
    elsewhere: tuple[Variant, ...]


def points(by_pair: ByPair, score: tuple[str, str], costs: Mapping[Variant, Cost], kind: CostKind) -> Points:
    """Every variant's score and cost, on the items that most of them have."""
    of_items: dict[str, dict[Variant, tuple[float, Interval | None]]] = {}  # by the items that both runs ranked
    sign = 1
    for rows in by_pair.values():
        for row in rows:
            if (row.entry.id, row.dataset) == score:
                difference = row.difference
                sign = difference.sign
                same = of_items.setdefault(row.a.plan.covered_digest, {})
                same.setdefault(row.a.plan.variant, (difference.a, difference.a_interval))
                same.setdefault(row.b.plan.variant, (difference.b, difference.b_interval))
    values = max(of_items.values(), key=len, default={})
    elsewhere = {variant: None for same in of_items.values() for variant in same if variant not in values}
    costs_of = [(variant, kind.of(costs[variant])) for variant in values]
    has_cost = [(variant, float(cost)) for variant, cost in costs_of if cost is not None]
    better = np.array([sign * values[variant][0] for variant, _ in has_cost], dtype=np.float64)
    cheaper = np.array([-cost for _, cost in has_cost], dtype=np.float64)
    best = front(better, cheaper)
    return Points(
        tuple(
            Point(variant, *values[variant], cost, bool(on_front))
            for (variant, cost), on_front in zip(has_cost, best, strict=True)
        ),
        tuple(elsewhere),
    )


def front(better: Float64, cheaper: Float64) -> Bool:
    """Which of the points ``[n]`` no other one beats by being at least as good in both and better in one (Pareto)."""
    at_least = (better[:, None] >= better) & (cheaper[:, None] >= cheaper)
    above = (better[:, None] > better) | (cheaper[:, None] > cheaper)
    return np.asarray(~(at_least & above).any(axis=0))
