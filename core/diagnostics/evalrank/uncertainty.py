"""Intervals of EvalRank's scores, and tests of whether two runs differ by more than chance; from stored rows alone.

Pairs that share a text are not independent; ``blindspot.numerics.statistics.pairs`` has how intervals and tests respect
it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from blindspot.diagnostics.evalrank.definition import CANDIDATES, ENTRY
from blindspot.diagnostics.evalrank.pairs import PairTable, pair_table
from blindspot.errors import InputError
from blindspot.numerics.ranking.ranks import expected_hit
from blindspot.numerics.statistics import pairs as statistics
from blindspot.numerics.statistics import resampling
from blindspot.numerics.statistics.compare import MAIN, OTHERS, Verdict, corrected
from blindspot.numerics.statistics.estimate import Estimate, Unit
from blindspot.numerics.statistics.intervals import ALPHA, Interval, percentile_interval
from blindspot.numerics.statistics.p_values import p_in_cell
from blindspot.numerics.statistics.pairs import Dependence
from blindspot.numerics.statistics.skew import FEWEST_UNBOUNDED
from blindspot.runs.comparison import Compared, ends
from blindspot.store.records import RunRecord
from blindspot.store.repository import Repository
from blindspot.texts import with_minus
from blindspot.types import Float64, Int64

TESTED = ("mrr", "hits@1", "hits@3", "hits@10", "mean_rank")  # and the same with "_filtered"
FIRST = ("mrr", "hits@1")  # the main scores
FILTERED = "filtered"  # family of the main scores by filtered ranks
COMPARED = (*TESTED, "median_rank")
WITH_INTERVAL = (*COMPARED, "hits@5", *(f"{name}_filtered" for name in COMPARED))

_HIGHER_IS_BETTER = {m.name: m.higher_is_better for m in ENTRY.metrics}


def is_median(metric: str) -> bool:
    """Whether the metric is no mean over pairs: then it has neither a dyadic variance nor a test."""
    return metric.startswith("median_rank")


def is_rank(metric: str) -> bool:
    """Whether the metric is counted in ranks, not within 0 to 1."""
    return metric.startswith(("mean_rank", "median_rank"))


def pair_values(table: PairTable, run_id: str, metric: str) -> Float64:
    """The value of each pair whose mean (or median) a metric is, ``[m] float64``, NaN where the run did not rank it.

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
    """The question whether a run differs from another in a metric."""

    metric: str
    run_id: str
    baseline: str


@dataclass(frozen=True)
class Difference:
    """A run's value minus the baseline's.

    Attributes:
        estimate: with the 95% interval of this difference alone.
        p_value: of ``statistics.p_values``; None for a median, and where the pairs do not allow a test.
        p_corrected: after Holm, over the scores of the two runs in its family (``family_of``).
        smallest: the smallest true difference that one of so many tests finds with probability 0.8; None where there is
            no interval, or no difference in any pair.
        wins: pairs that the run ranks better than the baseline; ``ties`` and ``losses`` likewise.
    """

    contrast: Contrast
    estimate: Estimate
    p_value: float | None
    p_corrected: float | None
    smallest: float | None
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
        if self.p_corrected is None:
            return Verdict.UNTESTED
        if self.p_corrected >= ALPHA:
            return Verdict.ALIKE
        higher_is_better = _HIGHER_IS_BETTER[self.contrast.metric]
        return Verdict.BETTER if (self.value > 0) == higher_is_better else Verdict.WORSE


