"""The figures of the page Words: what was published is hollow, names are text, and numbers stand where they belong."""

from __future__ import annotations

import numpy as np
import pytest

from blindspot.diagnostics.words import figures as words
from blindspot.diagnostics.words.categorization import shares
from blindspot.figures.dots import dot
from blindspot.figures.theme import Scheme, styles
from blindspot.numerics.statistics.estimate import Measured
from blindspot.numerics.statistics.intervals import Interval
from blindspot.variants import Variant

A, B = Variant("one<b>", "none"), Variant("two", "center")
SCHEMES = pytest.mark.parametrize("scheme", list(Scheme))


@SCHEMES
def test_measured_marks_are_filled_and_published_ones_hollow(scheme: Scheme) -> None:
    rows = [dot(A, "rg", Measured(0.5, Interval(0.4, 0.58))), dot(A, "<an>", 0.25), dot(B, "<an>", 0.1)]
    looks = styles([A, B], scheme)
    specs = {"rg": ".3f", "<an>": ".1%"}
    figure = words.task_dots(rows, {"CBOW": {"<an>": 0.74}}, looks, scheme, axis="", specs=specs)
    first, second, published = figure.data
    assert (first.name, published.name) == ("one_b_", "CBOW, published")
    assert list(first.x) == [0.5, 0.25]
    assert [text for _, text in first.customdata] == ["0.500 (95% CI 0.400 to 0.580)", "25.0%"]
    assert published.text == ("&lt;an&gt;: 74.0%",)
    assert list(first.error_x.array) == pytest.approx([0.08, 0.0])
    assert list(first.error_x.arrayminus) == pytest.approx([0.1, 0.0])
    assert [round(y) for y in (*first.y, *second.y, *published.y)] == [0, 1, 1, 1]
    assert list(figure.layout.yaxis.ticktext) == ["rg", "&lt;an&gt;"]
    assert published.marker.symbol.endswith("-open")
    assert not first.marker.symbol.endswith("-open")
    assert first.marker.color == looks[A].color != published.marker.color
    alone = words.task_dots([], {"CBOW": {"rg": 0.74}}, looks, scheme, axis="", specs=specs)
    assert list(alone.layout.yaxis.ticktext) == ["rg", "&lt;an&gt;"]


@SCHEMES
def test_confusion_has_classes_down_and_clusters_across(scheme: Scheme) -> None:
    table = np.array([[3, 1], [0, 4]])
    figure = words.confusion(table, shares(table), ["bird", "<b>"], [7, 2], scheme)
    heat = figure.data[0]
    assert (list(heat.x), list(heat.y)) == (["7", "2"], ["bird", "&lt;b&gt;"])
    assert np.asarray(heat.z).tolist() == [[100.0, 0.0], [20.0, 80.0]]
    assert [list(row) for row in heat.text] == [["3", ""], ["1", "4"]]
    assert not heat.showscale
    many = np.eye(words.MANY + 1, dtype=np.int64)
    big = words.confusion(many, shares(many), [f"c{i}" for i in range(len(many))], range(len(many)), scheme)
    assert big.data[0].text is None
    assert big.data[0].showscale
