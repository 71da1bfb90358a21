"""Texts of p-values."""

from __future__ import annotations

import re

import numpy as np

from blindspot.numerics.statistics.intervals import Interval, holm
from blindspot.numerics.statistics.resampling import FLIPS, sign_flip_p_values
from blindspot.numerics.statistics.written import (
    CHANGE,
    LEAST,
    NONE,
    SCORE,
    has_half,
    interval,
    number,
    p_in_cell,
    p_in_words,
    percent,
    score_written,
)
from tests.support import sources

WRITTEN = (
    (0.03, None, "p = 0.03"),
    (1.0, None, "p = 1"),
    (0.0496, None, "p = 0.0496"),  # not 0.05, which would not be significant
    (0.04996, None, "p = 0.04996"),
    (0.0504, None, "p = 0.0504"),
    (0.05, None, "p = 0.05"),
    (1e-30, None, "p ≤ 0.0001"),
    (LEAST, None, "p ≤ 0.0001"),
    (3 * LEAST, None, "p ≤ 0.0003"),
    (0.000341, None, "p ≤ 0.00035"),
    (20 * LEAST, LEAST, "p ≤ 0.002"),
    (0.002, None, "p = 0.002"),
    (28 * 0.01, 0.01, "p = 0.28"),
)


def test_a_p_value_in_words() -> None:
    for p, before, said in WRITTEN:
        assert p_in_words(p, before) == said
        assert p_in_cell(p, before) == said.removeprefix("p ").removeprefix("= ")


def test_a_number_has_a_true_minus_sign_and_no_sign_at_zero() -> None:
    given = (
        (-0.02, ".2f", "−0.02"),
        (-0.001, ".2f", "0.00"),
        (0.001, "+.2f", "0.00"),
        (0.02, "+.2f", "+0.02"),
        (-4, "", "−4"),
        (-4, ",", "−4"),
        (0.5, ".1%", "50.0%"),
        (-0.5, "+.0%", "−50 points"),
        (0.0789, "+.1%", "+7.9 points"),
        (-0.01, "+.0%", "−1 point"),
        (0.0, "+.1%", "0.0 points"),
        (-0.123, ".1%", "−12.3%"),
        (-0.0001, ".1%", "0.0%"),
        (1.5, ".1%", "150.0%"),
        (1.0625, ".3f", "1.062"),
        (-0.0625, ".3f", "−0.063"),
        (3.5, ".0f", "4"),
        (0.079, "+.0pp", "+8"),
        (-0.0125, ".1pp", "−1.3"),
        *((float("nan"), spec, NONE) for spec in (".2f", "+.3f", ".1%", "+.1%", ",")),
        (float("inf"), ".1%", "∞%"),
        (float("inf"), ".3f", "∞"),
        (float("-inf"), "+.3f", "−∞"),
        (float("inf"), "+.1%", "+∞ points"),
    )
    for value, spec, said in given:
        assert number(value, spec) == said, (value, spec)


def test_a_score_is_the_share_in_other_units() -> None:
    """Of 149 of 400 pairs a figure has 0.373 and the sentence 37.3%; 251 are 0.627."""
    for n in (400, 80, 16, 7):
        for hits in range(n + 1):
            assert f"{100 * float(number(hits / n, SCORE)):.1f}%" == percent(hits / n, 1), (hits, n)
    assert [has_half(x) for x in (0.3725, 0.0625, 0.5, 0.3724, 1.0625, -0.0125)] == [
        True,
        True,
        False,
        False,
        False,
        True,
    ]


def test_from_ten_on_a_score_has_one_decimal() -> None:
    assert [score_written(value) for value in (9.5, 10.5, -10.5, 1234.56)] == ["9.500", "10.5", "−10.5", "1,234.6"]


