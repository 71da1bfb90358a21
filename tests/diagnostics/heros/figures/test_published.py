"""HEROS's published profiles in figures: every number where it belongs, and marked as published."""

from __future__ import annotations

import json

import numpy as np
import plotly.graph_objects as go
import pytest

from core.diagnostics.heros.figures.profile import profile
from core.diagnostics.heros.figures.published import (
    MapAxis,
    MapPoint,
    PublishedLine,
    PublishedRow,
    is_on_map,
    nearest_profiles,
    profile_beside_published,
    profile_map,
)
from core.figures.theme import SEQUENTIAL, Scheme, styles
from core.types import Variant

ONE, OTHER = Variant("a", "none"), Variant("b", "center")
VALUES = {ONE: {"synonym": 0.95, "of my own": 0.9, "typo": 0.8}, OTHER: {"synonym": 0.5, "of my own": 0.1, "typo": 0.4}}
ROWS = [
    PublishedRow("▾ QA (1)", {}),
    PublishedRow("encoder", {"synonym": 0.9, "typo": 0.7}, ["trained on questions"]),
    PublishedRow("▸ all (2)", {"synonym": 0.85, "typo": 0.75, "no column": 0.1}),
]


def checked(figure: go.Figure) -> go.Figure:
    """The figure, once plotly has read it back from the JSON that a browser gets."""
    go.Figure(json.loads(figure.to_json(validate=True)))
    return figure


@pytest.mark.parametrize("scheme", Scheme)
def test_published_cells_are_frames_in_their_columns(scheme: Scheme) -> None:
    figure = checked(profile_beside_published(VALUES, ROWS, (0.0, 1.0), scheme))
    heat, frames, numbers = figure.data
    # What was measured is drawn as without published rows, on a scale for both.
    alone = profile(VALUES, scheme).data[0]
    assert (heat.x, heat.y, heat.text) == (alone.x, alone.y, alone.text)
    assert (heat.zmin, heat.zmax) == (0.0, 1.0)
    assert heat.yaxis is None
    assert frames.yaxis == "y2"

    # Rows 1 and 2; columns 0 (synonym) and 2 (typo); the column that is the user's own stays empty.
    assert list(frames.y) == [1, 1, 2, 2]
    np.testing.assert_allclose(np.asarray(frames.base) + np.asarray(frames.x) / 2, [0, 2, 0, 2])
    assert list(numbers.text) == ["0.900", "0.700", "0.850", "0.750"]
    assert list(zip(numbers.x, numbers.y, strict=True)) == [(0, 1), (2, 1), (0, 2), (2, 2)]
    assert frames.hovertext[0] == "synonym: 0.900<br>trained on questions"
    assert list(figure.layout.yaxis2.ticktext) == ["<b>▾ QA (1)</b>", "encoder", "▸ all (2)"]
    assert list(figure.layout.yaxis2.range) == [2.5, -0.5]
    assert list(figure.layout.xaxis2.range) == [-0.5, 2.5], "as wide as the measured columns"
    assert "Published" in figure.layout.annotations[0].text


def test_a_frame_has_the_colour_that_a_measured_cell_would_have() -> None:
    """The scale's ends; what fills a frame is that colour, thinned."""
    rows = [PublishedRow("low and high", {"synonym": 0.0, "typo": 1.0})]
    frames = profile_beside_published(VALUES, rows, (0.0, 1.0), Scheme.LIGHT).data[1]
    ends = [colour for _, colour in SEQUENTIAL[Scheme.LIGHT]]
    assert list(frames.marker.line.color) == ends
    for colour, end in zip(frames.marker.color, ends, strict=True):
        assert colour[:7] == end
        assert 0 < int(colour[7:], 16) < 128


def test_measured_and_published_share_the_height_and_do_not_overlap() -> None:
    plain = profile(VALUES, Scheme.LIGHT)
    ends = {ONE: {"synonym": (0.9, 0.97)}}
    short, tall = (profile_beside_published(VALUES, ROWS, (0, 1), Scheme.LIGHT, i) for i in (None, ends))
    assert plain.layout.height < short.layout.height < tall.layout.height
    assert "0.900 –" in tall.data[0].text[0][0]
    for figure in (short, tall):
        assert figure.layout.yaxis2.domain[0] == 0
        assert figure.layout.yaxis2.domain[1] < figure.layout.yaxis.domain[0]
        assert figure.layout.yaxis.domain[1] == 1


