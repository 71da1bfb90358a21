"""How sure EvalRank's scores are, for its page and for the Overview; cached by run: a finished run never changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from core.diagnostic import DiagnosticEntry
from core.diagnostics.evalrank import pairs as explore
from core.diagnostics.evalrank import uncertainty as numbers
from core.diagnostics.evalrank.figures.scores import SCORES, Intervals
from core.diagnostics.evalrank.page.shown import BY_RUNS
from core.diagnostics.evalrank.pairs import PairTable
from core.diagnostics.evalrank.uncertainty import Difference, Sample
from core.numerics.statistics.estimate import Estimate
from core.store.records import RunRecord
from core.ui.resources import Keys, cached, repository

_KEYS: Keys = {Sample: lambda sample: (sample.run_ids, sample.metrics)}  # from one table of pairs each


@cached(16, "Computing intervals …", shared=True, keys=BY_RUNS)
def samples(pairs: PairTable) -> tuple[Sample, ...]:
    """The runs in groups that ranked the same pairs."""
    return numbers.samples(pairs, pairs.run_ids, numbers.WITH_INTERVAL)


@cached(32, "Computing intervals …", keys=_KEYS)
def _estimates(sample: Sample) -> Mapping[str, Mapping[str, Estimate]]:
    return sample.estimates()


def _all_estimates(found: Sequence[Sample]) -> Mapping[str, Mapping[str, Estimate]]:
    return {run_id: rows for sample in found for run_id, rows in _estimates(sample).items()}


def intervals(found: Sequence[Sample], runs: Sequence[RunRecord], suffix: str) -> Intervals:
    """For ``figures.score_bars``: the ends of the intervals that there are."""
    estimates = _all_estimates(found)
    out = {}
    for run in runs:
        ends = {name: estimates[run.run_id][f"{name}{suffix}"].interval for name in SCORES}
        out[run.plan.variant] = {name: (i.low, i.high) for name, i in ends.items() if i is not None}
    return out


def with_intervals(
    found: Sequence[Sample], runs: Sequence[RunRecord], metrics: Sequence[str]
) -> Mapping[tuple[int, str], str]:
    """For ``tables.mark_best``: ``value [low, high]`` by row and metric, where there is an interval."""
    estimates = _all_estimates(found)
    return {
        (row, metric): f"{numbers.shown(metric, e.value)} {numbers.shown_interval(metric, e.interval)}"
        for row, run in enumerate(runs)
        for metric in metrics
        if (e := estimates[run.run_id].get(metric)) is not None and e.interval is not None
    }


def note(found: Sequence[Sample]) -> None:
    """Say where the intervals come from, and why."""
    for said in dict.fromkeys(numbers.method_in_words(sample) for sample in found):
        st.caption(said)


# --- what is not separable from the best


@cached(32, "Comparing with the best …", keys=_KEYS)
def _marks(sample: Sample) -> Mapping[str, frozenset[str]]:
    return numbers.best_and_alike(sample)


@cached(128, "Comparing with the best …")
def _stored_marks(entry: DiagnosticEntry, run_ids: tuple[str, ...]) -> Mapping[str, frozenset[str]] | None:
    if repository().with_items(entry, run_ids) != set(run_ids):
        return None
    pairs = explore.pair_table(entry, run_ids, repository())
    metrics = [f"{name}{suffix}" for suffix in ("", "_filtered") for name in numbers.TESTED]
    found = numbers.samples(pairs, run_ids, metrics)
    return numbers.best_and_alike(found[0]) if _are_tested(found) else None


def _are_tested(found: Sequence[Sample]) -> bool:
    """Whether all ranked the same pairs, and these allow a test."""
    return len(found) == 1 and not found[0].dependence.refusal


def _rows(marked: Mapping[str, frozenset[str]], runs: Sequence[RunRecord]) -> Mapping[str, frozenset[int]]:
    return {m: frozenset(row for row, r in enumerate(runs) if r.run_id in ids) for m, ids in marked.items()}


def marks(found: Sequence[Sample], runs: Sequence[RunRecord]) -> Mapping[str, frozenset[int]] | None:
    """For ``tables.mark_best``: the rows not separable from the best; None where that was not tested."""
    if not _are_tested(found) or len(runs) < 2:
        return None
    return _rows(_marks(found[0]), runs)


def stored_marks(entry: DiagnosticEntry, runs: Sequence[RunRecord]) -> Mapping[str, frozenset[int]] | None:
    """As ``marks``, of any runs of EvalRank; None, too, where their rows are not there."""
    if len(runs) < 2:
        return None
    marked = _stored_marks(entry, tuple(r.run_id for r in runs))
    return None if marked is None else _rows(marked, runs)


# --- against a baseline


@cached(64, "Comparing with the baseline …", keys=_KEYS)
def _against(sample: Sample, baseline: str, metrics: tuple[str, ...]) -> tuple[Difference, ...]:
    return numbers.against(sample, baseline, metrics)


def against(sample: Sample, baseline: str, metrics: Sequence[str]) -> tuple[Difference, ...]:
    """Every other run of the sample against the baseline."""
    return _against(sample, baseline, tuple(metrics))
