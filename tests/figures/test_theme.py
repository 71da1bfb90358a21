"""How variants look: stable, told apart, and made for the background they stand on."""

from __future__ import annotations

import colorsys
import itertools
import json
import tomllib
from collections.abc import Callable

import numpy as np
import plotly.graph_objects as go
import pytest
from plotly.subplots import make_subplots

from blindspot.diagnostics.heros.figures import orderings as heros_orderings
from blindspot.diagnostics.heros.figures import profile as heros
from blindspot.diagnostics.transfer import figures as transfer
from blindspot.diagnostics.words import figures as words
from blindspot.figures import grids as lab
from blindspot.figures.theme import (
    DIVERGING,
    SEQUENTIAL,
    Scale,
    Scheme,
    apply_layout,
    faint,
    ink,
    log_axis,
    palette_size,
    shade,
    styles,
    text_on,
    written_ticks,
)
from blindspot.settings import ROOT
from blindspot.space.neighbors import figures as neighbors
from blindspot.variants import Variant
from tests.support.tables import each

VARIANTS = [Variant(f"encoder-{i}", transform) for i in range(30) for transform in ("none", "center")]
READABLE = 4.5  # WCAG 2, of text
CAPTION_OPACITY = 0.6  # Streamlit's, of the page's text
PAGE = {Scheme.LIGHT: (1.0, 1.0, 1.0), Scheme.DARK: (0.055, 0.067, 0.09)}  # about what lies behind a figure


