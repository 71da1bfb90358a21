"""Models against the best of what knows no meaning, on the same items: baseline encoders, measures of shared words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

import numpy as np

from blindspot.numerics.statistics import pairs as statistics
from blindspot.numerics.statistics.against import share_against
from blindspot.numerics.statistics.compare import Verdict, corrected_p
from blindspot.numerics.statistics.estimate import Estimate
from blindspot.numerics.statistics.intervals import ALPHA
from blindspot.numerics.statistics.pairs import Dependence
from blindspot.numerics.statistics.written import ci, number, p_in_words, with_ci
from blindspot.numerics.words_alone import Words
from blindspot.runs.findings import Compared, Example
from blindspot.runs.findings.evidence import Evidence, Fact
from blindspot.runs.findings.rule import Rival
from blindspot.store.records import RunRecord
from blindspot.types import Float64
from blindspot.variants import Variant

ALL = "all"  # kinds of items
VARIANTS = {words: Variant(f"words ({words})", "none") for words in Words}  # as rows of dots
Score = TypeVar("Score", float, Estimate)


@dataclass(frozen=True)
class _Against(Generic[Score]):
    """A score less that of the best rival that knows no meaning, on the same items.

    Attributes:
        reached: the rival's score; ``difference`` is the score less that.
        p: corrected for the choice of the best rival (``for_choice``); NaN without a test.
        chance: the score against what it would be if nothing was known.
    """

    score: Score
    reached: Score
    difference: Estimate
    p: float
    chance: Compared

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

    def _outcomes(
        self, rival: str, runs: Sequence[RunRecord], others: Sequence[Compared], facts: Mapping[str, Fact], **more: Any
    ) -> list[Evidence]:
        ahead = (self.chance, self.compared, *others)
        n = max(1, round(self.difference.effective))
        facts = {"score": self.score, "reached": self.reached, **facts}
        return outcomes(rival, runs, self.difference, self.compared, ahead, n, facts, **more)


@dataclass(frozen=True)
class AgainstBaseline(_Against[float]):
    """A run against the best baseline."""

    run: RunRecord
    best: RunRecord

    def evidence(
        self, others: Sequence[Compared] = (), examples: tuple[Example, ...] = (), **facts: Fact
    ) -> list[Evidence]:
        """Its kinds have ``score`` and ``reached``, the best baseline's.

        Args:
            others: further baselines, which a strength must be better than too.
        """
        return self._outcomes("baseline", (self.run, self.best), others, facts, examples=examples)


@dataclass(frozen=True)
class AgainstWords(_Against[Estimate]):
    """A model against the best measure of shared words.

    Attributes:
        items: their number; ``kind``: theirs, or ``ALL``.
        before: ``p`` before a further correction, for the number of kinds; None without one.
    """

    best: Words
    items: int
    kind: str = ALL
    before: float | None = None

    def evidence(self, run: RunRecord, others: Sequence[Compared] = (), **facts: Fact) -> list[Evidence]:
        """As of ``AgainstBaseline``, with ``best``; nothing without a test."""
        if self.verdict is Verdict.UNTESTED:
            return []
        return self._outcomes("words", (run,), others, {"best": self.best, **facts}, alike="words-alone-as-good")


def for_choice(p: float, rivals: int) -> float:
    """A p-value corrected for the choice of the best of some rivals (Bonferroni)."""
    return float(np.minimum(1.0, p * rivals))


def best_rival(
    scores: Float64,
    rivals: Sequence[Float64],
    dependence: Dependence,
    *,
    sign: float = 1.0,
    most: float = 1.0,
    of: int = 1,
) -> list[Compared]:
    """A mean of ``own [m]`` against the best of its rivals; nothing without one.

    Args:
        sign: 1 where more is better, -1 where less is.
        most: that two can differ by on an item.
        of: how many such means the one was chosen from; p is corrected for this and for the choice of the rival.
    """
    if not rivals:
        return []
    apart = sign * (scores - max(rivals, key=lambda rival: sign * float(rival.mean())))
    p = float(statistics.p_values(apart[:, np.newaxis], dependence, most)[0])
    return [Compared(Rival.BASELINE, float(apart.mean()), for_choice(p, len(rivals) * of))]


def corrected(comparisons: Sequence[AgainstWords]) -> tuple[AgainstWords, ...]:
    """The first as it is, the p-values of the others corrected for their number after Holm; NaN stays."""
    p = corrected_p(np.array([comparison.p for comparison in comparisons[1:]], dtype=np.float64))
    return (
        comparisons[0],
        *(
            replace(comparison, p=float(value), before=comparison.p)
            for comparison, value in zip(comparisons[1:], p, strict=True)
        ),
    )


def against_baselines(
    runs: Sequence[RunRecord],
    baselines: Sequence[RunRecord],
    values: Mapping[str, Float64],
    dependence: Dependence,
    chance: float,
) -> list[AgainstBaseline]:
    """Every run but the baselines themselves against the best one; nothing if the items allow no test.

    Args:
        values: by run id the values ``[m]`` whose mean is the score, from 0 to 1: more is better.
        chance: the score by chance.
    """
    lexical = {run.plan.variant.encoder for run in baselines}
    compared_runs = [run for run in runs if run.plan.variant.encoder not in lexical]
    if not compared_runs or not baselines or dependence.refusal:
        return []
    best = max(baselines, key=lambda run: float(values[run.run_id].mean()))
    reached = values[best.run_id]
    paired = np.column_stack([values[run.run_id] - reached for run in compared_runs])
    return [
        AgainstBaseline(
            float(values[run.run_id].mean()),
            float(reached.mean()),
            statistics.difference(values[run.run_id], reached, dependence, among=len(baselines)),
            for_choice(p, len(baselines)),
            share_and_chance(values[run.run_id], dependence, chance),
            run,
            best,
        )
        for run, p in zip(compared_runs, statistics.p_values(paired, dependence).tolist(), strict=True)
    ]


def share_and_chance(values: Float64, dependence: Dependence, chance: float) -> Compared:
    """A mean of ``values [m]`` from 0 to 1 against what it is by chance."""
    if not 0.0 < chance < 1.0:
        return Compared(Rival.CHANCE, float(values.mean()) - chance, np.nan)
    estimate, p = share_against(values, dependence, chance)
    return Compared(Rival.CHANCE, estimate.value - chance, p)


def outcomes(
    rival: str,
    runs: Sequence[RunRecord],
    estimate: Estimate,
    behind: Compared,
    ahead: Sequence[Compared],
    n: int,
    facts: Mapping[str, Fact],
    *,
    alike: str = "",
    examples: tuple[Example, ...] = (),
) -> list[Evidence]:
    """A difference from a rival as a hypothesis, significant or not; where it is not, also that fact.

    Args:
        estimate: the run's score less the rival's.
        behind: the run against the rival; ``ahead``: all that a strength must be better than.
        facts: ``score``, the run's, and what else the templates name.
        alike: kind of the fact; "no-better-than-" and the rival if empty.
    """
    is_below = estimate.value < 0
    kind, against = ("worse", (behind,)) if is_below else ("better", tuple(ahead))
    out = [Evidence(f"{kind}-than-{rival}", tuple(runs), estimate, n, against=against, facts=facts, examples=examples)]
    if behind.p >= ALPHA:
        kind = alike or f"no-better-than-{rival}"
        out.append(Evidence(kind, tuple(runs), estimate, n, facts={**facts, "p": behind.p}, examples=examples))
    return out


def in_words(comparison: AgainstWords, name: str, what: str, spec: str = ".1%", *, is_in_headline: bool = True) -> str:
    """One sentence of Markdown, with the intervals of words alone and of the difference.

    Args:
        name: the model's, in Markdown.
        what: the score, after the measure: ``gets {} of the sentences right``.
        spec: of a score.
        is_in_headline: whether the page's headline has the model's score with its interval; else it is here.
    """
    reached = f"{number(comparison.reached.value, spec)}{ci(comparison.reached.interval, spec)}"
    score = number(comparison.score.value, spec) + ("" if is_in_headline else ci(comparison.score.interval, spec))
    words, result = f"{comparison.best} {what.format(reached)}", f"{name} {score}"
    tested = f"difference {with_ci(comparison.difference, f'+{spec}')}, {p_in_words(comparison.p, comparison.before)}"
    match comparison.verdict:
        case Verdict.UNTESTED:
            return f"Words alone: {words}; {result}. There are too few for a test."
        case Verdict.ALIKE:
            return f"**No significant difference from words alone**: {words}; {result}, {tested}."
        case Verdict.WORSE:
            return f"**Words alone do better**: {words}; {result}, {tested}."
        case _:
            return f"Words alone do worse: {words}; {result}, {tested}."