@dataclass(frozen=True, eq=False)
class Sample:
    """The values per pair of runs that ranked the same pairs.

    Attributes:
        queries, mates: ``[m]`` numbers of each pair's texts.
        values: ``pair_values`` by (run id, metric), ``[m] float64``.
    """

    run_ids: tuple[str, ...]
    metrics: tuple[str, ...]
    queries: Int64
    mates: Int64
    values: Mapping[tuple[str, str], Float64]

    @cached_property
    def dependence(self) -> Dependence:
        return Dependence.of(self.queries, self.mates)

    @cached_property
    def largest_share(self) -> float:
        """The largest group of connected pairs, as a share of all pairs."""
        return float(np.bincount(self.dependence.groups).max() / len(self.queries))

    @cached_property
    def _medians(self) -> Mapping[tuple[str, str], Float64]:
        """By (run id, metric) the medians in resamples of the groups, ``[resamples]``; the same resamples for all."""
        keys = [key for key in self.values if is_median(key[1])]
        stacked = np.column_stack([self.values[key] for key in keys])
        columns = resampling.bootstrap_medians(stacked, self.dependence.groups).T
        return dict(zip(keys, np.ascontiguousarray(columns), strict=True))

    def value(self, run_id: str, metric: str) -> float:
        """The score, as the run stored it."""
        average = np.median if is_median(metric) else np.mean
        return float(average(self.values[run_id, metric]))

    def estimates(self) -> Mapping[str, Mapping[str, Estimate]]:
        """Per run id and metric the score with its interval."""
        return {run_id: {m: self._estimate(run_id, m) for m in self.metrics} for run_id in self.run_ids}

    def _estimate(self, run_id: str, metric: str) -> Estimate:
        if is_median(metric):
            return self._median(self.value(run_id, metric), lambda: self._medians[run_id, metric])
        estimate = statistics.mean_rank if is_rank(metric) else statistics.share
        return estimate(self.values[run_id, metric], self.dependence)

    def differences(self, contrasts: Sequence[Contrast]) -> tuple[Difference, ...]:
        """One per contrast; p-values are corrected within each family (``_corrected``)."""
        if not contrasts:
            return ()
        paired = self._paired(contrasts)
        means = [i for i, c in enumerate(contrasts) if not is_median(c.metric)]
        p, smallest = (np.full(len(contrasts), np.nan) for _ in range(2))
        if means:
            p[means] = self._p_values(paired[:, means], [contrasts[i].metric for i in means])
            together = max(len(places) for places in _families([contrasts[i] for i in means]))
            smallest[means] = statistics.smallest_detectable(paired[:, means], self.dependence, together, ALPHA)
        smallest[np.isnan(p)] = np.nan
        after = _corrected(p, contrasts)
        return tuple(
            Difference(
                c,
                self._difference(c),
                _or_none(p[i]),
                after[i],
                _or_none(smallest[i]),
                *self._wins_ties_losses(c),
            )
            for i, c in enumerate(contrasts)
        )

    def alike(self, contrasts: Sequence[Contrast]) -> list[bool]:
        """Whether the verdicts of ``differences`` in means are "no significant difference", without intervals and what
        else takes its time."""
        if not contrasts:
            return []
        p = self._p_values(self._paired(contrasts), [c.metric for c in contrasts])
        return [after is not None and after >= ALPHA for after in _corrected(p, contrasts)]

    def _p_values(self, paired: Float64, metrics: Sequence[str]) -> Float64:
        """p-values of differences ``[m, k]`` in the means of these metrics, ``[k]``; NaN without a test."""
        ranks = np.array([is_rank(metric) for metric in metrics])
        p = statistics.p_values(paired, self.dependence, np.where(ranks, np.inf, 1.0))
        known = self.dependence
        if known.unit is Unit.COMPONENTS and known.units < FEWEST_UNBOUNDED:
            p[ranks & paired.any(axis=0)] = np.nan
        return p

    def _paired(self, contrasts: Sequence[Contrast]) -> Float64:
        """Differences in every pair, ``[m, contrasts]``."""
        return np.column_stack([self.values[c.run_id, c.metric] - self.values[c.baseline, c.metric] for c in contrasts])

    def _difference(self, contrast: Contrast) -> Estimate:
        run_id, baseline, metric = contrast.run_id, contrast.baseline, contrast.metric
        if is_median(metric):
            value = self.value(run_id, metric) - self.value(baseline, metric)
            return self._median(value, lambda: self._medians[run_id, metric] - self._medians[baseline, metric])
        most = np.inf if is_rank(metric) else 1.0
        return statistics.difference(self.values[run_id, metric], self.values[baseline, metric], self.dependence, most)

    def _median(self, value: float, resampled: Callable[[], Float64]) -> Estimate:
        """A median, or the difference of two, with the middle 95% of its resampled values."""
        known, refusal = self.dependence, self.dependence.refusal
        if not refusal and known.unit is not Unit.COMPONENTS:
            refusal = "a median has no standard error that lets pairs depend on each other by their texts"
        interval = None if refusal else percentile_interval(resampled())
        return Estimate(value, interval, "bootstrap over groups", known.unit, known.units, known.effective, refusal)

    def _wins_ties_losses(self, contrast: Contrast) -> tuple[int, int, int]:
        """Pairs that the run ranks better than the baseline, alike, and worse."""
        suffix = "_filtered" if contrast.metric.endswith("_filtered") else ""
        one, other = (self.values[run_id, f"mean_rank{suffix}"] for run_id in (contrast.run_id, contrast.baseline))
        wins, losses = int(np.count_nonzero(one < other)), int(np.count_nonzero(one > other))
        return wins, len(one) - wins - losses, losses


