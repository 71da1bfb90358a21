"""Figures of the Lab: every number stands where it belongs, and names are no HTML."""

from __future__ import annotations

import numpy as np
import pytest

from blindspot.figures import grids as figures
from blindspot.figures.theme import Scheme, looks

NAN = float("nan")
NAMES = ("minilm", "<b>own</b>")
STYLES = dict(zip(NAMES, looks(2, Scheme.LIGHT), strict=True))


@pytest.mark.parametrize("scheme", list(Scheme))
def test_score_grid(scheme: Scheme) -> None:
    values = np.array([[0.5, NAN, 1234.5], [0.25, 0.75, 0.0]])
    figure = figures.score_grid(values, NAMES, ["a", "b", "c"], 1, scheme)
    heat, dashes = figure.data
    assert [list(row) for row in heat.z] == [[0.5, 0.25], [None, 0.75], [1234.5, 0.0]]
    assert [list(row) for row in heat.text] == [["0.500", "0.250"], ["", "0.750"], ["1,234.5", "0.000"]]
    assert (list(dashes.x), list(dashes.y)) == ([0], [1])
    assert "<b>" not in str(figure.layout.xaxis.ticktext)
    assert not heat.reversescale
    assert figures.score_grid(values, NAMES, ["a", "b", "c"], -1, scheme).data[0].reversescale


def test_place_lines_break_where_a_score_is_missing() -> None:
    places = np.array([[1.0, NAN, 1.5], [2.0, 1.0, 1.5]])
    figure = figures.place_lines(places, places / 10, NAMES, ["a", "b", "c"], STYLES, Scheme.LIGHT)
    assert list(figure.data[0].x) == [1.0, None, 1.5]
    assert list(figure.data[0].y) == [0, 1, 2]
    assert figure.data[0].connectgaps is False
    assert figure.data[1].name == "&lt;b&gt;own&lt;/b&gt;"
    assert figure.data[0].line.color != figure.data[1].line.color
    assert figure.data[0].marker.symbol != figure.data[1].marker.symbol


def test_agreement_matrix_is_printed_where_there_is_room() -> None:
    values = np.array([[1.0, -1 / 3], [-1 / 3, NAN]])
    heat = figures.agreement_matrix(values, ["a", "b"], Scheme.DARK).data[0]
    assert [list(row) for row in heat.text] == [["1", "-.3"], ["-.3", ""]]
    assert heat.z[1][1] is None
    assert (heat.zmin, heat.zmax) == (-1.0, 1.0)
    many = figures.agreement_matrix(np.ones((40, 40)), [str(i) for i in range(40)], Scheme.DARK).data[0]
    assert set(np.ravel(many.text)) == {""}


def test_sizes_too_close_on_a_narrow_screen_have_no_label() -> None:
    sizes = (16, 32, 64, 128, 192, 256, 288, 384)
    line = figures.SizeLine(next(iter(STYLES)), sizes, tuple(0.1 * number for number in range(8)), 384)
    axis = figures.size_lines([line], "mrr", STYLES, Scheme.LIGHT).layout.xaxis
    assert list(axis.tickvals) == list(sizes)
    assert list(axis.ticktext) == ["16", "32", "64", "128", "", "256", "", "384"]


def test_size_lines_mark_the_own_size() -> None:
    lines = [figures.SizeLine("minilm", (8, 384), (0.2, 0.8), 384), figures.SizeLine(NAMES[1], (8,), (0.1,), None)]
    figure = figures.size_lines(lines, "mrr", STYLES, Scheme.LIGHT)
    first, second = figure.data
    assert first.marker.size[1] > first.marker.size[0]
    assert list(second.marker.size) == [first.marker.size[0]]
    assert list(figure.layout.xaxis.tickvals) == [8, 384]
