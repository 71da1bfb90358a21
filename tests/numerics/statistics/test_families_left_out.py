"""Rank correlations without each family, against loops, scipy and simulations of what their intervals promise."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from blindspot.numerics.statistics.correlations import spearman
from blindspot.numerics.statistics.estimate import Unit
from blindspot.numerics.statistics.families import (
    FEWEST_FAMILIES,
    estimate_of_difference,
    estimate_of_rho,
    numbers_of,
    one_of,
    spearman_without_each,
)
from blindspot.types import Float64, Int64
from tests.support.tables import each

NAN = float("nan")


def slow(x: Float64, y: Float64, families: Int64) -> list[float]:
    """Families left out one by one, scipy on the lists that remain."""
    out = []
    for left_out in range(int(families.max()) + 1):
        a, b = ([float(v) for v, f in zip(side, families, strict=True) if f != left_out] for side in (x, y))
        out.append(NAN if len(set(a)) <= 1 or len(set(b)) <= 1 else float(stats.spearmanr(a, b).statistic))
    return out


def test_rho_by_hand() -> None:
    """d = 0, 1, 1, 0: 1 - 6 * 2 / (4 * 15) = 0.8. With a tie: ranks 1, 2.5, 2.5, 4 against 1, 2, 3, 4."""
    assert spearman(np.array([1.0, 2, 3, 4]), np.array([10.0, 30, 20, 40])) == pytest.approx(0.8)
    assert spearman(np.array([1.0, 2, 2, 4]), np.array([1.0, 2, 3, 4])) == pytest.approx(4.5 / np.sqrt(4.5 * 5))


@each(("x", "y"), [([], []), ([1], [2]), ([1, 1, 1], [1, 2, 3]), ([1, 2, 3], [4, 4, 4])])
def test_what_has_one_value_has_no_rho(x: list[float], y: list[float]) -> None:
    assert np.isnan(spearman(np.array(x, dtype=np.float64), np.array(y, dtype=np.float64)))


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_correlations_without_each_family_are_those_of_a_loop(data: st.DataObject) -> None:
    """Families of any sizes in any order, many ties."""
    n = data.draw(st.integers(2, 9))
    scores = st.lists(st.integers(0, 4), min_size=n, max_size=n)
    first = np.array([data.draw(scores) for _ in range(2)], dtype=np.float64).T
    second = np.array([data.draw(scores)], dtype=np.float64).T
    names = data.draw(st.lists(st.sampled_from("abcd"), min_size=n, max_size=n).filter(lambda all: len(set(all)) > 1))
    families = numbers_of(tuple(names), np.ones(n, dtype=np.bool_))
    found = spearman_without_each(first, second, families)
    assert found.shape == (len(set(names)), 2, 1)
    for column in range(2):
        np.testing.assert_allclose(
            found[:, column, 0], slow(first[:, column], second[:, 0], families), atol=1e-12, equal_nan=True
        )


def test_intervals_by_hand() -> None:
    """Twelve families: on Fisher's scale +-0.1, so SE = sqrt(11/12 * 0.12); t with 11 degrees is 2.2010."""
    z = np.tile([0.1, -0.1], 6)
    half = 2.2009852 * np.sqrt(0.11)
    wide = estimate_of_rho(0.0, np.tanh(z), variants=1_000)
    assert (wide.low, wide.high) == pytest.approx((-np.tanh(half), np.tanh(half)), abs=1e-7)
    assert (wide.unit, wide.units) == (Unit.FAMILIES, 12)
    apart = estimate_of_difference(0.5, 0.5 + z)
    assert (apart.low, apart.high) == pytest.approx((0.5 - half, 0.5 + half), abs=1e-7)
    # The floor: of 12 variants no standard error below 1 / 3.
    floor = estimate_of_rho(0.0, np.zeros(12), variants=12)
    assert floor.high == pytest.approx(np.tanh(2.2009852 / 3), abs=1e-7)