def test_a_difference_is_the_same_in_points_and_has_two_sides() -> None:
    """0.0125 was +0.013 and +1.2 points; A less B is B less A with the other sign."""
    by_hand = ((0.0125, "+0.013", "+1.3 points"), (0.6235, "+0.623", "+62.3 points"), (0.0375, "+0.038", "+3.8 points"))
    for value, score, points in by_hand:
        assert (number(value, CHANGE), number(value, "+.1%")) == (score, points)
    for n in (400, 80, 16, 7):
        for hits in range(1, n):
            change, turned = (number(sign * hits / n, CHANGE) for sign in (1, -1))
            points = number(hits / n, "+.1%").partition(" ")[0]
            assert f"{100 * float(change):+.1f}" == points, (hits, n)
            assert turned == change.replace("+", "−")
            assert number(-hits / n, "+.1pp") == points.replace("+", "−")
            assert number(-hits / n, SCORE) == f"−{number(hits / n, SCORE)}"
            assert percent(-hits / n, 1) == f"−{percent(hits / n, 1)}"


def test_without_a_test_there_is_a_dash() -> None:
    assert p_in_cell(None) == p_in_cell(float("nan")) == "–"


def test_the_least_p_of_flips_is_a_bound_and_stays_one_after_holm() -> None:
    """Forty units that all differ by about the same: 2 to the power of -39 in truth."""
    paired = np.random.default_rng(0).uniform(0.2, 0.21, size=(40, 20))
    p = sign_flip_p_values(paired, np.arange(40))
    assert {p_in_words(float(one)) for one in p} == {"p ≤ 0.0001"}
    corrected = holm(p)
    assert p_in_words(float(corrected.max()), float(p[0])) == "p ≤ 0.002"
    assert LEAST == 1 / (FLIPS + 1)


def test_nothing_else_writes_p() -> None:
    """No format of its own of something called p."""
    p = re.compile(r"\{[^{}:]*\b(p|p_corrected|p_value|p_holm|adjusted):[^{}:]*[efg]\}")
    assert p.search('f"{one.p:.2g}"')
    found = [f"{path}: {said[0]}" for path in sources.product() for said in p.finditer(sources.text(path))]
    assert [one for one in found if "statistics/written.py" not in one] == []


def test_nothing_else_writes_shares() -> None:
    """Not ``f"{share:.1%}"``, which rounds halves in another way than headline and figure."""
    share = re.compile(r"\bf\"[^\"\n]*(?<![%{])\{[^{}\"\n]*:[+, -]?(\.(\d+|\{[^{}\"\n]*\}))?%\}")
    assert all(share.search(text) for text in ('f"{share:.1%}"', 'f"{x:+.0%}"', 'f"{x:.{digits}%}"', 'f"{x:%}"'))
    assert not any(share.search(text) for text in ("p {width: 100%}", "%{y:.1%}", 'f"%{{y:.1%}}"'))  # CSS, plotly
    assert [str(path) for path in sources.product() if share.search(sources.text(path))] == []


def test_nothing_else_writes_differences_and_scores() -> None:
    """Not ``f"{change:+.3f}"``, which rounds halves otherwise, and has a hyphen for a minus sign."""
    score = re.compile(r"\bf\"[^\"\n]*(?<![%{])\{[^{}\"\n]*:(\+\.\d+f|\{(SCORE|CHANGE)\})\}")
    assert all(score.search(text) for text in ('f"{x:+.3f}"', 'f"{run.x[0]:{SCORE}}"', 'f"by {x:{CHANGE}}"'))
    assert not any(score.search(text) for text in ('f"%{{x:{SCORE}}}"', 'f"+{SCORE}"', 'f"{x:.1f}"'))  # plotly, a spec
    assert [str(path) for path in sources.product() if score.search(sources.text(path))] == []


def test_intervals_of_shares_have_their_unit_once() -> None:
    assert interval(Interval(0.68, 0.74), ".0%") == "68 to 74%"
    assert interval(Interval(-0.02, 0.14), "+.1%") == "−2.0 to +14.0 points"
    assert [percent(float(share)) for share in ("nan", "inf", "-inf")] == [NONE, "∞%", "−∞%"]


def test_scores_have_four_digits_only_for_a_reason() -> None:
    """Published numbers, cosines near 1, drops beside a tolerance, scores of a fusion; all others have ``SCORE``."""
    four = {path.name for path in sources.product() if re.search(r"\.4f\b", sources.text(path))}
    allowed = {"beside.py", "comparability.py", "fitting.py", "published.py", "queries.py", "vectors.py", "verdict.py"}
    assert four == allowed
