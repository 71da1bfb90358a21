"""Tests of whether two runs of HEROS differ by more than chance, from their stored items."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from blindspot.diagnostics.heros.orderings import Cosines, Ordering, listed_orderings
from blindspot.errors import InputError
from blindspot.numerics.statistics.compare import after_holm
from blindspot.numerics.statistics.intervals import ALPHA, McNemar
from blindspot.numerics.statistics.p_values import p_in_cell, p_in_words
from blindspot.numerics.statistics.pairs import mcnemar_by_units
from blindspot.runs.comparison import Compared, entry_of_both
from blindspot.store.records import RunRecord
from blindspot.store.repository import Repository
from blindspot.texts import percent


@dataclass(frozen=True)
class OrderingTest:
    """One ordering in two runs over the same originals; p is corrected after Holm for the number of orderings."""

    ordering: Ordering
    first_rate: float
    second_rate: float
    test: McNemar
    p_corrected: float
    is_of_groups: bool = False  # p is by sign flips of groups of originals that share texts

    @property
    def difference(self) -> float:
        return self.first_rate - self.second_rate

    @property
    def is_tested(self) -> bool:
        """Whether the two differ on any original; otherwise p is 1 by definition."""
        return self.test.first_better + self.test.second_better > 0

    @property
    def is_separable(self) -> bool:
        """Whether the difference is more than chance."""
        return self.p_corrected < ALPHA


def compare_orderings(first: RunRecord, second: RunRecord, repository: Repository) -> tuple[OrderingTest, ...]:
    """Tests of the dataset's listed orderings; none if it has one subset only.

    Raises:
        InputError: the runs cannot be compared (``entry_of_both``), or are not of HEROS.
        BlindspotError: the stored rows of one of them are not complete.
    """
    entry = entry_of_both(first, second)
    if entry.id != "heros":
        raise InputError(f"the runs are of {entry.id}", expected="two runs of heros")
    rows = repository.items(entry, [first.run_id, second.run_id], texts=False)
    one, other = (Cosines.of_rows(rows[rows["run_id"] == run.run_id]) for run in (first, second))
    return tests_of_orderings(one, other)


def tests_of_orderings(first: Cosines, second: Cosines) -> tuple[OrderingTest, ...]:
    """McNemar's exact test of every listed ordering, corrected after Holm for their number; sign flips of whole groups
    where originals share texts.

    Orderings on which the two never differ count too: that they do not is only seen afterwards.
    """
    orderings = listed_orderings([subset for subset in first.subsets if subset in second.subsets])
    outcomes = [(first.outcomes(ordering), second.outcomes(ordering)) for ordering in orderings]
    tests = [mcnemar_by_units(*pair, first.dependence) for pair in outcomes]
    corrected = after_holm(np.array([test.p_value for test in tests], dtype=np.float64))
    return tuple(
        OrderingTest(
            ordering, float(one.mean()), float(other.mean()), test, float(p), not first.dependence.is_of_singles
        )
        for ordering, (one, other), test, p in zip(orderings, outcomes, tests, corrected, strict=True)
    )


def verdict(
    tests: Sequence[OrderingTest], first: str, second: str, name_of: Callable[[Ordering], str] = str
) -> list[str]:
    """A sentence on all tests, then one on each that separates the two runs.

    Args:
        first, second: the runs' variants, in words.
        name_of: an ordering in words.
    """
    if not tests:
        return ["Nothing to compare: the dataset has only one kind of rewrite."]
    apart = [test for test in tests if test.is_separable]
    orderings = f"{len(tests)} orderings" if len(tests) > 1 else "1 ordering"
    if not any(test.is_tested for test in tests):
        return [f"{first} and {second} have the same order on every sentence: there is nothing to test."]
    if not apart:
        first_to_differ = min(tests, key=lambda test: test.p_corrected)
        least = p_in_words(first_to_differ.p_corrected, first_to_differ.test.p_value)
        return [
            f"No significant difference between {first} and {second}: {orderings} tested, smallest corrected {least}."
        ]
    left = len(tests) - len(apart)
    rest = f"; no significant difference in the other{'s' if left > 1 else ''}" if left else ""
    sides = ((first, sum(t.difference > 0 for t in apart)), (second, sum(t.difference < 0 for t in apart)))
    higher = ", ".join(f"{name} higher in {count}" for name, count in sides if count)
    return [f"{first} and {second} differ significantly in {len(apart)} of {orderings} ({higher}){rest}."] + [
        f"{name_of(t.ordering)}: in {percent(t.first_rate, 1)} of the sentences with {first}, in "
        f"{percent(t.second_rate, 1)} with {second} (corrected {p_in_words(t.p_corrected, t.test.p_value)})."
        for t in apart
    ]


def compare(first: RunRecord, second: RunRecord, repository: Repository, *, filtered: bool) -> Compared:
    """See ``blindspot.runs.comparison.Compare``."""
    if filtered:
        raise InputError("HEROS has no filtered ranks", expected="--ranks only with runs of evalrank")
    tests = compare_orderings(first, second, repository)
    one, other = (run.plan.variant.label for run in (first, second))
    said = verdict(tests, one, other)
    how = "sign flips of groups" if any(t.is_of_groups for t in tests) else "McNemar"
    return Compared(
        f"HEROS on {first.plan.dataset}: A is {one}, B is {other}",
        ["ordering", "A", "B", "A - B", "only A", "only B", "alike", f"p ({how})", "p (Holm)"],
        [
            [
                str(t.ordering),
                *(f"{rate:.4f}" for rate in (t.first_rate, t.second_rate)),
                f"{t.difference:+.4f}",
                *(str(n) for n in (t.test.first_better, t.test.second_better, t.test.alike)),
                p_in_cell(t.test.p_value if t.is_tested else None),
                p_in_cell(t.p_corrected if t.is_tested else None, t.test.p_value),
            ]
            for t in tests
        ],
        said,
        {
            "orderings": [
                {"ordering": str(t.ordering), "first_rate": t.first_rate, "second_rate": t.second_rate}
                | {"difference": t.difference, **asdict(t.test), "p_corrected": t.p_corrected}
                for t in tests
            ],
            "verdict": said,
        },
    )
