"""EvalRank's figures show the numbers that they are given, name every variant, and stay small."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blindspot.diagnostics.evalrank import published as reference
from blindspot.diagnostics.evalrank.figures import pairs, what_if
from blindspot.diagnostics.evalrank.figures.choices import choices_table, difference
from blindspot.diagnostics.evalrank.figures.scores import (
    PANELS,
    ROOMY,
    SCORES,
    SHOWN,
    Dot,
    difference_forest,
    published_dots,
    rank_curve,
    score_dots,
)
from blindspot.diagnostics.evalrank.figures.what_if import BINS, bin_counts, change_bars
from blindspot.diagnostics.evalrank.pairs import MeanScore
from blindspot.diagnostics.evalrank.trust import Choice
from blindspot.figures.groups import group_lines
from blindspot.figures.theme import Scheme, ink, styles
from blindspot.numerics.statistics.compare import PairedTest
from blindspot.numerics.statistics.estimate import Measured
from blindspot.numerics.statistics.intervals import Interval
from blindspot.variants import Variant
from tests.support.tables import each

MOST_POINTS = 25_000
VARIANTS = [Variant(f"encoder-{i}", transform) for i in range(4) for transform in ("none", "center")]
LOOKS = styles(VARIANTS, Scheme.LIGHT)


def checked(figure: go.Figure) -> go.Figure:
    """The figure, after plotly has read back its JSON, which checks every property and value."""
    again = go.Figure(json.loads(figure.to_json(validate=True)))
    assert len(again.data) == len(figure.data)
    assert 0 < sum(len(trace.x) for trace in figure.data) <= MOST_POINTS
    return figure


# --- scores per variant

CEILING = {"mrr": 0.97, "hits@1": 0.91, "hits@3": 0.99, "hits@10": 1.0}


def scores(variants: list[Variant]) -> dict[Variant, dict[str, Measured]]:
    """Without intervals, but for the first one's Hits@1."""
    rng = np.random.default_rng(3)
    found = {v: {name: Measured(float(rng.random()), None) for name in SCORES} for v in variants}
    first = found[variants[0]]
    value = first["hits@1"].value
    first["hits@1"] = Measured(value, Interval(value - 0.1, value + 0.05))
    return found


@pytest.mark.parametrize("scheme", Scheme)
def test_every_value_is_next_to_its_dot(scheme: Scheme) -> None:
    many = [Variant(f"encoder-{i}", "none") for i in range(ROOMY + 2)]
    seen = set()
    for variants in (VARIANTS[:1], VARIANTS[:2], VARIANTS, many):
        made, looks = scores(variants), styles(variants, scheme)
        given = {name: [own[name].value for own in made.values()] for name in SCORES}
        ends = (given["hits@1"][0] - 0.1, given["hits@1"][0] + 0.05)
        figure = checked(score_dots(made, CEILING, looks, scheme))
        assert not figure.layout.showlegend
        for axis, (name, title) in enumerate(SHOWN.items(), 1):
            at = "x" if axis == 1 else f"x{axis}"
            dots, values, *ceiling = (trace for trace in figure.data if trace.xaxis == at)
            assert (dots.name, values.name) == (title, title)
            drawn = [*given[name], *(ends if name == "hits@1" else ())]
            is_near = CEILING[name] - max(drawn) <= 2 * max(max(drawn) - min(drawn), 0.02)
            assert [(line.name, *line.x) for line in ceiling] == [
                ("ceiling of raw ranks", *[CEILING[name]] * 2)
            ] * is_near
            drawn += [CEILING[name]] * is_near
            seen.add(is_near)
            assert [label for label, _ in dots.customdata] == [variant.label for variant in variants]
            assert list(dots.x) == given[name]
            assert list(dots.marker.color) == [looks[variant].color for variant in variants]
            assert list(dots.marker.symbol) == [looks[variant].symbol for variant in variants]
            assert list(dots.y) == list(values.y) == list(range(len(variants))), "each value in its dot's row"
            assert list(values.text) == [f"{value:.3f}" for value in given[name]]
            assert values.textfont.color == ink(scheme)
            low, high = figure.layout[f"xaxis{'' if axis == 1 else axis}"].range
            if len(variants) <= ROOMY:
                assert (list(values.x), values.textposition) == (list(dots.x), "top center")
            else:
                ended = [ends[1] if (name, row) == ("hits@1", 0) else value for row, value in enumerate(given[name])]
                assert all(end < value for end, value in zip(ended, values.x, strict=True)), "behind dot and interval"
            assert low < min(drawn)
            assert high > max([*values.x, *drawn])
            ticks = figure.layout[f"xaxis{'' if axis == 1 else axis}"].tickvals
            assert 2 <= len(ticks) <= 5
            assert low <= ticks[0] < ticks[-1] <= 1
        with_ends = next(trace for trace in figure.data if trace.name == SHOWN["hits@1"] and trace.mode == "markers")
        np.testing.assert_allclose([with_ends.error_x.arrayminus[0], with_ends.error_x.array[0]], [0.1, 0.05])
        assert {*with_ends.error_x.array[1:], *with_ends.error_x.arrayminus[1:]} <= {None}, "no interval"
        assert with_ends.customdata[0][1].endswith(f" [{ends[0]:.3f}, {ends[1]:.3f}]")
        assert figure.data[0].error_x.array is None, "MRR has no interval here"
        assert (figure.layout.height - 80) / len(variants) >= 15, "room for a line of text"
    assert seen == {True, False}, "a ceiling that is near is drawn, one that is far would squeeze the scores"


