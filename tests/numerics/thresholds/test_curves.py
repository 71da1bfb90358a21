"""Precision, recall and the threshold for a wish, against loops and cases done by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blindspot.errors import InputError
from blindspot.numerics.statistics.intervals import wilson_interval
from blindspot.numerics.statistics.pairs import exact_share
from blindspot.numerics.thresholds.curves import (
    FEWEST_CALLED,
    FOLDS,
    LabeledPairs,
    bands,
    carried_over,
    folds_of,
    safe,
    wished,
)
from tests.support.tables import each


def pairs_of(similarity: list[float], same: list[int]) -> LabeledPairs:
    """Pairs that share no text."""
    m = len(similarity)
    return LabeledPairs(
        np.array(similarity, dtype=np.float64), np.array(same, dtype=np.bool_), np.arange(m), m + np.arange(m)
    )


def counted(pairs: LabeledPairs, threshold: float) -> tuple[int, int, int]:
    """Called, right, and all that are the same, in a loop."""
    called = right = same = 0
    for s, is_same in zip(pairs.similarity.tolist(), pairs.same.tolist(), strict=True):
        same += is_same
        if s >= threshold:
            called += 1
            right += is_same
    return called, right, same


@st.composite
def drawn_pairs(draw: st.DrawFn) -> LabeledPairs:
    rows = draw(st.lists(st.tuples(st.integers(0, 12), st.booleans()), min_size=20, max_size=60))
    similarity, same = zip(*rows, strict=True)
    pairs = [similarity[0] + 1.0, *map(float, similarity[1:])]  # two similarities and both kinds at least
    return pairs_of(pairs, [True, False, *map(int, same[2:])])


@given(drawn_pairs())
@settings(max_examples=60, deadline=None)
def test_curve_is_that_of_a_loop_with_ties_at_the_threshold_called(pairs: LabeledPairs) -> None:
    curve = pairs.curve
    assert curve.thresholds.tolist() == sorted(set(pairs.similarity.tolist()))
    for i, threshold in enumerate(curve.thresholds.tolist()):
        called, right, same = counted(pairs, threshold)
        assert (curve.called[i], curve.right[i]) == (called, right)
        assert curve.precision[i] == right / called
        assert curve.recall[i] == right / same
        point = pairs.point(threshold)
        assert point.precision is not None
        assert (point.called, point.right) == (called, right)
        assert point.precision.value == pytest.approx(right / called)
        assert point.recall.value == pytest.approx(right / same)


@given(drawn_pairs(), st.sampled_from([0.3, 0.5, 0.8, 0.95]))
@settings(max_examples=60, deadline=None)
def test_the_threshold_is_the_lowest_that_reaches_the_wish(pairs: LabeledPairs, wish: float) -> None:
    found = wished(pairs, wish)
    reached, low, pointwise = [], [], []
    for threshold in sorted(set(pairs.similarity.tolist())):
        called, right, _ = counted(pairs, threshold)
        if called < FEWEST_CALLED:
            continue
        if right / called >= wish:
            reached.append(threshold)
        interval = wilson(pairs, threshold)
        low += [threshold] if interval is None or interval[1] >= wish else []
        pointwise += [threshold] if interval is not None and shown(pairs, threshold) >= wish else []
    assert (None if found.point is None else found.point.threshold) == min(reached, default=None)
    assert found.low == min(low, default=None)
    assert found.high is None or found.high >= min(pointwise), "a bound for all thresholds is no lower"
    if found.point is not None:
        assert found.low is not None
        assert found.low <= found.point.threshold <= (np.inf if found.high is None else found.high)


def shown(pairs: LabeledPairs, threshold: float) -> float:
    """The precision that is shown at one threshold that was chosen before, one-sided at 95%."""
    inside = pairs.similarity >= threshold
    return exact_share(pairs.same[inside].astype(np.float64), pairs.dependence(inside), 0.9).interval.low


def wilson(pairs: LabeledPairs, threshold: float) -> tuple[float, float] | None:
    found = pairs.point(threshold).precision
    return None if found is None or found.interval is None else (found.interval.low, found.interval.high)


def test_by_hand() -> None:
    """Ten same pairs at 1.0, then five and five at 0.5, ten different at 0: precision 1, 0.75, 0.5."""
    pairs = pairs_of([1.0] * 10 + [0.5] * 10 + [0.0] * 10, [1] * 10 + [1, 0] * 5 + [0] * 10)
    assert pairs.curve.precision.tolist() == [0.5, 0.75, 1.0]
    assert pairs.curve.recall.tolist() == [1.0, 1.0, pytest.approx(2 / 3)]
    found = wished(pairs, 0.75)
    assert found.point is not None
    assert found.point.threshold == 0.5
    assert wished(pairs, 0.76).point == pairs.point(1.0)


def test_an_interval_of_independent_pairs_is_close_to_wilsons() -> None:
    rng = np.random.default_rng(3)
    same = rng.random(600) < 0.5
    pairs = pairs_of((rng.normal(size=600) + same).tolist(), same.tolist())
    point = pairs.point(0.5)
    assert point.precision is not None
    plain = wilson_interval(point.right / point.called, point.called)
    assert point.precision.low == pytest.approx(plain.low, abs=0.003)
    assert point.precision.high == pytest.approx(plain.high, abs=0.003)


def test_no_threshold_reaches_the_wish() -> None:
    rng = np.random.default_rng(1)
    pairs = pairs_of(rng.normal(size=400).tolist(), (rng.random(400) < 0.3).tolist())
    found = wished(pairs, 0.99)
    assert found.point is None
    assert found.high is None
    assert found.best.precision is not None
    assert found.best.precision.value < 0.99
    assert found.best.precision.of_many == 393, "as many thresholds as call eight pairs or more"
    assert found.best.precision.low is not None
    assert found.best.precision.low < 0.3, "it was chosen as the highest of them"


def test_safe_is_where_nothing_below_a_start_failed() -> None:
    """200 pairs from 0.5 on, all the same, and 200 below that are not: half of all pairs is a start."""
    similarity = np.concatenate([np.linspace(0.5, 1, 200), np.linspace(0, 0.4, 200)])
    pairs = pairs_of(similarity.tolist(), [1] * 200 + [0] * 200)
    found = wished(pairs, 0.9)
    assert found.high is not None
    assert found.point is not None
    assert found.point.threshold < found.high < 0.55
    of_ten = wished(pairs, 0.9, among=10)
    assert of_ten.point == found.point
    assert of_ten.low is not None
    assert found.low is not None
    assert of_ten.low <= found.low
    assert of_ten.high is None or of_ten.high >= found.high
    assert wished(pairs, 0.999).high is None, "200 are too few to show that"
    assert wished(pairs_of(similarity[:30].tolist(), [1] * 29 + [0]), 0.95).high is None


def test_safe_is_what_an_exact_test_of_all_pairs_shows() -> None:
    """Of 60 pairs of which 0.9 are the same, 58 or more are in 0.053 of the cases, 59 or more in 0.014."""
    for right, is_safe in ((58, False), (59, True)):
        pairs = pairs_of(np.arange(60.0).tolist(), [1] * right + [0] * (60 - right))
        assert (safe(pairs, 0.9) is not None) is is_safe


def test_pairs_held_out_are_called_by_the_thresholds_of_others() -> None:
    rng = np.random.default_rng(8)
    same = rng.random(200) < 0.5
    pairs = pairs_of((rng.normal(size=200) + 1.5 * same).tolist(), same.tolist())
    folds, called = folds_of(pairs), np.zeros(200, dtype=bool)
    for fold in range(FOLDS):
        rest = pairs.within(folds != fold)
        chosen = wished(rest, 0.8).point
        assert chosen is not None
        called |= (folds == fold) & (pairs.similarity >= chosen.threshold)
    found = wished(pairs, 0.8).held_out
    assert found is not None
    assert found.value == pytest.approx(pairs.same[called].mean())


def test_few_pairs_at_the_top_are_no_threshold() -> None:
    """Seven right pairs on top would have precision 1."""
    pairs = pairs_of([0.9] * 7 + [0.5] * 20, [1] * 7 + [0, 1] * 10)
    assert wished(pairs, 0.95).point is None


def test_pairs_that_share_texts_are_less_sure() -> None:
    rng = np.random.default_rng(5)
    m = 300
    cluster = np.arange(m) // 6
    same = rng.random(m) < 0.5
    similarity = same + rng.normal(size=m // 6)[cluster]
    alone = LabeledPairs(similarity, same, np.arange(m), m + np.arange(m)).point(0.5).precision
    shared = LabeledPairs(similarity, same, cluster, m + np.arange(m)).point(0.5).precision
    assert alone is not None
    assert alone.interval is not None
    assert shared is not None
    assert shared.interval is not None
    assert shared.units < alone.units
    assert shared.interval != alone.interval


@each(
    ("similarity", "same", "said"),
    [
        ([0.1] * 5, [1, 0] * 2 + [1], "5 pairs"),
        ([0.1, 0.2] * 10, [1] * 20, "all 20 pairs are the same"),
        ([0.1, 0.2] * 10, [0] * 20, "all 20 pairs are different"),
        ([0.5] * 20, [1, 0] * 10, "all 20 pairs have the similarity 0.5"),
        ([np.nan, 0.2] * 10, [1, 0] * 10, "10 of 20 pairs have no similarity"),
        ([np.inf] + [0.2] * 19, [1, 0] * 10, "1 of 20 pairs have no similarity"),
    ],
)
def test_pairs_without_a_threshold_are_one_line(similarity: list[float], same: list[int], said: str) -> None:
    with pytest.raises(InputError, match=said) as caught:
        pairs_of(similarity, same)
    assert "\n" not in str(caught.value)


@each("wish", [0.0, 1.0, -1.0, 2.0, float("nan")])
def test_a_wish_that_is_no_precision(wish: float) -> None:
    with pytest.raises(InputError, match="cannot be asked for"):
        wished(pairs_of([0.1, 0.2] * 10, [0, 1] * 10), wish)


def test_drawn_bands_are_points_of_the_curve() -> None:
    rng = np.random.default_rng(2)
    same = rng.random(500) < 0.4
    pairs = pairs_of((rng.normal(size=500) + same).tolist(), same.tolist())
    drawn = bands(pairs)
    assert 60 < len(drawn) <= 120
    assert drawn[0].threshold == pairs.similarity.min()
    assert drawn[-1].threshold == pairs.similarity.max()
    assert [one.called for one in drawn] == sorted((one.called for one in drawn), reverse=True)


def test_a_threshold_carried_over() -> None:
    """Of ten same pairs A calls eight and B five, of ten different ones A two and B none."""
    rng = np.random.default_rng(0)
    same = [1] * 10 + [0] * 10
    a = pairs_of([0.9] * 8 + [0.1] * 2 + [0.9] * 2 + [0.1] * 8, same)
    b = pairs_of([0.9] * 5 + [0.1] * 5 + [0.1] * 9 + [0.2], same)
    over = carried_over(a, b, 0.9)
    assert over.a.precision is not None
    assert over.b.precision is not None
    assert over.precision is not None
    assert (over.a.precision.value, over.b.precision.value) == (pytest.approx(0.8), pytest.approx(1.0))
    assert over.precision.value == pytest.approx(0.2)
    assert over.recall.value == pytest.approx(-0.3)
    assert np.flatnonzero(over.only_a).tolist() == [5, 6, 7, 10, 11]
    assert not over.only_b.any()
    assert over.flipped.sum() == 5
    assert carried_over(a, b, 2.0).precision is None
    with pytest.raises(ValueError, match="same pairs"):
        carried_over(a, pairs_of(rng.normal(size=20).tolist(), [0] * 10 + [1] * 10), 0.5)


def test_the_difference_of_precisions_has_the_spread_of_a_bootstrap() -> None:
    rng = np.random.default_rng(8)
    m = 800
    same = rng.random(m) < 0.5
    base = rng.normal(size=m)
    a = pairs_of((base + 1.5 * same).tolist(), same.tolist())
    b = pairs_of((0.6 * base + 0.8 * rng.normal(size=m) + same).tolist(), same.tolist())
    found = carried_over(a, b, 0.9).precision
    assert found is not None
    assert found.interval is not None
    drawn = []
    for _ in range(1_000):
        rows = rng.integers(m, size=m)
        precisions = [same[rows][side.similarity[rows] >= 0.9].mean() for side in (a, b)]
        drawn.append(precisions[1] - precisions[0])
    low, high = np.quantile(drawn, [0.025, 0.975])
    assert found.interval.low == pytest.approx(low, abs=0.012)
    assert found.interval.high == pytest.approx(high, abs=0.012)
