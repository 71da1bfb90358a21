"""The figure of lexical overlap: a mark per measure and row, published ones hollow."""

from __future__ import annotations

import math

import pytest

from blindspot.diagnostics.heros.figures.lexical_overlap import MEASURES, overlap_dots
from blindspot.diagnostics.heros.lexical_overlap import Overlap
from blindspot.figures.theme import Scheme

ROWS = [
    ("typo", "measured here", Overlap(1, 0.9, 0.8, 0.9, 0, 0)),
    ("<b>mine</b>", "measured here", Overlap(1, math.nan, math.nan, math.nan, 0, 0)),
    ("STS-B", "published", Overlap(1, 0.5, 0.3, 0.4, 0, 0)),
]
LABELS = ["typo", "&lt;b&gt;mine&lt;/b&gt;", "STS-B, published"]


@pytest.mark.parametrize("scheme", list(Scheme))
def test_every_measure_of_every_row_is_drawn(scheme: Scheme) -> None:
    figure = overlap_dots(ROWS, scheme)
    drawn = {
        (text, trace.legendgroup): (x, y)
        for trace in figure.data
        for x, y, text in zip(trace.x, trace.y, trace.text, strict=True)
    }
    assert len(drawn) == len(ROWS) * len(MEASURES)
    for y, (label, (_, _, overlap)) in enumerate(zip(LABELS, ROWS, strict=True)):
        for measure in MEASURES:
            x, place = drawn[label, measure]
            assert place == y
            assert x == pytest.approx(100 * getattr(overlap, measure), nan_ok=True)
    assert list(figure.layout.yaxis.ticktext) == LABELS
    first, last = figure.layout.yaxis.range
    assert first > last, "the first row is on top"


def test_published_marks_are_hollow_and_the_legend_names_each_measure_once() -> None:
    figure = overlap_dots(ROWS, Scheme.LIGHT)
    for trace in figure.data:
        if trace.legendgroup != "rouge_l":  # a cross has no inside
            assert trace.marker.symbol.endswith("-open") == all("published" in text for text in trace.text)
    named = [trace.name for trace in figure.data if trace.showlegend]
    assert [name.split(":")[0] for name in named] == ["R1", "R2", "RL"]
    assert len({trace.marker.color for trace in figure.data}) == 3
