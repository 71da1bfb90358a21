"""The figure of votes for one's own shows the numbers that it is given."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest

from blindspot.figures.theme import Scheme, styles
from blindspot.studies.judgments.figures import own_votes
from blindspot.studies.judgments.types import Task
from blindspot.variants import Variant

ONE, OTHER = Variant("a", "none"), Variant("<i>b</i>", "center")
STYLES = styles([ONE, OTHER], Scheme.LIGHT)
NONE = float("nan")


def rows(*found: tuple[str, Variant, float, float, float, float, float]) -> pd.DataFrame:
    columns = ["row", "variant", "value", "low", "high", "chance", "automatic"]
    return pd.DataFrame(found, columns=columns).assign(votes=7)


def traces(figure: go.Figure) -> dict[str, object]:
    go.Figure(json.loads(figure.to_json(validate=True)))
    return {trace.name: trace for trace in figure.data}


@pytest.mark.parametrize("scheme", Scheme)
@pytest.mark.parametrize("task", Task)
def test_variants_have_a_row_each_with_people_filled_and_the_automatic_rater_hollow(scheme: Scheme, task: Task) -> None:
    table = rows(("a", ONE, 0.7, 0.6, 0.75, 0.25, 0.9), ("<i>b</i> + center", OTHER, 0.4, NONE, NONE, 0.25, 0.5))
    figure = own_votes(table, styles([ONE, OTHER], scheme), scheme, task, legend=False)
    found = traces(figure)
    assert list(found["a"].x) == [0.7]
    np.testing.assert_allclose([found["a"].error_x.array[0], found["a"].error_x.arrayminus[0]], [0.05, 0.1])
    other = found[OTHER.label]
    assert (list(other.y), list(other.error_x.array)) == ([1], [0.0])
    assert "nan" not in str(other.customdata)
    automatic = found["automatic rater: a"]
    assert list(automatic.x) == [0.9]
    assert automatic.marker.symbol.endswith("-open")
    assert not found["a"].marker.symbol.endswith("-open")
    assert list(found["guessing"].x) == [0.25, 0.25, None, 0.25, 0.25, None]
    labels = [(label.text, label.x) for label in figure.layout.annotations]
    assert labels == [("70.0%", 0.75), ("40.0%", 0.4)], "right of the interval, or of the mark"
    assert figure.layout.yaxis.ticktext[1] == "&lt;i&gt;b&lt;/i&gt; + center"
    assert [name for name, trace in found.items() if trace.showlegend is not False] == ["automatic rater", "guessing"]


def test_groups_have_a_row_each_with_variants_below_each_other() -> None:
    table = rows(
        ("rare", ONE, 0.7, 0.6, 0.8, 0.3, NONE),
        ("rare", OTHER, 0.5, 0.4, 0.6, 0.3, NONE),
        ("unknown", ONE, NONE, NONE, NONE, NONE, NONE),
        ("unknown", OTHER, 0.2, 0.1, 0.3, 0.5, NONE),
    )
    found = traces(own_votes(table, STYLES, Scheme.LIGHT, Task.COMPARATIVE, legend=True))
    assert "automatic rater" not in found
    assert list(found["a"].x) == [0.7], "nobody voted in the other group: no point"
    assert list(found[OTHER.label].x) == [0.5, 0.2]
    assert found["a"].y[0] < found[OTHER.label].y[0]
    assert list(found["guessing"].x) == [0.3, 0.3, None, 0.5, 0.5, None]
    assert all(trace.showlegend is not False for trace in found.values())
