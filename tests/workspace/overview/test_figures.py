"""The Overview's figure: a row per model, at its score."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest

from blindspot.figures.theme import Scheme, styles
from blindspot.variants import Variant
from blindspot.workspace.overview.figures import score_dots

A, B, C = Variant("a", "none"), Variant("a", "center"), Variant("b", "none")
AXIS = "MRR, raw ranks"
SCORES = pd.DataFrame(
    {"variant": [B, A, C], "score": [0.71, 0.7, 0.33], "low": [0.65, 0.6, np.nan], "high": [0.75, 0.8, np.nan]}
)


@pytest.mark.parametrize("scheme", Scheme)
def test_every_model_has_a_row_of_its_own_in_its_look_best_on_top(scheme: Scheme) -> None:
    looks = styles([A, B, C], scheme)
    figure = score_dots(SCORES, AXIS, looks, scheme)
    go.Figure(json.loads(figure.to_json(validate=True)))  # plotly reads it back
    drawn = {(trace.name, trace.x[0], trace.y[0]) for trace in figure.data}
    assert drawn == {(row.variant.label, row.score, row.Index) for row in SCORES.itertuples()}
    assert list(figure.layout.yaxis.ticktext) == [variant.label for variant in SCORES["variant"]]
    top, bottom = figure.layout.yaxis.range[1], figure.layout.yaxis.range[0]
    assert top < 0 < bottom, "plotly counts from below"
    for trace, variant in zip(figure.data, SCORES["variant"], strict=True):
        assert (trace.marker.color, trace.marker.symbol) == (looks[variant].color, looks[variant].symbol)
    assert not figure.layout.showlegend, "the names are beside the marks"
    taller = score_dots(pd.concat([SCORES, SCORES]), AXIS, looks, scheme)
    assert taller.layout.height > figure.layout.height


def test_bars_reach_as_far_as_the_intervals_and_are_in_sight() -> None:
    figure = score_dots(SCORES, AXIS, styles([A, B, C], Scheme.LIGHT), Scheme.LIGHT)
    bars = [(trace.x[0] - trace.error_x.arrayminus[0], trace.x[0] + trace.error_x.array[0]) for trace in figure.data]
    assert bars == [pytest.approx(ends) for ends in ((0.65, 0.75), (0.6, 0.8), (0.33, 0.33))]
    low, high = figure.layout.xaxis.range
    assert 0 <= low < 0.33
    assert 0.8 < high <= 1.02


def test_the_axis_of_what_is_not_at_most_one_ends_behind_the_marks() -> None:
    scores = SCORES.assign(score=[-0.2, 1.4, 2.0], low=np.nan, high=np.nan)
    looks = styles([A, B, C], Scheme.LIGHT)
    low, high = score_dots(scores, "distance", looks, Scheme.LIGHT, is_at_most_one=False).layout.xaxis.range
    assert low < -0.2
    assert 2.0 < high < 3.0
    low, high = score_dots(scores[:1], "distance", looks, Scheme.LIGHT, is_at_most_one=False).layout.xaxis.range
    assert low < -0.2 < high


def test_a_name_is_no_html() -> None:
    odd = Variant("a<b>", "none")
    figure = score_dots(SCORES[:1].assign(variant=[odd]), AXIS, styles([odd], Scheme.LIGHT), Scheme.LIGHT)
    assert "<b>" not in figure.layout.yaxis.ticktext[0]
    assert "<b>" not in figure.data[0].name
