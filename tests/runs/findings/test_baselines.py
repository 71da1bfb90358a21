"""A model against words alone: evidence, and a sentence for pages."""

from __future__ import annotations

import math

from blindspot.numerics.statistics.estimate import Estimate, Unit
from blindspot.numerics.statistics.intervals import Interval
from blindspot.numerics.words_alone import Words
from blindspot.runs.findings.baselines import AgainstWords, in_words
from blindspot.runs.findings.rule import Compared, Rival
from tests.support.finding_runs import run_record
from tests.support.tables import each


def against(value: float, low: float, high: float, p: float) -> AgainstWords:
    score, reached, difference = (
        Estimate(one, Interval(one + low - value, one + high - value), "t", Unit.SENTENCES, 40, 40.0)
        for one in (0.5 + value, 0.5, value)
    )
    return AgainstWords(score, reached, difference, p, Compared(Rival.CHANCE, value, p), Words.JACCARD, 40)


def said_of(value: float, low: float, high: float, p: float) -> str:
    return in_words(against(value, low, high, p), "M", "gets {}")


def test_no_difference_is_never_equality() -> None:
    """p = 0.13 says neither that both do equally well nor that one is no better: the interval says what is left."""
    said = said_of(0.06, -0.02, 0.14, 0.13)
    assert said.startswith("**No significant difference from words alone**")
    assert said.endswith("(difference +6.0 points (95% CI −2.0 to +14.0), p = 0.13).")
    assert not any(word in said for word in ("as well", "as good", "equal", "no better"))


def test_a_difference_has_its_interval_too() -> None:
    assert said_of(-0.3, -0.4, -0.2, 1e-9).startswith("**Words alone do better**")
    assert said_of(0.3, 0.2, 0.4, 1e-9).endswith("(difference +30.0 points (95% CI +20.0 to +40.0), p ≤ 0.0001).")
    assert said_of(0.3, 0.2, 0.4, math.nan).endswith("There are too few for a test.")


@each(
    ("value", "p", "kinds"),
    [
        (0.3, 1e-9, ["better-than-words"]),
        (-0.3, 1e-9, ["worse-than-words"]),
        (0.06, 0.13, ["better-than-words", "words-alone-as-good"]),
        (0.3, math.nan, []),
    ],
)
def test_what_is_not_better_is_a_fact_too_and_nothing_is_said_without_a_test(
    value: float, p: float, kinds: list[str]
) -> None:
    evidence = against(value, value - 0.1, value + 0.1, p).evidence(run_record("heros"), judged="sentences")
    assert [one.kind for one in evidence] == kinds
    for one in evidence:
        assert (one["value"], one["score"], one["reached"], one.n) == (value, 0.5 + value, 0.5, 40)
