"""The figures of accuracies and corpus ranks: their numbers, and that labels are text."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from blindspot.diagnostics.frequency.corpus_ranks import Curve
from blindspot.diagnostics.frequency.figures import classes as figures
from blindspot.figures import theme
from blindspot.figures.theme import Scheme
from blindspot.variants import Variant

VARIANTS = (Variant("minilm", "none"), Variant("vectors:/a/<b>x</b>.txt", "center"))


def accuracies(shift: float) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "threshold": ["p5", "1000", "p95"],
            "count": [20.0, 1_000.0, 50_000.0],
            "accuracy": [0.7 + shift, 0.6 + shift, 0.99],
            "accuracy_sd": [0.02, 0.03, 0.04],
            "control": [0.5 + shift, 0.48, 0.52],
            "control_sd": [0.01, 0.01, 0.01],
        }
    )


def curve(shift: float) -> Curve:
    mean = np.array([900.0 + shift, 1_000.0, 1_200.0])
    return Curve(np.array([1, 5, 20]), mean, np.array([-3.0, 900.0, 1_100.0]), np.full(3, 1_900.0))


def named(figure: Any) -> dict[str, Any]:
    return {trace.name: trace for trace in figure.data if trace.name}


@pytest.mark.parametrize("scheme", list(Scheme))
def test_accuracy_is_drawn_at_its_threshold_with_a_band_and_the_mean_control(scheme: Scheme) -> None:
    styles = theme.styles(VARIANTS, scheme)
    tables = {VARIANTS[0]: accuracies(0.0), VARIANTS[1]: accuracies(0.1)}
    figure = figures.accuracy_lines(tables, "counts", styles, scheme)
    lines = named(figure)
    assert list(lines["minilm"].x) == [20.0, 1_000.0, 50_000.0]
    assert list(lines["minilm"].y) == [0.7, 0.6, 0.99]
    assert lines["minilm"].line.color == styles[VARIANTS[0]].color
    assert list(lines["shuffled labels, mean"].y) == pytest.approx([0.55, 0.48, 0.52])
    bands = [trace for trace in figure.data if trace.fill == "toself"]
    assert list(bands[0].y) == pytest.approx([0.72, 0.63, 1.0, 0.95, 0.57, 0.68])  # none above 1
    assert "<b>" not in "".join(lines)
    assert figure.layout.xaxis.type == "log"
    assert [shape.y0 for shape in figure.layout.shapes] == [0.5]


def test_of_few_items_there_is_what_guessing_gets_instead_of_bands() -> None:
    tables = {VARIANTS[0]: accuracies(0.0)}
    styles = theme.styles(VARIANTS, Scheme.LIGHT)
    figure = figures.accuracy_lines(tables, "counts", styles, Scheme.LIGHT, guessing=0.12)
    assert not [trace for trace in figure.data if trace.fill]
    assert list(named(figure)["minilm"].y) == [0.7, 0.6, 0.99]
    (range_of_guessing,) = (shape for shape in figure.layout.shapes if shape.type == "rect")
    assert [range_of_guessing.y0, range_of_guessing.y1] == pytest.approx([0.38, 0.62])
    assert figure.layout.yaxis.range[0] < 0.38


def test_one_variants_control_is_called_so() -> None:
    figure = figures.accuracy_lines(
        {VARIANTS[0]: accuracies(0.0)}, "counts", theme.styles(VARIANTS, Scheme.LIGHT), Scheme.LIGHT
    )
    assert list(named(figure)["shuffled labels"].y) == [0.5, 0.48, 0.52]


@pytest.mark.parametrize("scheme", list(Scheme))
def test_ranks_are_drawn_on_logarithmic_axes_beside_the_null(scheme: Scheme) -> None:
    styles = theme.styles(VARIANTS, scheme)
    figure = figures.rank_curves({v: curve(10.0 * i) for i, v in enumerate(VARIANTS)}, curve(5.0), styles, scheme)
    lines = named(figure)
    assert list(lines["minilm"].y) == [900.0, 1_000.0, 1_200.0]
    assert lines["random items"].y[0] == 905.0
    assert (figure.layout.xaxis.type, figure.layout.yaxis.type) == ("log", "log")
    bands = [trace for trace in figure.data if trace.fill == "toself"]
    assert len(bands) == 3
    assert min(y for band in bands for y in band.y) == 1.0  # a logarithm has no place for what is below
    assert "<b>" not in "".join(lines)
