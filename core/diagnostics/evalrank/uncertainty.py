"""EvalRank's scores with intervals, and whether two runs differ by more than chance; from stored rows alone.

For the page and the command line alike. Pairs that share a text are not independent; how intervals and tests respect
that is in ``core.numerics.statistics.pairs``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property, partial

import numpy as np

from core.diagnostics.evalrank.definition import ENTRY
from core.diagnostics.evalrank.pairs import PairTable
from core.errors import InputError
from core.numerics.ranking.ranks import expected_hit
from core.numerics.statistics import pairs as statistics
from core.numerics.statistics import resampling
from core.numerics.statistics.estimate import Estimate, Unit
from core.numerics.statistics.intervals import Interval, holm, percentile_interval
from core.numerics.statistics.pairs import Dependence
from core.types import Float64, Int64

ALPHA = 0.05  # a corrected p-value below it is called more than chance
TESTED = ("mrr", "hits@1", "hits@3", "hits@10", "mean_rank")  # raw; "_filtered" comes on top
COMPARED = (*TESTED, "median_rank")
WITH_INTERVAL = (*COMPARED, "hits@5", *(f"{name}_filtered" for name in COMPARED))

_HIGHER_IS_BETTER = {m.name: m.higher_is_better for m in ENTRY.metrics}


class Verdict(StrEnum):
    """What a difference to the baseline says."""

    BETTER = "better"
    WORSE = "worse"
    ALIKE = "not separable"
    SAME = "the same in every pair"
    UNTESTED = "no test"


def is_median(metric: str) -> bool:
    """Whether it is no mean over pairs, so that there is neither a dyadic variance nor a test of it."""
    return metric.startswith("median_rank")


def is_rank(metric: str) -> bool:
    """Whether it is counted in ranks, not within 0 to 1."""
    return metric.startswith(("mean_rank", "median_rank"))


def pair_values(table: PairTable, run_id: str, metric: str) -> Float64:
    """What every pair gives to a metric, ``[m] float64``, NaN where the run did not rank it.

    The metric is the mean of it, or the median of the ranks.

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


@dataclass(frozen=True)
class Contrast:
    """A question: does a run differ from another in a metric?"""

    metric: str
    run_id: str
    baseline: str


@dataclass(frozen=True)
class Difference:
    """An answer: how much a run's value is above the baseline's, and what is to be thought of that.

    Attributes:
        estimate: the difference with its 95% interval, of this difference alone.
        p_value: of ``statistics.p_values``; None for a median, and where the pairs do not allow a test.
        p_corrected: after Holm, for all the differences that were asked for at once.
        smallest: the smallest true difference that a test of so many would have found with probability 0.8; None where
            there is no interval, or no difference in any pair.
        wins: pairs in which the run ranks the mate better than the baseline does; ``ties`` and ``losses`` likewise.
    """

    contrast: Contrast
    estimate: Estimate
    p_value: float | None
    p_corrected: float | None
    smallest: float | None
    same_in_every_pair: bool
    wins: int
    ties: int
    losses: int

    @property
    def value(self) -> float:
        return self.estimate.value

    @property
    def interval(self) -> Interval | None:
        return self.estimate.interval

    @property
    def verdict(self) -> Verdict:
        """More than chance is a corrected p below ``ALPHA``: the test alone decides."""
        if self.same_in_every_pair:
            return Verdict.SAME
        if self.p_corrected is None:
            return Verdict.UNTESTED
        if self.p_corrected >= ALPHA:
            return Verdict.ALIKE
        higher_is_better = _HIGHER_IS_BETTER[self.contrast.metric]
        return Verdict.BETTER if (self.value > 0) == higher_is_better else Verdict.WORSE


