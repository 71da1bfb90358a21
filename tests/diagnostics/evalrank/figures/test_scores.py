"""EvalRank's figures show the numbers that they are given, name every variant, and stay small."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest

from core.diagnostics.evalrank.figures.scores import SCORES, rank_curve, score_bars
from core.figures.theme import MANY_VARIANTS, Scheme, ink, styles, text_on
from core.types import Variant

MOST_POINTS = 25_000
VARIANTS = [Variant(f"encoder-{i}", transform) for i in range(4) for transform in ("none", "center")]
CEILING = {"mrr": 0.97, "hits@1": 0.91, "hits@3": 0.99, "hits@10": 1.0}


def scores(variants: list[Variant]) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    return pd.DataFrame([{"variant": v} | {name: float(rng.random()) for name in SCORES} for v in variants])


def checked(figure: go.Figure) -> go.Figure:
    """The figure, once plotly has read it back from the JSON that a browser gets."""
    document = json.loads(figure.to_json(validate=True))
    again = go.Figure(document)  # checks every property and value
    assert len(again.data) == len(figure.data)
    points = sum(len(trace.x) for trace in figure.data)
    assert 0 < points <= MOST_POINTS
    return figure


@pytest.mark.parametrize("scheme", Scheme)
@pytest.mark.parametrize("count", [1, MANY_VARIANTS - 1])
def test_bars_are_the_scores(scheme: Scheme, count: int) -> None:
    variants = VARIANTS[:count]
    given = scores(variants)
    looks = styles(VARIANTS, scheme)
    figure = checked(score_bars(given, None, looks, scheme))
    assert [bar.name for bar in figure.data] == [variant.label for variant in variants]
    for bar, variant, (_, row) in zip(figure.data, variants, given.iterrows(), strict=True):
        assert bar.type == "bar"
        assert list(bar.x) == ["MRR", "Hits@1", "Hits@3", "Hits@10"]
        assert list(bar.y) == [row[name] for name in SCORES]
        assert list(bar.text) == [f"{row[name]:.4f}" for name in SCORES]
        assert bar.marker.color == looks[variant].colour
        assert bar.textangle == -90
        assert bar.insidetextfont.color == text_on(bar.marker.color)
    assert figure.layout.barmode == "group"
    low, high = figure.layout.yaxis.range
    assert low == 0
    assert high >= 1
    assert not figure.layout.shapes


@pytest.mark.parametrize("scheme", Scheme)
@pytest.mark.parametrize("count", [MANY_VARIANTS, len(VARIANTS)])
def test_of_many_variants_every_value_stands_beside_its_bar(scheme: Scheme, count: int) -> None:
    variants = VARIANTS[:count]
    given = scores(variants)
    intervals = {variants[0]: {"mrr": (given["mrr"][0] - 0.1, given["mrr"][0] + 0.05)}}
    looks = styles(VARIANTS, scheme)
    figure = checked(score_bars(given, CEILING, looks, scheme, intervals))
    assert not figure.layout.showlegend
    blocks = {trace.xaxis: trace for trace in figure.data if trace.type == "scatter" and trace.mode == "text"}
    assert [trace.name for trace in blocks.values()] == list(SCORES.values())
    for (axis, values), name in zip(blocks.items(), SCORES, strict=True):
        bars = [trace for trace in figure.data if trace.type == "bar" and trace.xaxis == axis]
        assert [bar.name for bar in bars] == [variant.label for variant in variants]
        assert [bar.x[0] for bar in bars] == given[name].tolist()
        assert [bar.marker.color for bar in bars] == [looks[variant].colour for variant in variants]
        assert [bar.y[0] for bar in bars] == list(values.y), "each value in its bar's row"
        assert list(values.text) == [f"{value:.4f}" for value in given[name]]
        assert min(values.x) > 1.0, "behind the longest bar and the end of any interval"
        assert (values.textfont.color, values.textfont.size) == (ink(scheme), 11)
        (line,) = (trace for trace in figure.data if trace.xaxis == axis and trace.name.startswith("ceiling"))
        assert list(line.x) == [CEILING[name]] * 2
    first = figure.data[0]
    np.testing.assert_allclose([first.error_x.arrayminus[0], first.error_x.array[0]], [0.1, 0.05])
    for axis in figure.select_yaxes():
        rows = axis.range[0] - axis.range[1]
        domain = axis.domain[1] - axis.domain[0]
        assert rows == count
        assert (figure.layout.height - 100) * domain / rows >= 15, "room for a line of text"


def test_the_ceiling_is_drawn_where_it_is() -> None:
    figure = checked(score_bars(scores(VARIANTS[:2]), CEILING, styles(VARIANTS, Scheme.LIGHT), Scheme.LIGHT))
    *bars, mark = figure.data
    assert len(bars) == 2
    assert "ceiling" in mark.name
    assert dict(zip(mark.x, mark.y, strict=True)) == {SCORES[name]: value for name, value in CEILING.items()}
    assert [(line.y0, line.y1) for line in figure.layout.shapes] == [(CEILING[name],) * 2 for name in SCORES]
    for place, line in enumerate(figure.layout.shapes):  # each over its own group of bars
        assert place - 0.5 < line.x0 < place < line.x1 < place + 0.5


@pytest.mark.parametrize("background", [1, 2, 60, 24_957])
def test_the_curve_is_the_share_of_ranks_up_to_k(background: int) -> None:
    rng = np.random.default_rng(5)
    ranks = {v: rng.integers(1, background + 1, 300) + 0.0 for v in VARIANTS[:3]}
    ranks[VARIANTS[0]][: 300 // 2] += 0.5 if background > 2 else 0.0  # tied pairs have halves
    ranks[VARIANTS[0]] = np.minimum(ranks[VARIANTS[0]], background)
    looks = styles(VARIANTS, Scheme.DARK)
    figure = checked(rank_curve(ranks, background, looks, Scheme.DARK))
    assert [line.name for line in figure.data] == [variant.label for variant in ranks]
    assert figure.layout.xaxis.type == "log"
    bottom, top = figure.layout.yaxis.range
    for line, (variant, values) in zip(figure.data, ranks.items(), strict=True):
        for k, share in zip(line.x, line.y, strict=True):
            assert share == np.count_nonzero(values <= k) / len(values)
        assert line.x[0] == 1
        assert line.x[-1] == max(background, 2)
        assert list(line.x) == sorted(set(line.x))
        assert line.y[-1] == 1.0  # every mate is somewhere
        assert (line.line.color, line.line.dash) == (looks[variant].colour, looks[variant].dash)
        assert line.line.shape == "hv"  # a step: the share changes at whole ranks
        assert bottom <= min(line.y)
        assert top >= 1.0


def test_the_curve_stays_small_whatever_it_is_given() -> None:
    rng = np.random.default_rng(6)
    many = [Variant(f"encoder-{i}", "none") for i in range(30)]
    ranks = {variant: rng.integers(1, 1_000_000, 50_000) + 0.0 for variant in many}
    figure = checked(rank_curve(ranks, 1_000_000, styles(many, Scheme.LIGHT), Scheme.LIGHT))
    assert len(figure.data) == 30


def test_light_and_dark_figures_differ_in_looks_only() -> None:
    given = scores(VARIANTS[:2])
    ranks = {VARIANTS[0]: np.array([1.0, 2.0, 9.5])}
    for drawn in (
        lambda scheme: score_bars(given, CEILING, styles(VARIANTS, scheme), scheme),
        lambda scheme: rank_curve(ranks, 60, styles(VARIANTS, scheme), scheme),
    ):
        light, dark = drawn(Scheme.LIGHT), drawn(Scheme.DARK)
        assert light.layout.font.color != dark.layout.font.color
        assert light.to_dict() != dark.to_dict()
        for one, other in zip(light.data, dark.data, strict=True):
            assert list(one.x) == list(other.x)
            assert list(one.y) == list(other.y)
            assert one.name == other.name


def test_drawing_changes_nothing_that_it_is_given() -> None:
    given, ranks = scores(VARIANTS[:2]), {VARIANTS[0]: np.array([3.0, 1.0, 2.0])}
    before, ranks_before = given.copy(), ranks[VARIANTS[0]].copy()
    score_bars(given, CEILING, styles(VARIANTS, Scheme.LIGHT), Scheme.LIGHT)
    rank_curve(ranks, 10, styles(VARIANTS, Scheme.LIGHT), Scheme.LIGHT)
    pd.testing.assert_frame_equal(given, before)
    assert np.array_equal(ranks[VARIANTS[0]], ranks_before)


def test_pairs_that_were_not_ranked_are_no_part_of_the_curve() -> None:
    variant = Variant("a", "none")
    ranks = np.array([1.0, np.nan, 3.0, np.nan])
    figure = rank_curve({variant: ranks}, 10, styles([variant], Scheme.LIGHT), Scheme.LIGHT)
    assert figure.data[0].y[0] == 0.5
    assert figure.data[0].y[-1] == 1.0
