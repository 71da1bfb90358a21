"""Headlines of pages: the baseline first, every other model under the verdict of its test."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from blindspot.numerics.statistics import pairs as statistics
from blindspot.numerics.statistics.compare import PairedTest, decide
from blindspot.numerics.statistics.estimate import Measured
from blindspot.numerics.statistics.intervals import Interval
from blindspot.numerics.statistics.pairs import Dependence
from blindspot.numerics.statistics.written import DIFFERENCE, ci_in_words, number
from blindspot.ui.headline import Rival, in_words, sure

SAID = "**a** is right on **50.0%**"


def made_up(is_more: bool, p: float | None) -> PairedTest:
    value, why = 0.1 if is_more else -0.1, "" if p is not None else "too few"
    found = PairedTest("x", "X", True, (0.0, 1.0), value, 0.0, 9, "pairs", "flips", p=p, refusal=why)
    return decide([found])[0]


def test_one_other_model_follows_the_baseline() -> None:
    assert in_words(SAID, [], "more", "fewer") == f"{SAID}."
    for p, is_more, verdict in (
        (0.01, True, "significantly more"),
        (0.01, False, "significantly fewer"),
        (0.05, True, "no significant difference"),
        (None, True, "not tested"),
    ):
        said = in_words(SAID, [Rival("b*", "40.0%", made_up(is_more, p))], "more", "fewer")
        assert said == f"{SAID}; **b\\*** 40.0%, {verdict}."


def test_no_significant_difference_has_its_interval() -> None:
    apart = ci_in_words(Interval(-0.012, 0.031), "+.1%", of=DIFFERENCE)
    assert apart == "95% CI of the difference −1.2 to +3.1 points"
    rivals = [Rival("b", "40.0%", made_up(False, 0.3), apart), Rival("c", "30.0%", made_up(False, 0.001), apart)]
    said = in_words(SAID, rivals, "more", "fewer")
    assert said == (f"{SAID}. No significant difference: **b** 40.0% ({apart}). Significantly fewer: **c** 30.0%.")
    assert in_words(SAID, rivals[:1], "more", "fewer") == f"{SAID}; **b** 40.0% ({apart}), no significant difference."


def test_a_score_without_an_interval_says_why() -> None:
    few = statistics.share(np.array([1.0, 0.0]), Dependence.of_texts(["a", "b"]))
    assert few.refusal
    assert sure(few, ".1%") == f" (no interval: {few.refusal})"
    assert sure(Measured(0.5, None), ".1%") == " (no interval: it is not a mean over items)"


def test_where_interval_and_verdict_do_not_agree_it_is_said_why() -> None:
    """Wherever the interval of a difference is written."""

    def test_of(p: float, low: float) -> PairedTest:
        return PairedTest("x", "X", True, (0.0, 1.0), 0.5, 0.4, 9, "pairs", "flips", Interval(low, 0.2), p)

    for several, said in (
        ([test_of(0.3, -0.1)], ""),
        ([test_of(0.01, 0.02)], ""),
        ([test_of(0.07, 0.02)], "; p = 0.07 by flips"),
        ([test_of(0.04, -0.01)], "; p = 0.04 by flips"),
        ([test_of(0.03, 0.02), test_of(0.2, -0.01)], "; p = 0.03, 0.06 after correction for several scores"),
    ):
        found = decide(several)[0]
        low = found.interval.low if found.interval else None
        assert ci_in_words(found, "+.2f") == f"95% CI {number(low or 0, '+.2f')} to +0.20{said}"
        assert ci_in_words(found.turned, "+.2f").endswith(said)


def test_what_is_tested_without_an_interval_or_against_most_items_says_why() -> None:
    def told(p: float, wins: int, losses: int, interval: Interval | None) -> str:
        few = "" if interval else "it hangs on one"
        test = PairedTest("x", "X", True, (0.0, 1.0), 0.5, 0.4, 60, "pairs", "flips", interval, p, few, wins, losses)
        (decided,) = decide([test])
        assert decided.despite == decided.turned.despite
        return ci_in_words(decided, "+.2f")

    wide, clear = Interval(-0.1, 0.3), Interval(0.05, 0.15)
    assert told(0.28, 3, 2, wide) == "95% CI −0.10 to +0.30"
    assert told(0.01, 14, 0, clear) == "95% CI +0.05 to +0.15"
    assert told(0.28, 1, 0, None) == "no interval of the difference: it hangs on one"
    for wins, losses in ((14, 0), (2, 30)):  # as many as a sign test would call significant
        text = told(0.28, wins, losses, None)
        assert all(part in text for part in ("it hangs on one", f"{max(wins, losses)} of {wins + losses}", "p = 0.28"))
    assert "of 500" not in told(0.9, 290, 210, wide), "no reader expects a verdict from that"
    assert "30 of 32" in told(0.01, 2, 30, clear)  # a few large gains outweigh them


@given(st.lists(st.tuples(st.booleans(), st.none() | st.floats(0, 1)), min_size=2, max_size=9))
def test_every_other_model_is_counted_once(found: list[tuple[bool, float | None]]) -> None:
    rivals = [Rival(f"m{i}", f"{i}.5%", made_up(is_more, p)) for i, (is_more, p) in enumerate(found)]
    said = in_words(SAID, rivals, "more", "fewer")
    better = sum(p is not None and p < 0.05 and is_more for is_more, p in found)
    if len(rivals) <= 3:
        assert all(said.count(f"**{rival.label}** {rival.score}") == 1 for rival in rivals)
    else:
        assert f"Of {len(rivals)} other models" in said
        assert (f"{better} significantly more" in said) == (better > 0)
