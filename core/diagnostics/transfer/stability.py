"""Does the ranking of encoders hold when the classifier changes? (Eger 2019, section 3: stability of the ranking)

Two encoders are *flipped* between two classifiers when the one that leads with the first trails with the second. It is
*beyond chance* where the 95% bootstrap intervals of both differences leave out 0; else other examples of the same kind
might have given no flip.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from core.diagnostics.transfer.outcomes import Measure, Outcomes
from core.numerics.statistics import rankings
from core.numerics.statistics.confusion import SEED, interval_of
from core.numerics.statistics.intervals import Interval
from core.types import Float64


@dataclass(frozen=True)
class Agreement:
    """How far the rankings of encoders agree over every two classifiers that rank two encoders or more.

    Attributes:
        encoders: how many are ranked.
        pairs: of classifiers.
        kendall, spearman: mean over these; NaN without any.
        least_kendall: the lowest.
        same: in how many of them the ranking is the same.
    """

    encoders: int
    pairs: int
    kendall: float
    spearman: float
    least_kendall: float
    same: int


def agreement(values: Float64) -> Agreement:
    """Of scores ``[e, c]`` of e encoders with c classifiers, NaN where missing; encoders that miss one are left out."""
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
    """Two encoders whose order depends on the classifier, by their places among those compared.

    Attributes:
        leads: the classifier with which ``first`` leads furthest; ``trails``, with which it trails furthest.
    """

    first: int
    second: int
    leads: int
    trails: int


def turned(values: Float64) -> list[Turned]:
    """Every two encoders of scores ``[e, c]`` that lead and trail each other, compared to four decimals."""
    rounded = np.round(values, rankings.DECIMALS)
    out = []
    for a, b in combinations(range(len(values)), 2):
        differences = rounded[a] - rounded[b]
        known = differences[~np.isnan(differences)]
        if len(known) and known.max() > 0 > known.min():
            out.append(Turned(a, b, int(np.nanargmax(differences)), int(np.nanargmin(differences))))
    return out


@dataclass(frozen=True)
class Difference:
    """One encoder's score less another's, with its 95% interval (None where there is none)."""

    value: float
    interval: Interval | None

    @property
    def is_clear(self) -> bool:
        """Whether the interval leaves out 0."""
        return self.interval is not None and (self.interval.low > 0 or self.interval.high < 0)


@dataclass(frozen=True)
class Flip:
    """Two encoders whose order depends on the classifier.

    Attributes:
        leads: by how much the first is ahead with the classifier of ``turned.leads``; ``trails``, likewise (below 0).
    """

    turned: Turned
    leads: Difference
    trails: Difference

    @property
    def is_clear(self) -> bool:
        """Whether it is beyond chance."""
        return self.leads.is_clear and self.trails.is_clear


def flips(
    values: Float64,
    run_ids: Sequence[Sequence[Sequence[str]]],
    tasks: Sequence[Outcomes],
    measure: Measure,
) -> list[Flip]:
    """The flips of scores ``[e, c]``, those beyond chance first.

    Args:
        values: of one task, or means over several, each counting alike.
        run_ids: per task, encoder and classifier.
        tasks: what the runs predicted, per task; resampled on its own in each.
    """

    def difference(one: Turned, classifier: int) -> Difference:
        drawn = [
            found.differences(ids[one.first][classifier], ids[one.second][classifier], measure, SEED + task)
            for task, (ids, found) in enumerate(zip(run_ids, tasks, strict=True))  # independent ones, task by task
        ]
        ends = interval_of(np.mean(drawn, axis=0))
        return Difference(float(values[one.first, classifier] - values[one.second, classifier]), ends)

    found = [Flip(one, difference(one, one.leads), difference(one, one.trails)) for one in turned(values)]
    return sorted(found, key=lambda flip: not flip.is_clear)


def in_words(flip: Flip, encoders: Sequence[str], classifiers: Sequence[str]) -> str:
    """A flip as a sentence; the names are put in as they are."""
    first, second = encoders[flip.turned.first], encoders[flip.turned.second]
    return (
        f"{first} leads {second} with {classifiers[flip.turned.leads]} ({signed(flip.leads)}) and trails with "
        f"{classifiers[flip.turned.trails]} ({signed(flip.trails)})"
    )


def signed(difference: Difference) -> str:
    ends = difference.interval
    return f"{difference.value:+.3f}" + ("" if ends is None else f" [{ends.low:+.3f}, {ends.high:+.3f}]")


def mean_over(values: Mapping[str, Float64]) -> Float64:
    """Mean over tasks of scores ``[e, c]``, NaN where one task has none."""
    return np.asarray(np.mean(list(values.values()), axis=0))
