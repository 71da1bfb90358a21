"""Intervals and tests of F1 where sentences repeat, by simulation: the lines of the table in ``docs/statistics.md``.

Phrases of one sentence are easier to find than those of another, and a sentence that stands there several times has the
same tags each time.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from blindspot.diagnostics.words.chunking.scoring import dependence_of, difference_of, estimate_of, f1
from blindspot.types import Float64

REPETITIONS = 2_000
Rng = np.random.Generator


def drawn(rng: Rng, sentences: int, models: int) -> list[Float64]:
    """Phrases found right, found and given per sentence, ``[sentences, 3]``, by models that are equally good."""
    given, ease = 1 + rng.poisson(5, sentences), rng.beta(6, 2, sentences)
    out = []
    for _ in range(models):
        right = rng.binomial(given, ease)
        found = right + rng.binomial(given - right, 0.7) + rng.poisson(0.4, sentences)
        out.append(np.stack([right, found, given], axis=1).astype(np.float64))
    return out


@cache
def truth() -> float:
    return float(f1(drawn(np.random.default_rng(0), 1_000_000, 1)[0].sum(axis=0)))


def of_repeated(rng: Rng, distinct: int, times: int, models: int) -> list[Float64]:
    return [np.repeat(sums, times, axis=0) for sums in drawn(rng, distinct, models)]


@pytest.mark.slow
@pytest.mark.parametrize(("distinct", "times"), [(20, 1), (30, 3), (100, 3), (200, 2)])
def test_the_interval_covers_the_truth(distinct: int, times: int) -> None:
    rng, known = (
        np.random.default_rng([distinct, times]),
        dependence_of(np.repeat(np.arange(distinct), times).astype(str)),
    )
    held = 0
    for _ in range(REPETITIONS):
        found = estimate_of(of_repeated(rng, distinct, times, 1)[0], known)
        assert found.low is not None
        assert found.high is not None
        held += found.low <= truth() <= found.high
    print(f"F1 of phrases, {distinct} sentences, each {times} times: {held / REPETITIONS:.3f}")
    assert 0.92 <= held / REPETITIONS <= 0.98


@pytest.mark.slow
@pytest.mark.parametrize(("distinct", "times"), [(30, 3), (100, 2)])
def test_one_of_two_that_are_equally_good_is_rarely_called_better(distinct: int, times: int) -> None:
    rng, known = (
        np.random.default_rng([distinct, times]),
        dependence_of(np.repeat(np.arange(distinct), times).astype(str)),
    )
    p = [difference_of(*of_repeated(rng, distinct, times, 2), known)[1] for _ in range(REPETITIONS)]
    print(f"A finds phrases better than B, {distinct} sentences, each {times} times: {np.mean(np.array(p) < 0.05):.3f}")
    assert np.mean(np.array(p) < 0.05) <= 0.065
