"""How sure EvalRank's scores are, for its page and for the Overview; cached by run: a finished run never changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from core.diagnostic import DiagnosticEntry
from core.diagnostics.evalrank import pairs as explore
from core.diagnostics.evalrank import uncertainty as numbers
from core.diagnostics.evalrank.figures.scores import SCORES, Intervals
from core.diagnostics.evalrank.pairs import PairTable
from core.diagnostics.evalrank.uncertainty import Difference, Sample
from core.numerics.statistics.estimate import Estimate
from core.store.records import RunRecord
from core.ui.resources import repository

# The arguments without an underscore are the keys of the caches: never a matrix.


@st.cache_resource(show_spinner="Computing intervals …", max_entries=16)
def _samples(_pairs: PairTable, table: str, run_ids: tuple[str, ...]) -> tuple[Sample, ...]:  # noqa: ARG001
    return numbers.samples(_pairs, run_ids, numbers.WITH_INTERVAL)


def samples(entry: DiagnosticEntry, pairs: PairTable, runs: Sequence[RunRecord]) -> tuple[Sample, ...]:
    """The runs in groups that ranked the same pairs."""
    return _samples(pairs, entry.table, tuple(r.run_id for r in runs))


@st.cache_data(show_spinner="Computing intervals …", max_entries=32)
def _estimates(_sample: Sample, run_ids: tuple[str, ...]) -> Mapping[str, Mapping[str, Estimate]]:  # noqa: ARG001
    return _sample.estimates()


def _all_estimates(found: Sequence[Sample]) -> Mapping[str, Mapping[str, Estimate]]:
    return {run_id: rows for sample in found for run_id, rows in _estimates(sample, sample.run_ids).items()}


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


@st.cache_data(show_spinner="Comparing with the best …", max_entries=32)
def _marks(_sample: Sample, run_ids: tuple[str, ...]) -> Mapping[str, frozenset[str]]:  # noqa: ARG001
    return numbers.best_and_alike(_sample)


@st.cache_data(show_spinner="Comparing with the best …", max_entries=128)
def _stored_marks(
    _entry: DiagnosticEntry,
    table: str,  # noqa: ARG001
    run_ids: tuple[str, ...],
) -> Mapping[str, frozenset[str]] | None:
    if repository().with_items(_entry, run_ids) != set(run_ids):
        return None
    pairs = explore.pair_table(_entry, run_ids, repository())
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
    return _rows(_marks(found[0], found[0].run_ids), runs)


def stored_marks(entry: DiagnosticEntry, runs: Sequence[RunRecord]) -> Mapping[str, frozenset[int]] | None:
    """As ``marks``, of any runs; None of another diagnostic, and where their rows are not there."""
    if entry.id != "evalrank" or len(runs) < 2:
        return None
    marked = _stored_marks(entry, entry.table, tuple(r.run_id for r in runs))
    return None if marked is None else _rows(marked, runs)


# --- against a baseline


@st.cache_data(show_spinner="Comparing with the baseline …", max_entries=64)
def _against(
    _sample: Sample,
    run_ids: tuple[str, ...],  # noqa: ARG001
    baseline: str,
    metrics: tuple[str, ...],
) -> tuple[Difference, ...]:
    return numbers.against(_sample, baseline, metrics)


def against(sample: Sample, baseline: str, metrics: Sequence[str]) -> tuple[Difference, ...]:
    """Every other run of the sample against the baseline."""
    return _against(sample, sample.run_ids, baseline, tuple(metrics))
