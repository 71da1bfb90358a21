"""Comparisons of two runs, item by item."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from core.diagnostic import DiagnosticEntry, all_diagnostics, find_diagnostic
from core.errors import InputError
from core.numerics.statistics.intervals import Interval
from core.store.records import RunRecord, RunState
from core.store.repository import Repository


@dataclass(frozen=True)
class Comparison:
    """Whether two runs differ by more than chance: a table, sentences, and facts for programs."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    said: Sequence[str]
    facts: dict[str, Any]


class Compare(Protocol):
    """Signature of ``DiagnosticEntry.compare``."""

    def __call__(self, first: RunRecord, second: RunRecord, repository: Repository, *, filtered: bool) -> Comparison:
        """Compare two runs of one diagnostic over one content; raises ``InputError`` if that is impossible."""
        ...


def comparable() -> list[str]:
    """Ids of the diagnostics whose runs can be compared."""
    return sorted(entry.id for entry in all_diagnostics().values() if entry.compare)


def entry_of_both(first: RunRecord, second: RunRecord) -> DiagnosticEntry:
    """The diagnostic of two runs that can be compared item by item.

    Raises:
        InputError: the same run twice, an unfinished run, two diagnostics, another version, or different content.
    """
    if first.run_id == second.run_id:
        raise InputError(f"both runs are {first.run_id}", expected="two different runs")
    for run in (first, second):
        if run.state is not RunState.DONE:
            raise InputError(f"run {run.run_id} is {run.state}", expected="two finished runs")
    one, other = first.plan, second.plan
    if one.diagnostic != other.diagnostic:
        raise InputError(
            f"run {first.run_id} is of {one.diagnostic}, run {second.run_id} of {other.diagnostic}",
            expected="two runs of one diagnostic",
        )
    if one.dataset_digest != other.dataset_digest:
        same = " as it was at another time" if one.dataset == other.dataset else ""
        raise InputError(
            f"run {first.run_id} is on '{one.dataset}', run {second.run_id} on '{other.dataset}'{same}",
            expected="two runs over the same content, so that their items are the same",
        )
    entry = find_diagnostic(one.diagnostic)
    for run in (first, second):
        if run.plan.diagnostic_version != entry.version:
            raise InputError(
                f"run {run.run_id} was computed by version {run.plan.diagnostic_version} of {entry.id}",
                expected=f"version {entry.version}",
                remedy="run it again",
            )
    return entry


def ends(interval: Interval | None) -> dict[str, float | None]:
    return {"low": interval.low, "high": interval.high} if interval else {"low": None, "high": None}
