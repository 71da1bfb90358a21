"""EvalRank's scores with intervals, and whether two runs differ by more than chance; from stored rows alone.

For the page and the command line alike. Pairs that share a text are not independent; how intervals respect that is in
``core.numerics.resampling``, and which way is taken in ``Sample.method``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

import numpy as np

from core.diagnostics.evalrank import ENTRY
from core.errors import InputError
from core.explore import PairTable
from core.numerics import resampling
from core.numerics.ranking import expected_hit
from core.numerics.stats import RESAMPLES, Interval, holm
from core.types import Float64, Int64

ALPHA = 0.05  # a corrected p-value below it is called more than chance
TESTED = ("mrr", "hits@1", "hits@3", "hits@10", "mean_rank")  # raw; "_filtered" comes on top
COMPARED = (*TESTED, "median_rank")
WITH_INTERVAL = (*COMPARED, "hits@5", *(f"{name}_filtered" for name in COMPARED))

LARGE_COMPONENT = 0.1  # share of the pairs in one component from which on components are not resampled
FEWEST_UNITS = 10  # pairs, each with its reverse: fewer say nothing about how sure a mean is

_HIGHER_IS_BETTER = {m.name: m.higher_is_better for m in ENTRY.metrics}


class Method(StrEnum):
    """Where an interval comes from."""

    BOOTSTRAP = "component bootstrap"
    DYADIC = "dyadic-robust"
    NONE = "too few pairs"


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
class Estimate:
    """A score with its 95% interval; None where there is no honest one."""

    value: float
    interval: Interval | None


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
        interval: 95%, of this difference alone.
        p_value: of the sign-flip test; None for a median.
        p_corrected: after Holm, for all the differences that were asked for at once.
        smallest: the smallest true difference that a test of so many would have found with probability 0.8; None where
            there is no interval, or no difference in any pair.
        wins: pairs in which the run ranks the mate better than the baseline does; ``ties`` and ``losses`` likewise.
    """

    contrast: Contrast
    value: float
    interval: Interval | None
    p_value: float | None
    p_corrected: float | None
    smallest: float | None
    same_in_every_pair: bool
    wins: int
    ties: int
    losses: int

    @property
    def verdict(self) -> Verdict:
        """More than chance is a corrected p below ``ALPHA`` and an interval without 0.

        Both, since the test exchanges pairs one by one, while pairs that share a text move together.
        """
        if self.same_in_every_pair:
            return Verdict.SAME
        if self.p_corrected is None:
            return Verdict.UNTESTED
        holds_zero = self.interval is not None and self.interval.low <= 0 <= self.interval.high
        if self.p_corrected >= ALPHA or holds_zero:
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
    def components(self) -> Int64:
        return resampling.components(self.queries, self.mates)

    @cached_property
    def units(self) -> Int64:
        return resampling.units(self.queries, self.mates)

    @cached_property
    def largest_share(self) -> float:
        """Share of the pairs that are in the largest component."""
        return float(np.bincount(self.components).max() / len(self.components))

    @cached_property
    def method(self) -> Method:
        """By the data: what components are there to be drawn."""
        if self.units.max() + 1 < FEWEST_UNITS:
            return Method.NONE
        return Method.DYADIC if self.largest_share > LARGE_COMPONENT else Method.BOOTSTRAP

    @cached_property
    def _resampled(self) -> Mapping[tuple[str, str], Float64]:
        """Per (run id, metric) its value in every resample, ``[resamples]``; the same resamples for all."""
        out: dict[tuple[str, str], Float64] = {}
        for median, compute in ((False, resampling.bootstrap_means), (True, resampling.bootstrap_medians)):
            keys = [key for key in self.values if is_median(key[1]) is median]
            if keys:
                columns = compute(np.column_stack([self.values[key] for key in keys]), self.components).T
                out |= dict(zip(keys, np.ascontiguousarray(columns), strict=True))
        return out

    def value(self, run_id: str, metric: str) -> float:
        """The score itself, as the run stored it."""
        average = np.median if is_median(metric) else np.mean
        return float(average(self.values[run_id, metric]))

    def estimates(self) -> Mapping[str, Mapping[str, Estimate]]:
        """Per run id and metric the score with its interval."""
        errors = self._dyadic_errors(list(self.values.values()), [metric for _, metric in self.values])
        out: dict[str, dict[str, Estimate]] = {run_id: {} for run_id in self.run_ids}
        for (run_id, metric), error in zip(self.values, errors, strict=True):
            value = self.value(run_id, metric)
            resampled = self._resampled[run_id, metric] if self.method is Method.BOOTSTRAP else None
            out[run_id][metric] = Estimate(value, self._interval(value, error, resampled))
        return out

    def differences(self, contrasts: Sequence[Contrast]) -> tuple[Difference, ...]:
        """An answer to each question; the correction is for all of them at once."""
        if not contrasts:
            return ()
        paired = [self.values[c.run_id, c.metric] - self.values[c.baseline, c.metric] for c in contrasts]
        tested = [i for i, c in enumerate(contrasts) if not is_median(c.metric)]
        p = np.full(len(contrasts), np.nan)
        corrected = p.copy()
        if tested:
            p[tested] = resampling.sign_flip_p_values(np.column_stack([paired[i] for i in tested]), self.units)
            corrected[tested] = holm(p[tested])
        errors = self._dyadic_errors(paired, [c.metric for c in contrasts])
        if self.method is Method.BOOTSTRAP:
            moved = [self._resampled[c.run_id, c.metric] - self._resampled[c.baseline, c.metric] for c in contrasts]
            errors = np.array([m.std(ddof=1) for m in moved])
        smallest = resampling.smallest_detectable(errors, max(len(tested), 1), ALPHA)
        out = []
        for i, c in enumerate(contrasts):
            value = self.value(c.run_id, c.metric) - self.value(c.baseline, c.metric)
            interval = self._interval(value, errors[i], moved[i] if self.method is Method.BOOTSTRAP else None)
            has_test, same = i in tested, not paired[i].any()
            # Without any difference there is nothing to tell from what size on it would have been found.
            known = has_test and interval is not None and not same
            out.append(
                Difference(
                    c,
                    value,
                    interval,
                    float(p[i]) if has_test else None,
                    float(corrected[i]) if has_test else None,
                    float(smallest[i]) if known else None,
                    same,
                    *self._duel(c),
                )
            )
        return tuple(out)

    def _dyadic_errors(self, columns: Sequence[Float64], metrics: Iterable[str]) -> Float64:
        """Standard errors of means, NaN for medians and where another method is taken."""
        errors = np.full(len(columns), np.nan)
        means = [i for i, metric in enumerate(metrics) if not is_median(metric)]
        if self.method is Method.DYADIC and means:
            stacked = np.column_stack([columns[i] for i in means])
            errors[means] = np.sqrt(resampling.dyadic_variances(stacked, self.queries, self.mates))
        return errors

    def _interval(self, value: float, error: float, resampled: Float64 | None) -> Interval | None:
        if resampled is not None:
            low, high = np.quantile(resampled, [0.025, 0.975])
            return Interval(float(low), float(high))
        if np.isnan(error):
            return None
        half = resampling.dyadic_quantile(self.queries, self.mates) * float(error)
        return Interval(value - half, value + half)

    def _duel(self, contrast: Contrast) -> tuple[int, int, int]:
        """Pairs that the run ranks better than the baseline, alike, and worse."""
        suffix = "_filtered" if contrast.metric.endswith("_filtered") else ""
        one, other = (self.values[run_id, f"mean_rank{suffix}"] for run_id in (contrast.run_id, contrast.baseline))
        wins, losses = int(np.count_nonzero(one < other)), int(np.count_nonzero(one > other))
        return wins, len(one) - wins - losses, losses


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
    """Where the intervals come from and why, in two sentences."""
    number, pairs = int(sample.components.max()) + 1, len(sample.queries)
    if sample.method is Method.NONE:
        return f"No intervals: {pairs:,} pairs are too few to say how sure the scores are."
    if sample.method is Method.BOOTSTRAP:
        return (
            f"95% intervals: a bootstrap over the {number:,} groups of pairs that share no text, drawn {RESAMPLES:,} "
            f"times; the largest holds {sample.largest_share:.1%} of the {pairs:,} pairs."
        )
    return (
        f"95% intervals: dyadic-robust standard errors, by which pairs that share a text may depend on each other; one "
        f"group of connected pairs holds {sample.largest_share:.0%} of the {pairs:,}, so that groups cannot be "
        "resampled. A median has no such standard error, so the median rank has no interval."
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
