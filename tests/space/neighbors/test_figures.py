"""The figures of the page Neighbors."""

from __future__ import annotations

import math

import numpy as np
import pytest

from blindspot.figures.html_tables import ranks_table
from blindspot.figures.theme import Scheme
from blindspot.space.neighbors.figures import encoder_matrix, overlap_boxes


@pytest.mark.parametrize("scheme", Scheme)
def test_boxes_are_quantiles_and_the_query_is_marked(scheme: Scheme) -> None:
    values = {"1 · 2": np.linspace(0, 1, 101), "1 · 3": np.zeros(7)}
    figure = overlap_boxes(values, {"1 · 2": 0.25}, "Jaccard", scheme)
    first, second, query = figure.data
    ends = (first.lowerfence, first.q1, first.median, first.q3, first.upperfence)
    np.testing.assert_allclose(np.ravel(ends), [0.05, 0.25, 0.5, 0.75, 0.95])
    assert first.mean == pytest.approx((0.5,))
    assert second.median == (0.0,)
    assert (query.x, query.y) == ((0.25,), ("1 · 2",))
    assert len(overlap_boxes(values, {}, "Jaccard", scheme).data) == 2


@pytest.mark.parametrize("scheme", Scheme)
def test_a_matrix_writes_its_numbers_and_a_dash_for_what_is_undefined(scheme: Scheme) -> None:
    figure = encoder_matrix(np.array([[1.0, math.nan], [0.456, 1.0]]), ["1", "2"], scheme, "CKA")
    (heat,) = figure.data
    assert heat.text[1][0] == "0.46"
    assert heat.z[0][1] is None
    (dash,) = figure.layout.annotations
    assert (dash.text, dash.x, dash.y) == ("–", 1, 0)


def test_texts_are_escaped() -> None:
    table = ranks_table({"1 · <b>": ["<script>", "&"]}, [1, 5], Scheme.LIGHT, '"ranks"')
    assert "<script>" not in table
    assert "&lt;script&gt;" in table
    assert "1 · &lt;b&gt;" in table
