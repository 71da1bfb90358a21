"""View of scored pairs: three correlations with intervals, and disagreements between them (Eger 2019)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from blindspot.datasets.catalog import catalogued, title_of
from blindspot.datasets.kinds.own_columns import OwnColumn
from blindspot.diagnostics.similarity import words_alone
from blindspot.diagnostics.similarity.definition import ENTRY
from blindspot.diagnostics.similarity.pairs import ScoredTable, scored_table
from blindspot.numerics.statistics import rankings
from blindspot.numerics.statistics.correlations import KINDS, correlations, influences, spearman, spearman_influences
from blindspot.numerics.statistics.estimate import Estimate, Unit
from blindspot.numerics.statistics.pairs import Dependence, change, correlation
from blindspot.numerics.words_alone import Words
from blindspot.store.records import RunRecord
from blindspot.store.repository import Repository
from blindspot.types import Float64, Int64

ALL, MEAN = "all pairs", "weighted mean"
NEARLY_PERFECT = 0.9  # rho; eight independent pairs reach it by chance once in 400 times


@dataclass(frozen=True)
class Row:
    """Correlations over some pairs, without undefined ones."""

    of: str  # ALL, MEAN (of the sets, weighted by their pairs), or the name of a set
    pairs: int
    estimates: Mapping[str, Estimate]


def rows_of(
    predicted: Float64, gold: Float64, sets: Sequence[str], ends: tuple[Int64, Int64], *, only_spearman: bool = False
) -> tuple[Row, ...]:
    """Correlations over all pairs; with several sets also their weighted mean and each set.

    Args:
        predicted, gold, sets: ``[m]``.
        ends: numbers of each pair's texts, ``[m]`` each.
        only_spearman: leave out the other correlations; Kendall's takes quadratic time.
    """
    moved = _spearman if only_spearman else _every
    whole = Row(ALL, len(gold), estimates_of(predicted, gold, ends, moved))
    of_set = np.asarray(sets)
    inside = {name: of_set == name for name in dict.fromkeys(sets)}
    if len(inside) < 2:
        return (whole,)
    each = [
        Row(name, int(here.sum()), estimates_of(predicted[here], gold[here], (ends[0][here], ends[1][here]), moved))
        for name, here in inside.items()
    ]
    return (whole, _mean(each, of_set, predicted, gold, ends, moved), *each)


InfluencesOf = Callable[[Float64, Float64], Mapping[str, Float64]]


def _every(predicted: Float64, gold: Float64) -> Mapping[str, Float64]:
    influence = influences(predicted, gold)
    return {kind: influence.of(kind) for kind in KINDS}


def _spearman(predicted: Float64, gold: Float64) -> Mapping[str, Float64]:
    return {"spearman": spearman_influences(predicted, gold)}


def estimates_of(
    predicted: Float64, gold: Float64, ends: tuple[Int64, Int64], influences_of: InfluencesOf = _every
) -> dict[str, Estimate]:
    """The defined correlations that ``influences_of`` covers, each with its interval."""
    estimates = correlations(predicted, gold)
    values = {kind: getattr(estimates, kind) for kind in KINDS}
    if not any(np.isfinite(value) for value in values.values()):
        return {}
    dependence, moved = Dependence.of(*ends), influences_of(predicted, gold)
    return {
        kind: correlation(values[kind], influence, dependence)
        for kind, influence in moved.items()
        if np.isfinite(values[kind])
    }


def _mean(
    each: Sequence[Row],
    of_set: NDArray[np.str_],
    predicted: Float64,
    gold: Float64,
    ends: tuple[Int64, Int64],
    influences_of: InfluencesOf,
) -> Row:
    """The mean over sets; a pair's influence on it is the influence within its set."""
    weights = np.array([row.pairs for row in each])
    kinds = [kind for kind in KINDS if all(kind in row.estimates for row in each)]  # no mean over some sets only
    estimates = {}
    if kinds:
        dependence = Dependence.of(*ends)
        moved = {row.of: influences_of(predicted[of_set == row.of], gold[of_set == row.of]) for row in each}
        for kind in kinds:
            value = float(np.average([row.estimates[kind].value for row in each], weights=weights))
            together = np.empty(len(gold))
            for name, influence in moved.items():
                together[of_set == name] = influence[kind]
            estimates[kind] = correlation(value, together, dependence)
    return Row(MEAN, int(weights.sum()), estimates)


@dataclass(frozen=True, eq=False)
class ScoresView:
    """Correlations of runs, by their ids, and of shared words alone: over all pairs, and by group as in ``rows_of``.

    Attributes:
        alone: the similarities of words, ``[m]``.
        bars: the basis of the intervals, or why there are none.
    """

    runs: Mapping[str, tuple[Row, ...]]
    words: Mapping[Words, tuple[Row, ...]]
    alone: Mapping[Words, Float64]
    bars: str

    def near_zero(self) -> list[str]:
        """The runs whose interval of Spearman's rho includes 0."""
        rho = {run_id: whole.estimates.get("spearman") for run_id, (whole, *_) in self.runs.items()}
        ends = {run_id: estimate.interval for run_id, estimate in rho.items() if estimate and estimate.interval}
        return [run_id for run_id, interval in ends.items() if interval.low <= 0 <= interval.high]

    def order(self) -> tuple[list[str], Float64, Float64]:
        """The runs that have correlations, their values ``[r, 3]``, and their places by each ``[r, 3]``."""
        estimates = {run_id: whole.estimates for run_id, (whole, *_) in self.runs.items() if whole.estimates}
        values = np.array([[estimates[kind].value for kind in KINDS] for estimates in estimates.values()])
        places = rankings.places(rankings.oriented(values, np.ones(len(KINDS)))) if estimates else values
        return list(estimates), values, places


