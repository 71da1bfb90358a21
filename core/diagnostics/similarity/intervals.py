"""How sure the correlations of scored pairs are, and whether the three of them order encoders alike (Eger 2019)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from core.diagnostics.similarity.pairs import ScoredTable
from core.numerics.statistics.correlations import KINDS, correlations, influences
from core.numerics.statistics.estimate import Estimate
from core.numerics.statistics.pairs import Dependence, change, correlation
from core.types import Bool, Float64, Int64

ALL, MEAN = "all pairs", "weighted mean"


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


def rows_of(predicted: Float64, gold: Float64, sets: Sequence[str], ends: tuple[Int64, Int64]) -> tuple[Row, ...]:
    """All pairs; where there are several sets also their weighted mean and each of them.

    Args:
        predicted, gold: ``[m]``.
        sets: ``[m]``, the set of each pair.
        ends: ``[m]`` numbers of each pair's texts, twice.
    """
    names = list(dict.fromkeys(sets))
    whole = _row(ALL, predicted, gold, ends)
    if len(names) < 2:
        return (whole,)
    of_set = np.asarray(sets)
    each = [_row(name, *_within(of_set == name, predicted, gold, ends)) for name in names]
    return (whole, _mean(each, of_set, predicted, gold, ends), *each)


def _within(
    here: Bool, predicted: Float64, gold: Float64, ends: tuple[Int64, Int64]
) -> tuple[Float64, Float64, tuple[Int64, Int64]]:
    return predicted[here], gold[here], (ends[0][here], ends[1][here])


def estimates_of(predicted: Float64, gold: Float64, ends: tuple[Int64, Int64]) -> dict[str, Estimate]:
    """Each correlation with its interval; one that is undefined is left out."""
    found = correlations(predicted, gold)
    values = {kind: getattr(found, kind) for kind in KINDS}
    if not any(np.isfinite(value) for value in values.values()):
        return {}
    known, moved = Dependence.of(*ends), influences(predicted, gold)
    return {kind: correlation(v, moved.of(kind), known) for kind, v in values.items() if np.isfinite(v)}


def _row(of: str, predicted: Float64, gold: Float64, ends: tuple[Int64, Int64]) -> Row:
    return Row(of, len(gold), estimates_of(predicted, gold, ends))


def _mean(
    each: Sequence[Row], of_set: NDArray[np.str_], predicted: Float64, gold: Float64, ends: tuple[Int64, Int64]
) -> Row:
    """The sets' correlations, weighted by their pairs: its influences are theirs, one after another."""
    weights = np.array([row.pairs for row in each])
    kinds = [kind for kind in KINDS if all(kind in row.estimates for row in each)]  # no mean of something else
    estimates = {}
    if kinds:
        known = Dependence.of(*ends)
        moved = {row.of: influences(predicted[of_set == row.of], gold[of_set == row.of]) for row in each}
        for kind in kinds:
            value = float(np.average([row.estimates[kind].value for row in each], weights=weights))
            together = np.empty(len(gold))
            for name, own in moved.items():
                together[of_set == name] = own.of(kind)
            estimates[kind] = correlation(value, together, known)
    return Row(MEAN, int(weights.sum()), estimates)


# --- do the correlations agree?


@dataclass(frozen=True)
class Disagreement:
    """Two runs that one correlation puts in another order than another does.

    Attributes:
        differences: per correlation the first's less the second's, with its interval.
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
    known = Dependence.of(*table.ends)
    moved = {i: influences(table.similarity[i], table.gold) for i in {i for pair in found for i in pair}}
    return tuple(
        Disagreement(
            first,
            second,
            {
                kind: change(
                    getattr(values[first], kind) - getattr(values[second], kind),
                    moved[first].of(kind) - moved[second].of(kind),
                    known,
                )
                for kind in KINDS
            },
        )
        for first, second in found
    )
