"""A model against words alone: evidence, and a sentence for pages."""

from __future__ import annotations

import math

import numpy as np
import pytest

from blindspot.numerics.statistics.estimate import Estimate, Unit
from blindspot.numerics.statistics.intervals import Interval
from blindspot.numerics.statistics.pairs import Dependence
from blindspot.numerics.words_alone import Words
from blindspot.runs.findings.baselines import AgainstWords, best_rival, in_words, share_and_chance
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
    assert "difference +6.0 points (95% CI −2.0 to +14.0 points), p = 0.13" in said
    assert not any(word in said for word in ("as well", "as good", "equal", "no better"))


def test_a_difference_has_its_interval_too() -> None:
    assert said_of(-0.3, -0.4, -0.2, 1e-9).startswith("**Words alone do better**")
    assert "difference +30.0 points (95% CI +20.0 to +40.0 points), p ≤ 0.0001" in said_of(0.3, 0.2, 0.4, 1e-9)
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


def test_p_counts_the_rivals_and_the_means_that_the_one_was_chosen_from() -> None:
    """Of 20 items the model is right on 12 and the best rival on 4 of these: all 8 signs alike, 2 in 2 ** 8."""
    right, rival, none = (np.repeat([1.0, 0.0], [n, 20 - n]) for n in (12, 4, 0))
    items = Dependence.of_examples(np.arange(20))
    cases = (([rival], 1, 1), ([none, rival], 1, 2), ([rival], 5, 5), ([rival, none], 3, 6))
    for rivals, of, times in cases:
        (compared,) = best_rival(right, rivals, items, of=of)
        assert (compared.lead, compared.p) == (pytest.approx(0.4), pytest.approx(times * 2 / 2**8))
    (compared,) = best_rival(right, [rival, np.ones(20)], items, sign=-1.0)
    assert compared.lead == pytest.approx(-0.4), "where less is better, the best rival is the lowest"
    assert best_rival(right, [], items) == []
    assert best_rival(right, [rival], items)[0].p == pytest.approx(2 / 2**8), "chosen from one, unless told otherwise"


def test_there_is_no_test_against_a_chance_of_0_or_1() -> None:
    right, items = np.repeat([1.0, 0.0], [12, 8]), Dependence.of_examples(np.arange(20))
    for chance in (0.0, 1.0):
        compared = share_and_chance(right, items, chance)
        assert (compared.lead, math.isnan(compared.p)) == (pytest.approx(0.6 - chance), True)
    assert share_and_chance(right, items, 0.5).lead == pytest.approx(0.1)
    assert 0.0 < share_and_chance(right, items, 0.5).p < 1.0
