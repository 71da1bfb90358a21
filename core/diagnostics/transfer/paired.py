"""Do two transfer runs differ by more than chance? a paired test on the examples that both were tested on."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from core.diagnostics.transfer.outcomes import Outcomes
from core.numerics.statistics.estimate import Unit
from core.numerics.statistics.intervals import Interval, McNemar, mcnemar
from core.numerics.statistics.pairs import Dependence, difference
from core.numerics.statistics.resampling import sign_flip_p_values

ALPHA = 0.05


@dataclass(frozen=True)
class Paired:
    """Two runs on the same examples.

    Attributes:
        name: which examples these are, in words.
        first, second: their accuracies.
        interval: 95%, of the first less the second, by groups of same texts; None where there are too few of them.
        test: McNemar's exact one; where texts repeat its p is of sign flips of whole groups, which without repeats is
            the same.
        repeats: examples that say the same as an earlier one.
    """

    name: str
    tested: int
    first: float
    second: float
    interval: Interval | None
    test: McNemar
    repeats: int

    @classmethod
    def of(cls, found: Outcomes, first: str, second: str, name: str = "all") -> Paired:
        """Of the runs with two ids; there must be an example."""
        right = [found.right(run_id).astype(np.float64) for run_id in (first, second)]
        known, test = Dependence.of_groups(found.groups, Unit.EXAMPLES), mcnemar(*right)
        if known.units < len(found):  # whole groups change sides
            p = sign_flip_p_values((right[0] - right[1])[:, np.newaxis], known.groups)
            test = replace(test, p_value=float(p[0]))
        return cls(
            name,
            len(found),
            float(right[0].mean()),
            float(right[1].mean()),
            difference(right[0], right[1], known).interval,
            test,
            len(found) - len(np.unique(found.groups)),
        )

    @property
    def is_separable(self) -> bool:
        return self.test.p_value < ALPHA

    def in_words(self, first: str, second: str) -> str:
        """A sentence; the names are put in as they are."""
        p = "p < 0.001" if self.test.p_value < 0.001 else f"p = {self.test.p_value:.3f}"
        if self.test.first_better + self.test.second_better == 0:
            verdict = "they are right and wrong on the same examples"
        elif self.is_separable:
            verdict = "the difference is more than chance"
        else:
            verdict = "the two are not separable"
        test = "sign flips of the groups of same texts" if self.repeats else "McNemar's exact test"
        which = "" if self.name == "all" else f" {self.name}"
        return (
            f"{first} is right on {self.first:.1%} and {second} on {self.second:.1%} of {self.tested:,} "
            f"examples{which}. Only the first is right on {self.test.first_better:,}, only the second on "
            f"{self.test.second_better:,}: by {test} {p}, {verdict}."
        )
