"""The figures of the page Similarity: what is drawn, and that a user's names stay text."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from blindspot.diagnostics.similarity import figures
from blindspot.figures.dots import MOST_LABELED, dots
from blindspot.figures.theme import Scheme, styles
from blindspot.variants import Variant

A, B = Variant("a<b>", "none"), Variant("b", "center")
SCHEMES = pytest.mark.parametrize("scheme", Scheme)


@SCHEMES
def test_dots_with_and_without_intervals(scheme: Scheme) -> None:
    rows = pd.DataFrame(
        [
            {"variant": A, "name": "all <i>", "value": 0.5, "low": 0.4, "high": 0.7},
            {"variant": B, "name": "all <i>", "value": 0.2, "low": np.nan, "high": np.nan},
        ]
    )
    figure = dots(rows, styles([A, B], scheme), scheme, axis="correlation")
    first, second = figure.data
    assert first.name == "a_b_"
    assert first.error_x.array == pytest.approx((0.2,))
    assert first.error_x.arrayminus == pytest.approx((0.1,))
    assert second.error_x.array == (0.0,)
    assert figure.layout.yaxis.ticktext == ("all &lt;i&gt;",)
    assert first.marker.symbol != second.marker.symbol
    beside = [(label.x, label.y, label.text) for label in figure.layout.annotations]
    assert beside == [(0.7, first.y[0], "0.500"), (0.2, second.y[0], "0.200")], "at the ends of the intervals"
    many = pd.concat([rows.assign(name=f"row {i}") for i in range(MOST_LABELED)])
    assert not dots(many, styles([A, B], scheme), scheme, axis="").layout.annotations


@SCHEMES
def test_the_scatter_marks_the_chosen_pair_and_draws_the_fit_in_order(scheme: Scheme) -> None:
    x, y, fit = np.array([0.9, 0.1]), np.array([4.0, 1.0]), np.array([3.0, 2.0])
    look = styles([A], scheme)[A]
    points, line, ring = figures.against_gold(x, y, fit, [7, 9], 9, look, scheme).data
    assert points.customdata.tolist() == [[7, -1], [9, 1]]
    assert (line.x.tolist(), line.y.tolist()) == ([0.1, 0.9], [2.0, 3.0])
    assert (ring.x, ring.y) == ((0.1,), (1.0,))
    assert len(figures.against_gold(x, y, fit, [7, 9], 8, look, scheme).data) == 2


@SCHEMES
def test_bands(scheme: Scheme) -> None:
    rows = pd.DataFrame([{"variant": A, "name": "[5,3]", "value": 0.3, "low": 0.2, "high": 0.4}])
    (line,) = figures.band_lines(rows, styles([A], scheme), scheme, kind="spearman").data
    assert (line.x, line.y) == (("[5,3]",), (0.3,))
    box = {"variant": A, "name": "[5,3]", "q5": 0.1, "q25": 0.2, "q50": 0.3, "q75": 0.4, "q95": 0.5}
    (drawn,) = figures.band_boxes(pd.DataFrame([box]), styles([A], scheme), scheme).data
    assert (drawn.lowerfence, drawn.median, drawn.upperfence) == ((0.1,), (0.3,), (0.5,))
