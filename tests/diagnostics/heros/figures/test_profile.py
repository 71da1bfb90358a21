"""HEROS's figures show the numbers that they are given."""

from __future__ import annotations

import json

import numpy as np
import plotly.graph_objects as go
import pytest

from core.diagnostics.heros.figures.profile import label, profile
from core.figures.theme import Scheme
from core.types import Variant

ONE, OTHER = Variant("a", "none"), Variant("b", "center")


def checked(figure: go.Figure) -> go.Figure:
    """The figure, once plotly has read it back from the JSON that a browser gets."""
    go.Figure(json.loads(figure.to_json(validate=True)))
    return figure


@pytest.mark.parametrize("scheme", Scheme)
def test_the_profile_prints_every_value(scheme: Scheme) -> None:
    values = {ONE: {"synonym": 0.95, "random_mlm": 0.9}, OTHER: {"synonym": 0.5, "random_mlm": -0.1}}
    heat = checked(profile(values, scheme)).data[0]
    assert list(heat.x) == ["synonym", "random word"]
    assert list(heat.y) == ["a", "b + center"]
    np.testing.assert_array_equal(heat.z, [[0.95, 0.9], [0.5, -0.1]])
    assert [list(row) for row in heat.text] == [["0.950", "0.900"], ["0.500", "-0.100"]]


def test_the_profile_prints_intervals_where_there_are_some() -> None:
    values = {ONE: {"synonym": 0.95, "typo": -0.1}, OTHER: {"synonym": 0.5, "typo": 0.2}}
    plain = profile(values, Scheme.LIGHT)
    figure = checked(profile(values, Scheme.LIGHT, {ONE: {"synonym": (0.9312, 0.9601), "typo": (-0.2, 0.02)}}))
    text = [list(row) for row in figure.data[0].text]
    assert text[0][0] == "0.950<br><span style='font-size:10px'>0.931 –<br>0.960</span>"
    assert text[0][1] == "-0.100<br><span style='font-size:10px'>-0.200 –<br>0.020</span>"
    assert text[1] == ["0.500", "0.200"]
    hover = [list(row) for row in figure.data[0].hovertext]
    assert hover == [["0.9500 (95%: 0.9312 to 0.9601)", "-0.1000 (95%: -0.2000 to 0.0200)"], ["0.5000", "0.2000"]]
    assert figure.layout.height > plain.layout.height, "three lines need more room than one"


def test_a_chain_of_transforms_stands_on_a_line_of_its_own() -> None:
    long = Variant("minilm", "center+whiten:128")
    figure = checked(profile({long: {"synonym": 0.5}, ONE: {"synonym": 0.4}}, Scheme.LIGHT))
    assert list(figure.layout.yaxis.tickvals) == list(figure.data[0].y) == ["minilm + center+whiten:128", "a"]
    assert list(figure.layout.yaxis.ticktext) == ["minilm<br>+ center+whiten:128", "a"]


def test_names() -> None:
    assert label("negation_antonym") == "negation of the word"
    assert label("my_own") == "my own"
