"""Stability of the ranking of encoders over classifiers (Eger 2019, section 3).

Two encoders are *flipped* between two classifiers if the one that leads with the first trails with the second. A flip
is *beyond chance* if the intervals of both differences exclude 0. These intervals hold at once for all differences, of
every two encoders with every classifier.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import comb

import numpy as np

from blindspot.diagnostics.transfer.outcomes import Measure, Outcomes
from blindspot.numerics.statistics import rankings
from blindspot.numerics.statistics.estimate import Estimate
from blindspot.numerics.statistics.pairs import Dependence, change
from blindspot.numerics.statistics.written import interval, number
from blindspot.types import Float64

FEWEST_EXAMPLES = 50  # for an interval of a difference: with fewer, rare classes have too few of them


@dataclass(frozen=True)
class Agreement:
    """Rank correlations of encoders over pairs of classifiers; NaN without any pair that ranks two encoders."""

    encoders: int
    pairs: int
    kendall: float  # mean
    spearman: float  # mean
    least_kendall: float
    same: int  # pairs with the same ranking


def agreement(values: Float64) -> Agreement:
    """The agreement of scores ``[e, c]`` of e encoders with c classifiers; encoders with a NaN are left out."""
    values = values[~np.isnan(values).any(axis=1)]
    encoders, classifiers = values.shape
    nan = float("nan")
    if encoders < 2 or classifiers < 2:
        return Agreement(encoders, 0, nan, nan, nan, 0)
    better = rankings.oriented(values, np.ones(classifiers))
    places = rankings.places(better)
    kendall, spearman = rankings.kendall(better), rankings.spearman(better)
    every = [(i, j) for i, j in combinations(range(classifiers), 2) if not np.isnan(kendall[i, j])]
    if not every:
        return Agreement(encoders, 0, nan, nan, nan, 0)
    taus = [float(kendall[pair]) for pair in every]
    rhos = [float(spearman[pair]) for pair in every]
    same = sum(bool(np.array_equal(places[:, i], places[:, j])) for i, j in every)
    return Agreement(encoders, len(every), float(np.mean(taus)), float(np.mean(rhos)), min(taus), same)


@dataclass(frozen=True)
class Turned:
    """Two encoders whose order depends on the classifier, by number."""

    first: int
    second: int
    leads: int  # the classifier with which the first leads most
    trails: int  # and the one with which it trails most


def turned(values: Float64) -> list[Turned]:
    """Every two encoders of scores ``[e, c]`` in which each leads with some classifier, compared to four decimals."""
    rounded = np.round(values, rankings.DECIMALS)
    out = []
    for a, b in combinations(range(len(values)), 2):
        differences = rounded[a] - rounded[b]
        differences_known = differences[~np.isnan(differences)]
        if len(differences_known) and differences_known.max() > 0 > differences_known.min():
            out.append(Turned(a, b, int(np.nanargmax(differences)), int(np.nanargmin(differences))))
    return out


@dataclass(frozen=True)
class Flip:
    """Two encoders whose order depends on the classifier."""

    turned: Turned
    leads: Estimate  # difference of the first and the second, with the classifier ``turned.leads``
    trails: Estimate  # the same with ``turned.trails``, below 0

    @property
    def is_clear(self) -> bool:
        """Whether it is beyond chance."""
        ends = (self.leads.interval, self.trails.interval)
        return all(interval is not None and (interval.low > 0 or interval.high < 0) for interval in ends)


def flips(
    values: Float64, run_ids: Sequence[Sequence[Sequence[str]]], tasks: Sequence[Outcomes], measure: Measure
) -> list[Flip]:
    """The flips of scores ``[e, c]``, those beyond chance first.

    Args:
        values: of one task, or means over several, each counting alike.
        run_ids: per task, encoder and classifier.
        tasks: what the runs predicted, per task; tasks are independent of each other.
    """
    # A mean over tasks is a weighted mean over the examples of all tasks; only examples of one task can be dependent.
    total, dependence = sum(map(len, tasks)), Dependence.joined([task.known for task in tasks])
    among = comb(len(values), 2) * values.shape[1]

    def difference(turned_pair: Turned, classifier: int) -> Estimate:
        moved = [
            (
                task.influence(ids[turned_pair.first][classifier], measure)
                - task.influence(ids[turned_pair.second][classifier], measure)
            )
            * (total / len(tasks) / len(task))
            for ids, task in zip(run_ids, tasks, strict=True)
        ]
        value = float(values[turned_pair.first, classifier] - values[turned_pair.second, classifier])
        estimate = change(value, np.concatenate(moved), dependence, among)
        if dependence.effective >= FEWEST_EXAMPLES or estimate.refusal:
            return estimate
        return replace(estimate, interval=None, refusal=f"fewer than {FEWEST_EXAMPLES} examples do not tell")

    flips_found = [
        Flip(turned_pair, difference(turned_pair, turned_pair.leads), difference(turned_pair, turned_pair.trails))
        for turned_pair in turned(values)
    ]
    return sorted(flips_found, key=lambda flip: not flip.is_clear)


def in_words(flip: Flip, encoders: Sequence[str], classifiers: Sequence[str]) -> str:
    """A flip as a sentence; the names are not escaped."""
    first, second = encoders[flip.turned.first], encoders[flip.turned.second]
    by = [
        f"{number(difference.value, '+.3f')} ({interval(difference.interval, '+.3f')})"
        for difference in (flip.leads, flip.trails)
    ]
    ahead, behind = classifiers[flip.turned.leads], classifiers[flip.turned.trails]
    return f"{first} leads {second} with {ahead}, by {by[0]}, and trails with {behind}, by {by[1]}"
