"""The figures of HEROS's orderings show the numbers that they are given."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from blindspot.diagnostics.heros.figures.orderings import (
    FEW_SUBSETS,
    ordering_rates,
    win_rate_differences,
    win_rate_matrix,
)
from blindspot.figures.theme import Scheme, styles
from blindspot.variants import Variant
from tests.support.figures import checked

ONE, OTHER = Variant("a", "none"), Variant("b", "center")
HOSTILE = "<b>bold</b> & <a href='x'>link</a>"


def test_rates_have_their_intervals() -> None:
    rows = pd.DataFrame(
        [
            {"variant": variant, "name": name, "value": rate, "low": rate - 0.1, "high": rate + 0.05}
            for variant in (ONE, OTHER)
            for name, rate in (("synonym over antonym", 0.7), (f"my own over {HOSTILE}", 0.5))
        ]
    )
    figure = checked(ordering_rates(rows, styles([ONE, OTHER], Scheme.LIGHT), Scheme.LIGHT))
    for trace in figure.data:
        assert list(trace.x) == [0.7, 0.5]
        np.testing.assert_allclose(trace.error_x.array, [0.05, 0.05])
        np.testing.assert_allclose(trace.error_x.arrayminus, [0.1, 0.1])
        assert "&lt;b&gt;bold" in trace.customdata[1][0]
        assert trace.customdata[0][1] == "70.0% (95% CI 60.0 to 75.0%)"
    assert [t.name for t in figure.data] == ["a", "b + center"]
    ticks = list(figure.layout.yaxis.ticktext)
    assert ticks[0] == "synonym over<br>antonym"
    assert "<b>" not in ticks[1]
    first, second = (np.asarray(trace.y) for trace in figure.data)
    assert (first < second).all(), "variants stand below each other"


@pytest.mark.parametrize("scheme", Scheme)
def test_the_matrix_prints_shares_and_leaves_the_diagonal_empty(scheme: Scheme) -> None:
    rates = np.array([[np.nan, 0.834], [0.166, np.nan]])
    heat = checked(win_rate_matrix(rates, ["synonym", HOSTILE], scheme)).data[0]
    assert [list(row) for row in heat.text] == [["", "83.4%"], ["16.6%", ""]]
    assert heat.z[0][0] is None
    assert heat.z[0][1] == 0.834
    assert (heat.zmin, heat.zmax) == (0.0, 1.0), "half is the middle of the scale"
    pointed = heat.hovertext[0][1]
    assert "83.4%" in pointed
    assert "&lt;b&gt;bold&lt;/b&gt; &amp; &lt;a href='x'&gt;link&lt;/a&gt;" in pointed


@pytest.mark.parametrize("subsets", [FEW_SUBSETS, 30])
def test_a_cell_and_its_mirror_add_up_to_a_hundred_as_they_are_printed(subsets: int) -> None:
    """Shares of 200 originals, ties counting half."""
    rates = np.full((subsets, subsets), np.nan)
    upper = np.triu_indices(subsets, 1)
    shares = (181 + np.arange(len(upper[0]))) % 401 / 400  # 0.4525, 0.455, 0.4575, ...
    rates[upper], rates.T[upper] = shares, 1.0 - shares
    heat = win_rate_matrix(rates, [f"s{i}" for i in range(subsets)], Scheme.LIGHT).data[0]
    for i, j in zip(*upper, strict=True):
        cell, mirror = (text.removesuffix("%") for text in (heat.text[i][j], heat.text[j][i]))
        assert Decimal(cell) + Decimal(mirror) == 100, rates[i, j]
        pointed = [text.split(": ")[1].split("%")[0] for text in (heat.hovertext[i][j], heat.hovertext[j][i])]
        assert sum(map(Decimal, pointed)) == 100, rates[i, j]


def test_differences_are_in_points_around_nought() -> None:
    lead = np.array([[np.nan, 0.236, -0.001], [-0.236, np.nan, 0.0], [0.001, 0.0, np.nan]])
    heat = checked(win_rate_differences(lead, ["a", "b", "c"], Scheme.DARK)).data[0]
    assert [list(row) for row in heat.text] == [["", "+24", "0"], ["−24", "", "0"], ["0", "0", ""]]
    assert (heat.zmin, heat.zmax) == (-0.236, 0.236)


def test_two_that_differ_in_nothing_have_a_scale_all_the_same() -> None:
    none = np.array([[np.nan, 0.0], [0.0, np.nan]])
    heat = checked(win_rate_differences(none, ["a", "b"], Scheme.LIGHT)).data[0]
    assert heat.zmin < 0 < heat.zmax


def test_twenty_subsets_are_printed_without_percent_signs() -> None:
    rates = np.full((20, 20), 0.5)
    np.fill_diagonal(rates, np.nan)
    names = ["a name of <b>many</b> words", *(f"subset {i}" for i in range(19))]
    figure = checked(win_rate_matrix(rates, names, Scheme.LIGHT))
    assert figure.data[0].text[0][1] == "50"
    assert list(figure.layout.xaxis.ticktext)[:2] == ["a name of …", "subset 0"]
    assert "a name of &lt;b&gt;many&lt;/b&gt; words closer than subset 0" in figure.data[0].hovertext[0][1]
