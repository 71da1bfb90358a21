"""Findings about the stored runs, one tested sentence each."""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from blindspot.numerics.statistics.intervals import Interval
from blindspot.runs.findings.rule import Compared, Level, p_of
from blindspot.settings import Settings
from blindspot.store.records import RunRecord
from blindspot.store.repository import Repository
from blindspot.variants import Variant

__all__ = ["MOST_EXAMPLES", "Compared", "Example", "Finding", "Level", "Material"]

MOST_EXAMPLES = 3
_PLACE = re.compile(r"\{([A-Z])\}")


@dataclass(frozen=True)
class Example:
    """Texts that show a finding, in reading order, each with its role: query, match, ranked above, negation, ...

    ``marked`` has, per text, the character ranges to highlight (changed words), as (start, end).
    """

    texts: tuple[tuple[str, str], ...]
    note: str = ""
    marked: tuple[tuple[tuple[int, int], ...], ...] = ()

    @property
    def parts(self) -> list[tuple[str, str, tuple[tuple[int, int], ...]]]:
        """Role, text and ranges to highlight of each text."""
        every = self.marked or ((),) * len(self.texts)
        return [(role, text, marked) for (role, text), marked in zip(self.texts, every, strict=True)]


@dataclass(frozen=True)
class Finding:
    """One sentence with number and interval, and the test behind it.

    There is one per hypothesis that was tested, significant or not: false discoveries can be controlled only over
    everything that was tested. Insignificant ones are not shown.

    Attributes:
        kind: of the finding, kebab-case, unique within the diagnostic (``negation-nearer-than-synonym``).
        sentence: plain text, active voice, with ``{A}`` in place of the name of the first of ``variants``, ``{B}`` of
            the second, and so on; ``said`` fills them in.
        value, interval: the number in the sentence, and its 95% interval where there is one.
        test: the test in words ("exact sign test over 200 sentences"), or how a fact was counted.
        against: what a strength or a blind spot is better or worse than; its p follows from them by the one rule
            (``rule.p_of``), and what is given is not taken.
        p: two-sided, uncorrected; None for a fact that is counted, not tested, which is a caution.
        n: number of independent things that the test rests on.
        severity: from 0 to 1, comparable between diagnostics: the distance of the value from where it should be, as a
            share of the largest possible distance.
        page: stem of the page that shows it.
        address: query parameters that open the very view with the very items, besides dataset and variants.
        examples: up to three, most telling first.
    """

    kind: str
    level: Level
    sentence: str
    diagnostic: str
    dataset: str
    runs: tuple[RunRecord, ...]
    value: float
    test: str
    n: int
    severity: float
    page: str
    interval: Interval | None = None
    p: float | None = None
    against: tuple[Compared, ...] = ()
    address: Mapping[str, str] = field(default_factory=dict)
    examples: tuple[Example, ...] = ()

    def __post_init__(self) -> None:
        if self.level is not Level.CAUTION:
            object.__setattr__(self, "p", p_of(self.level, self.against))
        if not (self.p is None or 0.0 <= self.p <= 1.0) or not 0.0 <= self.severity <= 1.0 or not self.runs:
            raise ValueError(f"finding {self.kind}: p {self.p}, severity {self.severity}, {len(self.runs)} runs")
        if len(self.examples) > MOST_EXAMPLES:
            raise ValueError(f"finding {self.kind} has {len(self.examples)} examples")

    def said(self, name: Callable[[Variant], str] = lambda variant: variant.label) -> str:
        """The sentence with the names of its variants."""
        names = {letter: name(variant) for letter, variant in zip(string.ascii_uppercase, self.variants, strict=False)}
        return _PLACE.sub(lambda key: names.get(key[1], key[0]), self.sentence)

    @property
    def basis(self) -> str:
        """The test, and n where the test does not name it."""
        named = f"{self.n:,}" in re.findall(r"\d+(?:[.,]\d+)*", self.test)
        return self.test if named else f"{self.test} · n = {self.n:,}"

    @property
    def variants(self) -> tuple[Variant, ...]:
        return tuple(dict.fromkeys(run.plan.variant for run in self.runs))

    @property
    def id(self) -> str:
        """Stable while its runs are in the store; names the finding in an address."""
        return "-".join([self.diagnostic, self.kind, *(run.run_id[:8] for run in self.runs)])


@dataclass(frozen=True)
class Material:
    """Input of a diagnostic's evidence.

    Attributes:
        runs: finished runs of the diagnostic, of the chosen variants, at its default parameters where the reader chose
            no others; one per variant and dataset.
        baselines: runs on the same datasets with the same parameters of encoders that know no meaning
            (``KNOW_NO_MEANING`` of ``runs.default_models``), whether chosen or not.
    """

    runs: Sequence[RunRecord]
    baselines: Sequence[RunRecord]
    repository: Repository
    settings: Settings
