"""Test of a mean where differences are skewed: by hand, by a general solver, and by draws of its own distribution."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import binom

from blindspot.numerics.statistics.resampling import sign_flip_p_values
from blindspot.numerics.statistics.skew import _most_likely, mean_zero_p_value
from tests.numerics.statistics.promises import skewed


def test_small_losses_alone_prove_nothing() -> None:
    """Ten losses of 0.05. A gain of 1 in one unit of 21 makes up for them: in 0.61 of the samples there is none."""
    lost = np.full(10, -0.05)
    assert sign_flip_p_values(lost[:, np.newaxis], np.arange(10))[0] == pytest.approx(2 / 2**10)
    assert mean_zero_p_value(lost, 1.0) == pytest.approx(min(1.0, 2 * (1 - 1 / 21) ** 10))
    many = np.full(100, -0.05)
    assert mean_zero_p_value(many, 1.0) == pytest.approx(2 * (1 - 1 / 21) ** 100)
    assert mean_zero_p_value(-many, 1.0) == mean_zero_p_value(many, 1.0), "of either side"


def test_whole_losses_are_a_sign_test() -> None:
    """Nothing can outweigh them."""
    lost = np.full(10, -1.0)
    assert mean_zero_p_value(lost, 1.0) == pytest.approx(2 * 0.5**10)
    assert mean_zero_p_value(np.full(100, -1.0), math.inf) > 2 * 0.5**100


def test_nothing_differs() -> None:
    assert mean_zero_p_value(np.zeros(20), 1.0) == 1.0
    assert mean_zero_p_value(np.array([0.5, -0.5, 0.2, -0.2]), 1.0) == 1.0


def test_the_distribution_is_the_most_likely_one_of_mean_0() -> None:
    rng = np.random.default_rng(3)
    for own in (rng.uniform(-0.2, 0.6, 8), rng.uniform(0.01, 0.1, 8), np.array([-0.9, 0.1, 0.2, 0.3, 0.4])):
        values, weights = _most_likely(own, np.full(len(own), 1 / len(own)))
        assert float(weights.sum()) == pytest.approx(1)
        assert float(weights @ values) == pytest.approx(0, abs=1e-9)
        rules = [
            {"type": "eq", "fun": lambda w: w.sum() - 1},
            {"type": "eq", "fun": lambda w, values=values: w @ values},
        ]
        start = np.full(len(values), 1 / len(values))
        found = minimize(
            lambda w: -np.log(np.maximum(w[:-1], 1e-12)).sum(),
            start,
            bounds=[(0, 1)] * len(values),
            constraints=rules,
            method="SLSQP",
            options={"maxiter": 500, "ftol": 1e-12},
        )
        assert weights == pytest.approx(found.x, abs=2e-3)


def test_the_tail_is_that_of_draws() -> None:
    rng = np.random.default_rng(4)
    for own in (rng.normal(0.1, 0.3, 30), rng.exponential(0.1, 40) - 0.05):
        direction = np.sign(own.mean())
        values, weights = _most_likely(direction * own, np.full(len(own), 1 / len(own)))
        means = rng.choice(values, size=(40_000, len(own)), p=weights / weights.sum()).mean(axis=1)
        expected = 2 * float(np.mean(means >= direction * own.mean()))
        assert mean_zero_p_value(own, 1.0) == pytest.approx(expected, rel=0.15, abs=0.003)


def test_of_two_values_it_is_close_to_the_binomial() -> None:
    """27 of 100 gain 1, 8 lose 1: McNemar's normal deviate is 3.21."""
    both = np.concatenate([np.ones(27), -np.ones(8), np.zeros(65)])
    exact = 2 * float(binom.cdf(8, 35, 0.5))
    assert exact / 3 < mean_zero_p_value(both, 1.0) < 2 * exact


def test_flips_alone_are_wrong_and_both_together_hold() -> None:
    """Of twenty units, of which one in twenty gains and the others lose: a mean of 0."""
    rng = np.random.default_rng(6)
    samples = [skewed(rng, 20, 0.05) for _ in range(300)]
    assert np.mean([sign_flip_p_values(one[:, np.newaxis], np.arange(20), 999)[0] < 0.05 for one in samples]) > 0.2
    assert np.mean([mean_zero_p_value(one, 1.0) < 0.05 for one in samples]) < 0.05
