"""Intervals of precision, recall and threshold cover the truth in about 95% of draws."""

from __future__ import annotations

import pytest

from tests.numerics.thresholds.coverage import WORLDS, covered

QUICK, LONG = 60, 1_500


@pytest.mark.heavy
def test_intervals_cover_the_truth_in_a_few_draws() -> None:
    for name in list(WORLDS)[::2]:
        for what, share in covered(WORLDS[name], QUICK, 11).items():
            assert 0.87 <= share <= 1.0, (name, what, share)


@pytest.mark.slow
@pytest.mark.parametrize("name", WORLDS)
def test_intervals_cover_the_truth_in_93_to_97_percent_of_draws(name: str) -> None:
    for what, share in covered(WORLDS[name], LONG, 7).items():
        print(f"{name}, {what}: {share:.3f}")
        assert 0.93 <= share <= 0.97, (name, what, share)