def test_equal_scores_have_an_axis_and_no_ceiling_is_no_line() -> None:
    given = {v: {"mrr": Measured(0.5, None), "hits@1": Measured(0.0, None)} for v in VARIANTS[:2]}
    figure = checked(score_dots(given, None, LOOKS, Scheme.LIGHT))
    assert [trace.mode for trace in figure.data] == ["markers", "markers+text"] * len(SHOWN)
    for axis in figure.select_xaxes():
        assert axis.range[1] > axis.range[0]
        assert len(axis.tickvals) > 1


@each("background", [1, 2, 60, 24_957])
def test_the_curve_is_the_share_of_ranks_up_to_k(background: int) -> None:
    rng = np.random.default_rng(5)
    ranks = {v: rng.integers(1, background + 1, 300) + 0.0 for v in VARIANTS[:3]}
    ranks[VARIANTS[0]][: 300 // 2] += 0.5 if background > 2 else 0.0  # tied pairs have halves
    ranks[VARIANTS[0]] = np.minimum(ranks[VARIANTS[0]], background)
    given = ranks | {VARIANTS[1]: np.concatenate([ranks[VARIANTS[1]], [np.nan, np.nan]])}  # two that it did not rank
    looks = styles(VARIANTS, Scheme.DARK)
    figure = checked(rank_curve(given, background, looks, Scheme.DARK))
    assert [line.name for line in figure.data] == [variant.label for variant in ranks]
    assert figure.layout.xaxis.type == "log"
    bottom, top = figure.layout.yaxis.range
    for line, (variant, values) in zip(figure.data, ranks.items(), strict=True):
        for k, share in zip(line.x, line.y, strict=True):
            assert share == np.count_nonzero(values <= k) / len(values)
        assert line.x[0] == 1
        assert line.x[-1] == max(background, 2)
        assert list(line.x) == sorted(set(line.x))
        assert line.y[-1] == 1.0  # every match is somewhere
        assert (line.line.color, line.line.dash) == (looks[variant].color, looks[variant].dash)
        assert line.line.shape == "hv"  # a step: the share changes at whole ranks
        assert bottom <= min(line.y)
        assert top >= 1.0


def test_the_curve_stays_small() -> None:
    rng = np.random.default_rng(6)
    many = [Variant(f"encoder-{i}", "none") for i in range(30)]
    ranks = {variant: rng.integers(1, 1_000_000, 50_000) + 0.0 for variant in many}
    figure = checked(rank_curve(ranks, 1_000_000, styles(many, Scheme.LIGHT), Scheme.LIGHT))
    assert len(figure.data) == 30


# --- A against B


@pytest.mark.parametrize("scheme", Scheme)
def test_the_forest_has_every_difference_with_its_interval(scheme: Scheme) -> None:
    variants, baseline = VARIANTS[:3], VARIANTS[3]
    tests = {
        v: [
            PairedTest(score, score.upper(), True, (0, 1), d, 0.0, 9, "pairs", "", Interval(d - 0.01, d + 0.03), 0.5)
            for score, d in (("mrr", 0.1 * i), ("hits@1_filtered", 0.1 * i - 0.02))
        ]
        for i, v in enumerate(variants)
    }
    looks = styles(VARIANTS, scheme)
    figure = checked(difference_forest(tests, baseline, looks, scheme))
    assert [trace.name for trace in figure.data] == [v.label for v in variants]
    places = []
    for variant, trace in zip(variants, figure.data, strict=True):
        assert list(trace.x) == [test.value for test in tests[variant]]
        assert list(trace.error_x.array) == pytest.approx([0.03, 0.03])
        assert list(trace.error_x.arrayminus) == pytest.approx([0.01, 0.01])
        assert [round(y) for y in trace.y] == [0, 1], "next to its score"
        assert (trace.marker.color, trace.marker.symbol) == (looks[variant].color, looks[variant].symbol)
        places += list(trace.y)
    assert len(set(places)) == len(places), "a row each"
    assert list(figure.layout.yaxis.ticktext) == ["MRR", "HITS@1_FILTERED"], "titles, not ids"
    assert baseline.label in figure.layout.xaxis.title.text


# --- pairs

A, B = VARIANTS[:2]


def ranks_of(a: np.ndarray, b: np.ndarray, numbers: np.ndarray, chosen: np.ndarray | None = None) -> go.Figure:
    areas = [] if chosen is None else [(1.0, 1.0, 2.0, 9.0)]
    return checked(pairs.rank_scatter((a, b), numbers, (A, B), areas, chosen, LOOKS, Scheme.LIGHT))


def test_every_pair_is_a_point_at_its_ranks_and_those_without_a_rank_are_left_out() -> None:
    a, b = np.array([1.0, 2.5, 7.0, np.nan, 1.0]), np.array([3.0, 2.5, 1.0, 4.0, 9.0])
    diagonal, *groups = ranks_of(a, b, np.array([10, 11, 12, 13, 14])).data
    assert list(diagonal.x) == list(diagonal.y)
    assert [t.name for t in groups] == ["same rank: 1", f"{A.label} better: 2", f"{B.label} better: 1"]
    dots = {int(n): (x, y) for t in groups for n, x, y in zip(t.customdata, t.x, t.y, strict=True)}
    assert dots == {10: (1.0, 3.0), 11: (2.5, 2.5), 12: (7.0, 1.0), 14: (1.0, 9.0)}
    assert all(trace.selectedpoints is None for trace in groups)


@pytest.mark.parametrize(("n", "kind"), [(pairs.MOST_WITHOUT_WEBGL, "scatter"), (5_000, "scattergl")])
def test_only_many_pairs_are_drawn_by_webgl(n: int, kind: str) -> None:
    a, b = np.random.default_rng(0).integers(1, 50, (2, n)).astype(np.float64)
    _, *groups = ranks_of(a, b, np.arange(n)).data
    assert {trace.type for trace in groups} == {kind}
    assert sorted(number for trace in groups for number in trace.customdata) == list(range(n))


def test_chosen_pairs_are_highlighted_and_their_area_is_outlined() -> None:
    a, b = np.array([1.0, 2.0, 1.0, np.nan, 1.0]), np.array([3.0, 2.0, 90.0, 4.0, 9.0])
    figure = ranks_of(a, b, np.arange(5), np.array([True, False, False, False, True]))
    assert {int(t.customdata[i]) for t in figure.data[1:] for i in t.selectedpoints} == {0, 4}
    (shape,) = figure.layout.shapes
    assert shape.x0 < 1 < shape.x1
    assert shape.y0 < 2 < 9 < shape.y1


@pytest.mark.parametrize("number", [6_989, 200_000])
def test_the_scatter_of_pairs_stays_small(number: int) -> None:
    rng = np.random.default_rng(0)
    a, b = rng.geometric(0.01, number).astype(float), rng.geometric(0.01, number).astype(float)
    figure = ranks_of(a, b, np.arange(number), a > 3)
    assert sum(len(trace.x) for trace in figure.data) <= number + 2
    assert len(figure.to_json()) < 1_000_000
    assert all(trace.hovertemplate is None or "customdata" in trace.hovertemplate for trace in figure.data)


# --- kinds of pair

KINDS = pd.DataFrame(
    {
        "side": ["query", "query", "match"],
        "label": ["rare", "frequent", "rare"],
        "pairs": [3, 40, 1],
        "mrr": [0.25, 0.5, 0.125],
        "mrr_low": [0.125, 0.375, np.nan],
        "mrr_high": [0.5, 0.75, np.nan],
    }
)


def kinds(rows: dict[Variant, pd.DataFrame], *, joined: bool = True, scheme: Scheme = Scheme.LIGHT) -> go.Figure:
    axis = {"query": "of the query", "match": "of the match"}
    return checked(group_lines(rows, axis, "mrr", "MRR", "pairs", styles(VARIANTS, scheme), scheme, joined=joined))


def test_each_side_has_a_panel_and_each_variant_one_name_in_the_legend() -> None:
    figure = kinds({A: KINDS, B: KINDS})
    assert [t.name for t in figure.data] == [A.label, B.label] * 3
    assert [t.showlegend for t in figure.data] == [False] * 4 + [None] * 2
    assert figure.data[4].marker.symbol == "circle", "full, though the first point is hollow"
    assert list(figure.data[0].y) == [0.25, 0.5]
    assert list(figure.data[2].y) == [0.125]
    assert list(figure.data[0].x) == [-0.125, 0.875], "the variants are on both sides of their kind"
    assert list(figure.data[1].x) == [0.125, 1.125]
    assert list(figure.layout.xaxis.tickvals) == [0, 1]
    assert list(figure.layout.xaxis.ticktext) == ["rare<br>3", "frequent<br>40"]
    assert figure.layout.xaxis.title.text == "of the query"
    assert figure.layout.xaxis2.title.text == "of the match"
    different = kinds({A: KINDS, B: KINDS.assign(pairs=[2, 2, 1])})
    assert list(different.layout.xaxis.ticktext) == ["rare", "frequent"], "no number of pairs in common"


def test_intervals_are_drawn_and_few_pairs_are_hollow() -> None:
    figure = kinds({A: KINDS})
    bars = figure.data[0].error_y
    assert list(bars.array) == [0.25, 0.25]
    assert list(bars.arrayminus) == [0.125, 0.125]
    assert list(figure.data[0].marker.symbol) == ["circle-open", "circle"]
    assert figure.data[0].customdata[0][1] == "95% CI 0.125 to 0.500, 3 pairs, which are few"
    assert figure.data[1].customdata[0][1] == "no interval can be given, 1 pairs, which are few"
    assert {t.mode for t in figure.data} == {"lines+markers"}
    assert {t.mode for t in kinds({A: KINDS}, joined=False).data} == {"markers"}


# --- choices of counting


def test_choices_have_their_numbers_and_texts_are_escaped() -> None:
    rows = [
        Choice("as shown", "raw", MeanScore(0.5, 0.25, 1234), "The <b>score</b>.", is_shown=True),
        Choice("ties", "optimistic", MeanScore(0.625, 0.2, 1234), "All & sundry."),
    ]
    html = choices_table(rows, Scheme.LIGHT, 'a "label"')
    escaped = ("&lt;b&gt;score", "All &amp; sundry", "a &quot;label")
    for part in (*escaped, ">0.500<", ">+0.125<", ">−0.050<", ">1,234<"):
        assert part in html
    assert html.count("<tr style") == 1, "the shown row alone is tinted"
    assert choices_table(rows, Scheme.DARK, "x") != html


@each(("value", "shown"), [(-0.0001, "0.000"), (0.0, "0.000"), (-0.1, "−0.100")])
def test_a_difference_has_a_sign_unless_it_is_zero(value: float, shown: str) -> None:
    assert difference(value) == shown


# --- published scores

MEASURED = [
    Dot(v.label, {"mrr": mrr, "hits@1": mrr - 0.2, "hits@3": mrr + 0.1}, v)
    for v, mrr in zip(VARIANTS[:2], (0.7, 0.62), strict=True)
]
PUBLISHED = [Dot(row.model, row.scores) for row in reference.published_for("evalrank-sent")]


@pytest.mark.parametrize("scheme", Scheme)
def test_published_marks_are_hollow_and_measured_ones_filled(scheme: Scheme) -> None:
    looks = styles(VARIANTS, scheme)
    figure = checked(published_dots([*PUBLISHED, *MEASURED], looks, scheme))
    names = figure.layout.yaxis.ticktext
    assert len(names) == len(PUBLISHED) + len(MEASURED)
    assert list(names[-2:]) == ["SimCSE · published", MEASURED[0].label], "the best is on top"
    by_name = {f"{dot.label} · published": dot for dot in PUBLISHED} | {dot.label: dot for dot in MEASURED}
    seen = []
    for trace, panel in zip(figure.data, [name for name in PANELS for _ in range(2)], strict=True):
        for x, y, text in zip(trace.x, trace.y, trace.text, strict=True):
            assert names[y] == text
            assert x == by_name[text].scores[panel]
            seen.append((text, panel))
        if trace.name == "published":
            assert trace.marker.symbol == "circle-open"
            assert all(text.endswith("published") for text in trace.text)
        else:
            assert list(trace.marker.color) == [looks[v].color for v in (VARIANTS[1], VARIANTS[0])]
    assert sorted(seen) == sorted((name, panel) for name in by_name for panel in PANELS)
    dashes = {(shape.y0, shape.line.dash) for shape in figure.layout.shapes}
    assert dashes == {(y, "dash" if "published" in name else "solid") for y, name in enumerate(names)}
    assert {trace.name for trace in published_dots(PUBLISHED, {}, scheme).data} == {"published"}


# --- what if

BEFORE = np.array([1.0, 1.0, 5.0, 2.5, 100.0, 7.0])
AFTER = np.array([1.0, 3.0, 2.0, 2.5, 1.0, 9.5])
NUMBERS = np.array([4, 8, 15, 16, 23, 42])


@pytest.mark.parametrize("scheme", Scheme)
def test_every_pair_is_once_on_its_side_of_the_diagonal(scheme: Scheme) -> None:
    figure = checked(what_if.rank_scatter(BEFORE, AFTER, NUMBERS, 24_957, scheme))
    points = {
        int(number): (trace.name, x, y)
        for trace in figure.data
        for number, x, y in zip(trace.customdata, trace.x, trace.y, strict=True)
    }
    names = ["stays: 2", "moves down: 2", "moves up: 2", "stays: 2", "moves up: 2", "moves down: 2"]
    assert points == {int(n): point for n, point in zip(NUMBERS, zip(names, BEFORE, AFTER, strict=True), strict=True)}
    assert len({trace.marker.symbol for trace in figure.data}) == 3, "not by color alone"
    assert figure.layout.xaxis.type == figure.layout.yaxis.type == "log"
    assert tuple(figure.layout.xaxis.range) == tuple(figure.layout.yaxis.range)


def test_bars_count_by_how_far() -> None:
    factors = np.array([1.0, 1 / 20, 0.1, 0.2, 1 / 3, 0.9, 1.1, 3.0, 3.1, 10.0, 11.0, 500.0])
    assert bin_counts(factors) == [1, 2, 2, 2, 2, 2]
    figure = checked(change_bars(factors, Scheme.LIGHT))
    (bar,) = figure.data
    assert list(bar.y) == [1, 2, 2, 2, 2, 2]
    assert [text.split(": ")[1] for text in bar.hovertext] == ["1 pair, 8.3%", *["2 pairs, 16.7%"] * 5]
    assert [tick.endswith("down") for tick in figure.layout.xaxis.ticktext] == [True] * 3 + [False] * 3


@given(st.lists(st.tuples(st.integers(1, 1000), st.integers(1, 1000)), max_size=50))
def test_every_match_that_moves_is_in_one_bar(ranks: list[tuple[int, int]]) -> None:
    before = np.array([b for b, _ in ranks], dtype=np.float64)
    after = np.array([a for _, a in ranks], dtype=np.float64)
    counts = bin_counts(before / after)
    assert len(counts) == len(BINS)
    assert sum(counts[:3]) == np.count_nonzero(after > before)
    assert sum(counts[3:]) == np.count_nonzero(after < before)


def test_nothing_that_moves_is_drawn_too() -> None:
    same = np.ones(3)
    assert list(change_bars(same, Scheme.DARK).data[0].y) == [0] * len(BINS)
    (trace,) = what_if.rank_scatter(same, same, np.arange(3), 3, Scheme.DARK).data
    assert trace.name == "stays: 3"


# --- all


def test_light_and_dark_figures_differ_in_looks_only_and_nothing_given_changes() -> None:
    given, ranks = scores(VARIANTS[:2]), {A: np.array([3.0, 1.0, 9.5])}
    before = ranks[A].copy()
    for drawn in (
        lambda scheme: score_dots(given, CEILING, styles(VARIANTS, scheme), scheme),
        lambda scheme: rank_curve(ranks, 60, styles(VARIANTS, scheme), scheme),
        lambda scheme: kinds({A: KINDS}, scheme=scheme),
    ):
        light, dark = drawn(Scheme.LIGHT), drawn(Scheme.DARK)
        assert light.layout.font.color != dark.layout.font.color
        for one, other in zip(light.data, dark.data, strict=True):
            assert (list(one.x), list(one.y), one.name) == (list(other.x), list(other.y), other.name)
    assert np.array_equal(ranks[A], before)