def scores_view(table: ScoredTable, column: OwnColumn | None = None) -> ScoresView:
    """The scores by set, or by an own column of the file."""
    numbers = table.frame["item_no"].to_numpy(dtype=np.int64)
    groups = table.frame["set_name"].tolist() if column is None else column.part(numbers).cells
    alone, dependence = words_alone.of_table(table), table.dependence
    depend = (
        " that share no text"
        if dependence.unit is Unit.COMPONENTS
        else ", pairs that share one may depend on each other"
    )
    bars = (
        f"Bars: 95% CI from {dependence.independent}{depend}. The bars cover the choice of pairs, not that of raters."
    )
    return ScoresView(
        {
            run_id: rows_of(similarity, table.gold, groups, table.ends)
            for run_id, similarity in table.similarity.items()
        },
        {
            words: rows_of(similarity, table.gold, groups, table.ends, only_spearman=True)
            for words, similarity in alone.items()
        },
        alone,
        f"No intervals: {dependence.refusal}." if dependence.refusal else bars,
    )


CONTRADICTED = "and shared words, where there are any, order these pairs the other way round"
TURN = (
    "If a low score means alike here, as a distance does, add a column with the scores turned round, such as minus the "
    "score, and choose it as the score."
)


def contradiction(models: int) -> str:
    """What is asked about, of so many models."""
    return f"{'the model' if models == 1 else 'every model'}, {CONTRADICTED}"


def are_reversed(dataset: str, table: ScoredTable) -> bool:
    """Whether Spearman's rho of every run and of shared words is shown to be below 0, so that low scores probably mean
    that two texts are alike. Never of the catalog's datasets, whose scores are read as published."""
    if catalogued(dataset):
        return False
    gold, dependence = table.gold, table.dependence

    def is_below(similarity: Float64) -> bool:
        rho = spearman(similarity, gold)
        if not rho < 0:  # NaN, too
            return False
        interval = correlation(rho, spearman_influences(similarity, gold), dependence).interval
        if interval is None:  # a nearly perfect order has none: too few pairs tell of its error
            return rho <= -NEARLY_PERFECT and not dependence.refusal
        return interval.high < 0

    # Words last: they are counted only if all runs leave the question open.
    return all(map(is_below, table.similarity.values())) and all(map(is_below, words_alone.of_table(table).values()))


def doubts(runs: Sequence[RunRecord], repository: Repository) -> list[str]:
    """See ``Diagnostic.doubts``; runs over the same pairs with the same parameters are judged together."""
    together: dict[tuple[str, str], list[RunRecord]] = {}
    for run in runs:
        if not catalogued(run.plan.dataset):
            together.setdefault((run.plan.dataset_digest, str(run.plan.params)), []).append(run)
    return [
        f"{title_of(alike[0].plan.dataset)}: {contradiction(len(alike))}. {TURN}"
        for alike in together.values()
        if are_reversed(alike[0].plan.dataset, scored_table(ENTRY, [run.run_id for run in alike], repository))
    ]


@dataclass(frozen=True)
class Disagreement:
    """Two runs that two correlations put in different orders."""

    first: str
    second: str
    differences: Mapping[str, Estimate]  # by correlation, first minus second

    @property
    def beyond_chance(self) -> bool:
        """Whether one correlation puts the first ahead and another the second, by intervals that exclude 0. These hold
        for all differences at once: in all correlations, between every two runs."""
        ends = [difference.interval for difference in self.differences.values() if difference.interval is not None]
        return any(end.low > 0 for end in ends) and any(end.high < 0 for end in ends)


def disagreements(table: ScoredTable) -> tuple[Disagreement, ...]:
    """The pairs of runs that the three correlations over all pairs do not put in the same order."""
    values = {i: correlations(table.similarity[i], table.gold) for i in table.run_ids}
    dependence = table.dependence
    moved = cache(lambda run_id: influences(table.similarity[run_id], table.gold))
    pairs_apart, among = [], len(KINDS) * comb(len(table.run_ids), 2)
    for a, b in combinations(table.run_ids, 2):
        ahead = {kind: getattr(values[a], kind) - getattr(values[b], kind) for kind in KINDS}
        if len({np.sign(difference) for difference in ahead.values()}) > 1:
            changes = {
                kind: change(d, moved(a).of(kind) - moved(b).of(kind), dependence, among) for kind, d in ahead.items()
            }
            pairs_apart.append(Disagreement(a, b, changes))
    return tuple(pairs_apart)
