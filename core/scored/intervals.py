"""How sure the correlations of scored pairs are, and whether the three of them order encoders alike (Eger 2019)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from core.numerics.correlations import KINDS, Resampled, correlations, interval_of, resampled
from core.numerics.stats import Interval
from core.scored.table import ScoredTable
from core.types import Float64

ALL, MEAN = "all pairs", "weighted mean"


@dataclass(frozen=True)
class Estimate:
    """A correlation with its 95% bootstrap interval over pairs; None where it has none."""

    value: float
    interval: Interval | None


@dataclass(frozen=True)
class Row:
    """The correlations over some pairs.

    Attributes:
        of: ``ALL``, ``MEAN`` (of the sets, weighted by their pairs), or the name of a set.
        pairs: how many.
        estimates: per correlation; one that is undefined is left out.
    """

    of: str
    pairs: int
    estimates: Mapping[str, Estimate]


def rows_of(predicted: Float64, gold: Float64, sets: Sequence[str]) -> tuple[Row, ...]:
    """All pairs; where there are several sets also their weighted mean and each of them.

    The sets are drawn from one by one, and the mean's weights stay: its interval is that of these very sets.

    Args:
        predicted, gold: ``[m]``.
        sets: ``[m]``, the set of each pair.
    """
    drawn = resampled(predicted, gold)
    out = [_row(ALL, predicted, gold, drawn)]
    names = list(dict.fromkeys(sets))
    if len(names) < 2:
        return tuple(out)
    of_set = np.asarray(sets)
    inside = {name: of_set == name for name in names}
    draws = {name: resampled(predicted[here], gold[here]) for name, here in inside.items() if here.sum() > 1}
    each = [_row(name, predicted[here], gold[here], draws.get(name)) for name, here in inside.items()]
    return (*out, _mean(each, draws), *each)


def _row(of: str, predicted: Float64, gold: Float64, drawn: Resampled | None) -> Row:
    found = correlations(predicted, gold)
    estimates = {
        kind: Estimate(value, None if drawn is None else interval_of(drawn.of(kind)))
        for kind in KINDS
        if not np.isnan(value := getattr(found, kind))
    }
    return Row(of, len(gold), estimates)


def _mean(each: Sequence[Row], draws: Mapping[str, Resampled]) -> Row:
    weights = np.array([row.pairs for row in each])
    estimates = {}
    for kind in KINDS:
        if not all(kind in row.estimates for row in each):  # as the diagnostic: no mean of something else
            continue
        value = float(np.average([row.estimates[kind].value for row in each], weights=weights))
        shortest = min(len(draws[row.of].of(kind)) for row in each)
        together = np.average([draws[row.of].of(kind)[:shortest] for row in each], axis=0, weights=weights)
        estimates[kind] = Estimate(value, interval_of(together))
    return Row(MEAN, int(weights.sum()), estimates)


# --- do the correlations agree?


@dataclass(frozen=True)
class Disagreement:
    """Two runs that one correlation puts in another order than another does.

    Attributes:
        differences: per correlation the first's less the second's, with the interval over the same resamples.
    """

    first: str
    second: str
    differences: Mapping[str, Estimate]

    @property
    def beyond_chance(self) -> bool:
        """Whether one correlation puts the first ahead and another the second, both with intervals that leave out 0."""
        ends = [one.interval for one in self.differences.values() if one.interval is not None]
        return any(end.low > 0 for end in ends) and any(end.high < 0 for end in ends)


def disagreements(table: ScoredTable, run_ids: Sequence[str]) -> tuple[Disagreement, ...]:
    """The pairs of runs on whose order the three correlations over all pairs do not agree."""
    values = {i: correlations(table.similarity[i], table.gold) for i in run_ids}
    found = []
    for first, second in combinations(run_ids, 2):
        signs = {np.sign(getattr(values[first], kind) - getattr(values[second], kind)) for kind in KINDS}
        if len(signs) > 1:
            found.append((first, second))
    drawn = {i: resampled(table.similarity[i], table.gold) for i in {i for pair in found for i in pair}}
    return tuple(
        Disagreement(
            first,
            second,
            {
                kind: Estimate(
                    getattr(values[first], kind) - getattr(values[second], kind),
                    interval_of(drawn[first].of(kind) - drawn[second].of(kind)),
                )
                for kind in KINDS
            },
        )
        for first, second in found
    )
