"""Do two transfer runs differ by more than chance? McNemar's exact test on the examples that both were tested on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.numerics.confusion import interval_of
from core.numerics.stats import Interval, McNemar, mcnemar
from core.transfer.outcomes import Measure, Outcomes

ALPHA = 0.05


@dataclass(frozen=True)
class Paired:
    """Two runs on the same examples.

    Attributes:
        name: which examples these are, in words.
        first, second: their accuracies.
        interval: 95%, of the first less the second, by a bootstrap over groups of same texts; None of no example.
        test: on single examples, which it takes for independent: of texts that repeat it is too sure.
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
        return cls(
            name,
            len(found),
            float(right[0].mean()),
            float(right[1].mean()),
            interval_of(found.differences(first, second, Measure.ACCURACY)),
            mcnemar(*right),
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
        which = "" if self.name == "all" else f" {self.name}"
        return (
            f"{first} is right on {self.first:.1%} and {second} on {self.second:.1%} of {self.tested:,} "
            f"examples{which}. Only the first is right on {self.test.first_better:,}, only the second on "
            f"{self.test.second_better:,}: by McNemar's exact test {p}, {verdict}."
        )
