"""Intervals and paired tests, against scipy's and statsmodels'."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, false_discovery_control, hypergeom
from statsmodels.stats.contingency_tables import mcnemar as statsmodels_mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

from blindspot.numerics.statistics.intervals import (
    benjamini_hochberg,
    holm,
    hypergeometric_cdf,
    mcnemar,
    percentile_interval,
    wilson_interval,
)
from tests.support.tables import each

# --- the Wilson interval


@given(st.integers(1, 2_000), st.data())
def test_the_wilson_interval_is_scipys_and_statsmodels(n: int, data: st.DataObject) -> None:
    k = data.draw(st.integers(0, n))
    interval = wilson_interval(k / n, n)
    expected = binomtest(k, n).proportion_ci(0.95, method="wilson")
    assert interval.low == pytest.approx(expected.low, abs=1e-12)
    assert interval.high == pytest.approx(expected.high, abs=1e-12)
    assert (interval.low, interval.high) == pytest.approx(proportion_confint(k, n, method="wilson"), abs=1e-12)


@each("n", range(1, 60))
def test_the_share_is_never_outside(n: int) -> None:
    """Of 0 out of 7 the lower end came out as 3e-17."""
    assert wilson_interval(0.0, n).low == 0.0
    assert wilson_interval(1.0, n).high == 1.0


def test_half_successes_lie_between_whole_ones() -> None:
    low, between, high = (wilson_interval(k / 10, 10) for k in (4, 4.5, 5))
    assert low.low < between.low < high.low
    assert low.high < between.high < high.high


# --- the bootstrap


def test_the_middle_95_percent() -> None:
    interval = percentile_interval(np.arange(1001.0)[::-1], 500.0)
    assert (interval.low, interval.high) == pytest.approx((25.0, 975.0))
    assert percentile_interval(np.arange(1001.0), 500.0, level=0.9).low == pytest.approx(50.0)
    assert percentile_interval(np.arange(1001.0), 5.0).low == 5.0  # what was resampled is inside


# --- McNemar's test


def outcomes(text: str) -> np.ndarray:
    """One outcome per letter: y is 1, n is 0, - a tie."""
    return np.array([{"y": 1.0, "n": 0.0, "-": 0.5}[letter] for letter in text])


@given(st.integers(0, 40), st.integers(0, 40), st.integers(0, 40), st.integers(0, 40))
def test_mcnemar_is_statsmodels(both: int, first: int, second: int, neither: int) -> None:
    one = np.repeat([1.0, 1.0, 0.0, 0.0], [both, first, second, neither])
    other = np.repeat([1.0, 0.0, 1.0, 0.0], [both, first, second, neither])
    expected = statsmodels_mcnemar([[both, first], [second, neither]], exact=True)
    found = mcnemar(one, other)
    assert found == (pytest.approx(expected.pvalue, rel=1e-9) if first + second else 1.0)
    assert mcnemar(other, one) == pytest.approx(found)


@given(st.integers(1, 3_000), st.data())
def test_hits_among_those_drawn_are_scipys(total: int, data: st.DataObject) -> None:
    hits, drawn = (data.draw(st.integers(0, total)) for _ in range(2))
    most = data.draw(st.integers(-1, drawn))
    found = hypergeometric_cdf(*(np.array([n]) for n in (most, total, hits, drawn)))
    assert found == pytest.approx(hypergeom.cdf([most], total, hits, drawn), rel=1e-9, abs=1e-300)


def test_hits_among_those_drawn_by_hand() -> None:
    """Of four items two are hits; both drawn are none in 1 of 6 ways, at most one in 5 of 6."""
    of = np.array([0, 1, 2])
    found = hypergeometric_cdf(of, *(np.full(3, n) for n in (4, 2, 2)))
    assert found == pytest.approx([1 / 6, 5 / 6, 1.0])


def test_mcnemar_by_hand() -> None:
    """Five discordant items, all for the first: 2 * (1/2)^5. Four to one: 2 * (1 + 5) / 2^5."""
    assert mcnemar(outcomes("yyyyyyn"), outcomes("nnnnnyn")) == 0.0625
    assert mcnemar(outcomes("yyyyn"), outcomes("nnnny")) == 0.375


def test_a_tie_lies_between_and_counts_as_one_item() -> None:
    """As half a point it speaks for the same side as a whole one; two ties are alike."""
    assert mcnemar(outcomes("y-y-n"), outcomes("-n-y-")) == 1.0
    assert mcnemar(outcomes("yyyyy--"), outcomes("nn---n-")) == 2 / 2**6


def test_what_never_differs_is_no_evidence() -> None:
    assert mcnemar(outcomes("yn-"), outcomes("yn-")) == 1.0
    assert mcnemar(outcomes(""), outcomes("")) == 1.0


@each("other", [[1.0], [1.0, np.nan], [1.0, 0.3]])
def test_what_is_no_pair_of_outcomes_is_refused(other: list[float]) -> None:
    with pytest.raises(ValueError, match="outcomes must come in pairs"):
        mcnemar(np.array([1.0, 0.0]), np.array(other))


# --- Holm's correction


@each("p_values", [[0.04], [0.01, 0.04, 0.03, 0.005], [0.02, 0.02, 1.0, 0.0, 0.3, 0.02]])
def test_holm_is_statsmodels(p_values: list[float]) -> None:
    """On few cases: statsmodels collects garbage at every call."""
    np.testing.assert_allclose(holm(np.array(p_values)), multipletests(p_values, method="holm")[1], rtol=1e-12)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_is_what_its_definition_says(p_values: list[float]) -> None:
    """The k-th smallest times (m - k + 1), but not below a smaller one's, and at most 1; equal ones get the same."""
    m, ordered = len(p_values), sorted(p_values)
    for p, corrected in zip(p_values, holm(np.array(p_values)), strict=True):
        steps = [(m - k) * q for k, q in enumerate(ordered) if q <= p]
        assert corrected == pytest.approx(min(1.0, max(steps)))


def test_holm_by_hand() -> None:
    """3 * 0.01; 2 * 0.02 = 0.04; then 0.03, which may not come below the one before it."""
    np.testing.assert_allclose(holm(np.array([0.03, 0.01, 0.02])), [0.04, 0.03, 0.04])
    np.testing.assert_allclose(holm(np.array([0.8, 0.6])), [1.0, 1.0])
    assert holm(np.array([])).shape == (0,)


@given(st.lists(st.floats(0, 1), max_size=12))
def test_benjamini_and_hochberg_step_up(p_values: list[float]) -> None:
    """By the definition: at alpha, all up to the largest k with p(k) at most alpha k / m are discoveries."""
    p = np.array(p_values)
    adjusted = benjamini_hochberg(p)
    if p_values:
        np.testing.assert_allclose(adjusted, false_discovery_control(p))
    for alpha in (0.05, 0.3):
        passing = [k for k in range(1, len(p) + 1) if sorted(p_values)[k - 1] <= alpha * k / len(p)]
        limit = sorted(p_values)[max(passing) - 1] if passing else -1.0
        near = np.isclose(adjusted, alpha)  # the two may round apart
        assert ((adjusted <= alpha) == (p <= limit))[~near].all()


def test_benjamini_and_hochberg_by_hand() -> None:
    np.testing.assert_allclose(benjamini_hochberg(np.array([0.03, 0.01, 0.5])), [0.045, 0.03, 0.5])
    assert benjamini_hochberg(np.array([])).shape == (0,)
