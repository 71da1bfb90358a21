"""Numbers in hovers: written by our one writer, so that page, table and hover have the same digits."""

from __future__ import annotations

import re

import numpy as np

from blindspot.figures.grids import place_lines
from blindspot.figures.theme import Scheme, looks
from blindspot.numerics.statistics.written import each_written
from blindspot.settings import ROOT
from tests.support import sources

# ``%{y:.3f}`` and the like, also in an f-string; ``%{x:,}`` of a whole number has no digits to round.
BY_BROWSER = re.compile(r"%\{\{?[\w.\[\]]+:[^}]*[.~fge%{][^}]*\}")
CLOUDS = {"diagnostics/similarity/figures.py", "diagnostics/frequency/figures/norms.py"}


def test_the_browser_rounds_no_number_but_of_clouds_of_dots() -> None:
    root = ROOT / "core" / "blindspot"
    rounded = {path for path in sources.product() if BY_BROWSER.search(sources.text(path))}
    assert {path.relative_to(root).as_posix() for path in rounded} == CLOUDS
    for spec in ("%{y:.3f}", "%{{x:.1%}}", "%{customdata[0]:+.2f}", "%{x:,.4~g}", "%{z:.0f}", "%{{x:{SCORE}}}"):
        assert BY_BROWSER.search(spec), spec
    for spec in ("%{x:,}", "%{text}", "%{customdata[0]}", "%{{x}}: "):
        assert not BY_BROWSER.search(spec), spec


def test_numbers_of_hovers_are_those_of_the_page() -> None:
    assert each_written([0.0005, -0.25, np.nan]) == ["0.001", "−0.250", "–"]
    assert each_written([0.455, 0.545], ".0%") == ["46%", "54%"], "halves go to the middle, as in sentences"
    style = looks(1, Scheme.LIGHT)[0]
    figure = place_lines(
        np.array([[1.5, np.nan]]), np.array([[0.12345, np.nan]]), ["a"], ["x", "y"], {"a": style}, Scheme.LIGHT
    )
    assert figure.data[0].customdata[0] == "x: place 1.5, 0.123"
