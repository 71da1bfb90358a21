"""Figures of the page Transfer: numbers where they belong, a user's names as text."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from blindspot.diagnostics.transfer import figures
from blindspot.figures import theme
from blindspot.figures.theme import Scheme
from blindspot.variants import Variant

ONE, TWO = Variant("one", "none"), Variant("two", "none")


@pytest.mark.parametrize("scheme", Scheme)
def test_a_confusion_matrix_prints_counts_and_shares(scheme: Scheme) -> None:
    counts = np.array([[3, 1, 0], [0, 0, 0], [1, 1, 2]])
    figure = figures.confusion(counts, ["<b>x</b>", "y", "z"], scheme)
    heat = figure.data[0]
    assert heat.text[0][0] == "3<br>75%"
    assert heat.text[2][1] == "1<br>25%"
    assert [heat.z[1][j] for j in range(3)] == [None] * 3  # no example of the class: no share, not 0
    assert heat.text[1][1] == ""
    assert "&lt;b&gt;x&lt;/b&gt; predicted as y: 1 of 4 (25%)" in heat.hovertext[0][1]
    assert "<b>x" not in figure.layout.yaxis.ticktext[0]
    assert len(figure.layout.shapes) == 3  # the diagonal is framed, not told by color alone


def test_many_classes_are_not_printed() -> None:
    k = figures.MOST_PRINTED + 1
    figure = figures.confusion(np.eye(k, dtype=np.int64), [str(i) for i in range(k)], Scheme.LIGHT)
    assert set(np.ravel(np.array(figure.data[0].text))) == {""}


def test_the_baseline_is_a_mark_of_its_own_within_the_axis() -> None:
    rows = pd.DataFrame(
        [
            {"variant": ONE, "name": "A <i>task</i>", "value": 0.8, "low": 0.75, "high": 0.85},
            {"variant": TWO, "name": "B", "value": 0.6, "low": float("nan"), "high": float("nan")},
        ]
    )
    figure = figures.task_dots(
        rows,
        {"A <i>task</i>": 0.5, "B": 0.2, "not shown": 0.0},
        theme.styles([ONE, TWO], Scheme.LIGHT),
        Scheme.LIGHT,
        axis="accuracy",
    )
    stroke = figure.data[-1]
    assert stroke.name == figures.BASELINE
    assert [x for x in stroke.x if x is not None] == [0.5, 0.5, 0.2, 0.2]
    assert "<i>" not in "".join(stroke.customdata)
    low, high = figure.layout.xaxis.range
    assert low < 0.2
    assert high > 0.85