def luminance(color: tuple[float, float, float]) -> float:
    """Relative luminance after WCAG 2."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in color]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a: tuple[float, float, float], b: tuple[float, float, float]) -> float:
    high, low = sorted([luminance(a), luminance(b)], reverse=True)
    return (high + 0.05) / (low + 0.05)


def rgb(color: str) -> tuple[float, float, float]:
    assert color.startswith("#")
    red, green, blue = (int(color[i : i + 2], 16) / 255 for i in (1, 3, 5))
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
    assert len({(look.color, look.symbol, look.dash) for look in looks}) == len(VARIANTS)
    assert len({(look.color, look.symbol) for look in looks}) == len(VARIANTS)  # marks have no dash
    first = looks[:7]
    assert len({look.color for look in first}) == 7
    assert len({look.symbol for look in first}) == 7


@pytest.mark.parametrize("scheme", Scheme)
def test_any_two_that_are_shown_have_two_colors(scheme: Scheme) -> None:
    alone = styles(VARIANTS, scheme)
    for first, second in itertools.combinations(VARIANTS, 2):
        both = styles(VARIANTS, scheme, [second, first])
        assert both[first] == alone[first], "who came first keeps its color"
        assert both[first].color != both[second].color
        assert (both[second].symbol, both[second].dash) == (alone[second].symbol, alone[second].dash)
        if alone[first].color != alone[second].color:
            assert both == alone


@pytest.mark.parametrize("count", [3, 7, palette_size(), palette_size() + 1, 25, len(VARIANTS)])
def test_the_palette_is_used_up_before_a_color_comes_again(count: int) -> None:
    rng = np.random.default_rng(18)
    alone = styles(VARIANTS, Scheme.LIGHT)
    for _ in range(40):
        shown = [VARIANTS[i] for i in rng.choice(len(VARIANTS), count, replace=False)]
        looks = styles(VARIANTS, Scheme.LIGHT, shown)
        assert len({looks[v].color for v in shown}) == min(count, palette_size())
        assert len({(looks[v].color, looks[v].symbol) for v in shown}) == count, "the symbol tells the rest apart"
        assert {v: look for v, look in looks.items() if v not in shown} == {
            v: look for v, look in alone.items() if v not in shown
        }
        assert looks == styles(VARIANTS, Scheme.LIGHT, shown[::-1]), "the order in which they are shown is no matter"


@pytest.mark.parametrize("scheme", Scheme)
def test_baselines_are_gray_and_take_no_color_from_models(scheme: Scheme) -> None:
    baselines = VARIANTS[1:9:3]
    models = [variant for variant in VARIANTS if variant not in baselines]
    looks = styles(VARIANTS, scheme, VARIANTS[:9], baselines)
    assert list(looks) == VARIANTS
    (gray,) = {looks[one].color for one in baselines}
    assert gray not in {looks[one].color for one in models}
    assert max(rgb(gray)) - min(rgb(gray)) < 0.1
    assert contrast(rgb(gray), PAGE[scheme]) >= READABLE
    assert len({(looks[one].symbol, looks[one].dash) for one in baselines}) == len(baselines)
    assert {one: looks[one] for one in models} == dict(styles(models, scheme, VARIANTS[:9]))


def test_light_and_dark_differ_in_color_only() -> None:
    light, dark = styles(VARIANTS, Scheme.LIGHT), styles(VARIANTS, Scheme.DARK)
    for variant in VARIANTS:
        assert light[variant].color != dark[variant].color
        assert light[variant].symbol == dark[variant].symbol
        assert light[variant].dash == dark[variant].dash
    assert ink(Scheme.LIGHT) != ink(Scheme.DARK)


@pytest.mark.parametrize("scheme", Scheme)
def test_every_color_stands_out_from_the_page_and_from_the_others(scheme: Scheme) -> None:
    colors = list(dict.fromkeys(look.color for look in styles(VARIANTS, scheme).values()))
    for color in colors:
        assert contrast(rgb(color), PAGE[scheme]) >= 2.4, color
    assert contrast(rgb(ink(scheme)), PAGE[scheme]) >= 7
    for one, other in itertools.combinations(colors, 2):
        distance = sum((a - b) ** 2 for a, b in zip(rgb(one), rgb(other), strict=True)) ** 0.5
        hue = abs(colorsys.rgb_to_hsv(*rgb(one))[0] - colorsys.rgb_to_hsv(*rgb(other))[0])
        assert distance > 0.15 or min(hue, 1 - hue) > 0.08, (one, other)


def page_colors(scheme: Scheme) -> dict[str, str]:
    with (ROOT / ".streamlit" / "config.toml").open("rb") as file:
        found: dict[str, str] = tomllib.load(file)["theme"][scheme.value]
    return found


def mixed(color: str, share: float, ground: str) -> tuple[float, float, float]:
    """A color that lets the ground through."""
    red, green, blue = (share * c + (1 - share) * g for c, g in zip(rgb(color), rgb(ground), strict=True))
    return red, green, blue


@pytest.mark.parametrize("scheme", Scheme)
def test_text_of_the_page_can_be_read(scheme: Scheme) -> None:
    page = page_colors(scheme)
    for ground in (page["backgroundColor"], page["secondaryBackgroundColor"]):
        assert contrast(rgb(page["textColor"]), rgb(ground)) >= 7
        assert contrast(mixed(page["textColor"], CAPTION_OPACITY, ground), rgb(ground)) >= READABLE, "captions"
        assert contrast(mixed(page["codeTextColor"], CAPTION_OPACITY, ground), rgb(ground)) >= READABLE, "in captions"
        assert contrast(rgb(page["primaryColor"]), rgb(ground)) >= READABLE, "of a chosen button"
        for color in (ink(scheme), faint(scheme)):
            assert contrast(rgb(color), rgb(ground)) >= READABLE


@pytest.mark.parametrize("scheme", Scheme)
def test_the_white_of_buttons_can_be_read(scheme: Scheme) -> None:
    assert contrast(rgb("#FFFFFF"), rgb(page_colors(scheme)["primaryColor"])) >= 3, "WCAG 2, of controls"


@pytest.mark.parametrize("scheme", Scheme)
@pytest.mark.parametrize("scale", [SEQUENTIAL, DIVERGING])
def test_ink_can_be_read_on_every_shade_of_a_scale(scale: dict[Scheme, Scale], scheme: Scheme) -> None:
    for share in np.linspace(0, 1, 201):
        assert contrast(rgb(shade(scale[scheme], share)), rgb(ink(scheme))) >= READABLE, share


def test_black_or_white_can_be_read_on_any_color() -> None:
    for channels in itertools.product((0, 64, 100, 128, 160, 200, 255), repeat=3):
        color = "#" + "".join(f"{channel:02X}" for channel in channels)
        assert contrast(rgb(color), rgb(text_on(color))) >= READABLE


def test_a_shade_lies_between_the_colors_around_it() -> None:
    scale = ((0.0, "#000000"), (0.25, "#102030"), (1.0, "#FFFFFF"))
    for share in (0.0, 0.1, 0.25, 0.4, 1.0):
        stops, colors = [stop for stop, _ in scale], [rgb(color) for _, color in scale]
        expected = [np.interp(share, stops, channel) for channel in zip(*colors, strict=True)]
        np.testing.assert_allclose(rgb(shade(scale, share)), expected, atol=0.5 / 255 + 1e-9)
    assert (shade(scale, -1.0), shade(scale, 2.0)) == ("#000000", "#FFFFFF")


CELLS = np.array([[1.0, 0.5], [0.25, 0.0]])
NAMES = ["a", "b"]
HEAT_MAPS: dict[str, Callable[[Scheme], go.Figure]] = {
    "profile": lambda scheme: heros.profile({VARIANTS[0]: {"synonym": 0.9, "typo": 0.2}}, scheme),
    "win rates": lambda scheme: heros_orderings.win_rate_matrix(CELLS, NAMES, scheme),
    "differences": lambda scheme: heros_orderings.win_rate_differences(CELLS, NAMES, scheme),
    "grid": lambda scheme: lab.score_grid(CELLS, NAMES, NAMES, 1.0, scheme),
    "agreement": lambda scheme: lab.agreement_matrix(CELLS, NAMES, scheme),
    "confusion": lambda scheme: transfer.confusion(np.array([[3, 1], [0, 4]]), NAMES, scheme),
    "clusters": lambda scheme: words.confusion(np.array([[3, 1], [0, 4]]), CELLS, NAMES, [1, 2], scheme),
    "overlap": lambda scheme: neighbors.encoder_matrix(CELLS, NAMES, scheme, "shared"),
}


@each("scheme", Scheme)
@each("name", HEAT_MAPS)
def test_the_values_of_a_heat_map_can_be_read_on_its_cells(name: str, scheme: Scheme) -> None:
    heat = next(trace for trace in HEAT_MAPS[name](scheme).data if trace.type == "heatmap")
    assert heat.texttemplate == "%{text}"
    scale = [(stop, color) for stop, color in heat.colorscale]
    for share in np.linspace(0, 1, 101):
        assert contrast(rgb(shade(scale, share)), rgb(heat.textfont.color)) >= READABLE, share


@pytest.mark.parametrize("scheme", Scheme)
def test_dress_lays_out_any_figure(scheme: Scheme) -> None:
    figure = apply_layout(go.Figure(go.Scatter(x=[1], y=[2])), scheme, height=123)
    assert figure.layout.height == 123
    assert figure.layout.font.color == ink(scheme)
    assert figure.layout.paper_bgcolor == figure.layout.plot_bgcolor == "rgba(0,0,0,0)"
    assert figure.layout.xaxis.tickfont.color == figure.layout.yaxis.title.font.color == faint(scheme)
    assert figure.layout.hoverlabel.namelength == -1  # long names are not cut off


def test_ticks_of_a_logarithmic_axis_are_written_out() -> None:
    narrow = log_axis([170_000.0, float("nan"), 900_000.0, 0.0])
    assert narrow["ticktext"] == ["100k", "200k", "500k", "1M", "2M", "5M"]
    assert narrow["tickvals"][:2] == [100_000.0, 200_000.0]
    assert log_axis([0.5, 3e6])["ticktext"] == ["0.1", "1", "10", "100", "1k", "10k", "100k", "1M", "10M"]
    assert {"600", "700", "800"} < set(log_axis([580.0, 790.0])["ticktext"])
    assert "1" in log_axis([])["ticktext"]
    assert log_axis([384, 384]) == {"type": "log", "tickvals": [384], "ticktext": ["384"]}
    assert log_axis([22_713_216.0])["ticktext"] == ["22.7M"]


def dressed_slowly(figure: go.Figure, scheme: Scheme, height: int, variants: int) -> go.Figure:
    """``apply_layout`` by plotly's own update, which merges nested properties path by path."""
    bare = apply_layout(go.Figure(), scheme, height=height, variants=variants).to_plotly_json()["layout"]
    axis = {name: bare["xaxis"][name] for name in ("automargin", "gridcolor", "tickfont", "title", "zeroline")}
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
            xaxis={"title": "kept", "gridcolor": "red", "tickfont": {"size": 9}},
        )
        return made

    dressed = apply_layout(figure(), scheme, height=321, variants=variants)
    assert json.loads(dressed.to_json()) == json.loads(dressed_slowly(figure(), scheme, 321, variants).to_json())
    assert (dressed.layout.xaxis.title.text, dressed.layout.xaxis.tickfont.size) == ("kept", 9)
    assert dressed.layout.legend.title.text == dressed.layout.font.family == dressed.layout.title.text == "kept"
    assert (dressed.layout.margin.pad, dressed.layout.margin.l, dressed.layout.height) == (5, 8, 321)


def test_ticks_too_close_to_the_one_after_them_have_no_label() -> None:
    assert written_ticks([0.0, 0.5, 0.95, 1.0], 0.1) == [True, True, False, True]
    assert written_ticks([7.0, 8.0], 0.1) == [True, True]
    assert written_ticks([3.0], 0.1) == [True]
    assert written_ticks([], 0.1) == []
