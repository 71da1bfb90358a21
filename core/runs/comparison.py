"""Comparisons of two runs, item by item: in full or as one paired difference."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from blindspot.diagnostic import DiagnosticEntry, Score, all_diagnostics, find_diagnostic, named_function
from blindspot.errors import InputError
from blindspot.numerics.statistics.compare import (
    MAIN,
    SHARE,
    ItemScores,
    PairedTest,
    Statistic,
    compare,
    decide,
)
from blindspot.numerics.statistics.intervals import Interval
from blindspot.numerics.statistics.pairs import Dependence
from blindspot.store.records import RunRecord, RunState
from blindspot.store.repository import Repository
from blindspot.types import Float64, Int64


@dataclass(frozen=True)
class Compared:
    """Whether two runs differ by more than chance: a table, sentences, and facts for programs."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    said: Sequence[str]
    facts: dict[str, Any]

    @property
    def numbers(self) -> Sequence[Mapping[str, Any]]:
        """A row per score or ordering, of plain numbers."""
        lists = (value for value in self.facts.values() if isinstance(value, list) and value)
        return next((rows for rows in lists if isinstance(rows[0], dict)), ())


class Compare(Protocol):
    """Signature of ``DiagnosticEntry.compare``."""

    def __call__(self, first: RunRecord, second: RunRecord, repository: Repository, *, filtered: bool) -> Compared:
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


# --- scores item by item, and their paired tests


def declared(entry: DiagnosticEntry, score: str) -> Score:
    """The declaration of a score; raises ``ValueError`` where there is none."""
    found = entry.declared(score)
    if found is None:
        raise ValueError(f"{entry.id} does not declare the score {score}")
    return found


class ItemScoresOf(Protocol):
    """Signature of ``DiagnosticEntry.item_scores``."""

    def __call__(self, runs: Sequence[RunRecord], repository: Repository) -> Sequence[Mapping[str, ItemScores]]:
        """For each of some finished runs over one content, by name the scores that are made of items.

        Rows are read once, and scores of the same items share one ``Dependence``.

        Raises:
            InputError: the runs evaluated different items, where the diagnostic compares none of these.
            BlindspotError: rows are not in the store.
        """
        ...


def items_of(
    entry: DiagnosticEntry, runs: Sequence[RunRecord], repository: Repository
) -> Sequence[Mapping[str, ItemScores]]:
    """As ``ItemScoresOf``; none of a diagnostic whose scores are not made of items."""
    if not entry.item_scores:
        return [{} for _ in runs]
    found: Sequence[Mapping[str, ItemScores]] = named_function(entry.item_scores)(runs, repository)
    return found


def item_scores(
    entry: DiagnosticEntry,
    score: str,
    label: str,
    parts: Float64,
    numbers: Int64,
    known: Dependence,
    texts: Callable[[], Sequence[str]],
    *,
    value: float | None = None,
    statistic: Statistic = SHARE,
    units: str = "",
    family: str = MAIN,
) -> ItemScores:
    """``ItemScores`` with what a diagnostic declares of a score, else a share of which neither more nor less is better.

    ``value`` is the mean of the parts if left out.
    """
    of = entry.declared(score)
    mean = float(parts.mean()) if value is None else value
    better, ends = (of.higher_is_better, of.range) if of else (None, (0.0, 1.0))
    return ItemScores(score, label, mean, parts, numbers, known, better, ends, statistic, texts, units, family)