def test_one_is_scipys_jackknife() -> None:
    """Of families of one variant each it is the usual jackknife, whose standard error any loop gives."""
    rng = np.random.default_rng(2)
    x = rng.random(15)
    y = x + rng.random(15)
    without = spearman_without_each(x[:, np.newaxis], y[:, np.newaxis], np.arange(15))[:, 0, 0]
    rho = spearman(x, y)
    found = estimate_of_rho(rho, without, 15)
    z = [np.arctanh(stats.spearmanr(np.delete(x, i), np.delete(y, i)).statistic) for i in range(15)]
    error = max(np.sqrt(14 / 15 * sum((one - np.arctanh(rho)) ** 2 for one in z)), 1 / np.sqrt(12))
    assert found.low == pytest.approx(np.tanh(np.arctanh(rho) - stats.t.ppf(0.975, 14) * error), abs=1e-12)


def test_no_interval_is_without_width_or_of_what_is_not_defined() -> None:
    alike = np.arange(24.0)
    without = spearman_without_each(alike[:, np.newaxis], alike[:, np.newaxis], np.repeat(np.arange(12), 2))[:, 0, 0]
    perfect = estimate_of_rho(1.0, without, 24)
    assert perfect.interval is not None
    assert 0.5 < perfect.interval.low < 0.999
    assert perfect.interval.high == 1.0
    undefined = np.r_[NAN, np.full(11, 0.4)]
    for refused in (
        estimate_of_rho(0.5, undefined, 24),
        estimate_of_rho(0.5, np.full(FEWEST_FAMILIES - 1, 0.4), 24),
        estimate_of_difference(0.0, np.zeros(12)),
        estimate_of_difference(0.0, undefined),
        estimate_of_difference(0.0, np.linspace(0, 1, FEWEST_FAMILIES - 1)),
    ):
        assert refused.interval is None
        assert refused.refusal


def test_numbers_have_no_gaps() -> None:
    keep = np.array([False, True, True, True, False])
    assert numbers_of(("a", "b", "c", "b", "d"), keep).tolist() == [0, 1, 0]


# --- what the intervals promise, by simulation


def sizes(kind: str, families: int) -> Int64:
    """How many variants each family has."""
    return {
        "two": np.full(families, 2),
        "four": np.full(families, 4),
        "mixed": 1 + np.arange(families) % 5,
        "one large": np.array([families, *[1] * (families - 1)]),
    }[kind].astype(np.int64)


def scores_of(rng: np.random.Generator, family: Int64, within: float, correlation: float) -> tuple[Float64, Float64]:
    """Two normal scores; ``within`` is how far variants of a family correlate in either."""

    def pair(n: int) -> Float64:
        one, other = rng.standard_normal((2, n))
        return np.stack([one, correlation * one + np.sqrt(1 - correlation**2) * other])

    x, y = np.sqrt(within) * pair(int(family.max()) + 1)[:, family] + np.sqrt(1 - within) * pair(len(family))
    return x, y


def coverage(kind: str, families: int, within: float, correlation: float, simulations: int, seed: int = 7) -> float:
    """How often the interval holds the true rank correlation."""
    rng = np.random.default_rng(seed)
    family = np.repeat(np.arange(families), sizes(kind, families))
    truth = 6 / np.pi * np.arcsin(correlation / 2)  # Spearman's rho of two normal scores
    held = 0
    for _ in range(simulations):
        x, y = scores_of(rng, family, within, correlation)
        without = spearman_without_each(x[:, np.newaxis], y[:, np.newaxis], family)[:, 0, 0]
        found = estimate_of_rho(spearman(x, y), without, len(x)).interval
        assert found is not None
        held += found.low <= truth <= found.high
    return held / simulations


def coverage_at_once(kind: str, families: int, tasks: int, simulations: int) -> float:
    """How often the intervals of the highest and the lowest of correlations with some tasks both hold the truth."""
    rng = np.random.default_rng([7, families, tasks])
    family = np.repeat(np.arange(families), sizes(kind, families))
    truth, held = 6 / np.pi * np.arcsin(0.25), 0
    for _ in range(simulations):
        found = []
        for _ in range(tasks):
            x, y = scores_of(rng, family, 0.9, 0.5)
            without = spearman_without_each(x[:, np.newaxis], y[:, np.newaxis], family)[:, 0, 0]
            found.append(one_of(estimate_of_rho(spearman(x, y), without, len(x)), tasks, len(x)))
        found.sort(key=lambda one: one.value)
        ends = [found[0].interval, found[-1].interval]
        held += all(end is not None and end.low <= truth <= end.high for end in ends)
    return held / simulations


