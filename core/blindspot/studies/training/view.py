"""View of a training between two of its steps: the change of the score, its test, and the items lost and won."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from blindspot.numerics.statistics.compare import PairedTest, Verdict
from blindspot.numerics.statistics.written import CHANGE, DIFFERENCE, SCORE, ci_in_words, number, p_in_words
from blindspot.studies.training.steps import Evaluated, Series, Step
from blindspot.texts import counted, first_upper, in_sentence


@dataclass(frozen=True, eq=False)
class StepsView:
    """Two steps of a training.

    Attributes:
        test: of the later step's score minus the earlier one's; None if they do not compare.
        items: how many both steps have.
        lost, won: items whose part of the score is lower or higher at the later step (``Evaluated.changed``), the
            largest change first.
    """

    evaluated: Evaluated
    before: Step
    after: Step
    test: PairedTest | None
    items: int
    lost: pd.DataFrame
    won: pd.DataFrame

    @property
    def series(self) -> Series:
        return self.evaluated.series

    @property
    def unit(self) -> str:
        """What an item is, in the plural."""
        return self.series.entry.overview.counted[0]

    def in_words(self, score: str) -> str:
        """What became of the score and its items, as Markdown; ``score`` is its name, escaped."""
        first, last = (float(self.evaluated.values[self.series.place(s.label)]) for s in (self.before, self.after))
        if self.before == self.after:
            return f"{first_upper(score)} is {number(first, SCORE)} at {self.before.title}."
        steps = f"{number(first, SCORE)} at {self.before.title} to {number(last, SCORE)} at {self.after.title}"
        if self.test is not None and self.test.verdict is Verdict.ALIKE and first != last:
            text = f"**No significant change of {in_sentence(score)}**, from {steps}"
        else:
            verb = "rose" if last > first else "fell" if last < first else "stayed the same,"
            text = f"**{first_upper(score)} {verb} from {steps}**"
        also = ""
        if self.evaluated.is_rank and len(self.lost):
            were_first = (self.lost["before"] <= 1) & (self.lost["after"] > 1)
            also = f" ({int(were_first.sum()):,} of them from first place)"
        return (
            f"{text}{self._sure()}. Of {counted(self.items, 'item', self.unit)}, **{len(self.lost):,} were lost**"
            f"{also} and **{len(self.won):,} won**."
        )

    def _sure(self) -> str:
        """Interval and p of the difference, or why there is none."""
        if self.test is None:
            return ""
        interval = ci_in_words(self.test, CHANGE, of=DIFFERENCE)
        after = self.test.p_corrected
        p = f"not tested: {self.test.refusal}" if after is None else p_in_words(after, self.test.p)
        return f" ({'; '.join(filter(None, [interval, '' if p in interval else p]))})"


def steps_view(evaluated: Evaluated, before: Step, after: Step, test: PairedTest | None) -> StepsView:
    changed = evaluated.changed(before.label, after.label)
    items = int((~np.isnan(evaluated.gain(before.label, after.label))).sum())
    lost, won = changed[changed["gain"] < 0], changed[changed["gain"] > 0].iloc[::-1]
    return StepsView(evaluated, before, after, test, items, lost, won)
