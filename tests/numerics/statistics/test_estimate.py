"""A number says what its interval counts as independent, or why it has none; one module writes both."""

from __future__ import annotations

import re

import numpy as np
import pytest

from blindspot.numerics.statistics import pairs, written
from blindspot.numerics.statistics.compare import SHARE, ItemScores, PairedTest, compare
from blindspot.numerics.statistics.estimate import Estimate, Unit
from blindspot.numerics.statistics.intervals import Interval, level_of_each
from blindspot.numerics.statistics.pairs import Dependence
from blindspot.numerics.statistics.written import DIFFERENCE, ci, ci_in_words, interval, with_ci
from tests.support import sources

# "95% CI" before a number, or both ends in one text.
WRITTEN = re.compile(r"95%(?: CI| interval)?(?: of the \w+)?:? \{|\.low[^{}]*\}[^{}]{1,9}\{[\w.]*\.high\b")


def test_the_ends_are_those_of_the_interval() -> None:
    found = Estimate(0.5, Interval(0.4, 0.6), "Wilson", Unit.COMPONENTS, 3_301, 3_300.6)
    assert (found.low, found.high, found.level) == (0.4, 0.6, 0.95)
    assert "3,301" in found.independent
    assert str(Unit.COMPONENTS) in found.independent


def test_units_of_unequal_size_say_what_they_are_worth() -> None:
    found = Estimate(0.5, Interval(0.4, 0.6), "Wilson", Unit.TEXTS, 200, 11.6)
    assert "200" in found.independent
    assert "12" in found.independent


def test_a_refusal_has_no_ends() -> None:
    found = Estimate(0.5, None, "", Unit.COMPONENTS, 1, 1.0, refusal="all 100 pairs share one query")
    assert found.low is None
    assert found.high is None


@pytest.mark.parametrize(("interval", "refusal"), [(None, ""), (Interval(0.0, 1.0), "too few")])
def test_either_an_interval_or_a_reason(interval: Interval | None, refusal: str) -> None:
    with pytest.raises(ValueError, match="either"):
        Estimate(0.5, interval, "", Unit.PAIRS, 10, 10.0, refusal)


def test_an_interval_of_one_of_many_says_so() -> None:
    for many in (1, 2, 14, 100):
        found = Estimate(0.5, Interval(0.4, 0.6), "Wilson", Unit.PAIRS, 10, 10.0, level=level_of_each(many))
        assert found.of_many == many
        assert (f"of all {many} at once" in with_ci(found)) is (many > 1)
    assert with_ci(Estimate(-0.5, Interval(-0.6, -0.4), "t", Unit.PAIRS, 10, 10.0), "+.0pp") == (
        "−50 (95% CI −60 to −40)"
    )
    assert with_ci(Estimate(0.5, None, "t", Unit.PAIRS, 1, 1.0, refusal="too few")) == "0.50"


def test_the_words_for_an_interval() -> None:
    found = Estimate(0.5, Interval(0.4604, 0.5555), "Wilson", Unit.VERBS, 22, 22.0)
    assert ci(found, ".1%", more=found.independent) == " (95% CI 46.0 to 55.5%, 22 independent verbs and agents)"
    assert ci_in_words(found.interval, "+.2f", of=DIFFERENCE) == "95% CI of the difference +0.46 to +0.56"
    assert interval(Interval(-0.25, 0.0), ".2f") == "−0.25 to 0.00"
    assert (ci(None), ci_in_words(None), interval(None)) == ("", "", "–")


def test_an_interval_of_another_value_is_refused() -> None:
    with pytest.raises(ValueError, match="outside"):
        Estimate(0.7, Interval(0.4, 0.6), "", Unit.PAIRS, 10, 10.0)
    Estimate(0.6 + 1e-9, Interval(0.4, 0.6), "", Unit.PAIRS, 10, 10.0)  # rounding
    whole = ("x", "X", True, (0.0, 1.0), 0.7, 0.5, 9, "pairs", "flips", Interval(0.1, 0.3), 0.5)
    PairedTest(*whole, a_interval=Interval(0.6, 0.8), b_interval=Interval(0.4, 0.6))
    for wrong in ({"a_interval": Interval(0.4, 0.6)}, {"b_interval": Interval(0.6, 0.8)}, {"a": 0.9}):
        with pytest.raises(ValueError, match="outside"):
            PairedTest(**dict(zip(PairedTest.__match_args__, whole, strict=False)) | wrong)


def test_no_other_code_writes_the_ends_of_an_interval() -> None:
    elsewhere = [path for path in sources.product() if not path.samefile(written.__file__)]
    assert [f"{path}: {found[0]}" for path in elsewhere for found in WRITTEN.finditer(sources.text(path))] == []
    for such in (
        'f" (95% CI {one.low:.2f}"',
        'f"95% interval of the gain: {said}"',
        'f"[{i.low:+.3f}, {one.i.high:+.3f}]"',
    ):
        assert WRITTEN.search(such)


def test_the_best_and_the_largest_of_many_have_wider_intervals() -> None:
    rng, known = np.random.default_rng(5), Dependence.of_groups(np.arange(60), Unit.PAIRS)

    def scored(chance: float) -> ItemScores:
        right = (rng.uniform(size=60) < chance).astype(np.float64)
        return ItemScores(
            "x", "X", right.mean(), right, np.arange(60), known, True, (0.0, 1.0), SHARE, lambda: [""] * 60
        )

    a, b = scored(0.8), scored(0.4)
    (alone,), (of_seven,) = compare([(a, b)]), compare([(a, b)], at_once=7)
    assert of_seven.interval == pairs.difference(a.parts, b.parts, known, among=7).interval
    assert (alone.of_many, of_seven.of_many, alone.p, alone.a_interval) == (1, 7, of_seven.p, of_seven.a_interval)
    assert "of all 7 at once" in ci(of_seven)
    assert a.best_of(7).of_many == 7
    assert a.best_of(7).interval == pairs.share(a.parts, known, level_of_each(7)).interval
