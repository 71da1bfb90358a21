"""Sentences about votes: the best model, whether that could be chance, how far raters agree."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from blindspot.numerics.statistics.intervals import ALPHA
from blindspot.numerics.statistics.votes import Population
from blindspot.numerics.statistics.written import ci, number, p_in_words, percent
from blindspot.studies.judgments.agreement import Agreement
from blindspot.studies.judgments.scoring import PairTest, Scores, VariantScore
from blindspot.studies.judgments.types import Task
from blindspot.texts import counted
from blindspot.variants import Variant

MEASURE = {Task.INTRUDER: "precision", Task.COMPARATIVE: "win ratio"}
_Name = Callable[[Variant], str]


def headline(scores: Scores, tests: Sequence[PairTest], name: _Name) -> str:
    """The best model and which others are significantly worse; "" without votes. ``name`` writes a variant."""
    ranked = sorted((s for s in scores.variants if s.value is not None), key=_value, reverse=True)
    if not ranked:
        return ""
    best, others = ranked[0], ranked[1:]
    what = MEASURE[best.task]
    if not others:
        return f"{name(best.variant)}: {what} {_with_interval(best)}. {_guessing(best)}"
    apart = [s for s in others if _is_behind(s, best, tests)]
    level = [s for s in others if s not in apart]
    led = f"{name(best.variant)} with {what} {_with_interval(best)}"
    untold = [s for s in level if (test := _test(s, best, tests)) is None or test.refusal]
    if untold:
        listed = _listed(untold, best, tests, name)
        return f"{led} leads. No verdict yet against {listed}. {_guessing(best)}".rstrip()
    if not level:
        text = f"Best is {led}, significantly better than {_listed(apart, best, tests, name)}."
    elif not apart:
        text = f"No significant difference: {led} leads {_listed(level, best, tests, name)}."
    else:
        text = (
            f"Best is {led}, significantly better than {_listed(apart, best, tests, name)}; no significant difference "
            f"from {_listed(level, best, tests, name)}."
        )
    return f"{text} {_guessing(best)}"


def _value(score: VariantScore) -> float:
    return score.value or 0.0


def _with_interval(score: VariantScore) -> str:
    """The score of the best variant, with an interval that allows for the choice of the best."""
    return f"{number(_value(score), '.1%')}{ci(score.as_best, '.1%')}"


def _guessing(score: VariantScore) -> str:
    return f"Guessing gives {percent(score.chance, 1)}." if score.chance is not None else ""


def _test(score: VariantScore, other: VariantScore, tests: Sequence[PairTest]) -> PairTest | None:
    return next((t for t in tests if {t.first, t.second} == {score.variant, other.variant}), None)


def _is_behind(score: VariantScore, best: VariantScore, tests: Sequence[PairTest]) -> bool:
    test = _test(score, best, tests)
    if test is None or test.p_corrected is None or test.difference is None or test.p_corrected >= ALPHA:
        return False
    return (test.difference > 0) == (test.first == best.variant)


def _listed(scores: Sequence[VariantScore], best: VariantScore, tests: Sequence[PairTest], name: _Name) -> str:
    parts = []
    for score in scores:
        test = _test(score, best, tests)
        if test is None or test.p_corrected is None:
            p = "nothing to compare" if test is None else test.refusal
        else:
            p = p_in_words(test.p_corrected, test.p_value)
        parts.append(f"{name(score.variant)} ({percent(_value(score), 1)}, {p})")
    return ", ".join(parts)


def intervals(scores: Scores) -> str:
    """What the intervals cover, or why there are none."""
    if refusal := next((s.refusal for s in scores.variants if s.refusal), ""):
        return f"No interval with too few queries: {refusal}."
    return f"Bars: 95% intervals. {speaks_of(scores)}"


def speaks_of(scores: Scores) -> str:
    """Population of the intervals and tests: raters in general, or those who voted."""
    if scores.population is Population.RATERS:
        return (
            f"Intervals and tests generalize to other raters ({scores.raters:,} here) and other queries "
            f"({scores.queries:,} here)."
        )
    who = "this rater" if scores.raters == 1 else f"these {scores.raters:,} raters"
    what = "Intervals and tests" if scores.tests is Population.THESE else "Intervals"
    only = f"{what} cover {who} only, and generalize to other queries ({scores.queries:,} here): {scores.why_these}."
    return only if scores.tests is Population.THESE else f"{only} Tests generalize to other raters."


def agreement_in_words(agreement: Agreement | None) -> str:
    if agreement is None:
        return "No agreement yet: no question has votes of two raters."
    return (
        f"Two raters choose the same option {percent(agreement.observed, 1)} of the time (guessing: "
        f"{percent(agreement.by_chance, 1)}; {counted(agreement.items, 'question')} with two or more votes): "
        f"kappa {number(agreement.kappa)}{ci(agreement.interval)}."
    )