def test_sixty_published_rows_and_eight_measured_ones_stand_in_one_figure() -> None:
    measured = {Variant(f"v{i}", "none"): {"synonym": i / 8, "typo": 0.5} for i in range(8)}
    rows = [PublishedRow(f"p{i}", {"synonym": 0.9, "typo": i / 60}) for i in range(60)]
    figure = checked(profile_beside_published(measured, rows, (0, 1), Scheme.DARK))
    assert len(figure.data[0].y) == 8
    assert len(figure.data[1].y) == 120


def test_all_values_alike_have_a_colour() -> None:
    values = {ONE: {"synonym": 0.9}}
    figure = checked(profile_beside_published(values, [PublishedRow("p", {"synonym": 0.9})], (0.9, 0.9), Scheme.LIGHT))
    assert len(figure.data[1].marker.line.color) == 1


def test_a_profile_lies_over_hollow_published_ones() -> None:
    own = {"synonym": 0.9, "negation_main": 0.8}
    lines = [PublishedLine("first", {"negation_main": 0.7, "synonym": 0.6, "typo": 0.1}), PublishedLine("second", own)]
    looks = styles([ONE], Scheme.LIGHT)
    figure = checked(nearest_profiles(ONE, own, lines, looks[ONE], Scheme.LIGHT))
    first, second, measured = figure.data
    assert list(first.y) == [0.6, 0.7], "in the measured one's order, without what that lacks"
    assert list(first.x) == list(measured.x) == ["synonym", "negation<br>of the<br>clause"]
    assert [trace.marker.symbol.endswith("-open") for trace in (first, second, measured)] == [True, True, False]
    assert first.marker.symbol != second.marker.symbol
    assert [trace.line.dash for trace in figure.data] == ["dot", "dot", None]
    assert (measured.name, measured.marker.color) == ("a, measured", looks[ONE].colour)


POINTS = [MapPoint("p", "QA", 0.0, 0.0), MapPoint("q", "all", 1.0, 2.0), MapPoint("r", "QA", 0.5, 1.0)]
AXES = (MapAxis(0.8, {"synonym": 0.9, "typo": -0.4, "antonym": 0.1}), MapAxis(0.15, {"typo": 0.9}))


def test_the_map_has_published_points_by_group_and_measured_ones_filled() -> None:
    looks = styles([ONE, OTHER], Scheme.DARK)
    measured = {ONE: np.array([0.2, 0.4]), OTHER: np.array([5.0, 0.0])}
    figure = checked(profile_map(POINTS, measured, ONE, AXES, looks, Scheme.DARK))
    groups, own = figure.data[:2], figure.data[2:]
    assert {trace.name: list(trace.text) for trace in groups} == {"QA": ["p", "r"], "all": ["q"]}
    assert all(trace.marker.symbol.endswith("-open") for trace in groups)
    assert len({(trace.marker.symbol, trace.marker.color) for trace in groups}) == 2
    assert [(trace.name, trace.mode) for trace in own] == [("a", "markers+text")], "the other is off the map"
    assert (own[0].x, own[0].y) == ((0.2,), (0.4,))
    # A quarter of 1 and of 2 around the published points.
    assert (figure.layout.xaxis.range, figure.layout.yaxis.range) == ((-0.25, 1.25), (-0.5, 2.5))
    assert "published" in figure.layout.legend.title.text
    for point, expected in (((1.25, 2.5), True), ((1.26, 0.0), False), ((0.0, -0.51), False)):
        assert is_on_map(np.array(point), POINTS) == expected


def test_only_the_chosen_one_has_its_name_and_lies_on_top() -> None:
    looks = styles([ONE, OTHER], Scheme.LIGHT)
    measured = {ONE: np.array([0.2, 0.4]), OTHER: np.array([0.2, 0.5])}
    own = profile_map(POINTS, measured, ONE, AXES, looks, Scheme.LIGHT).data[2:]
    assert [(trace.name, trace.mode) for trace in own] == [("b + center", "markers"), ("a", "markers+text")]


def test_an_axis_says_what_it_holds_and_which_way_it_points() -> None:
    assert AXES[0].title("across") == ("across, 80% of the variance<br>synonym more similar; typo less similar")
