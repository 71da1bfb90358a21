"""Intervals of precision, recall and threshold cover the truth in about 95% of draws."""

from __future__ import annotations

import pytest

from tests.numerics.thresholds.coverage import (
    FLAT,
    GRID,
    WORLDS,
    Flat,
    World,
    covered,
    covered_at_once,
    falsely_safe,
    highest_covered,
    optimism,
)

QUICK, LONG = 60, 1_500
FALSE = 0.065  # 0.05, and what chance adds


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
        # The upper end of the threshold's interval holds for all thresholds at once: it covers more.
        assert 0.93 <= share <= (1.0 if what == "threshold" else 0.97), (name, what, share)


@pytest.mark.slow
@pytest.mark.parametrize("groups", [2, 6])
def test_intervals_of_groups_hold_at_once(groups: int) -> None:
    share = covered_at_once(WORLDS["independent pairs"], groups, 120, 7)
    print(f"{groups} groups, all thresholds at once: {share:.3f}")
    assert share >= 0.92


@pytest.mark.heavy
def test_safe_is_seldom_false_in_a_few_draws() -> None:
    for name in ("1,000 pairs, flat, a low wish", "300 pairs in clusters of 3, flat"):
        assert falsely_safe(FLAT[name], QUICK, 11) <= 0.12, name


@pytest.mark.slow
def test_safe_is_false_in_at_most_5_percent_of_draws() -> None:
    found = {name: falsely_safe(world, LONG, 7) for name, world in [*FLAT.items(), *((str(one), one) for one in GRID)]}
    print(found)
    assert max(found.values()) <= FALSE


@pytest.mark.heavy
def test_pairs_held_out_are_not_optimistic() -> None:
    """Of 60 pairs, the precision where it was chosen is higher than the truth there."""
    chosen, honest = optimism(World(60, 0.5, 1.0, 0.8), 150, 5)
    assert chosen > 0.02
    assert honest < 0.01


@pytest.mark.slow
def test_the_highest_precision_has_an_interval_that_allows_for_the_choice() -> None:
    share = highest_covered(Flat(60, 0.5, 0.8), 300, 3)
    print(f"highest precision of 60 pairs that a model tells nothing about: {share:.3f}")
    assert share >= 0.95
