"""Both classifiers: what they choose, that they stop, and that the same seed gives the same bits."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from blindspot.diagnostics.transfer import classifiers
from blindspot.diagnostics.transfer.classifiers import STRENGTHS, Answers, Examples, logistic_regression, perceptron
from blindspot.errors import Cancelled
from blindspot.types import CancelToken, Float32


@pytest.fixture(autouse=True, scope="module")
def one_thread() -> object:
    with threadpool_limits(1):
        yield


def silent(share: float) -> None:
    """Listen to nothing."""


def blobs(classes: int, seed: int, size: int = 150, spread: float = 1.3) -> Examples:
    """Classes around points of their own, numbered with gaps; the points are the same for every seed."""
    centres = np.random.default_rng(77).normal(size=(classes, 8))
    rng = np.random.default_rng(seed)
    which = rng.integers(classes, size=size)
    features = (centres[which] + spread * rng.normal(size=(size, 8))).astype(np.float32)
    return Examples(features, (3 * which).astype(np.int32))


def exclusive_or(seed: int) -> Examples:
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(400, 4)).astype(np.float32)
    return Examples(features, ((features[:, 0] > 0) ^ (features[:, 1] > 0)).astype(np.int32))


def by_regression(fit: Examples, dev: Examples, test: Float32, *, with_dev: bool = False) -> Answers:
    return logistic_regression(fit, dev, test, with_dev=with_dev, report=silent, cancel=CancelToken())


def by_perceptron(fit: Examples, dev: Examples, test: Float32, seed: int = 1) -> Answers:
    return perceptron(fit, dev, test, seed=seed, report=silent, cancel=CancelToken())


# --- logistic regression


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("with_dev", [False, True])
def test_the_regression_is_scikit_learns_with_the_strength_that_dev_likes_best(classes: int, with_dev: bool) -> None:
    fit, dev, test = blobs(classes, 1), blobs(classes, 2), blobs(classes, 3)
    found = by_regression(fit, dev, test.features, with_dev=with_dev)

    def scored(strength: float) -> float:
        model = LogisticRegression(C=strength, max_iter=1_000, tol=1e-6)
        return float(model.fit(fit.features.astype(np.float64), fit.labels).score(dev.features, dev.labels))

    right = [scored(strength) for strength in STRENGTHS[: classifiers.ALWAYS]]
    assert found.chosen == STRENGTHS[int(np.argmax(right))] < 1
    learned = fit.and_also(dev) if with_dev else fit
    model = LogisticRegression(C=found.chosen, max_iter=1_000, tol=1e-6)
    expected = model.fit(learned.features.astype(np.float64), learned.labels).predict_proba(test.features)
    np.testing.assert_allclose(found.probability, expected.max(axis=1), atol=5e-3)
    agreed = found.predicted == model.classes_[expected.argmax(axis=1)]
    assert agreed[expected.max(axis=1) > 0.51].all()
    assert found.unconverged == 0
    assert found.predicted.dtype == np.int32


def test_larger_strengths_are_tried_while_the_largest_is_the_best() -> None:
    """What tells the classes apart is a small part of what does not."""
    rng = np.random.default_rng(5)

    def examples() -> Examples:
        labels = rng.integers(2, size=200).astype(np.int32)
        telling = 0.03 * (labels + 0.3 * rng.normal(size=200))
        return Examples(np.stack([telling, rng.normal(size=200)], axis=1).astype(np.float32), labels)

    fit, dev = examples(), examples()
    right = []
    for strength in STRENGTHS:
        model = LogisticRegression(C=strength, max_iter=1_000, tol=1e-8).fit(fit.features.astype(float), fit.labels)
        right.append(model.score(dev.features, dev.labels))
    assert by_regression(fit, dev, dev.features).chosen == STRENGTHS[int(np.argmax(right))] > 1


def test_a_fit_that_did_not_converge_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(classifiers, "MOST_STEPS", 1)
    fit = blobs(4, 1)
    with pytest.warns(match="failed to converge"):
        assert by_regression(fit, fit, fit.features).unconverged > 0


# --- the perceptron


def test_a_perceptron_sees_what_no_line_parts() -> None:
    fit, dev, test = exclusive_or(1), exclusive_or(2), exclusive_or(3)
    straight = np.mean(by_regression(fit, dev, test.features).predicted == test.labels)
    bent = np.mean(by_perceptron(fit, dev, test.features).predicted == test.labels)
    assert straight < 0.65
    assert bent > 0.85


def test_the_same_seed_gives_the_same_bits() -> None:
    before = np.random.get_state()[1].copy()
    fit, dev, test = blobs(4, 1, 300), blobs(4, 2), blobs(4, 3)
    first, again, other = (by_perceptron(fit, dev, test.features, seed) for seed in (1, 1, 2))
    assert np.array_equal(first.probability, again.probability)
    assert np.array_equal(first.predicted, again.predicted)
    assert not np.array_equal(first.probability, other.probability)
    assert np.array_equal(before, np.random.get_state()[1])


def test_the_weights_are_those_at_the_best_look(monkeypatch: pytest.MonkeyPatch) -> None:
    fit, dev, test = blobs(4, 1, spread=2), blobs(4, 2, spread=2), blobs(4, 3)
    found = by_perceptron(fit, dev, test.features)
    a_look = round(50 * 64 / 150)  # epochs
    assert found.chosen % a_look == 0
    looks = int(found.chosen) // a_look
    assert 1 <= looks < classifiers.LOOKS
    monkeypatch.setattr(classifiers, "LOOKS", looks)
    assert np.array_equal(by_perceptron(fit, dev, test.features).probability, found.probability)
    best = np.mean(by_perceptron(fit, dev, dev.features).predicted == dev.labels)
    monkeypatch.setattr(classifiers, "LOOKS", looks - 1)
    assert best > np.mean(by_perceptron(fit, dev, dev.features).predicted == dev.labels)


@pytest.mark.parametrize(
    ("learn", "shares"),
    [(partial(logistic_regression, with_dev=True), [0, 1 / 8]), (partial(perceptron, seed=1), [0, 1 / 40, 2 / 40])],
)
def test_a_cancel_stops_it_within_a_step(
    monkeypatch: pytest.MonkeyPatch, learn: Callable[..., Answers], shares: list[float]
) -> None:
    monkeypatch.setattr(classifiers, "_SLICE", 1_000)
    cancel, told = CancelToken(), []

    def report(share: float) -> None:
        told.append(share)
        if len(told) == len(shares):
            cancel.cancel()

    fit = blobs(3, 1, 90)
    assert np.mean(by_perceptron(fit, fit, fit.features).predicted == fit.labels) > 0.7
    with pytest.raises(Cancelled):
        learn(fit, fit, fit.features, report=report, cancel=cancel)
    assert told == pytest.approx(shares)


def test_fewer_examples_than_a_batch() -> None:
    fit = blobs(2, 1, 12)
    assert len(by_perceptron(fit, fit, fit.features).predicted) == 12
