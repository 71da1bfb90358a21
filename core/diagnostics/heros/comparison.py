"""Do two runs differ by more than chance? From their stored items, for the pages and the command line alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from core import diagnostic as diagnostics
from core.diagnostic import DiagnosticEntry
from core.diagnostics.heros.orderings import ALPHA, Cosines, Ordering, laid_beside
from core.errors import InputError
from core.numerics.statistics.intervals import McNemar, holm, mcnemar
from core.store.records import RunRecord, RunState
from core.store.repository import Repository
from core.texts import percent


def entry_of_both(first: RunRecord, second: RunRecord) -> DiagnosticEntry:
    """The diagnostic of two runs that can be compared item by item.

    Raises:
        InputError: they are one run, not finished, of two diagnostics, of another version of it than this Blindspot's,
            or over different content.
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
    entry = diagnostics.find(one.diagnostic)
    for run in (first, second):
        if run.plan.diagnostic_version != entry.version:
            raise InputError(
                f"run {run.run_id} was computed by version {run.plan.diagnostic_version} of {entry.id}",
                expected=f"version {entry.version}",
                remedy="run it again",
            )
    return entry


# --- HEROS


@dataclass(frozen=True)
class OrderingTest:
    """One ordering (``synonym>antonym``) in two runs over the same originals.

    Attributes:
        first_rate: share of originals with this order in the first run, ties counting half; ``second_rate`` likewise.
        test: which of the two has it in more originals, and whether that could be chance.
        p_corrected: the test's p-value, corrected after Holm for the number of orderings.
    """

    ordering: Ordering
    first_rate: float
    second_rate: float
    test: McNemar
    p_corrected: float

    @property
    def difference(self) -> float:
        return self.first_rate - self.second_rate

    @property
    def is_tested(self) -> bool:
        """Whether there is an original on which the two differ; where there is none, p is 1 by definition."""
        return self.test.first_better + self.test.second_better > 0

    @property
    def is_separable(self) -> bool:
        """Whether the difference is more than chance."""
        return self.p_corrected < ALPHA


def compare_orderings(first: RunRecord, second: RunRecord, repository: Repository) -> tuple[OrderingTest, ...]:
    """The orderings that are laid beside each other on the dataset (``laid_beside``); with one subset there is none.

    Raises:
        InputError: the runs cannot be compared (``entry_of_both``), or are not of HEROS.
        BlindspotError: what one of them stored is not complete.
    """
    entry = entry_of_both(first, second)
    if entry.id != "heros":
        raise InputError(f"the runs are of {entry.id}", expected="two runs of heros")
    rows = repository.items(entry, [first.run_id, second.run_id], texts=False)
    one, other = (Cosines.of_rows(rows[rows["run_id"] == run.run_id]) for run in (first, second))
    return tests_of_orderings(one, other)


def tests_of_orderings(first: Cosines, second: Cosines) -> tuple[OrderingTest, ...]:
    """McNemar's exact test of every ordering that is laid beside, corrected after Holm for how many they are.

    The corrections count the orderings on which the two never differ too: that they do not is only seen afterwards.
    """
    orderings = laid_beside([subset for subset in first.subsets if subset in second.subsets]).orderings
    outcomes = [(first.outcomes(ordering), second.outcomes(ordering)) for ordering in orderings]
    tests = [mcnemar(*pair) for pair in outcomes]
    corrected = holm(np.array([test.p_value for test in tests]))
    return tuple(
        OrderingTest(ordering, float(one.mean()), float(other.mean()), test, float(p))
        for ordering, (one, other), test, p in zip(orderings, outcomes, tests, corrected, strict=True)
    )


def verdict(
    tests: Sequence[OrderingTest], first: str, second: str, name_of: Callable[[Ordering], str] = str
) -> list[str]:
    """What the tests say, in words: a sentence for all of them, then one for each that sets the two runs apart.

    Args:
        first: the first run's variant, in words; ``second`` likewise.
        name_of: an ordering in words.
    """
    if not tests:
        return ["There is nothing to compare: the dataset has one subset only."]
    apart = [test for test in tests if test.is_separable]
    orderings = f"{len(tests)} orderings" if len(tests) > 1 else "1 ordering"
    if not any(test.is_tested for test in tests):
        return [f"{first} and {second} have the same order on every original: there is nothing to test."]
    if not apart:
        least = p_in_words(min(test.p_corrected for test in tests))
        return [f"{first} and {second} are not separable: {orderings} tested, smallest {least}."]
    rest = "" if len(apart) == len(tests) else "; in the rest they are not separable"
    return [f"{first} and {second} differ by more than chance in {len(apart)} of {orderings}{rest}."] + [
        f"{name_of(t.ordering)}: in {percent(t.first_rate, 1)} of the sentences with {first}, in "
        f"{percent(t.second_rate, 1)} with {second} ({p_in_words(t.p_corrected)})."
        for t in apart
    ]


def p_in_words(p: float) -> str:
    """``corrected p = 0.012``; one that rounds to 0 is said to be below 0.001."""
    return "corrected p < 0.001" if p < 0.001 else f"corrected p = {p:.3g}"
