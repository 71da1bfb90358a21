"""The figure of lexical overlap: a mark per measure and row, published ones hollow."""

from __future__ import annotations

import math

import pytest

from core.diagnostics.heros.figures.lexical_overlap import MEASURES, Row, overlap_dots
from core.figures.theme import Scheme

ROWS = [
    Row("typo", 0.9, 0.8, 0.9),
    Row("<b>mine</b>", math.nan, math.nan, math.nan),
    Row("STS-B", 0.5, 0.3, 0.4, published=True),
]


@pytest.mark.parametrize("scheme", list(Scheme))
def test_every_measure_of_every_row_is_drawn(scheme: Scheme) -> None:
    figure = overlap_dots(ROWS, scheme)
    drawn = {
        (text, trace.legendgroup): (x, y)
        for trace in figure.data
        for x, y, text in zip(trace.x, trace.y, trace.text, strict=True)
    }
    assert len(drawn) == len(ROWS) * len(MEASURES)
    for y, row in enumerate(ROWS):
        for measure in MEASURES:
            x, place = drawn[row.label, measure]
            value = 100 * getattr(row, measure)
            assert place == y
            assert x == pytest.approx(value, nan_ok=True)
    assert list(figure.layout.yaxis.ticktext) == ["typo", "&lt;b&gt;mine&lt;/b&gt;", "STS-B, published"]
    first, last = figure.layout.yaxis.range
    assert first > last, "the first row is on top"


def test_published_marks_are_hollow_and_the_legend_names_each_measure_once() -> None:
    figure = overlap_dots(ROWS, Scheme.LIGHT)
    for trace in figure.data:
        if trace.legendgroup != "rouge_l":  # a cross has no inside
            assert trace.marker.symbol.endswith("-open") == all("published" in text for text in trace.text)
    named = [trace.name for trace in figure.data if trace.showlegend]
    assert named == ["R1: words", "R2: pairs of neighbouring words", "RL: words in the same order"]
    colours = {trace.legendgroup: trace.marker.color for trace in figure.data}
    assert len(set(colours.values())) == 3
