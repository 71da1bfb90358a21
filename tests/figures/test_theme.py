"""How variants look: stable, told apart, and made for the background they stand on."""

from __future__ import annotations

import colorsys
import itertools
import json

import numpy as np
import plotly.graph_objects as go
import pytest
from plotly.subplots import make_subplots

from core.figures.theme import Scheme, dress, ink, log_axis, palette_size, styles
from core.types import Variant

VARIANTS = [Variant(f"encoder-{i}", transform) for i in range(30) for transform in ("none", "center")]
PAGE = {Scheme.LIGHT: (1.0, 1.0, 1.0), Scheme.DARK: (0.055, 0.067, 0.09)}  # about what lies behind a figure


def luminance(colour: tuple[float, float, float]) -> float:
    """Relative luminance after WCAG 2."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a: tuple[float, float, float], b: tuple[float, float, float]) -> float:
    high, low = sorted([luminance(a), luminance(b)], reverse=True)
    return (high + 0.05) / (low + 0.05)


def rgb(colour: str) -> tuple[float, float, float]:
    assert colour.startswith("#")
    red, green, blue = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    return red, green, blue


@pytest.mark.parametrize("scheme", Scheme)
def test_a_variant_keeps_its_look_when_others_come_after_it(scheme: Scheme) -> None:
    everything = styles(VARIANTS, scheme)
    assert list(everything) == VARIANTS
    for count in range(len(VARIANTS)):
        fewer = styles(VARIANTS[:count], scheme)
        assert fewer == {variant: everything[variant] for variant in VARIANTS[:count]}


@pytest.mark.parametrize("scheme", Scheme)
def test_no_two_variants_look_the_same(scheme: Scheme) -> None:
    looks = list(styles(VARIANTS, scheme).values())
    assert len({(look.colour, look.symbol, look.dash) for look in looks}) == len(VARIANTS)
    assert len({(look.colour, look.symbol) for look in looks}) == len(VARIANTS)  # marks have no dash
    first = looks[:7]
    assert len({look.colour for look in first}) == 7
    assert len({look.symbol for look in first}) == 7


@pytest.mark.parametrize("scheme", Scheme)
def test_any_two_that_are_shown_have_two_colours(scheme: Scheme) -> None:
    alone = styles(VARIANTS, scheme)
    for first, second in itertools.combinations(VARIANTS, 2):
        both = styles(VARIANTS, scheme, [second, first])
        assert both[first] == alone[first], "who came first keeps its colour"
        assert both[first].colour != both[second].colour
        assert (both[second].symbol, both[second].dash) == (alone[second].symbol, alone[second].dash)
        if alone[first].colour != alone[second].colour:
            assert both == alone


@pytest.mark.parametrize("count", [3, 7, palette_size(), palette_size() + 1, 25, len(VARIANTS)])
def test_the_palette_is_used_up_before_a_colour_comes_again(count: int) -> None:
    rng = np.random.default_rng(18)
    alone = styles(VARIANTS, Scheme.LIGHT)
    for _ in range(40):
        shown = [VARIANTS[i] for i in rng.choice(len(VARIANTS), count, replace=False)]
        looks = styles(VARIANTS, Scheme.LIGHT, shown)
        assert len({looks[v].colour for v in shown}) == min(count, palette_size())
        assert len({(looks[v].colour, looks[v].symbol) for v in shown}) == count, "the symbol tells the rest apart"
        assert {v: look for v, look in looks.items() if v not in shown} == {
            v: look for v, look in alone.items() if v not in shown
        }
        assert looks == styles(VARIANTS, Scheme.LIGHT, shown[::-1]), "the order in which they are shown is no matter"


def test_light_and_dark_differ_in_colour_only() -> None:
    light, dark = styles(VARIANTS, Scheme.LIGHT), styles(VARIANTS, Scheme.DARK)
    for variant in VARIANTS:
        assert light[variant].colour != dark[variant].colour
        assert light[variant].symbol == dark[variant].symbol
        assert light[variant].dash == dark[variant].dash
    assert ink(Scheme.LIGHT) != ink(Scheme.DARK)


@pytest.mark.parametrize("scheme", Scheme)
def test_every_colour_stands_out_from_the_page_and_from_the_others(scheme: Scheme) -> None:
    colours = list(dict.fromkeys(look.colour for look in styles(VARIANTS, scheme).values()))
    for colour in colours:
        assert contrast(rgb(colour), PAGE[scheme]) >= 2.4, colour
    assert contrast(rgb(ink(scheme)), PAGE[scheme]) >= 7
    for one, other in itertools.combinations(colours, 2):
        distance = sum((a - b) ** 2 for a, b in zip(rgb(one), rgb(other), strict=True)) ** 0.5
        hue = abs(colorsys.rgb_to_hsv(*rgb(one))[0] - colorsys.rgb_to_hsv(*rgb(other))[0])
        assert distance > 0.15 or min(hue, 1 - hue) > 0.08, (one, other)


@pytest.mark.parametrize("scheme", Scheme)
def test_dress_lays_out_any_figure(scheme: Scheme) -> None:
    figure = dress(go.Figure(go.Scatter(x=[1], y=[2])), scheme, height=123)
    assert figure.layout.height == 123
    assert figure.layout.font.color == ink(scheme)
    assert figure.layout.paper_bgcolor == figure.layout.plot_bgcolor == "rgba(0,0,0,0)"
    assert figure.layout.hoverlabel.namelength == -1  # long names are not cut off


def test_ticks_of_a_logarithmic_axis_are_written_out() -> None:
    narrow = log_axis([170_000.0, float("nan"), 900_000.0, 0.0])
    assert narrow["ticktext"] == ["100k", "200k", "500k", "1M", "2M", "5M"]
    assert narrow["tickvals"][:2] == [100_000.0, 200_000.0]
    assert log_axis([0.5, 3e6])["ticktext"] == ["0.1", "1", "10", "100", "1k", "10k", "100k", "1M", "10M"]
    assert {"600", "700", "800"} < set(log_axis([580.0, 790.0])["ticktext"])
    assert "1" in log_axis([])["ticktext"]


def dressed_slowly(figure: go.Figure, scheme: Scheme, height: int, variants: int) -> go.Figure:
    """``dress`` by plotly's own update, which merges nested properties path by path."""
    bare = dress(go.Figure(), scheme, height=height, variants=variants).to_plotly_json()["layout"]
    axis = {name: bare["xaxis"][name] for name in ("automargin", "gridcolor", "zeroline")}
    common = {name: value for name, value in bare.items() if name not in {"xaxis", "yaxis", "template"}}
    return figure.update_layout(common).update_xaxes(axis).update_yaxes(axis)


@pytest.mark.parametrize("scheme", Scheme)
@pytest.mark.parametrize("variants", [1, 9])
def test_dressing_keeps_what_a_figure_had(scheme: Scheme, variants: int) -> None:
    def figure() -> go.Figure:
        made = make_subplots(rows=1, cols=2)
        made.add_bar(x=[1, 2], y=[3, 4], row=1, col=1).add_scatter(x=[1, 2], y=[3, 4], row=1, col=2)
        made.update_layout(
            title="kept",
            legend={"title": {"text": "kept"}, "y": 0.3},
            margin={"pad": 5, "l": 99},
            font={"family": "kept"},
            xaxis={"title": "kept", "gridcolor": "red"},
        )
        return made

    dressed = dress(figure(), scheme, height=321, variants=variants)
    assert json.loads(dressed.to_json()) == json.loads(dressed_slowly(figure(), scheme, 321, variants).to_json())
    assert dressed.layout.legend.title.text == dressed.layout.font.family == dressed.layout.title.text == "kept"
    assert (dressed.layout.margin.pad, dressed.layout.margin.l, dressed.layout.height) == (5, 8, 321)
