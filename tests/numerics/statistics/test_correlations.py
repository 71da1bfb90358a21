"""Pearson, Spearman and Kendall: by hand, against slow loops; and how far each pair moves them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from blindspot.numerics.statistics import correlations as module
from blindspot.numerics.statistics.correlations import KINDS, centered_ranks, correlations, influences, spearman
from blindspot.numerics.statistics.pairs import FEWEST_CARRYING, Dependence, correlation, p_of_change
from blindspot.types import Float64
from tests.support.tables import each


def slow_pearson(x: Float64, y: Float64) -> float:
    mx, my = sum(x) / len(x), sum(y) / len(y)
    xy = sum((a - mx) * (b - my) for a, b in zip(x, y, strict=True))
    return float(xy / math.sqrt(sum((a - mx) ** 2 for a in x) * sum((b - my) ** 2 for b in y)))


def slow_ranks(x: Float64) -> Float64:
    """1 plus those below, plus half of the others that are equal."""
    return np.array([1 + sum(b < a for b in x) + (sum(b == a for b in x) - 1) / 2 for a in x])


def slow_kendall(x: Float64, y: Float64) -> float:
    same = other = x_free = y_free = 0
    for i in range(len(x)):
        for j in range(i):
            sign = np.sign(x[i] - x[j]) * np.sign(y[i] - y[j])
            same, other = same + (sign > 0), other + (sign < 0)
            x_free, y_free = x_free + (x[i] != x[j]), y_free + (y[i] != y[j])
    return float((same - other) / math.sqrt(x_free * y_free))


def test_by_hand() -> None:
    # Deviations of x -2 -1 0 1 2, of y -1.2 -0.2 -1.2 0.8 1.8: products 2.4 + 0.2 + 0 + 0.8 + 3.6 = 7, squares 10
    # and 6.8.
    x, y = np.array([1.0, 2, 3, 4, 5]), np.array([1.0, 2, 1, 3, 4])
    found = correlations(x, y)
    assert found.pearson == pytest.approx(7 / math.sqrt(68))
    # Ranks of y: 1.5 3 1.5 4 5, deviations -1.5 0 -1.5 1 2: products 3 + 0 + 0 + 1 + 4 = 8, squares 10 and 9.5.
    assert found.spearman == pytest.approx(8 / math.sqrt(95))
    # Of 10 pairs one is tied in y, one turned round (2 and 3), eight are in order.
    assert found.kendall == pytest.approx(7 / math.sqrt(10 * 9))
    assert found.n == 5


@each(("x", "y"), [([1.0, 1, 1], [1.0, 2, 3]), ([1.0, 2], [3.0, 3]), ([1.0], [2.0]), ([], [])])
def test_what_is_undefined_is_nan(x: list[float], y: list[float]) -> None:
    found = correlations(np.array(x), np.array(y))
    assert found.n == len(x)
    assert np.isnan([found.pearson, found.spearman, found.kendall]).all()


SMALL = st.lists(st.tuples(st.integers(-4, 4), st.integers(-4, 4)), min_size=2, max_size=15).filter(
    lambda rows: len({a for a, _ in rows}) > 1 and len({b for _, b in rows}) > 1
)


@settings(deadline=None, max_examples=40)
@given(SMALL)
def test_as_slow_loops(rows: list[tuple[int, int]]) -> None:
    x, y = np.array(rows, dtype=np.float64).T
    found = correlations(x, y)
    assert found.pearson == pytest.approx(slow_pearson(x, y), abs=1e-12)
    assert found.spearman == pytest.approx(slow_pearson(slow_ranks(x), slow_ranks(y)), abs=1e-12)
    assert found.kendall == pytest.approx(slow_kendall(x, y), abs=1e-12)
    assert spearman(x, y) == stats.spearmanr(x, y).statistic
    turned = correlations(y, x)
    assert (turned.pearson, turned.spearman, turned.kendall) == pytest.approx(
        (found.pearson, found.spearman, found.kendall), abs=1e-12
    )
    bent = correlations(np.exp(x), y)  # what keeps the order moves Pearson alone
    assert (bent.spearman, bent.kendall) == pytest.approx((found.spearman, found.kendall), abs=1e-12)


def weighted(kind: str, x: Float64, y: Float64, w: Float64) -> float:
    """A correlation where pair i counts ``w[i]`` times, by what it is defined as."""
    n = range(len(x))
    if kind == "kendall":
        both = [(w[i] * w[j], np.sign(x[i] - x[j]), np.sign(y[i] - y[j])) for i in n for j in n]
        s = sum(c * a * b for c, a, b in both)
        u, v = sum(c * a * a for c, a, _ in both), sum(c * b * b for c, _, b in both)
        return float(s / math.sqrt(u * v))
    if kind == "spearman":
        x, y = (np.array([sum(w[j] * ((z[j] < z[i]) + 0.5 * (z[j] == z[i])) for j in n) for i in n]) for z in (x, y))
    mx, my = (w * x).sum() / w.sum(), (w * y).sum() / w.sum()
    xy, xx, yy = ((w * a * b).sum() for a, b in ((x - mx, y - my), (x - mx, x - mx), (y - my, y - my)))
    return float(xy / math.sqrt(xx * yy))


@settings(deadline=None, max_examples=25)
@given(SMALL)
def test_an_influence_is_the_derivative_by_the_pair_s_weight(rows: list[tuple[int, int]]) -> None:
    x, y = np.array(rows, dtype=np.float64).T
    found, n, step = influences(x, y), len(x), 1e-5
    for kind in KINDS:
        for i in range(n):
            up, down = np.ones(n), np.ones(n)
            up[i], down[i] = 1 + step, 1 - step
            slope = (weighted(kind, x, y, up) - weighted(kind, x, y, down)) / (2 * step)
            assert found.of(kind)[i] == pytest.approx(n * slope, abs=1e-6), kind
        assert found.of(kind).sum() == pytest.approx(0, abs=1e-9)


def test_kendall_s_sums_come_in_several_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    x, y = np.round(rng.normal(size=(2, 60)), 1)
    whole = influences(x, y).kendall
    monkeypatch.setattr(module, "_NUMBERS_AT_A_TIME", 60 * 7)
    np.testing.assert_allclose(influences(x, y).kendall, whole, atol=1e-12)


def test_the_variance_of_independent_pairs_is_the_jackknife_s() -> None:
    rng = np.random.default_rng(2)
    x = rng.normal(size=200)
    y = np.round(x + rng.normal(size=200))  # with many ties
    left_out = [correlations(np.delete(x, i), np.delete(y, i)) for i in range(200)]
    found = influences(x, y)
    for kind in KINDS:
        values = np.array([getattr(one, kind) for one in left_out])
        jackknife = 199 / 200 * ((values - values.mean()) ** 2).sum()
        assert (found.of(kind) ** 2).sum() / 200**2 == pytest.approx(jackknife, rel=0.06)


def test_the_interval_of_pearson_is_about_fishers() -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(size=400)
    y = x + rng.normal(size=400)
    r = stats.pearsonr(x, y)
    known = Dependence.of(np.arange(400), 400 + np.arange(400))
    found = correlation(r.statistic, influences(x, y).pearson, known)
    assert (found.low, found.high) == pytest.approx(tuple(r.confidence_interval(0.95)), abs=0.01)


@pytest.mark.parametrize("texts", [800, 60])
def test_a_correlation_s_interval_by_hand(texts: int) -> None:
    """On Fisher's scale, by groups and by texts, and never beyond -1 and 1."""
    rng = np.random.default_rng(4)
    ends = (np.arange(200), 400 + np.arange(200)) if texts == 800 else tuple(rng.integers(texts, size=(2, 200)))
    x = rng.normal(size=200)
    y = x + 0.2 * rng.normal(size=200)
    known, moved = Dependence.of(*ends), influences(x, y).spearman
    value = correlations(x, y).spearman
    column = moved[:, np.newaxis]
    freedom = min(known.freedom, 1.5 * known.carried_by(column)[0] - 1)
    reach = stats.t.ppf(0.975, freedom) * math.sqrt(known.variances(column)[0]) / (1 - value**2)
    found = correlation(value, moved, known)
    expected = math.tanh(math.atanh(value) - reach), math.tanh(math.atanh(value) + reach)
    assert (found.low, found.high) == pytest.approx(expected)
    assert found.high < 1


