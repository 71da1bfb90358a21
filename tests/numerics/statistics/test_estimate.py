"""A number says what its interval counts as independent, or why it has none."""

from __future__ import annotations

import pytest

from blindspot.numerics.statistics.estimate import Estimate, Unit
from blindspot.numerics.statistics.intervals import Interval, level_of_each
from blindspot.numerics.statistics.written import with_ci


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
    assert with_ci(Estimate(-0.5, Interval(-0.6, -0.4), "t", Unit.PAIRS, 10, 10.0), "+.0f", 100) == (
        "−50 (95% CI −60 to −40)"
    )
    assert with_ci(Estimate(0.5, None, "t", Unit.PAIRS, 1, 1.0, refusal="too few")) == "0.50"
