"""Figures of HEROS's published profiles: every number where it belongs, and marked as published."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from blindspot.diagnostics.heros.figures.published import is_on_map, nearest_profiles, profile_map
from blindspot.diagnostics.heros.published import SUBSETS, PublishedProfile, heros_profiles
from blindspot.diagnostics.heros.resemblance import Plane
from blindspot.figures.theme import Scheme, styles
from blindspot.types import Float64
from blindspot.variants import Variant
from tests.support.figures import checked

ONE, OTHER = Variant("a", "none"), Variant("b", "center")


def published(model: str, group: str, **means: float) -> PublishedProfile:
    values = dict.fromkeys(SUBSETS, 0.0) | means
    return replace(heros_profiles()[0], model=model, group=group, means=values)


def test_a_profile_lies_over_hollow_published_ones() -> None:
    own = {"synonym": 0.9, "negation_main": 0.8}
    nearest = [published("first", "QA", negation_main=0.7, synonym=0.6, typo=0.1), published("second", "QA", **own)]
    looks = styles([ONE], Scheme.LIGHT)
    figure = checked(nearest_profiles(ONE, own, nearest, looks[ONE], Scheme.LIGHT))
    first, second, measured = figure.data
    assert list(first.y) == [0.6, 0.7], "in the measured one's order, without what that lacks"
    assert list(first.x) == list(measured.x) == ["synonym", "negated<br>clause"]
    assert [trace.marker.symbol.endswith("-open") for trace in (first, second, measured)] == [True, True, False]
    assert first.marker.symbol != second.marker.symbol
    assert [trace.line.dash for trace in figure.data] == ["dot", "dot", None]
    assert (first.name, measured.name) == ("first · published", "a, measured")
    assert measured.marker.color == looks[ONE].color


# Across is the similarity of synonyms, up that of typos less a part of that of antonyms.
PLANE = Plane(np.zeros(6), np.array([[1, 0], [0, -0.4], [0, 0.1], [0, 0], [0, 0], [0, 1]]), np.array([0.8, 0.15]))
POINTS = [
    published("p", "QA"),
    published("q", "all", synonym=1.0, typo=2.0),
    published("r", "QA", synonym=0.5, typo=1.0),
]


def at(across: float, up: float) -> Float64:
    """A measured profile at a place of the map."""
    return np.array([across, 0, 0, 0, 0, up])


def test_the_map_has_published_points_by_group_and_measured_ones_filled() -> None:
    looks = styles([ONE, OTHER], Scheme.DARK)
    measured = {ONE: at(0.2, 0.4), OTHER: at(5.0, 0.0)}
    figure = checked(profile_map(POINTS, measured, ONE, PLANE, looks, Scheme.DARK))
    groups, own = figure.data[:2], figure.data[2:]
    assert {trace.name: list(trace.text) for trace in groups} == {"QA": ["p", "r"], "all": ["q"]}
    assert (groups[0].x, groups[0].y) == ((0.0, 0.5), (0.0, 1.0))
    assert all(trace.marker.symbol.endswith("-open") for trace in groups)
    assert len({(trace.marker.symbol, trace.marker.color) for trace in groups}) == 2
    assert [(trace.name, trace.mode) for trace in own] == [("a", "markers+text")], "the other is off the map"
    assert (own[0].x, own[0].y) == ((0.2,), (0.4,))
    # A quarter of 1 and of 2 around the published points.
    assert (figure.layout.xaxis.range, figure.layout.yaxis.range) == ((-0.25, 1.25), (-0.5, 2.5))
    assert figure.layout.xaxis.title.text == "across, 80% of the variance<br>synonym more similar"
    assert figure.layout.yaxis.title.text == "up, 15% of the variance<br>typo more similar; antonym less similar"
    for place, expected in (((1.25, 2.5), True), ((1.26, 0.0), False), ((0.0, -0.51), False)):
        assert is_on_map(at(*place), POINTS, PLANE) == expected


def test_only_the_chosen_one_has_its_name_and_lies_on_top() -> None:
    looks = styles([ONE, OTHER], Scheme.LIGHT)
    own = profile_map(POINTS, {ONE: at(0.2, 0.4), OTHER: at(0.2, 0.5)}, ONE, PLANE, looks, Scheme.LIGHT).data[2:]
    assert [(trace.name, trace.mode) for trace in own] == [("b + center", "markers"), ("a", "markers+text")]
