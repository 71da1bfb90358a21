"""The figure of ranks shows the pairs that it is given, by their numbers, and stays small."""

from __future__ import annotations

import json

import numpy as np
import plotly.graph_objects as go
import pytest

from core.diagnostics.evalrank.figures.pairs import rank_scatter
from core.figures.theme import Scheme, styles
from core.types import Variant

A, B = Variant("one", "none"), Variant("two", "center")


def drawn(a: np.ndarray, b: np.ndarray, numbers: np.ndarray, chosen: np.ndarray | None = None) -> go.Figure:
    areas = [] if chosen is None else [(1.0, 1.0, 2.0, 9.0)]
    looks = styles([A, B], Scheme.LIGHT)
    figure = rank_scatter((a, b), numbers, (A, B), areas, chosen, looks, Scheme.LIGHT)
    go.Figure(json.loads(figure.to_json(validate=True)))  # checks every property and value
    return figure


def test_every_pair_is_a_dot_at_its_ranks_and_those_without_a_rank_are_left_out() -> None:
    a, b = np.array([1.0, 2.5, 7.0, np.nan, 1.0]), np.array([3.0, 2.5, 1.0, 4.0, 9.0])
    numbers = np.array([10, 11, 12, 13, 14])
    diagonal, *groups = drawn(a, b, numbers).data
    assert list(diagonal.x) == list(diagonal.y)
    assert [trace.name for trace in groups] == ["same rank: 1", "one better: 2", "two + center better: 1"]
    dots = {int(n): (x, y) for t in groups for n, x, y in zip(t.customdata, t.x, t.y, strict=True)}
    assert dots == {10: (1.0, 3.0), 11: (2.5, 2.5), 12: (7.0, 1.0), 14: (1.0, 9.0)}
    assert all(trace.selectedpoints is None for trace in groups)


def test_chosen_pairs_stand_out_and_their_area_is_outlined() -> None:
    a, b = np.array([1.0, 2.0, 1.0, np.nan, 1.0]), np.array([3.0, 2.0, 90.0, 4.0, 9.0])
    figure = drawn(a, b, np.arange(5), np.array([True, False, False, False, True]))
    chosen = {int(t.customdata[i]) for t in figure.data[1:] for i in t.selectedpoints}
    assert chosen == {0, 4}
    (shape,) = figure.layout.shapes
    assert shape.x0 < 1 < shape.x1
    assert shape.y0 < 2 < 9 < shape.y1


@pytest.mark.parametrize("pairs", [6_989, 200_000])
def test_it_stays_small(pairs: int) -> None:
    rng = np.random.default_rng(0)
    a, b = rng.geometric(0.01, pairs).astype(float), rng.geometric(0.01, pairs).astype(float)
    looks = styles([A, B], Scheme.DARK)
    figure = rank_scatter((a, b), np.arange(pairs), (A, B), [], a > 3, looks, Scheme.DARK)
    assert sum(len(trace.x) for trace in figure.data) <= min(pairs + 2, 25_000)
    assert len(figure.to_json()) < 1_000_000
    assert all(trace.hovertemplate is None or "customdata" in trace.hovertemplate for trace in figure.data)
