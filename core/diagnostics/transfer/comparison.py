"""Test of whether two runs of Transfer or Probing differ by more than chance, on the examples that both predicted."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np

from blindspot.diagnostic import find_diagnostic
from blindspot.diagnostics.transfer.outcomes import Outcomes, outcomes
from blindspot.errors import InputError
from blindspot.numerics.statistics.estimate import Unit
from blindspot.numerics.statistics.intervals import ALPHA, Interval, McNemar
from blindspot.numerics.statistics.p_values import p_in_cell, p_in_words
from blindspot.numerics.statistics.pairs import Dependence, difference, mcnemar_by_units
from blindspot.runs.comparison import Compared, ends
from blindspot.store.records import RunRecord
from blindspot.store.repository import Repository


@dataclass(frozen=True)
class Paired:
    """Accuracies of two runs on the same examples."""

    name: str  # of the examples
    tested: int
    first: float
    second: float
    interval: Interval | None  # 95%, first minus second, over groups of equal texts; None for too few groups
    test: McNemar  # exact; if texts repeat, p is by sign flips of whole groups, which is the same without repeats
    repeats: int  # examples with the text of an earlier one

    @classmethod
    def of(cls, found: Outcomes, first: str, second: str, name: str = "all") -> Paired:
        """Compare the runs with these ids on one or more examples."""
        right = [found.right(run_id).astype(np.float64) for run_id in (first, second)]
        known = Dependence.of_groups(found.groups, Unit.EXAMPLES)
        return cls(
            name,
            len(found),
            float(right[0].mean()),
            float(right[1].mean()),
            difference(right[0], right[1], known).interval,
            mcnemar_by_units(right[0], right[1], known),
            len(found) - len(np.unique(found.groups)),
        )

    @property
    def is_significant(self) -> bool:
        return self.test.p_value < ALPHA

    def in_words(self, first: str, second: str) -> str:
        """A sentence; the names are not escaped."""
        if self.test.first_better + self.test.second_better == 0:
            verdict = "they are right and wrong on the same examples"
        elif self.is_significant:
            verdict = "a significant difference"
        else:
            verdict = "no significant difference"
        test = "sign flips of the groups of same texts" if self.repeats else "McNemar's exact test"
        which = "" if self.name == "all" else f" {self.name}"
        return (
            f"{first} is right on {self.first:.1%} and {second} on {self.second:.1%} of {self.tested:,} "
            f"examples{which}. Only the first is right on {self.test.first_better:,}, only the second on "
            f"{self.test.second_better:,}: by {test} {p_in_words(self.test.p_value)}, {verdict}."
        )


def compare(first: RunRecord, second: RunRecord, repository: Repository, *, filtered: bool) -> Compared:
    """See ``blindspot.runs.comparison.Compare``."""
    entry = find_diagnostic(first.plan.diagnostic)
    if filtered:
        raise InputError(f"{entry.id} has no filtered ranks", expected="--ranks only with runs of evalrank")
    one, other = first.plan.variant.label, second.plan.variant.label
    if (kinds := [run.plan.params["classifier"] for run in (first, second)])[0] != kinds[1]:
        one, other = f"{one} ({kinds[0]})", f"{other} ({kinds[1]})"
    found = outcomes(entry, [first.run_id, second.run_id], repository)
    rows = [Paired.of(found, first.run_id, second.run_id, "all")]
    if found.repeated.any() and not found.repeated.all():
        rows.append(Paired.of(found.without_overlap(), first.run_id, second.run_id, "without overlap"))
    said = [row.in_words(one, other) for row in rows]
    return Compared(
        f"{entry.title} on {first.plan.dataset}: A is {one}, B is {other}",
        ["examples", "tested", "A", "B", "A - B", "95% interval", "only A right", "only B right", "p (McNemar)"],
        [
            [
                r.name,
                f"{r.tested:,}",
                *(f"{accuracy:.4f}" for accuracy in (r.first, r.second)),
                f"{r.first - r.second:+.4f}",
                "–" if r.interval is None else f"[{r.interval.low:+.4f}, {r.interval.high:+.4f}]",
                *(f"{n:,}" for n in (r.test.first_better, r.test.second_better)),
                p_in_cell(r.test.p_value),
            ]
            for r in rows
        ],
        said,
        {
            "compared": [
                {"examples": r.name, "tested": r.tested, "first_accuracy": r.first, "second_accuracy": r.second}
                | {"difference": r.first - r.second, **ends(r.interval), **asdict(r.test)}
                for r in rows
            ],
            "verdict": said,
        },
    )
