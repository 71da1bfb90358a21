"""The figure of kinds of pair."""

from __future__ import annotations

import numpy as np
import pandas as pd

from core.diagnostics.evalrank.figures.kinds import kind_lines
from core.figures.theme import Scheme, styles
from core.types import Variant

ONE, OTHER = Variant("a", "none"), Variant("b", "center")
ROWS = pd.DataFrame(
    {
        "side": ["query", "query", "mate"],
        "label": ["rare", "frequent", "rare"],
        "pairs": [3, 40, 1],
        "mrr": [0.25, 0.5, 0.125],
        "mrr_low": [0.125, 0.375, np.nan],
        "mrr_high": [0.5, 0.75, np.nan],
    }
)
AXIS = {"query": "of the query", "mate": "of the mate"}


def drawn(rows: dict[Variant, pd.DataFrame], joined: bool = True, scheme: Scheme = Scheme.LIGHT):  # type: ignore[no-untyped-def]
    return kind_lines(rows, AXIS, "mrr", 20, styles([ONE, OTHER], scheme), scheme, joined=joined)


def test_each_side_has_a_panel_and_each_variant_one_name_in_the_legend() -> None:
    figure = drawn({ONE: ROWS, OTHER: ROWS})
    assert [t.name for t in figure.data] == ["a", "b + center"] * 3
    assert [t.showlegend for t in figure.data] == [False] * 4 + [None] * 2
    assert figure.data[4].marker.symbol == "circle", "full, though the first point is hollow"
    assert list(figure.data[0].y) == [0.25, 0.5]
    assert list(figure.data[2].y) == [0.125]
    assert list(figure.layout.xaxis.ticktext) == ["rare<br>3", "frequent<br>40"]
    assert figure.layout.xaxis.title.text == "of the query"
    assert figure.layout.xaxis2.title.text == "of the mate"


def test_intervals_are_drawn_and_few_pairs_are_hollow() -> None:
    figure = drawn({ONE: ROWS})
    bars = figure.data[0].error_y
    assert list(bars.array) == [0.25, 0.25]
    assert list(bars.arrayminus) == [0.125, 0.125]
    assert list(figure.data[0].marker.symbol) == ["circle-open", "circle"]
    assert figure.data[0].customdata[0][1] == "95% interval 0.1250 to 0.5000, 3 pairs, which are few"
    assert figure.data[1].customdata[0][1] == "no interval can be given, 1 pairs, which are few"


def test_variants_stand_beside_each_other_around_their_kind() -> None:
    figure = drawn({ONE: ROWS, OTHER: ROWS})
    assert list(figure.data[0].x) == [-0.125, 0.875]
    assert list(figure.data[1].x) == [0.125, 1.125]
    assert list(figure.layout.xaxis.tickvals) == [0, 1]


def test_kinds_without_an_order_are_not_joined() -> None:
    assert {t.mode for t in drawn({ONE: ROWS}, joined=False).data} == {"markers"}
    assert {t.mode for t in drawn({ONE: ROWS}).data} == {"lines+markers"}


def test_variants_that_ranked_different_pairs_have_no_common_number() -> None:
    figure = drawn({ONE: ROWS, OTHER: ROWS.assign(pairs=[2, 2, 1])})
    assert list(figure.layout.xaxis.ticktext) == ["rare", "frequent"]


def test_light_and_dark_differ_in_looks_only() -> None:
    light, dark = drawn({ONE: ROWS}), drawn({ONE: ROWS}, scheme=Scheme.DARK)
    assert light.layout.font.color != dark.layout.font.color
    assert list(light.data[0].y) == list(dark.data[0].y)