@dataclass(frozen=True, eq=False)
class Sample:
    """What runs that ranked the same pairs got in each of them.

    Attributes:
        queries, mates: ``[m]`` numbers of each pair's texts.
        values: per (run id, metric) what each pair gives to it, ``[m] float64``.
    """

    run_ids: tuple[str, ...]
    metrics: tuple[str, ...]
    queries: Int64
    mates: Int64
    values: Mapping[tuple[str, str], Float64]

    @cached_property
    def dependence(self) -> Dependence:
        """What is independent among the pairs."""
        return Dependence.of(self.queries, self.mates)

    @cached_property
    def largest_share(self) -> float:
        """Share of the pairs that are in the largest group of connected ones."""
        return float(np.bincount(self.dependence.groups).max() / len(self.queries))

    @cached_property
    def _medians(self) -> Mapping[tuple[str, str], Float64]:
        """Per (run id, metric) a median in every resample of the groups, ``[resamples]``; the same ones for all."""
        keys = [key for key in self.values if is_median(key[1])]
        stacked = np.column_stack([self.values[key] for key in keys])
        columns = resampling.bootstrap_medians(stacked, self.dependence.groups).T
        return dict(zip(keys, np.ascontiguousarray(columns), strict=True))

    def value(self, run_id: str, metric: str) -> float:
        """The score itself, as the run stored it."""
        average = np.median if is_median(metric) else np.mean
        return float(average(self.values[run_id, metric]))

    def estimates(self) -> Mapping[str, Mapping[str, Estimate]]:
        """Per run id and metric the score with its interval."""
        out: dict[str, dict[str, Estimate]] = {run_id: {} for run_id in self.run_ids}
        for metric in self.metrics:
            for run_id, estimate in zip(self.run_ids, self._estimates_in(metric), strict=True):
                out[run_id][metric] = estimate
        return out

    def _estimates_in(self, metric: str) -> Sequence[Estimate]:
        """Of each run."""
        if is_median(metric):
            return [self._median(self.value(r, metric), partial(self._median_of, r, metric)) for r in self.run_ids]
        estimate = statistics.mean_rank if is_rank(metric) else statistics.share
        return [estimate(self.values[run_id, metric], self.dependence) for run_id in self.run_ids]

    def differences(self, contrasts: Sequence[Contrast]) -> tuple[Difference, ...]:
        """An answer to each question; the correction is for all of them at once."""
        if not contrasts:
            return ()
        paired = np.column_stack(
            [self.values[c.run_id, c.metric] - self.values[c.baseline, c.metric] for c in contrasts]
        )
        means = [i for i, c in enumerate(contrasts) if not is_median(c.metric)]
        p, corrected, smallest = (np.full(len(contrasts), np.nan) for _ in range(3))
        if means:
            p[means] = statistics.p_values(paired[:, means], self.dependence)
            smallest[means] = statistics.smallest_detectable(paired[:, means], self.dependence, len(means), ALPHA)
        if not self.dependence.refusal:
            corrected[means] = holm(p[means])
        return tuple(
            Difference(
                c,
                self._difference(c),
                _or_none(p[i]),
                _or_none(corrected[i]),
                _or_none(smallest[i]),
                not paired[:, i].any(),
                *self._duel(c),
            )
            for i, c in enumerate(contrasts)
        )

    def _median_of(self, run_id: str, metric: str) -> Float64:
        """In every resample, ``[resamples]``."""
        return self._medians[run_id, metric]

    def _difference(self, contrast: Contrast) -> Estimate:
        run_id, baseline, metric = contrast.run_id, contrast.baseline, contrast.metric
        if is_median(metric):
            value = self.value(run_id, metric) - self.value(baseline, metric)
            return self._median(value, lambda: self._median_of(run_id, metric) - self._median_of(baseline, metric))
        most = np.inf if is_rank(metric) else 1.0
        return statistics.difference(self.values[run_id, metric], self.values[baseline, metric], self.dependence, most)

    def _median(self, value: float, resampled: Callable[[], Float64]) -> Estimate:
        """A median, or the difference of two, with the middle 95% of what resamples of the groups give."""
        known, refusal = self.dependence, self.dependence.refusal
        if not refusal and known.unit is not Unit.COMPONENTS:
            refusal = "a median has no standard error that lets pairs depend on each other by their texts"
        interval = None if refusal else percentile_interval(resampled())
        return Estimate(value, interval, "bootstrap over groups", known.unit, known.units, known.effective, refusal)

    def _duel(self, contrast: Contrast) -> tuple[int, int, int]:
        """Pairs that the run ranks better than the baseline, alike, and worse."""
        suffix = "_filtered" if contrast.metric.endswith("_filtered") else ""
        one, other = (self.values[run_id, f"mean_rank{suffix}"] for run_id in (contrast.run_id, contrast.baseline))
        wins, losses = int(np.count_nonzero(one < other)), int(np.count_nonzero(one > other))
        return wins, len(one) - wins - losses, losses


