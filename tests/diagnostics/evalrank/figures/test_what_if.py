"""What-if figures: every pair once, on its side of the diagonal; every mate that moves in one bar."""

from __future__ import annotations

import json

import numpy as np
import plotly.graph_objects as go
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.diagnostics.evalrank.figures.what_if import BINS, bin_counts, change_bars, rank_scatter
from core.figures.theme import Scheme

BEFORE = np.array([1.0, 1.0, 5.0, 2.5, 100.0, 7.0])
AFTER = np.array([1.0, 3.0, 2.0, 2.5, 1.0, 9.5])
NUMBERS = np.array([4, 8, 15, 16, 23, 42])


@pytest.mark.parametrize("scheme", Scheme)
def test_every_pair_stands_once_on_its_side(scheme: Scheme) -> None:
    figure = rank_scatter(BEFORE, AFTER, NUMBERS, 24_957, scheme)
    go.Figure(json.loads(figure.to_json(validate=True)))
    points = {
        int(number): (trace.name, x, y)
        for trace in figure.data
        for number, x, y in zip(trace.customdata, trace.x, trace.y, strict=True)
    }
    assert {number: point[1:] for number, point in points.items()} == {
        int(n): (b, a) for n, b, a in zip(NUMBERS, BEFORE, AFTER, strict=True)
    }
    assert {number: point[0] for number, point in points.items()} == {
        4: "stays: 2",
        8: "moves down: 2",
        15: "moves up: 2",
        16: "stays: 2",
        23: "moves up: 2",
        42: "moves down: 2",
    }
    assert len({trace.marker.symbol for trace in figure.data}) == 3, "not told apart by colour alone"
    assert figure.layout.xaxis.type == figure.layout.yaxis.type == "log"
    assert tuple(figure.layout.xaxis.range) == tuple(figure.layout.yaxis.range)


def test_bars_count_by_how_far() -> None:
    factors = np.array([1.0, 1 / 20, 0.1, 0.2, 1 / 3, 0.9, 1.1, 3.0, 3.1, 10.0, 11.0, 500.0])
    assert bin_counts(factors) == [1, 2, 2, 2, 2, 2]
    figure = change_bars(factors, Scheme.LIGHT)
    go.Figure(json.loads(figure.to_json(validate=True)))
    (bar,) = figure.data
    assert list(bar.y) == [1, 2, 2, 2, 2, 2]
    assert list(bar.customdata) == pytest.approx([1 / 12, *[2 / 12] * 5])
    assert [tick.endswith("down") for tick in figure.layout.xaxis.ticktext] == [True] * 3 + [False] * 3


@given(st.lists(st.tuples(st.integers(1, 1000), st.integers(1, 1000)), max_size=50))
def test_every_mate_that_moves_is_in_one_bar(ranks: list[tuple[int, int]]) -> None:
    before = np.array([b for b, _ in ranks], dtype=np.float64)
    after = np.array([a for _, a in ranks], dtype=np.float64)
    counts = bin_counts(before / after)
    assert len(counts) == len(BINS)
    assert sum(counts[:3]) == np.count_nonzero(after > before)
    assert sum(counts[3:]) == np.count_nonzero(after < before)


def test_nothing_that_moves_is_drawn_too() -> None:
    same = np.ones(3)
    assert list(change_bars(same, Scheme.DARK).data[0].y) == [0] * len(BINS)
    (trace,) = rank_scatter(same, same, np.arange(3), 3, Scheme.DARK).data
    assert trace.name == "stays: 3"
