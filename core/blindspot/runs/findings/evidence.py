"""Evidence: what was measured in some runs, as numbers and texts without sentences.

Its kind, in ``studies.findings.kinds``, has the rest of a finding: level, sentence, test in words, severity, and the
view that shows it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from blindspot.numerics.statistics.estimate import Measured
from blindspot.runs.findings import MOST_EXAMPLES, Compared, Example
from blindspot.store.records import RunRecord
from blindspot.variants import Variant

# All other evidence on such a dataset would take its scores or grades at their word.
REVERSED_SCORES, REVERSED_GRADES = "scores-reversed", "grades-reversed"
Fact: TypeAlias = "Measured | float | str | Variant | Sequence[str] | Sequence[float] | Sequence[Mapping[str, Fact]]"


@dataclass(frozen=True)
class Evidence:
    """One tested hypothesis, significant or not, or one counted fact.

    Attributes:
        kind: its key in the table of kinds. Where a diagnostic has several of a kind, braces name the facts that tell
            them apart: ``class-missed-{label}``.
        runs: that it is about; templates have their models as ``{A}``, ``{B}``, ...
        value: the number that the finding is about; an ``Estimate`` where it has an interval.
        n: number of independent things that the test rests on.
        p: two-sided and uncorrected, of a tested caution; None for a counted fact.
        against: what the score is compared with, where its level follows from that (``rule.levels``); a value that is
            asked for comes first.
        facts: further numbers and texts that the kind's templates name.
        examples: up to three, most telling first.
        dataset: "" for that of the first run.
    """

    kind: str
    runs: tuple[RunRecord, ...]
    value: Measured | float
    n: int
    p: float | None = None
    against: tuple[Compared, ...] = ()
    facts: Mapping[str, Fact] = field(default_factory=dict)
    examples: tuple[Example, ...] = ()
    dataset: str = ""

    def __post_init__(self) -> None:
        if not self.runs or len(self.examples) > MOST_EXAMPLES:
            raise ValueError(f"evidence {self.kind}: {len(self.runs)} runs, {len(self.examples)} examples")

    def __getitem__(self, name: str) -> float:
        """A fact as a number, also ``value`` and ``n``.

        Raises:
            KeyError: there is none of this name.
            TypeError: it is a text.
        """
        fact = self.named[name]
        if isinstance(fact, Measured):
            return fact.value
        if isinstance(fact, float | int):
            return float(fact)
        raise TypeError(f"{name} of evidence {self.kind} is no number")

    @property
    def named(self) -> Mapping[str, Fact]:
        """All that templates can name; ``weak`` is whether less was reached than is asked for."""
        is_weak = bool(self.against) and self.against[0].lead < 0
        dataset = self.dataset or self.runs[0].plan.dataset
        return {"weak": is_weak, "value": self.value, "n": self.n, "dataset": dataset, **self.facts}
