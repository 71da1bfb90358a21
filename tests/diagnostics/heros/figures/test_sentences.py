"""Figures of HEROS's sentences: what is drawn is what is given, and users' texts are text."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from blindspot.diagnostics.heros.figures.sentences import RewriteRow, rewrite_dots, rewrites_table
from blindspot.figures.theme import Scheme, styles
from blindspot.texts import word_changes
from blindspot.variants import Variant

ONE, TWO = Variant("dir:/a/<b>x", "none"), Variant("y", "center")
BOLD = "<b>no</b> & <script>alert(1)</script>"


@pytest.mark.parametrize("scheme", Scheme)
def test_a_rewrite_is_written_with_its_changes_marked_and_escaped(scheme: Scheme) -> None:
    rows = [
        RewriteRow("negation_main", word_changes(f"He is {BOLD}", f"He is not {BOLD}"), [0.5, math.nan]),
        RewriteRow("<i mine", word_changes("It is big.", "It is huge."), [0.25, -0.1], "same as <u>typo"),
    ]
    html = rewrites_table(rows, ["A", "<A>"], scheme, "Rewrites of '3\"")
    assert "&lt;b&gt;no&lt;/b&gt; &amp; &lt;script&gt;" in html
    assert "negated clause" in html
    assert "&lt;i mine" in html
    assert "(same as &lt;u&gt;typo)" in html
    for raw in ("<script", "<b>", "<i mine", "<u>", "<A>", "'3\""):
        assert raw not in html, raw
    assert html.count("<ins") == 2
    assert html.count("<del") == 1
    assert ">huge</ins>" in html
    assert ">big</del>" in html
    assert "text-decoration:underline" in html  # not by color alone
    assert "text-decoration:line-through" in html
    assert all(f">{number}</td>" in html for number in ("0.500", "–", "0.250", "−0.100"))


@pytest.mark.parametrize("scheme", Scheme)
def test_every_similarity_is_a_dot_and_the_first_variant_orders_the_rows(scheme: Scheme) -> None:
    subsets = ["synonym", "a<br b", "typo"]
    frame = pd.DataFrame({str(ONE): [0.2, 0.9, math.nan], str(TWO): [0.5, 0.4, 0.3]}, index=subsets)
    texts = {"synonym": BOLD, "a<br b": "long " * 40, "typo": "x"}
    look = styles([ONE, TWO], scheme)
    figure = rewrite_dots(frame, texts, [ONE, TWO], look, scheme)
    order = ["a<br b", "synonym", "typo"]  # what the first variant lacks comes last
    assert list(figure.layout.yaxis.ticktext) == ["a&lt;br b", "synonym", "typo"]
    for trace, variant in zip(figure.data, (ONE, TWO), strict=True):
        assert [None if math.isnan(x) else x for x in trace.x] == [
            None if math.isnan(frame.loc[s, str(variant)]) else frame.loc[s, str(variant)] for s in order
        ]
        assert (trace.marker.color, trace.marker.symbol) == (look[variant].color, look[variant].symbol)
        assert [round(y) for y in trace.y] == [0, 1, 2], "a dot stays in the row of its rewrite"
        assert "&lt;b&gt;no&lt;/b&gt;" in trace.customdata[1]
        assert "<script" not in trace.customdata[1]
        assert trace.customdata[0].count("<br>") > 3, "a long text is wrapped"
    assert [trace.name for trace in figure.data] == ["_b_x", "y + center"]
    assert len(figure.layout.shapes) == 2
    assert figure.layout.yaxis.range == (2.5, -0.5)