def _families(contrasts: Sequence[Contrast]) -> list[list[int]]:
    """Places of what is corrected together: of two runs the scores of a family."""
    found: dict[tuple[str, str, str], list[int]] = {}
    for i, c in enumerate(contrasts):
        found.setdefault((c.run_id, c.baseline, family_of(c.metric)), []).append(i)
    return list(found.values())


def family_of(metric: str) -> str:
    """Scores whose tests are corrected together: the main ones, and the further ones, by raw or by filtered ranks."""
    name = metric.removesuffix("_filtered")
    if name not in TESTED:
        return OTHERS
    by = FILTERED if name != metric else MAIN
    return by if name in FIRST else f"{by}, further"


def _corrected(p: Float64, contrasts: Sequence[Contrast]) -> list[float | None]:
    """p-values ``[k]`` after Holm, within each family."""
    out: list[float | None] = [None] * len(contrasts)
    for places in _families(contrasts):
        for place, value in zip(places, corrected(p[places].tolist()), strict=True):
            out[place] = value
    return out


def _or_none(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def samples(table: PairTable, run_ids: Sequence[str], metrics: Sequence[str]) -> tuple[Sample, ...]:
    """The runs in groups that ranked the same pairs: one group, unless encoders were ranked on their own support.

    The mean rank is always among the metrics: it decides which run wins a pair.
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
    """As ``samples``, of runs that ranked the same pairs; raises ``InputError`` if they did not."""
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


def best_and_inseparable(sample: Sample) -> Mapping[str, frozenset[str]]:
    """Per tested metric, raw and filtered, the best run and those not significantly worse.

    Each is tested against the best in all scores, and corrected for these: a verdict does not depend on the others.
    """
    return _best_and_inseparable(sample, TESTED) | _best_and_inseparable(
        sample, [f"{name}_filtered" for name in TESTED]
    )


def _best_and_inseparable(sample: Sample, metrics: Sequence[str]) -> dict[str, frozenset[str]]:
    best: dict[str, str] = {}
    for metric in metrics:
        sign = -1 if _HIGHER_IS_BETTER[metric] else 1
        values = [sign * sample.value(run_id, metric) for run_id in sample.run_ids]
        best[metric] = sample.run_ids[int(np.argmin(values))]
    ahead = dict.fromkeys(best.values())
    asked = [Contrast(m, r, one) for one in ahead for r in sample.run_ids if r != one for m in metrics]
    out = {metric: {run_id} for metric, run_id in best.items()}
    for contrast, is_alike in zip(asked, sample.alike(asked), strict=True):
        if is_alike and best[contrast.metric] == contrast.baseline:
            out[contrast.metric].add(contrast.run_id)
    return {metric: frozenset(found) for metric, found in out.items()}


# --- in words

_PREFIX = {Verdict.BETTER: "significantly ", Verdict.WORSE: "significantly "}


def method_in_words(sample: Sample) -> str:
    """What the intervals treat as independent, and why, in two sentences."""
    known, pairs = sample.dependence, len(sample.queries)
    if known.refusal:
        return f"No intervals and no tests: {known.refusal}."
    if known.unit is Unit.COMPONENTS:
        return (
            f"95% CI from {known.independent} that share no text; the largest group has {sample.largest_share:.1%} of "
            f"the {pairs:,} pairs."
        )
    return (
        f"95% CI from {known.independent}: dyadic-robust (pairs that share a text may depend on each other), since one "
        f"group of connected pairs has {sample.largest_share:.0%} of the {pairs:,}. A median has no such standard "
        "error, so the median rank has no interval."
    )


def summary(differences: Sequence[Difference], name_of: Mapping[str, str]) -> str:
    """One run's differences to the baseline in one sentence, without the names of the runs; metrics by ``name_of``."""
    by_verdict: dict[Verdict, list[Difference]] = {}
    for d in differences:
        by_verdict.setdefault(d.verdict, []).append(d)
    if all(d.wins == d.losses == 0 for d in differences):
        return "same rank in every pair."
    untested = [d for d in differences if d.p_value is None and not is_median(d.contrast.metric)]
    if refusals := [d.estimate.refusal for d in untested if d.estimate.refusal]:
        return f"not tested: {refusals[0]}."
    parts = [
        f"{_PREFIX.get(verdict, '')}{verdict} in {_listed(name_of[d.contrast.metric] for d in by_verdict[verdict])}"
        for verdict in (Verdict.BETTER, Verdict.WORSE)
        if verdict in by_verdict
    ]
    if alike := by_verdict.get(Verdict.ALIKE):
        parts.append(f"{Verdict.ALIKE} in {_listed(name_of[d.contrast.metric] for d in alike)}")
    if untested:
        ranks = _listed(name_of[d.contrast.metric] for d in untested)
        parts.append(f"{ranks} not tested, for a single rank can outweigh fewer than {FEWEST_UNBOUNDED} groups")
    said = "; ".join(parts) + "."
    first = alike[0] if alike else None
    if first and first.smallest is not None:
        least = f"{shown(first.contrast.metric, first.smallest)} ({name_of[first.contrast.metric]})"
        said += f" This test would have detected a difference of {least} with 80% probability."
    return said


def _listed(names: Iterable[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def shown(metric: str, value: float, *, sign: bool = False) -> str:
    """A value as tables show it: scores with four decimals, ranks with two."""
    form = "+" if sign else ""
    return with_minus(f"{value:{form},.2f}" if "rank" in metric else f"{value:{form}.4f}")


def shown_interval(metric: str, interval: Interval | None, *, sign: bool = False) -> str:
    """``[low, high]``, or a dash."""
    if interval is None:
        return "–"
    return f"[{shown(metric, interval.low, sign=sign)}, {shown(metric, interval.high, sign=sign)}]"


# --- two runs, on the command line


def compare(first: RunRecord, second: RunRecord, repository: Repository, *, filtered: bool) -> Compared:
    """See ``blindspot.runs.comparison.Compare``."""
    if first.plan.params["protocol"] != second.plan.params["protocol"]:
        raise InputError(
            f"run {first.run_id} is by the protocol {first.plan.params['protocol']}, "
            f"run {second.run_id} by {second.plan.params['protocol']}",
            expected="two runs by one protocol: ranks are counted differently",
        )
    among = [CANDIDATES.value_in(run.plan.params) for run in (first, second)]
    if among[0] != among[1]:
        raise InputError(
            f"run {first.run_id} has {among[0]} as candidates, run {second.run_id} {among[1]}",
            expected="two runs with the same candidates: matches are ranked among other texts",
        )
    ids = [first.run_id, second.run_id]
    table = pair_table(ENTRY, ids, repository)
    ranks, suffix = ("filtered", "_filtered") if filtered else ("raw", "")
    metrics = [f"{metric}{suffix}" for metric in COMPARED]
    sample = one_sample(table, ids, metrics)
    differences = against(sample, second.run_id, metrics)
    words = summary(differences, {metric: metric for metric in metrics})
    said = [f"{_label(first)} against {_label(second)}: {words}", method_in_words(sample)]
    duel = differences[0]
    wins = f"Pairs that A ranks better: {duel.wins:,}, alike: {duel.ties:,}, worse: {duel.losses:,}."
    return Compared(
        f"EvalRank on {first.plan.dataset}, {ranks} ranks: A is {_label(first)}, B is {_label(second)}",
        ["score", "A", "B", "A - B", "95% interval", "p", "p (Holm)", "smallest detectable", "A is"],
        [
            [
                (m := d.contrast.metric),
                *(shown(m, sample.value(run_id, m)) for run_id in ids),
                shown(m, d.value, sign=True),
                shown_interval(m, d.interval, sign=True),
                p_in_cell(d.p_value),
                p_in_cell(d.p_corrected, d.p_value),
                "–" if d.smallest is None else shown(m, d.smallest),
                d.verdict.value,
            ]
            for d in differences
        ],
        [said[0], wins, said[1]],
        {
            "ranks": ranks,
            **independent(sample),
            "pairs": len(sample.queries),
            "metrics": [
                {
                    "metric": (m := d.contrast.metric),
                    "first": sample.value(ids[0], m),
                    "second": sample.value(ids[1], m),
                }
                | {"difference": d.value, **ends(d.interval), "no_interval": d.estimate.refusal or None}
                | {"p_value": d.p_value, "p_corrected": d.p_corrected}
                | {"smallest_detectable": d.smallest, "wins": d.wins, "ties": d.ties, "losses": d.losses}
                | {"verdict": d.verdict.value}
                for d in differences
            ],
            "verdict": said,
        },
    )


def independent(sample: Sample) -> dict[str, object]:
    """What the intervals treat as independent, and how many there are."""
    known = sample.dependence
    return {"independent": {"unit": known.unit.value, "units": known.units, "effective": known.effective}}


def _label(run: RunRecord) -> str:
    """The variant, and the similarity where it is not the usual one."""
    metric = run.plan.params["metric"]
    return run.plan.variant.label if metric == "cos" else f"{run.plan.variant.label} ({metric})"
