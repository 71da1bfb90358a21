"""Drops against a tolerance: by hand, and by simulated re-trainings."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy import optimize, stats

from blindspot.numerics.statistics.estimate import Unit
from blindspot.numerics.statistics.pairs import Dependence
from blindspot.numerics.statistics.tolerance import Decision, Drop, drop
from blindspot.types import Float64

RETRAININGS = 200
ALPHA = 0.05


def alone(n: int) -> Dependence:
    return Dependence.of_groups(np.arange(n), Unit.QUERIES)


def decided(lost: Float64, tolerance: float, known: Dependence | None = None) -> Drop:
    return drop(float(lost.mean()), lost, known or alone(len(lost)), tolerance, ALPHA, 1.0, is_mean=True)


def test_bounds_are_where_whole_losses_or_gains_would_explain_the_rest() -> None:
    """Of independent items that all differ: Student's t, with the variance of the drop at the bound, solved anew."""
    lost = np.random.default_rng(1).normal(0.03, 0.1, 40)
    found = decided(lost, 0.02)
    mean, spread = lost.mean(), lost.var(ddof=1)
    freedom = min(39.0, 1.5 * (((lost - mean) ** 2).sum() ** 2 / ((lost - mean) ** 4).sum()) - 1)
    quantile = stats.t.ppf(0.95, freedom)

    def beyond(drop: float) -> float:
        squares = spread + mean**2 + abs(drop - mean)  # and what more is lost or gained, 1 each
        return abs(drop - mean) - quantile * math.sqrt((squares - drop**2) / 40)

    assert found.low == pytest.approx(optimize.brentq(beyond, -0.5, mean), rel=1e-9)
    assert found.high == pytest.approx(optimize.brentq(beyond, mean, 0.5), rel=1e-9)


def test_where_items_only_lose_the_bound_is_wilsons() -> None:
    lost = np.zeros(400)
    lost[:40] = 1
    found = decided(lost, 0.02)
    quantile = stats.t.ppf(0.95, min(399.0, 1.5 * ((lost - 0.1) ** 2).sum() ** 2 / ((lost - 0.1) ** 4).sum() - 1))
    k = quantile**2 / 400
    assert found.high == pytest.approx((0.1 + k / 2 + math.sqrt(0.09 * k + k * k / 4)) / (1 + k), rel=1e-3)


@pytest.mark.parametrize(("n", "within"), [(58, False), (59, True)])
def test_where_nothing_differs_enough_items_decide(n: int, within: bool) -> None:
    """Of 59 items, none lost: with probability 0.95 under 5% of all are, for 0.95 ** 59 is just below 0.05."""
    found = decided(np.zeros(n), 0.05)
    assert found.high == pytest.approx(1 - 0.05 ** (1 / n))
    assert found.low is None
    assert (found.decision is Decision.WITHIN) is within
    assert found.needed == 59


def test_few_that_differ_never_fail_a_model() -> None:
    """Three of 1,000 lost: close to Clopper and Pearson's bound, 0.0077 of all."""
    lost = np.zeros(1_000)
    lost[:3] = 1
    found = decided(lost, 0.0)
    assert found.low is None
    assert found.high == pytest.approx(stats.beta.ppf(0.95, 4, 997), rel=0.01)
    assert found.decision is Decision.UNDECIDED
    assert decided(lost, 0.01).decision is Decision.WITHIN


def test_what_changes_something_never_loses_less_than_what_changes_nothing() -> None:
    """Few gains alone, small losses, gains and losses: the bound of a fifth of 80 items that change, and of none."""
    nothing = decided(np.zeros(80), 0.0).high
    assert nothing is not None
    rng = np.random.default_rng(1)
    for changed in (np.full(8, -0.5), np.full(16, 0.01), rng.normal(0, 0.3, 16), np.full(2, -0.01), np.full(3, 0.02)):
        lost = np.zeros(80)
        lost[: len(changed)] = changed
        high = decided(lost, 0.0).high
        assert high is not None
        assert high >= nothing
    small = np.zeros(80)
    small[:3] = 0.02
    found = decided(small, 0.0).high
    assert found is not None
    assert found < nothing + 0.01, "three small losses are not three whole ones"


