"""The forest plot shows the differences that it is given; bars show intervals."""

from __future__ import annotations

import json
import math

import pandas as pd
import plotly.graph_objects as go
import pytest

from core.diagnostics.evalrank.figures.scores import SCORES, score_bars
from core.diagnostics.evalrank.figures.versus import difference_forest
from core.figures.theme import Scheme, styles
from core.types import Variant

VARIANTS = [Variant("first", "none"), Variant("second", "center"), Variant("third", "none")]
BASELINE = Variant("base", "none")


@pytest.mark.parametrize("scheme", Scheme)
def test_the_forest_has_every_difference_with_its_interval(scheme: Scheme) -> None:
    rows = pd.DataFrame(
        [
            {"variant": v, "score": score, "difference": d, "low": d - 0.01, "high": d + 0.03, "verdict": "better"}
            for i, v in enumerate(VARIANTS)
            for j, score in enumerate(["MRR", "Hits@1"])
            if (d := 0.1 * i - 0.02 * j) is not None
        ]
    )
    looks = styles([BASELINE, *VARIANTS], scheme)
    figure = difference_forest(rows, BASELINE, looks, scheme)
    again = go.Figure(json.loads(figure.to_json(validate=True)))
    assert [trace.name for trace in again.data] == [v.label for v in VARIANTS]
    places = []
    for variant, trace in zip(VARIANTS, figure.data, strict=True):
        own = rows[rows["variant"] == variant]
        assert list(trace.x) == own["difference"].tolist()
        assert list(trace.error_x.array) == pytest.approx([0.03, 0.03])
        assert list(trace.error_x.arrayminus) == pytest.approx([0.01, 0.01])
        assert [round(y) for y in trace.y] == [0, 1], "beside its score"
        assert (trace.marker.color, trace.marker.symbol) == (looks[variant].colour, looks[variant].symbol)
        places += list(trace.y)
    assert len(set(places)) == len(places), "no two stand in one row"
    assert list(figure.layout.yaxis.ticktext) == ["MRR", "Hits@1"]
    assert "base" in figure.layout.xaxis.title.text


def test_bars_have_the_intervals_that_there_are() -> None:
    values = dict(zip(SCORES, (0.5, 0.4, 0.6, 0.7), strict=True))
    scores = pd.DataFrame([{"variant": v, **values} for v in VARIANTS[:2]])
    ends = {VARIANTS[0]: {name: (value - 0.02, value + 0.01) for name, value in values.items()}, VARIANTS[1]: {}}
    first, second = score_bars(scores, None, styles(VARIANTS, Scheme.LIGHT), Scheme.LIGHT, ends).data
    assert list(first.error_y.array) == pytest.approx([0.01] * 4)
    assert list(first.error_y.arrayminus) == pytest.approx([0.02] * 4)
    assert first.customdata[0] == " [0.4800, 0.5100]"
    assert second.error_y.array is None
    assert not any(math.isnan(y) for y in second.y)
