"""Comparisons of two runs, item by item: in full or as one paired difference."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from blindspot.diagnostic import DiagnosticEntry, Score, all_diagnostics, find_diagnostic
from blindspot.errors import InputError
from blindspot.numerics.statistics.estimate import Estimate
from blindspot.numerics.statistics.intervals import Interval
from blindspot.numerics.statistics.pairs import Dependence
from blindspot.store.records import RunRecord, RunState
from blindspot.store.repository import Repository
from blindspot.types import Float64, Int64


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


# --- one number per comparison: the headline score of A less that of B


@dataclass(frozen=True)
class Difference:
    """The headline score of run A less that of run B, over the items that both evaluated.

    Scores of different scales compare by ``advantage``: the difference as a share of the range that the score can take
    (0 to 1 for an accuracy, -1 to 1 for a correlation, 0 to 4 for a squared distance), positive where A is better.

    Attributes:
        score: name of the metric; ``label``: for people.
        higher_is_better: None where neither more nor less is.
        range: lowest and highest possible value of the score, both finite.
        interval: 95% interval of ``a - b`` in the score's own units; None where there is none.
        p: two-sided, uncorrected; None where there is no test.
        n: number of independent things that the test rests on; ``unit``: what these are, in the plural.
        test: in words.
        refusal: why the test or the interval is missing; "" where both are there.
        wins, losses: items that A, or B, does better on.
        a_interval, b_interval: 95% intervals of the two scores themselves, where there are any.
        address: query parameters that open the two side by side on the diagnostic's page, besides dataset and variants.

    Raises:
        ValueError: p is no probability, or missing without a reason; the range is not finite.
    """

    score: str
    label: str
    higher_is_better: bool | None
    range: tuple[float, float]
    a: float
    b: float
    n: int
    unit: str
    test: str
    interval: Interval | None = None
    p: float | None = None
    refusal: str = ""
    wins: int = 0
    losses: int = 0
    a_interval: Interval | None = None
    b_interval: Interval | None = None
    address: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        low, high = self.range
        if not (math.isfinite(low) and math.isfinite(high) and low < high):
            raise ValueError(
                f"{self.score} ranges from {low} to {high}: its differences cannot be put on a common scale"
            )
        if self.p is None and not self.refusal:
            raise ValueError(f"{self.score} is not tested, and gives no reason")
        if self.p is not None and not 0.0 <= self.p <= 1.0:
            raise ValueError(f"p of {self.score} is {self.p}")

    @classmethod
    def of(
        cls,
        entry: DiagnosticEntry,
        score: str,
        label: str,
        a: Estimate,
        b: Estimate,
        estimate: Estimate,
        p: float,
        test: str,
        *,
        unit: str = "",
        wins: int = 0,
        losses: int = 0,
        address: Mapping[str, str] | None = None,
    ) -> Difference:
        """From estimates of the two scores and of ``a - b``, and the p-value of its test, NaN where there is no test.

        Args:
            unit: what is independent, where the diagnostic has a better word than ``estimate.unit``.
        """
        known = declared(entry, score)
        return cls(
            score,
            label,
            known.higher_is_better,
            known.range,
            a.value,
            b.value,
            estimate.units,
            unit or estimate.unit.value,
            test,
            estimate.interval,
            None if math.isnan(p) else float(p),
            estimate.refusal,
            wins,
            losses,
            a.interval,
            b.interval,
            address or {},
        )

    @classmethod
    def untested(
        cls,
        entry: DiagnosticEntry,
        score: str,
        label: str,
        a: float,
        b: float,
        n: int,
        unit: str,
        refusal: str,
        *,
        wins: int = 0,
        losses: int = 0,
        address: Mapping[str, str] | None = None,
    ) -> Difference:
        """For items that allow no paired test; ``refusal`` says why, without a full stop."""
        known = declared(entry, score)
        better, ends = known.higher_is_better, known.range
        untested = cls(score, label, better, ends, a, b, n, unit, "none", refusal=refusal)
        return replace(untested, wins=wins, losses=losses, address=address or {})

    @property
    def value(self) -> float:
        return self.a - self.b

    @property
    def sign(self) -> int:
        """1 where more is better, -1 where less is, 0 where neither."""
        return {True: 1, False: -1, None: 0}[self.higher_is_better]

    @property
    def advantage(self) -> float | None:
        """Of A over B, from -1 to 1: the difference as a share of the score's range; None if neither is better."""
        return None if self.higher_is_better is None else self._share(self.value)

    @property
    def advantage_interval(self) -> Interval | None:
        """The interval of ``advantage``."""
        if self.interval is None or self.higher_is_better is None:
            return None
        ends = sorted((self._share(self.interval.low), self._share(self.interval.high)))
        return Interval(*ends)

    def _share(self, value: float) -> float:
        return self.sign * value / (self.range[1] - self.range[0]) + 0.0  # no -0.0


def declared(entry: DiagnosticEntry, score: str) -> Score:
    """The declaration of a score; raises ``ValueError`` where there is none."""
    found = entry.declared(score)
    if found is None:
        raise ValueError(f"{entry.id} does not declare the score {score}")
    return found


class DifferencesOf(Protocol):
    """Signature of ``DiagnosticEntry.difference``."""

    def __call__(self, pairs: Sequence[tuple[RunRecord, RunRecord]], repository: Repository) -> list[Difference]:
        """One difference per pair of runs, in their order; rows are read once, however many pairs name a run.

        Args:
            pairs: finished runs of this diagnostic over one content, with the same parameters, on the same items, which
                have the same headline score (``blindspot.studies.compare.rows`` sees to it).
        """
        ...


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


# --- one run's scores, item by item


@dataclass(frozen=True, eq=False)
class ItemScores:
    """A score of a run, and what each item has in it; items are pairs, queries, originals or examples.

    Attributes:
        value: the score.
        parts: ``[m]``, values whose mean is the score or, where it is no mean (``is_mean``), their influences on it.
        numbers: ``[m]`` of the items in the dataset, ascending.
        texts: ``[m]``, an item in one line.
        known: which items are independent.
    """

    value: float
    parts: Float64
    numbers: Int64
    texts: Sequence[str]
    known: Dependence
    is_mean: bool = True


class ItemScoresOf(Protocol):
    """Signature of ``DiagnosticEntry.item_scores``."""

    def __call__(self, run: RunRecord, repository: Repository) -> Mapping[str, ItemScores]:
        """By name the scores of a finished run that are made of items."""
        ...
