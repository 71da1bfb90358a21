"""Confusion tables against scikit-learn and loops; intervals by what is known."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import t
from sklearn.metrics import confusion_matrix, f1_score

from blindspot.numerics.statistics import confusion as tables
from blindspot.numerics.statistics.estimate import Unit
from blindspot.numerics.statistics.intervals import wilson_interval
from blindspot.numerics.statistics.pairs import Dependence
from blindspot.types import Int32

K = 3


def some(size: int, seed: int) -> tuple[Int32, Int32]:
    rng = np.random.default_rng(seed)
    labels = rng.integers(K, size=size).astype(np.int32)
    return labels, np.where(rng.random(size) < 0.6, labels, rng.integers(K, size=size)).astype(np.int32)


def test_a_table_by_hand() -> None:
    labels = np.array([0, 0, 0, 1, 1, 2], dtype=np.int32)
    predicted = np.array([0, 0, 1, 1, 0, 1], dtype=np.int32)
    counts = tables.confusion(labels, predicted, K)
    assert counts.tolist() == [[2, 1, 0], [1, 1, 0], [0, 1, 0]]
    assert tables.macro_f1(counts) == pytest.approx((4 / 6 + 2 / 5 + 0) / 3)
    scores = tables.class_scores(counts)
    assert scores.precision[:2].tolist() == pytest.approx([2 / 3, 1 / 3])
    assert np.isnan(scores.precision[2])  # never predicted: nothing to be precise about
    assert scores.recall.tolist() == pytest.approx([2 / 3, 1 / 2, 0])
    assert scores.f1.tolist() == pytest.approx([4 / 6, 2 / 5, 0])
    assert (scores.examples.tolist(), scores.predicted.tolist()) == ([3, 2, 1], [3, 3, 0])


def test_a_class_that_is_nowhere_has_no_scores() -> None:
    scores = tables.class_scores(tables.confusion(np.zeros(4, np.int32), np.zeros(4, np.int32), 2))
    assert np.isnan([scores.precision[1], scores.recall[1], scores.f1[1]]).all()
    assert np.isnan(tables.macro_f1(np.zeros((2, 2))))
    assert tables.macro_f1(np.array([[3, 1, 0], [0, 4, 0], [0, 0, 0]])) == pytest.approx((6 / 7 + 8 / 9) / 2)


@settings(max_examples=25)
@given(st.integers(0, 10_000), st.integers(1, 60))
def test_scores_are_those_of_scikit_learn(seed: int, size: int) -> None:
    labels, predicted = some(size, seed)
    counts = tables.confusion(labels, predicted, K)
    assert np.array_equal(counts, confusion_matrix(labels, predicted, labels=range(K)))
    expected = f1_score(labels, predicted, average="macro", zero_division=0.0)  # over the classes that occur
    assert tables.macro_f1(counts) == pytest.approx(expected)
    both = np.stack([counts, counts.T])  # several tables at once
    assert tables.macro_f1(both).tolist() == pytest.approx([float(tables.macro_f1(t)) for t in both])


def singles(m: int) -> Dependence:
    return Dependence.of_examples(np.arange(m))


def test_an_interval_holds_what_it_is_about() -> None:
    """And of ten texts, each a hundred times, it is that of ten."""
    labels, predicted = some(300, 3)
    counts = tables.confusion(labels, predicted, K)
    accuracy, macro_f1 = tables.estimates(labels, predicted, singles(300), K)
    assert (accuracy.value, macro_f1.value) == pytest.approx(
        (np.trace(counts) / counts.sum(), float(tables.macro_f1(counts)))
    )
    for found in (accuracy, macro_f1):
        assert found.low < found.value < found.high
        assert (found.units, found.unit) == (300, Unit.EXAMPLES)
    rng = np.random.default_rng(5)
    cells = np.bincount(K * labels + predicted, minlength=K * K) / 300
    drawn = tables.macro_f1(rng.multinomial(300, cells, size=2_000).reshape(-1, K, K))
    low, high = np.quantile(drawn, [0.025, 0.975])
    assert macro_f1.high - macro_f1.low == pytest.approx(high - low, rel=0.1), "about the bootstrap's"
    half = np.repeat([0, 1], 500).astype(np.int32)
    nothing = np.zeros(1_000, dtype=np.int32)
    apart, _ = tables.estimates(nothing, half, singles(1_000), 2)
    together, _ = tables.estimates(nothing, half, Dependence.of_examples(7 * (np.arange(1_000) // 100)), 2)
    assert apart.high - apart.low == pytest.approx(2 * 1.96 * np.sqrt(0.25 / 1_000), rel=0.1)
    assert 0.5 < together.high - together.low < 0.75  # 2 to 8 of ten


@pytest.mark.parametrize(("texts", "each"), [(60, 1), (20, 3)])
def test_all_right_is_not_certain(texts: int, each: int) -> None:
    """60 of 60 had the interval [1, 1]; of 20 texts, each three times, 20 count."""
    labels = np.tile(np.arange(texts) % 2, each).astype(np.int32)
    accuracy, macro_f1 = tables.estimates(labels, labels, Dependence.of_examples(np.tile(np.arange(texts), each)), 2)
    for found in (accuracy, macro_f1):
        reach = t.ppf(0.975, texts - 1)
        assert (found.low, found.high) == (pytest.approx(1 / (1 + reach**2 / texts)), 1.0)


def test_a_rare_class_says_less_where_nothing_is_wrong() -> None:
    labels = np.array([0] * 96 + [1] * 4, dtype=np.int32)
    accuracy, macro_f1 = tables.estimates(labels, labels, singles(100), 2)
    assert macro_f1.low < accuracy.low
    one = wilson_interval(1.0, 4 / (1 / 96 + 1 / 4), float(t.ppf(0.975, 99)))
    assert macro_f1.low == pytest.approx(one.low)


def test_the_influence_on_macro_f1_is_its_derivative() -> None:
    labels, predicted = some(40, 5)
    moved = tables.macro_f1_influence(labels, predicted, K)
    assert moved.sum() == pytest.approx(0, abs=1e-9)
    cells = labels.astype(np.int64) * K + predicted
    for i in range(40):
        slopes = []
        for step in (1e-6, -1e-6):
            weight = np.ones(40)
            weight[i] += step
            slopes.append(tables.macro_f1(np.bincount(cells, weights=weight, minlength=K * K).reshape(K, K)))
        assert moved[i] == pytest.approx(40 * (slopes[0] - slopes[1]) / 2e-6, abs=1e-6)


def test_too_few_texts_have_no_interval() -> None:
    labels = np.array([0, 1] * 30, dtype=np.int32)
    for found in tables.estimates(labels, labels, Dependence.of_examples(np.arange(60) // 10), 2):
        assert found.interval is None
        assert "6 independent" in found.refusal