@pytest.mark.slow
def test_the_highest_and_the_lowest_hold_the_truth_at_once() -> None:
    for families in (FEWEST_FAMILIES, 20):
        cells = {tasks: coverage_at_once("two", families, tasks, 1_000) for tasks in (3, 10)}
        print(f"Evidence, highest and lowest, {families} families, of so many tasks: {cells}")
        assert all(0.92 <= share <= 0.99 for share in cells.values())


def test_intervals_hold_what_they_promise() -> None:
    """Ten families, nothing related: draws with replacement left 0 out in up to 11%. The slow test has more cells."""
    assert coverage("four", FEWEST_FAMILIES, 0.9, 0.0, 300) >= 0.92


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["two", "four", "mixed", "one large"])
@pytest.mark.parametrize("within", [0.6, 0.9])
def test_coverage(kind: str, within: float) -> None:
    for families in (FEWEST_FAMILIES, 12, 20):
        cells = {c: coverage(kind, families, within, c, 2_000) for c in (0.0, 0.5, 0.9)}
        print(f"Evidence, {kind}, {families} families, {within} within: {cells}; false {1 - cells[0.0]:.3f}")
        assert 1 - cells[0.0] <= 0.065
        assert all(0.92 <= share <= 0.98 for share in cells.values())


@pytest.mark.slow
@pytest.mark.parametrize("within", [0.6, 0.9])
@pytest.mark.parametrize("kind", ["two", "mixed"])
def test_differences_are_rarely_found_where_there_is_none(kind: str, within: float) -> None:
    """Two evaluators that go along with the task equally well."""
    rng = np.random.default_rng(11)
    for families in (FEWEST_FAMILIES, 12, 20):
        family = np.repeat(np.arange(families), sizes(kind, families))
        for correlation in (0.0, 0.5, 0.9):
            false = 0
            for _ in range(2_000):
                noise, task = (scores_of(rng, family, within, 0.0) for _ in range(2))
                goes_along, own = correlation * task[0], np.sqrt(1 - correlation**2)
                first = np.stack([goes_along + own * noise[0], goes_along + own * noise[1]], axis=1)
                without = spearman_without_each(first, task[0][:, np.newaxis], family)[:, :, 0]
                difference = spearman(first[:, 0], task[0]) - spearman(first[:, 1], task[0])
                found = estimate_of_difference(difference, without[:, 0] - without[:, 1])
                false += found.interval is not None and not found.interval.low <= 0 <= found.interval.high
            print(f"Evidence, difference, {kind}, {families} families, {within} within, {correlation}: {false / 2_000}")
            assert false / 2_000 <= 0.065


@pytest.mark.slow
def test_variants_of_one_model_are_no_models_of_their_own() -> None:
    """Why families are left out whole: what 24 variants of 6 models, taken for 24 models, find that is not there."""
    found = {}
    for within in (0.6, 0.9):
        rng = np.random.default_rng(7)
        family = np.repeat(np.arange(6), 4)
        false = 0
        for _ in range(1_500):
            x, y = scores_of(rng, family, within, 0.0)
            without = spearman_without_each(x[:, np.newaxis], y[:, np.newaxis], np.arange(24))[:, 0, 0]
            interval = estimate_of_rho(spearman(x, y), without, 24).interval
            assert interval is not None
            false += not interval.low <= 0 <= interval.high
        found[within] = false / 1_500
    print(f"Evidence, 24 variants of 6 families taken for 24: false {found}")
    assert found[0.9] > 0.2
    assert found[0.6] > 0.1


@pytest.mark.filterwarnings("error")
def test_one_of_many_is_wider_for_a_perfect_order_too() -> None:
    """An end of 1 has no place on Fisher's scale: the widening comes from the other end."""
    for rho in (1.0, 0.6, -1.0):
        alone = estimate_of_rho(rho, np.full(12, rho), 24)
        many = one_of(alone, 10, 24)
        assert alone.interval is not None
        assert many.interval is not None
        assert (many.interval.high - many.interval.low) > 1.1 * (alone.interval.high - alone.interval.low)
        assert many.interval.low <= alone.interval.low <= rho <= alone.interval.high <= many.interval.high
        same = one_of(alone, 1, 24).interval
        assert same is not None
        assert (same.low, same.high) == (pytest.approx(alone.interval.low), pytest.approx(alone.interval.high))
