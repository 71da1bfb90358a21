"""HEROS's figures show the numbers that they are given."""

from __future__ import annotations

import numpy as np
import pytest

from blindspot.diagnostics.heros.figures.profile import PublishedRow, label, profile, profile_with_published
from blindspot.figures.theme import SEQUENTIAL, Scheme
from blindspot.numerics.statistics.estimate import Measured
from blindspot.numerics.statistics.intervals import Interval
from blindspot.variants import Variant
from tests.support.figures import checked

ONE, OTHER = Variant("a", "none"), Variant("b", "center")
VALUES = {ONE: {"synonym": 0.95, "of my own": 0.9, "typo": 0.8}, OTHER: {"synonym": 0.5, "of my own": 0.1, "typo": 0.4}}
ROWS = [
    PublishedRow("▾ QA (1)", {}),
    PublishedRow("encoder", {"synonym": 0.9, "typo": 0.7}, ["trained on questions"]),
    PublishedRow("▸ all (2)", {"synonym": 0.85, "typo": 0.75, "no column": 0.1}),
]


@pytest.mark.parametrize("scheme", Scheme)
def test_the_profile_prints_every_value(scheme: Scheme) -> None:
    values = {ONE: {"synonym": 0.95, "random_mlm": 0.9}, OTHER: {"synonym": 0.5, "random_mlm": -0.1}}
    heat = checked(profile(values, scheme)).data[0]
    assert list(heat.x) == ["synonym", "random word"]
    assert list(heat.y) == ["a", "b + center"]
    np.testing.assert_array_equal(heat.z, [[0.95, 0.9], [0.5, -0.1]])
    assert [list(row) for row in heat.text] == [["0.950", "0.900"], ["0.500", "−0.100"]]


def test_the_profile_prints_intervals_where_there_are_some() -> None:
    values = {ONE: {"synonym": 0.95, "typo": -0.1}, OTHER: {"synonym": 0.5, "typo": 0.2}}
    plain = profile(values, Scheme.LIGHT)
    figure = checked(
        profile(
            values,
            Scheme.LIGHT,
            {ONE: {"synonym": Measured(0.95, Interval(0.9312, 0.9601)), "typo": Measured(-0.1, Interval(-0.2, 0.02))}},
        )
    )
    text = [list(row) for row in figure.data[0].text]
    assert text[0][0] == "0.950<br><span style='font-size:10px'>0.931 –<br>0.960</span>"
    assert text[0][1] == "−0.100<br><span style='font-size:10px'>−0.200 –<br>0.020</span>"
    assert text[1] == ["0.500", "0.200"]
    hover = [list(row) for row in figure.data[0].hovertext]
    assert hover[0] == ["0.950 (95% CI 0.931 to 0.960)", "−0.100 (95% CI −0.200 to 0.020)"]
    assert hover[1] == ["0.500", "0.200"]
    assert figure.layout.height > plain.layout.height, "three lines need more room than one"


def test_a_chain_of_transforms_has_a_line_of_its_own() -> None:
    long = Variant("minilm", "center+whiten:128")
    figure = checked(profile({long: {"synonym": 0.5}, ONE: {"synonym": 0.4}}, Scheme.LIGHT))
    assert list(figure.layout.yaxis.tickvals) == list(figure.data[0].y) == ["minilm + center+whiten:128", "a"]
    assert list(figure.layout.yaxis.ticktext) == ["minilm<br>+ center+whiten:128", "a"]


def test_names() -> None:
    assert label("negation_antonym") == "negated word"
    assert label("my_own") == "my own"


# --- with published rows


@pytest.mark.parametrize("scheme", Scheme)
def test_published_cells_are_frames_in_their_columns(scheme: Scheme) -> None:
    figure = checked(profile_with_published(VALUES, ROWS, (0.0, 1.0), scheme))
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


def test_a_frame_has_the_color_that_a_measured_cell_would_have() -> None:
    """The scale's ends; what fills a frame is that color, thinned."""
    rows = [PublishedRow("low and high", {"synonym": 0.0, "typo": 1.0})]
    frames = profile_with_published(VALUES, rows, (0.0, 1.0), Scheme.LIGHT).data[1]
    ends = [color for _, color in SEQUENTIAL[Scheme.LIGHT]]
    assert list(frames.marker.line.color) == ends
    for color, end in zip(frames.marker.color, ends, strict=True):
        assert color[:7] == end
        assert 0 < int(color[7:], 16) < 128


def test_measured_and_published_share_the_height_and_do_not_overlap() -> None:
    plain = profile(VALUES, Scheme.LIGHT)
    ends = {ONE: {"synonym": Measured(0.95, Interval(0.9, 0.97))}}
    short, tall = (profile_with_published(VALUES, ROWS, (0, 1), Scheme.LIGHT, i) for i in (None, ends))
    assert plain.layout.height < short.layout.height < tall.layout.height
    assert "0.900 –" in tall.data[0].text[0][0]
    for figure in (short, tall):
        assert figure.layout.yaxis2.domain[0] == 0
        assert figure.layout.yaxis2.domain[1] < figure.layout.yaxis.domain[0]
        assert figure.layout.yaxis.domain[1] == 1


def test_sixty_published_rows_and_eight_measured_ones_fit_one_figure() -> None:
    measured = {Variant(f"v{i}", "none"): {"synonym": i / 8, "typo": 0.5} for i in range(8)}
    rows = [PublishedRow(f"p{i}", {"synonym": 0.9, "typo": i / 60}) for i in range(60)]
    figure = checked(profile_with_published(measured, rows, (0, 1), Scheme.DARK))
    assert len(figure.data[0].y) == 8
    assert len(figure.data[1].y) == 120


def test_all_values_alike_have_a_color() -> None:
    values = {ONE: {"synonym": 0.9}}
    figure = checked(profile_with_published(values, [PublishedRow("p", {"synonym": 0.9})], (0.9, 0.9), Scheme.LIGHT))
    assert len(figure.data[1].marker.line.color) == 1