def _or_none(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def samples(table: PairTable, run_ids: Sequence[str], metrics: Sequence[str]) -> tuple[Sample, ...]:
    """The runs in groups that ranked the same pairs: one group, unless each encoder was ranked on its own support.

    The mean rank is always among the metrics: who wins a pair is told by ranks.
    """
    asked = list(dict.fromkeys([*metrics, "mean_rank", "mean_rank_filtered"]))
    ranked = {run_id: ~np.isnan(table.ranks(run_id, filtered=False)) for run_id in run_ids}
    groups: dict[bytes, list[str]] = {}
    for run_id, mask in ranked.items():
        groups.setdefault(mask.tobytes(), []).append(run_id)
    queries, mates = (table.frame[f"{side}_no"].to_numpy(dtype=np.int64) for side in ("query", "mate"))
    out = []
    for group in groups.values():
        mask = ranked[group[0]]
        values = {(run_id, metric): pair_values(table, run_id, metric)[mask] for run_id in group for metric in asked}
        out.append(Sample(tuple(group), tuple(asked), queries[mask], mates[mask], values))
    return tuple(out)


def one_sample(table: PairTable, run_ids: Sequence[str], metrics: Sequence[str]) -> Sample:
    """As ``samples``, of runs that can be compared.

    Raises:
        InputError: they ranked different pairs.
    """
    found = samples(table, run_ids, metrics)
    if len(found) != 1:
        raise InputError(
            "the runs ranked different pairs, since their encoders cover different items",
            expected="runs over the same items",
            remedy="run these encoders together, with --support common",
        )
    return found[0]


def against(sample: Sample, baseline: str, metrics: Sequence[str]) -> tuple[Difference, ...]:
    """Every other run against the baseline, in every metric."""
    return sample.differences([Contrast(m, r, baseline) for r in sample.run_ids if r != baseline for m in metrics])


def best_and_alike(sample: Sample) -> Mapping[str, frozenset[str]]:
    """Per tested metric, raw and filtered, the run that has the best value, and those not separable from it.

    The correction is for all tests of raw, and for all of filtered ranks, as it is where the best is the baseline.
    """
    return _best_and_alike(sample, TESTED) | _best_and_alike(sample, [f"{name}_filtered" for name in TESTED])


def _best_and_alike(sample: Sample, metrics: Sequence[str]) -> dict[str, frozenset[str]]:
    best: dict[str, str] = {}
    for metric in metrics:
        sign = -1 if _HIGHER_IS_BETTER[metric] else 1
        values = [sign * sample.value(run_id, metric) for run_id in sample.run_ids]
        best[metric] = sample.run_ids[int(np.argmin(values))]
    asked = [Contrast(m, r, best[m]) for m in metrics for r in sample.run_ids if r != best[m]]
    out = {metric: {run_id} for metric, run_id in best.items()}
    for difference in sample.differences(asked):
        if difference.verdict in {Verdict.ALIKE, Verdict.SAME}:
            out[difference.contrast.metric].add(difference.contrast.run_id)
    return {metric: frozenset(found) for metric, found in out.items()}


# --- in words


def method_in_words(sample: Sample) -> str:
    """What the intervals take for independent, and why, in two sentences."""
    known, pairs = sample.dependence, len(sample.queries)
    if known.refusal:
        return f"No intervals and no tests: {known.refusal}."
    if known.unit is Unit.COMPONENTS:
        return (
            f"95% intervals from {known.independent} that share no text; the largest holds "
            f"{sample.largest_share:.1%} of the {pairs:,} pairs."
        )
    return (
        f"95% intervals from {known.independent}: dyadic-robust, by which pairs that share a text may depend on "
        f"each other, since one group of connected pairs holds {sample.largest_share:.0%} of the {pairs:,}. A median "
        "has no such standard error, so the median rank has no interval."
    )


def summary(differences: Sequence[Difference], name_of: Mapping[str, str]) -> str:
    """What one run's differences to the baseline say together, in one sentence without the names of the runs.

    Args:
        name_of: metrics in words.
    """
    by_verdict: dict[Verdict, list[Difference]] = {}
    for d in differences:
        by_verdict.setdefault(d.verdict, []).append(d)
    if all(d.wins == d.losses == 0 for d in differences):
        return "the same rank in every pair."
    if refusals := [d.estimate.refusal for d in differences if d.p_value is None and not is_median(d.contrast.metric)]:
        return f"no verdict, since {refusals[0]}."
    parts = [
        f"{verdict} in {_listed(name_of[d.contrast.metric] for d in by_verdict[verdict])}"
        for verdict in (Verdict.BETTER, Verdict.WORSE, Verdict.SAME)
        if verdict in by_verdict
    ]
    if alike := by_verdict.get(Verdict.ALIKE):
        parts.append(f"not separable in {_listed(name_of[d.contrast.metric] for d in alike)}")
        least = [shown(d.contrast.metric, d.smallest) for d in alike if d.smallest is not None]
        if len(least) == len(alike):
            parts[-1] += f", where differences from {_listed(least)} on would have been detected four times in five"
    return "; ".join(parts) + "."


def _listed(names: Iterable[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def shown(metric: str, value: float, *, sign: bool = False) -> str:
    """A value as it stands in tables: scores with four decimals, ranks with two."""
    form = "+" if sign else ""
    return f"{value:{form},.2f}" if "rank" in metric else f"{value:{form}.4f}"


def shown_interval(metric: str, interval: Interval | None, *, sign: bool = False) -> str:
    """``[low, high]``, or a dash."""
    if interval is None:
        return "–"
    return f"[{shown(metric, interval.low, sign=sign)}, {shown(metric, interval.high, sign=sign)}]"