def test_a_perfect_order_has_no_interval() -> None:
    x = np.arange(20.0)
    known = Dependence.of(np.arange(20), 20 + np.arange(20))
    for kind in KINDS:
        assert correlation(1.0, influences(x, x).of(kind), known).interval is None


def test_a_correlation_that_hangs_on_one_pair_has_another_reason_than_a_perfect_one() -> None:
    x = np.arange(40.0)
    y = np.append(x[:-1], -500.0)
    known = Dependence.of(np.arange(40), 40 + np.arange(40))
    lone, perfect = (correlation(0.5 if z is y else 1.0, influences(x, z).pearson, known) for z in (y, x))
    assert lone.interval is None
    assert 0 < known.carried_by(influences(x, y).pearson[:, np.newaxis])[0] < FEWEST_CARRYING
    assert lone.refusal not in {"", perfect.refusal}


@each("kind", KINDS)
def test_labels_told_apart_without_a_mistake_have_no_interval_and_two_such_models_no_difference(kind: str) -> None:
    rng = np.random.default_rng(5)
    gold = np.repeat([0.0, 1.0], 50)
    known = Dependence.of(np.arange(100), 100 + np.arange(100))
    found = []
    for low, high in ((0.1, 0.6), (0.3, 0.5)):
        x = np.concatenate([low * rng.random(50), high + (1 - high) * rng.random(50)])
        x = gold if kind == "pearson" else x  # whose perfect correlation takes equal values
        found.append((getattr(correlations(x, gold), kind), influences(x, gold).of(kind)))
    for value, moved in found:
        assert not moved.any()
        assert correlation(value, moved, known).interval is None
    (one, first), (other, second) = found
    assert p_of_change(one - other, first - second, known) == 1.0


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=12))
def test_centered_ranks_are_those_of_the_loop_less_their_mean(values: list[int]) -> None:
    x = np.array(values, dtype=np.float64)
    assert np.array_equal(centered_ranks(x), slow_ranks(x) - (len(x) + 1) / 2)
