"""The report's figure: a mark per model and dataset, at its score."""

from __future__ import annotations

import json

import pandas as pd
import plotly.graph_objects as go
import pytest

from blindspot.figures.theme import Scheme, styles
from blindspot.studies.report.figures import score_dots
from blindspot.variants import Variant

A, B, C = Variant("a", "none"), Variant("a", "center"), Variant("b", "none")
DATASETS = ["demo-pairs", "evalrank-sent"]
AXIS = "MRR, raw ranks"
SCORES = pd.DataFrame(
    [
        {"variant": B, "dataset": "demo-pairs", "score": 0.71},
        {"variant": A, "dataset": "demo-pairs", "score": 0.69},
        {"variant": A, "dataset": "evalrank-sent", "score": 0.33},
        {"variant": C, "dataset": "evalrank-sent", "score": 1.0},
    ]
)


@pytest.mark.parametrize("scheme", Scheme)
def test_every_score_is_a_named_mark_in_its_row(scheme: Scheme) -> None:
    looks = styles([A, B, C], scheme)
    figure = score_dots(SCORES, DATASETS, AXIS, looks, scheme)
    go.Figure(json.loads(figure.to_json(validate=True)))  # plotly reads it back
    assert sum(len(trace.x) for trace in figure.data) == len(SCORES)
    drawn = {(trace.name, dataset): mrr for trace in figure.data for mrr, dataset in zip(trace.x, trace.y, strict=True)}
    assert drawn == {(row.variant.label, row.dataset): row.score for row in SCORES.itertuples()}
    by_label = {variant.label: looks[variant] for variant in looks}
    for trace in figure.data:
        assert trace.marker.color == by_label[trace.name].color
        assert trace.marker.symbol == by_label[trace.name].symbol
    low, high = figure.layout.xaxis.range
    assert 0 <= low < 0.33
    assert high > 1.0


def test_the_first_dataset_is_on_top_and_every_row_has_room() -> None:
    looks = styles([A, B, C], Scheme.LIGHT)
    figure = score_dots(SCORES, DATASETS, AXIS, looks, Scheme.LIGHT)
    assert list(figure.layout.yaxis.categoryarray) == DATASETS[::-1]  # plotly counts from below
    assert figure.layout.showlegend is True
    taller = score_dots(SCORES, [*DATASETS, "another"], AXIS, looks, Scheme.LIGHT)
    assert taller.layout.height > figure.layout.height


def test_light_and_dark_differ_in_looks_only() -> None:
    light, dark = (score_dots(SCORES, DATASETS, AXIS, styles([A, B, C], scheme), scheme) for scheme in Scheme)
    assert light.layout.font.color != dark.layout.font.color
    for one, other in zip(light.data, dark.data, strict=True):
        assert one.marker.color != other.marker.color
        assert (one.name, list(one.x), list(one.y)) == (other.name, list(other.x), list(other.y))


def test_the_axis_of_what_is_not_at_most_one_ends_behind_the_marks() -> None:
    scores = SCORES.assign(score=[-0.2, 0.1, 1.4, 2.0])
    looks = styles([A, B, C], Scheme.LIGHT)
    figure = score_dots(scores, DATASETS, "distance", looks, Scheme.LIGHT, is_at_most_one=False)
    low, high = figure.layout.xaxis.range
    assert low < -0.2
    assert 2.0 < high < 3.0
    alone = score_dots(scores[:1], DATASETS, "distance", looks, Scheme.LIGHT, is_at_most_one=False)
    low, high = alone.layout.xaxis.range
    assert low < -0.2 < high
