"""Sentences on thresholds of groups and of another model, by hand."""

from __future__ import annotations

import pytest

from blindspot.numerics.statistics.estimate import Estimate, Unit
from blindspot.numerics.statistics.intervals import Interval
from blindspot.numerics.thresholds.curves import Point, Wished
from blindspot.studies.threshold.answer import OfGroup, instead, moves


def estimate(value: float, low: float | None = None, high: float | None = None) -> Estimate:
    interval = None if low is None or high is None else Interval(low, high)
    return Estimate(value, interval, "by hand", Unit.COMPONENTS, 50, 50.0, "" if interval else "too few")


def point(threshold: float, precision: float) -> Point:
    return Point(threshold, estimate(precision), estimate(0.5), 20, 10)


def group(label: str, threshold: float, low: float, high: float | None, precision: float) -> OfGroup:
    own = Wished(0.9, point(threshold, 0.9), low, high, point(threshold, 0.9))
    return OfGroup(label, 100, 50, own, "", point(0.7, precision))


@pytest.mark.parametrize(("high", "is_chance"), [(0.65, False), (0.75, True), (None, True)])
def test_the_two_groups_that_differ_most_are_named_where_they_differ(high: float | None, is_chance: bool) -> None:
    groups = [
        group("short", 0.8, 0.7, 0.9, 0.81),
        group("long", 0.6, 0.5, high, 0.97),
        group("middle", 0.7, 0.6, 0.8, 0.9),
        OfGroup("none", 3, 1, None, "too few pairs", None),
    ]
    own, at = moves(groups)
    assert own.index("0.600") < own.index("0.800")
    assert ("“long”" in own and "“short”" in own) is not is_chance
    assert own.startswith("Of 3 groups")
    assert ("chance" in own) is is_chance
    assert "0.810 to 0.970" in at
    assert "“" not in at
    assert moves(groups[3:]) == ()


def test_what_becomes_of_a_share_with_the_other_models_threshold() -> None:
    a, b = estimate(0.9, 0.8, 0.95), estimate(0.7, 0.6, 0.8)
    assert instead("precision", a, b, estimate(-0.2, -0.3, -0.1)) == "precision falls from 0.900 to 0.700"
    assert instead("recall", b, a, estimate(0.2, 0.1, 0.3)) == "recall rises from 0.700 to 0.900"
    assert "no significant change" in instead("precision", a, b, estimate(-0.2, -0.5, 0.1))
    assert instead("precision", a, None, None) == ""
