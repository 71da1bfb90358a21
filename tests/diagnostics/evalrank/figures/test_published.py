"""The dot plot of published scores: every score where it is, published ones hollow and named so."""

from __future__ import annotations

import json

import plotly.graph_objects as go
import pytest

from core.diagnostics.evalrank import published as reference
from core.diagnostics.evalrank.figures.published import PANELS, Dot, published_dots
from core.figures.theme import Scheme, styles
from core.types import Variant

VARIANTS = [Variant("minilm", "none"), Variant("minilm", "whiten:128")]
MEASURED = [
    Dot(v.label, {"mrr": mrr, "hits@1": mrr - 0.2, "hits@3": mrr + 0.1}, v)
    for v, mrr in zip(VARIANTS, (0.7, 0.62), strict=True)
]
PUBLISHED = [Dot(row.model, row.scores) for row in reference.published_for("evalrank-sent")]


@pytest.mark.parametrize("scheme", Scheme)
def test_published_marks_are_hollow_and_measured_ones_filled(scheme: Scheme) -> None:
    looks = styles(VARIANTS, scheme)
    figure = published_dots([*PUBLISHED, *MEASURED], looks, scheme)
    go.Figure(json.loads(figure.to_json(validate=True)))
    names = figure.layout.yaxis.ticktext
    assert len(names) == len(PUBLISHED) + len(MEASURED)
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
            assert list(trace.marker.color) == [looks[v].colour for v in (VARIANTS[1], VARIANTS[0])]
    assert sorted(seen) == sorted((name, panel) for name in by_name for panel in PANELS)
    dashes = {(shape.y0, shape.line.dash) for shape in figure.layout.shapes}
    assert dashes == {(y, "dash" if "published" in name else "solid") for y, name in enumerate(names)}


def test_the_best_stands_on_top() -> None:
    figure = published_dots([*PUBLISHED, *MEASURED], styles(VARIANTS, Scheme.LIGHT), Scheme.LIGHT)
    names = list(figure.layout.yaxis.ticktext)
    assert names[-1] == "minilm"
    assert names[-2] == "SimCSE · published"


def test_published_scores_alone() -> None:
    figure = published_dots(PUBLISHED, {}, Scheme.DARK)
    assert {trace.name for trace in figure.data} == {"published"}