@pytest.mark.parametrize("n", [8, 400])
def test_a_model_that_loses_everything_fails(n: int) -> None:
    """Every item lost: by chance, at most ``sqrt(log(20) / 2n)`` of them more than in truth, by Massart (1990)."""
    found = decided(np.ones(n), 0.02)
    assert found.low == pytest.approx(1 - 2 * math.sqrt(math.log(20) / (2 * n)))
    assert found.decision is Decision.BEYOND
    nearly = np.ones(n)
    nearly[: n // 8] = 0.5
    assert decided(nearly, 0.02).decision is Decision.BEYOND


def test_of_items_that_all_lose_as_much_enough_decide() -> None:
    lost = np.full(100, 0.1)
    found = decided(lost, 0.02)
    assert (found.low, found.decision) == (None, Decision.UNDECIDED)
    assert found.needed is not None
    assert decided(np.full(found.needed - 2, 0.1), 0.02).decision is Decision.UNDECIDED
    assert decided(np.full(found.needed + 2, 0.1), 0.02).decision is Decision.BEYOND


def test_a_correlation_that_hangs_on_few_pairs_is_undecided() -> None:
    lost = np.zeros(100)
    lost[0] = 3.0
    found = drop(0.03, lost, alone(100), 0.02, ALPHA, 2.0, is_mean=False)
    assert (found.low, found.high, found.decision) == (None, None, Decision.UNDECIDED)


def test_as_many_items_as_said_decide() -> None:
    """With that many items alike, what was undecided is decided."""
    lost = np.tile(np.random.default_rng(2).normal(0.0, 0.2, 50), 2)
    found = decided(lost, 0.02)
    assert found.decision is Decision.UNDECIDED
    assert found.needed is not None
    assert decided(np.tile(lost, -(-found.needed // 100)), 0.02).decision is Decision.WITHIN
    for apart in (-1e-4, 1e-4):  # 0.2 of spread: about 0.25 / apart**2 items, 25 million
        assert decided(np.tile([0.22 + apart, -0.18 + apart], 50), 0.02).needed is None, "too many to be named"
        needed = decided(np.tile([0.22 + 10 * apart, -0.18 + 10 * apart], 50), 0.02).needed
        assert needed == pytest.approx(250_000, rel=0.05)


def test_a_gain_passes_where_it_is_more_than_what_may_be_lost_unseen() -> None:
    """Whatever the tolerance: of 120 items none was lost, so with 97.5% confidence at most 3% are; 22 gained a half."""
    gained = np.repeat([-0.5, 0.0], [22, 98])
    mean, error = 11 / 120, float(np.std(gained)) / math.sqrt(119)
    expected = 1 - 0.025 ** (1 / 120) - (mean - stats.t.ppf(0.975, 119) * error)
    found = decided(gained, 0.0)
    assert found.decision is Decision.WITHIN
    assert found.high == pytest.approx(expected, abs=0.002)
    lost = np.append(np.ones(6), gained[6:])
    assert decided(lost, 0.0).decision is Decision.UNDECIDED
    few = np.repeat([-0.5, 0.0], [8, 112])
    assert (decided(few, 0.02).decision, decided(few, 0.02).high) == (Decision.UNDECIDED, decided(0 * few, 0.02).high)
    needed = decided(few, 0.02).needed
    assert needed is not None
    assert decided(np.tile(few, 2)[: -(240 - needed) or None], 0.02).decision is Decision.WITHIN


def test_dependent_items_count_once() -> None:
    """Each of 40 items ten times over: bounds as of 40, not of 400."""
    lost = np.random.default_rng(3).normal(0.05, 0.1, 40)
    known = Dependence.of_groups(np.repeat(np.arange(40), 10), Unit.QUERIES)
    once, repeated = decided(lost, 0.02), decided(np.repeat(lost, 10), 0.02, known)
    assert repeated.low == pytest.approx(once.low)
    assert repeated.high == pytest.approx(once.high)


# --- re-trainings. Each draws a golden set, and how the new model does on it.


def hits(rng: np.random.Generator, n: int, true_drop: float) -> Float64:
    """A tenth of the answers change, as many for the better as for the worse, and some more are lost."""
    u = rng.random(n)
    return np.where(u < 0.05, -1.0, np.where(u < 0.1 + true_drop, 1.0, 0.0))


def rare_hits(rng: np.random.Generator, n: int, true_drop: float) -> Float64:
    """The same, with one in fifty."""
    u = rng.random(n)
    return np.where(u < 0.01, -1.0, np.where(u < 0.02 + true_drop, 1.0, 0.0))


def reciprocal_ranks(rng: np.random.Generator, n: int, true_drop: float) -> Float64:
    """Matches move between ranks: often by little, seldom from the first to the second."""
    steps = np.array([0.0, 1 / 2, -1 / 2, 1 / 6, -1 / 6, 1 / 20, -1 / 20])
    moved = rng.choice(steps, n, p=[0.6, 0.05, 0.05, 0.05, 0.05, 0.1, 0.1])
    return np.where(rng.random(n) < true_drop / 0.5, 0.5, moved)


def all_alike(rng: np.random.Generator, n: int, true_drop: float) -> Float64:
    """Nearly all items lose as much as a few gain: seldom is one of the few seen. A true drop of 0 is no drop."""
    gain = 0.03
    return np.where(rng.random(n) < gain, -1.0, (true_drop + gain) / (1 - gain))


def all_gain(rng: np.random.Generator, n: int, true_drop: float) -> Float64:
    """All gain a little but for a few that are lost whole, which a small set may not show."""
    return np.where(rng.random(n) < (true_drop + 0.03) / 1.03, 1.0, -0.03 * rng.uniform(0.5, 1.5, n))


Retraining = Callable[[np.random.Generator, int, float], Float64]


def share_of(
    decision: Decision, retraining: Retraining, n: int, tolerance: float, true_drop: float, times: int = RETRAININGS
) -> float:
    rng = np.random.default_rng([n, int(1_000 * tolerance), int(1_000 * true_drop)])
    found = [decided(retraining(rng, n, true_drop), tolerance).decision for _ in range(times)]
    return found.count(decision) / times


def in_the_rest(*values: object) -> list[object]:
    """Cases that only the rest of ``make check`` simulates."""
    return [pytest.param(value, marks=pytest.mark.heavy) for value in values]


NOISE = 3 * math.sqrt(ALPHA * (1 - ALPHA) / RETRAININGS)  # three standard errors of a share of 5%


@pytest.mark.parametrize("retraining", [rare_hits, reciprocal_ranks, *in_the_rest(hits, all_alike)])
@pytest.mark.parametrize("n", [*in_the_rest(60), 300])
@pytest.mark.parametrize("tolerance", [*in_the_rest(0.0), 0.02])
def test_false_alarms_are_at_most_five_percent(retraining: Retraining, n: int, tolerance: float) -> None:
    """Without a loss, where the tolerance is above 0 far fewer; and at a drop of just the tolerance."""
    assert share_of(Decision.BEYOND, retraining, n, tolerance, tolerance) <= ALPHA + NOISE
    if tolerance:
        assert share_of(Decision.BEYOND, retraining, n, tolerance, 0.0) <= ALPHA


@pytest.mark.parametrize("retraining", [rare_hits, all_gain, *in_the_rest(hits, reciprocal_ranks)])
@pytest.mark.parametrize("n", [*in_the_rest(60), 300])
def test_a_drop_of_the_tolerance_passes_in_at_most_five_percent(retraining: Retraining, n: int) -> None:
    for tolerance in (0.0, 0.03):
        assert share_of(Decision.WITHIN, retraining, n, tolerance, tolerance) <= ALPHA + NOISE


@pytest.mark.parametrize("retraining", [hits, *in_the_rest(reciprocal_ranks)])
@pytest.mark.parametrize("n", [*in_the_rest(150), 600])
def test_the_power_is_as_promised(retraining: Retraining, n: int) -> None:
    """Of the drop that re-trainings without loss call the smallest visible one, on the median, four of five are found:
    within five points."""
    rng = np.random.default_rng(n)
    promised = [decided(retraining(rng, n, 0.0), 0.02).visible for _ in range(100)]
    visible = float(np.median([one for one in promised if one is not None]))
    assert share_of(Decision.BEYOND, retraining, n, 0.02, visible, 600) == pytest.approx(0.8, abs=0.05)
