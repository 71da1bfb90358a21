"""Do two runs differ by more than chance? From their stored items, for the pages and the command line alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from core.diagnostics import catalog as diagnostics
from core.diagnostics.base import DiagnosticEntry
from core.diagnostics.heros import ORDERINGS, ordering_outcomes
from core.errors import InputError
from core.numerics.stats import McNemar, holm, mcnemar
from core.store.records import RunRecord, RunState
from core.store.repository import Repository
from core.types import Float64

ALPHA = 0.05  # a corrected p-value below it is called more than chance


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

    ordering: str
    first_rate: float
    second_rate: float
    test: McNemar
    p_corrected: float

    @property
    def difference(self) -> float:
        return self.first_rate - self.second_rate

    @property
    def is_separable(self) -> bool:
        """Whether the difference is more than chance."""
        return self.p_corrected < ALPHA


def compare_orderings(first: RunRecord, second: RunRecord, repository: Repository) -> tuple[OrderingTest, ...]:
    """Every ordering of HEROS for which the dataset has both subsets; none of them may be left.

    Raises:
        InputError: the runs cannot be compared (``entry_of_both``), or are not of HEROS.
    """
    entry = entry_of_both(first, second)
    if entry.id != "heros":
        raise InputError(f"the runs are of {entry.id}", expected="two runs of heros")
    rows = repository.items(entry, [first.run_id, second.run_id], texts=False)
    cosines = [_cosines(rows[rows["run_id"] == run.run_id]) for run in (first, second)]
    names, rates, tests = [], [], []
    for near, far in ORDERINGS:
        if all(near in table and far in table for table in cosines):
            one, other = (_outcomes(table, near, far) for table in cosines)
            names.append(f"{near}>{far}")
            rates.append((float(one.mean()), float(other.mean())))
            tests.append(mcnemar(one, other))
    corrected = holm(np.array([test.p_value for test in tests]))
    return tuple(
        OrderingTest(name, *rate, test, float(p))
        for name, rate, test, p in zip(names, rates, tests, corrected, strict=True)
    )


def _cosines(rows: pd.DataFrame) -> pd.DataFrame:
    """One run's cosines: a row per original, in their order, and a column per subset."""
    return rows.pivot(index="item_no", columns="subset", values="cosine").sort_index()


def _outcomes(cosines: pd.DataFrame, near: str, far: str) -> Float64:
    return ordering_outcomes(cosines[near].to_numpy(dtype=np.float64), cosines[far].to_numpy(dtype=np.float64))


def verdict(
    tests: Sequence[OrderingTest], first: str, second: str, name_of: Callable[[str], str] = lambda ordering: ordering
) -> list[str]:
    """What the tests say, in words: a sentence for all of them, then one for each that sets the two runs apart.

    Args:
        first: the first run's variant, in words; ``second`` likewise.
        name_of: an ordering in words.
    """
    if not tests:
        return ["There is nothing to compare: the dataset lacks the subsets that are laid beside each other."]
    apart = [test for test in tests if test.is_separable]
    orderings = f"{len(tests)} orderings" if len(tests) > 1 else "1 ordering"
    if not apart:
        least = p_in_words(min(test.p_corrected for test in tests))
        return [f"{first} and {second} are not separable: {orderings} tested, smallest {least}."]
    rest = "" if len(apart) == len(tests) else "; in the rest they are not separable"
    return [f"{first} and {second} differ by more than chance in {len(apart)} of {orderings}{rest}."] + [
        f"{name_of(t.ordering)}: in {t.first_rate:.1%} of the sentences with {first}, in {t.second_rate:.1%} with "
        f"{second} ({p_in_words(t.p_corrected)})."
        for t in apart
    ]


def p_in_words(p: float) -> str:
    """``corrected p = 0.012``; one that rounds to 0 is said to be below 0.001."""
    return "corrected p < 0.001" if p < 0.001 else f"corrected p = {p:.3g}"
