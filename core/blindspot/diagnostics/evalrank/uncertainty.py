"""EvalRank's scores pair by pair, from stored rows alone; their intervals and all tests follow from these.

Pairs that share a text are not independent; ``blindspot.numerics.statistics.pairs`` has how intervals and tests respect
it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from blindspot.diagnostics.evalrank.definition import ENTRY
from blindspot.diagnostics.evalrank.pairs import PairTable, pair_table
from blindspot.errors import InputError
from blindspot.numerics.ranking.ranks import expected_hit
from blindspot.numerics.statistics.compare import (
    FILTERED,
    MAIN,
    OTHERS,
    SHARE,
    Item,
    ItemScores,
    MeanRank,
    Median,
    Resamples,
    best_and_alike,
)
from blindspot.numerics.statistics.estimate import Estimate, Unit
from blindspot.numerics.statistics.pairs import Dependence
from blindspot.numerics.statistics.written import SCORE, interval, number, percent
from blindspot.runs.comparison import item_scores as scores
from blindspot.store.records import RunRecord
from blindspot.store.repository import Repository
from blindspot.types import Bool, Float64, Int64

# In two families, each raw and filtered; Hits@5 only has an interval.
FIRST = ("mrr", "hits@1")
NAMES = {
    "mrr": "MRR",
    "hits@1": "Hits@1",
    "hits@3": "Hits@3",
    "hits@10": "Hits@10",
    "mean_rank": "Mean rank",
    "median_rank": "Median rank",
}
WITH_INTERVAL = (*NAMES, "hits@5", *(f"{name}_filtered" for name in NAMES))


def is_median(metric: str) -> bool:
    """Whether the metric is a median, not a mean over pairs: then it has neither a dyadic variance nor a test."""
    return metric.startswith("median_rank")


def family_of(metric: str) -> str:
    """Scores whose tests are corrected together: the main ones, and the further ones, by raw or by filtered ranks."""
    name = metric.removesuffix("_filtered")
    if name not in NAMES:
        return OTHERS
    by = FILTERED if name != metric else MAIN
    return by if name in FIRST else f"{by}, further"


def label_of(metric: str) -> str:
    name = metric.removesuffix("_filtered")
    return f"{NAMES.get(name, name.capitalize())}{' filtered' if name != metric else ''}"


def pair_values(table: PairTable, run_id: str, metric: str) -> Float64:
    """The pairs' values, ``[m] float64``: a metric is their mean (or median). NaN where the run did not rank a pair.

    Raises:
        InputError: there is no such metric of pairs.
    """
    name, filtered = metric.removesuffix("_filtered"), metric.endswith("_filtered")
    if name == "mrr":
        return table.reciprocal_ranks(run_id, filtered=filtered)
    if name in {"mean_rank", "median_rank"}:
        return table.ranks(run_id, filtered=filtered)
    kind, at, k = name.partition("@")
    if kind != "hits" or not at or not k.isdecimal():
        raise InputError(f"'{metric}' is no score of pairs", expected=f"one of {', '.join(WITH_INTERVAL)}")
    return expected_hit(*table.counts(run_id, filtered=filtered), int(k))


def scores_of(
    values: Mapping[str, Mapping[str, Float64]],
    dependence: Dependence,
    numbers: Int64,
    pairs: Sequence[tuple[str, str]] = (),
) -> dict[str, dict[str, ItemScores]]:
    """Scores by run id and metric from ``pair_values`` of pairs that all runs ranked; raw and filtered ranks are
    families of their own, since a page shows one or the other.

    Args:
        pairs: query and match of each.
    """
    units = "groups of pairs that share no text" if dependence.unit is Unit.COMPONENTS else ""
    medians = [(run_id, name) for run_id, by_name in values.items() for name in by_name if is_median(name)]
    together = (
        Resamples(np.column_stack([values[run_id][name] for run_id, name in medians]), dependence) if medians else None
    )

    def texts() -> list[str]:
        return [f"{query} → {match}" for query, match in pairs]

    def score(run_id: str, name: str, parts: Float64) -> ItemScores:
        statistic, value = SHARE, None
        if is_median(name) and together:
            statistic = Median(resamples=together, column=medians.index((run_id, name)))
            value = float(np.median(parts))
        elif name.startswith("mean_rank"):
            statistic = MeanRank()
        return scores(
            ENTRY,
            name,
            label_of(name),
            parts,
            numbers,
            dependence,
            texts,
            value=value,
            statistic=statistic,
            units=units,
            family=family_of(name),
            describe=lambda index: Item(
                tuple(zip(("query", "match"), pairs[index], strict=True)),
                f"rank {values[run_id]['mean_rank'][index]:,g}",
            ),
        )

    return {
        run_id: {name: score(run_id, name, by_name[name]) for name in by_name} for run_id, by_name in values.items()
    }


def item_scores(runs: Sequence[RunRecord], repository: Repository) -> list[Mapping[str, ItemScores]]:
    """See ``Diagnostic.item_scores``; an item is a pair that the runs ranked."""
    ids = [run.run_id for run in runs]
    return list(one_group(pair_table(ENTRY, ids, repository), ids).values())


Scores = Mapping[str, Mapping[str, ItemScores]]  # by run id and metric, of runs that ranked the same pairs


def groups(table: PairTable, run_ids: Sequence[str], metrics: Sequence[str] = WITH_INTERVAL) -> list[Scores]:
    """The runs in groups that ranked the same pairs: one group, unless encoders were ranked on what each covers."""
    return [_scores(table, group, mask, metrics) for group, mask in _together(table, run_ids)]


def one_group(table: PairTable, run_ids: Sequence[str], metrics: Sequence[str] = WITH_INTERVAL) -> Scores:
    """As ``groups``, of runs that ranked the same pairs; raises ``InputError`` if they did not."""
    together = _together(table, run_ids)
    if len(together) != 1:
        raise InputError(
            "the runs ranked different pairs, since their encoders cover different items",
            expected="runs over the same items",
            remedy="run these encoders together, with --support common",
        )
    return _scores(table, *together[0], metrics)


def _together(table: PairTable, run_ids: Sequence[str]) -> list[tuple[list[str], Bool]]:
    """The runs in groups that ranked the same pairs, and which pairs each group ranked, ``[m] bool``."""
    out: dict[bytes, tuple[list[str], Bool]] = {}
    for run_id in run_ids:
        ranked = ~np.isnan(table.ranks(run_id, filtered=False))
        out.setdefault(ranked.tobytes(), ([], ranked))[0].append(run_id)
    return list(out.values())


def _scores(table: PairTable, run_ids: Sequence[str], ranked: Bool, metrics: Sequence[str]) -> Scores:
    frame = table.frame[ranked]
    values = {run: {metric: pair_values(table, run, metric)[ranked] for metric in metrics} for run in run_ids}
    pairs = list(zip(frame["query"], frame["match"], strict=True))
    return scores_of(values, table.dependence.among(ranked), table.numbers[ranked], pairs)


@dataclass(frozen=True)
class Estimated:
    """Runs that ranked the same pairs, and their scores with intervals.

    Attributes:
        pairs: how many there are; ``method``: what the intervals treat as independent, and why, in two sentences.
        refusal: why there is neither an interval nor a test, or "".
        estimates: by run id and metric.
        alike: per tested metric the best run and those not significantly worse.
    """

    pairs: int
    method: str
    refusal: str
    independent: Mapping[str, str | int | float]
    estimates: Mapping[str, Mapping[str, Estimate]]
    alike: Mapping[str, frozenset[str]]

    @classmethod
    def of(cls, score_table: Scores) -> Estimated:
        first = next(iter(next(iter(score_table.values())).values()))
        dependence = first.known
        estimates = {
            run_id: {name: score.estimate for name, score in by_name.items()} for run_id, by_name in score_table.items()
        }
        return cls(
            len(first.parts),
            _method(dependence, len(first.parts)),
            dependence.refusal,
            {"unit": dependence.unit.value, "units": dependence.units, "effective": dependence.effective},
            estimates,
            best_and_alike(score_table),
        )


def _method(dependence: Dependence, pairs: int) -> str:
    if dependence.refusal:
        return f"No intervals and no tests: {dependence.refusal}."
    largest = float(np.bincount(dependence.groups).max() / pairs)
    if dependence.unit is Unit.COMPONENTS:
        return (
            f"95% CI from {dependence.independent} that share no text; the largest group has {percent(largest, 1)} of "
            f"the {pairs:,} pairs."
        )
    return (
        f"95% CI from {dependence.independent}: dyadic-robust (pairs that share a text may depend on each other), "
        f"since one group of connected pairs has {percent(largest)} of the {pairs:,}. A median has no such standard "
        "error, so the median rank has no interval."
    )


def spec_of(metric: str) -> str:
    """Format of a value in tables: scores as everywhere, ranks with two decimals."""
    return ",.2f" if "rank" in metric else SCORE


def in_cell(metric: str, estimate: Estimate) -> str:
    """``0.733 (0.712 to 0.754)``, or the value alone."""
    spec = spec_of(metric)
    ends = "" if estimate.interval is None else f" ({interval(estimate.interval, spec)})"
    return f"{number(estimate.value, spec)}{ends}"
