"""Models against the best measure of words alone, on the same items: what diagnostics and their pages share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from blindspot.diagnostic import Diagnostic
from blindspot.numerics.statistics.compare import Verdict, corrected_p
from blindspot.numerics.statistics.estimate import Estimate
from blindspot.numerics.statistics.intervals import ALPHA
from blindspot.numerics.statistics.written import ci, number, p_in_words
from blindspot.numerics.words_alone import Words
from blindspot.runs.findings import Compared, Finding, Level
from blindspot.runs.findings.baselines import AND_CHANCE
from blindspot.runs.findings.parts import finding
from blindspot.runs.findings.rule import Rival
from blindspot.store.records import RunRecord
from blindspot.variants import Variant

ALL = "all"
VARIANTS = {words: Variant(f"words ({words})", "none") for words in Words}  # as rows of dots


@dataclass(frozen=True)
class Against:
    """A model against the best measure of words, on some items.

    Attributes:
        kind: of the items, or ``ALL``; ``items`` is their number.
        reached: the score of the best measure; ``difference`` is the model's less that.
        p: corrected for the choice of the best of the measures (Bonferroni); NaN without a test.
        chance: the model's score against what it is by chance.
        before: ``p`` before a further correction, for the number of kinds; None without one.
    """

    kind: str
    items: int
    score: Estimate
    best: Words
    reached: Estimate
    difference: Estimate
    p: float
    chance: Compared
    before: float | None = None

    @property
    def compared(self) -> Compared:
        return Compared(Rival.BASELINE, self.difference.value, self.p)

    @property
    def verdict(self) -> Verdict:
        if np.isnan(self.p):
            return Verdict.UNTESTED
        if self.p >= ALPHA:
            return Verdict.ALIKE
        return Verdict.BETTER if self.difference.value > 0 else Verdict.WORSE


def for_choice(p: float) -> float:
    """A p-value corrected for the choice of the best measure."""
    return float(np.minimum(1.0, p * len(Words)))


def corrected(found: Sequence[Against]) -> tuple[Against, ...]:
    """The first as it is, the p-values of the others corrected for their number after Holm; NaN stays."""
    p = corrected_p(np.array([one.p for one in found[1:]], dtype=np.float64))
    return (found[0], *(replace(one, p=float(value), before=one.p) for one, value in zip(found[1:], p, strict=True)))


def in_words(found: Against, name: str, what: str, spec: str = ".1%") -> str:
    """One sentence of Markdown.

    Args:
        name: the model's, in Markdown.
        what: the score, after the measure: ``gets {} of the sentences right``.
        spec: of a score; of one that ends with % the difference is in points.
    """

    def said(estimate: Estimate) -> str:
        return f"{number(estimate.value, spec)}{ci(estimate.interval, spec)}"

    words, own = f"{found.best} {what.format(said(found.reached))}", f"{name} {said(found.score)}"
    signed, scale, unit = ("+.1f", 100.0, " points") if spec.endswith("%") else (f"+{spec}", 1.0, "")
    apart = f"difference {number(scale * found.difference.value, signed)}{unit}"
    tested = f"{apart}{ci(found.difference, signed, scale)}, {p_in_words(found.p, found.before)}"
    match found.verdict:
        case Verdict.UNTESTED:
            return f"Words alone: {words}; {own}. There are too few for a test."
        case Verdict.ALIKE:
            return f"**No significant difference from words alone**: {words}; {own} ({tested})."
        case Verdict.WORSE:
            return f"**Words alone do better**: {words}; {own} ({tested})."
        case _:
            return f"Words alone do worse: {words}; {own} ({tested})."


def findings_of_words(
    entry: Diagnostic,
    run: RunRecord,
    found: Against,
    scores: str,
    test: str,
    address: Mapping[str, str],
    scale: float = 1.0,
    others: Sequence[Compared] = (),
) -> list[Finding]:
    """The difference as a hypothesis, significant or not; where it is not, also that fact.

    Nothing without a test.

    Args:
        scores: that of words, then the run's: ``71% of the sentences right by Jaccard against 68%``.
        test: in words, without what is added here.
        scale: of the difference in the sentence; 100 for points.
        others: further baselines, which a strength must be better than too.
    """
    if found.verdict is Verdict.UNTESTED:
        return []
    spec, unit = ("+.0f", " points") if scale > 1 else ("+.2f", "")
    apart = f"{number(scale * found.difference.value, spec)}{unit}{ci(found.difference, spec, scale)}"
    is_below = found.difference.value < 0
    common: dict[str, Any] = {
        "address": address,
        "found": found.difference,
        "n": max(1, round(found.difference.effective)),
    }
    out = [
        finding(
            entry,
            [run],
            kind="worse-than-words" if is_below else "better-than-words",
            level=Level.BLIND_SPOT if is_below else Level.STRENGTH,
            sentence=f"Shared words alone do {'better' if is_below else 'worse'} than {{A}}: {scores}, {apart}.",
            against=(found.compared,) if is_below else (found.chance, found.compared, *others),
            test=f"{test}, corrected for the choice of the best measure of words{'' if is_below else AND_CHANCE}",
            severity=min(1.0, abs(found.difference.value)),
            **common,
        )
    ]
    if found.verdict is Verdict.ALIKE:
        out.append(
            finding(
                entry,
                [run],
                kind="words-alone-as-good",
                level=Level.CAUTION,
                sentence=f"{{A}} is not significantly different from shared words alone: {scores}, {apart}.",
                test=f"not significant: {test}, {p_in_words(found.p)}",
                severity=min(1.0, max(0.0, 1.0 - found.score.value)),
                **common,
            )
        )
    return out