def paired_tests(
    entry: DiagnosticEntry, of: Sequence[tuple[RunRecord, RunRecord]], repository: Repository, family: str = ""
) -> list[tuple[PairedTest, ...]]:
    """The family of tests of each two runs over one content, the headline first: the only place where it is decided
    whether one run is better than another.

    Args:
        of: finished runs of one diagnostic with the same parameters, on the same items; rows are read once, however
            many pairs name a run.
        family: of scores; that of the headline if left out.

    Raises:
        InputError, BlindspotError: as ``ItemScoresOf``.
    """
    runs = list({run.run_id: run for pair in of for run in pair}.values())
    scores = dict(zip((run.run_id for run in runs), items_of(entry, runs, repository), strict=True)) if runs else {}
    asked: list[tuple[int, ItemScores, ItemScores]] = []
    for place, (first, second) in enumerate(of):
        a, b = scores[first.run_id], scores[second.run_id]
        headline = entry.headline_of(first.metrics)
        wanted = family or (a[headline].family if headline in a else MAIN)
        names = sorted((name for name in a if name in b), key=lambda name: name != headline)
        asked += [(place, a[name], b[name]) for name in names if a[name].family == wanted]
    by_pair: list[list[PairedTest]] = [[] for _ in of]
    for (place, *_), test in zip(asked, compare([(a, b) for _, a, b in asked]), strict=True):
        one, other = (run.plan for run in of[place])
        address = entry.address_of_two(str(one.variant), str(other.variant), one.dataset)
        by_pair[place].append(replace(test, address=address))
    return [decide(tests) or (_untested(entry, *pair),) for pair, tests in zip(of, by_pair, strict=True)]


def _untested(entry: DiagnosticEntry, first: RunRecord, second: RunRecord) -> PairedTest:
    """Of a headline that is not made of items."""
    score = entry.headline_of(first.metrics)
    of = declared(entry, score)
    label, n = entry.overview.columns.get(score, score), int(first.coverage["items_covered"])
    label = label[:1].upper() + label[1:]
    why = "neither more nor less is better" if of.higher_is_better is None else "it is not a mean over items"
    a, b = (run.metrics[score] for run in (first, second))
    return PairedTest(score, label, of.higher_is_better, of.range, a, b, n, "items", "none", refusal=why)


def headline_tests(
    entry: DiagnosticEntry, of: Sequence[tuple[RunRecord, RunRecord]], repository: Repository
) -> list[PairedTest]:
    """Of each two runs the test of the headline score that both have, decided in its family."""
    return [tests[0] for tests in paired_tests(entry, of, repository)]


# --- the items that two runs judge differently


@dataclass(frozen=True)
class Change:
    """An item that runs A and B judge differently.

    Attributes:
        texts: in reading order, each with its role: query, match, original, ...
        a, b: the result of each run for it, in words: ``rank 14``, ``says: sports``.
        gain: A's score of this item less B's, as a share of the range of the item's score, from -1 to 1.
        address: query parameters that open the item on the diagnostic's page, besides dataset and variants.
    """

    item_no: int
    texts: tuple[tuple[str, str], ...]
    a: str
    b: str
    gain: float
    address: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Changes:
    """How two runs differ item by item.

    Attributes:
        unit: of an item, in the plural; ``won_by``: the condition for winning one, to follow "A".
        won, lost, alike: numbers of items.
        rows: the largest changes, at most as many of either side as was asked for, the largest gain first and then the
            largest loss first.
    """

    unit: str
    won_by: str
    won: int
    lost: int
    alike: int
    rows: tuple[Change, ...]


class ChangesOf(Protocol):
    """Signature of ``DiagnosticEntry.changed``."""

    def __call__(self, first: RunRecord, second: RunRecord, repository: Repository, most: int) -> Changes:
        """The items that two runs, as in ``DifferencesOf``, judge differently; at most ``most`` rows of either side."""
        ...


def largest(gain: Float64, most: int) -> tuple[Int64, Int64]:
    """Places of the largest gains ``[m]`` above 0, and of the lowest below 0, at most ``most`` each, in that order."""
    order = np.argsort(-gain, kind="stable")
    won = order[: min(most, int(np.count_nonzero(gain > 0)))]
    order = np.argsort(gain, kind="stable")
    return won, order[: min(most, int(np.count_nonzero(gain < 0)))]
