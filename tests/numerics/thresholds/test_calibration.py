"""Calibration of similarities, against loops: cross-fitting, Brier's score, ECE, Platt's curve."""

from __future__ import annotations

import math

import numpy as np
import pytest

from blindspot.errors import InputError
from blindspot.numerics.thresholds.calibration import FOLDS, Way, bins_of, calibrate, ece, fit, folds_of
from blindspot.numerics.thresholds.curves import LabeledPairs


def made(m: int = 600, seed: int = 4, cluster: int = 1, slope: float = 4.0) -> LabeledPairs:
    """Pairs that are the same with probability 1 / (1 + exp(-slope (s - 0.5)))."""
    rng = np.random.default_rng(seed)
    similarity = rng.random(m)
    same = rng.random(m) < 1 / (1 + np.exp(-slope * (similarity - 0.5)))
    return LabeledPairs(similarity, same, np.arange(m) // cluster, m + np.arange(m))


@pytest.mark.parametrize("way", Way)
def test_probabilities_come_from_the_other_folds(way: Way) -> None:
    pairs = made(200, cluster=4)
    folds, found = folds_of(pairs), calibrate(pairs, way)
    for fold in range(FOLDS):
        inside = folds == fold
        assert 30 <= inside.sum() <= 50
        alone = fit(way, pairs.similarity[~inside], pairs.same[~inside])
        assert found.probability[inside] == pytest.approx(alone.probability(pairs.similarity[inside]), abs=1e-12)
    for text in np.unique(pairs.left):
        assert len(set(folds[pairs.left == text].tolist())) == 1


def test_brier_and_ece_are_those_of_loops() -> None:
    found, pairs = calibrate(made(), Way.ISOTONIC), made()
    p, y = found.probability.tolist(), pairs.same.tolist()
    assert found.brier.value == pytest.approx(sum((a - b) ** 2 for a, b in zip(p, y, strict=True)) / len(p))
    bins = bins_of(found.probability).tolist()
    by_hand = 0.0
    for number in set(bins):
        rows = [i for i, own in enumerate(bins) if own == number]
        by_hand += abs(sum(p[i] for i in rows) - sum(y[i] for i in rows)) / len(p)
    assert found.ece == pytest.approx(by_hand)
    assert sum(one.pairs for one in found.bins) == len(p)


def test_equal_probabilities_share_a_bin() -> None:
    bins = bins_of(np.array([0.1] * 5 + [0.9] * 15))
    assert len(set(bins[:5].tolist())) == len(set(bins[5:].tolist())) == 1
    assert ece(np.array([0.1] * 5 + [0.9] * 15), np.array([False] * 5 + [True] * 15), bins) == pytest.approx(0.1)


def test_platts_curve_has_the_slope_that_made_the_data() -> None:
    pairs = made(40_000, slope=6.0)
    found = fit(Way.LOGISTIC, pairs.similarity, pairs.same)
    assert found.slope == pytest.approx(6.0, abs=0.2)
    assert found.intercept == pytest.approx(-3.0, abs=0.12)
    probability = 1 / (1 + math.exp(-(found.slope * 0.3 + found.intercept)))
    assert found.probability(np.array([0.3]))[0] == pytest.approx(probability, abs=1e-12)


def test_perfectly_separated_pairs_stay_finite() -> None:
    similarity = np.concatenate([np.linspace(0, 0.4, 50), np.linspace(0.6, 1, 50)])
    same = similarity > 0.5
    found = fit(Way.LOGISTIC, similarity, same)
    assert np.isfinite([found.slope, found.intercept]).all()
    probability = found.probability(similarity)
    assert ((probability > 0) & (probability < 1)).all()
    assert probability[same].min() > probability[~same].max()


def test_probabilities_rise_with_similarity_and_gain_on_the_base_rate() -> None:
    for way in Way:
        found = calibrate(made(), way)
        grid = found.fitted.probability(np.linspace(-1, 2, 100))
        assert (np.diff(grid) >= -1e-12).all()
        assert found.gain.low is not None
        assert found.gain.low > 0
        assert found.ece < 0.08
        assert 0 < found.ece_by_chance < 0.08


def test_similarities_that_say_nothing_gain_nothing() -> None:
    rng = np.random.default_rng(2)
    m = 500
    pairs = LabeledPairs(rng.random(m), rng.random(m) < 0.5, np.arange(m), m + np.arange(m))
    found = calibrate(pairs, Way.LOGISTIC)
    assert found.gain.low is not None
    assert found.gain.low <= 0


def test_one_text_in_all_pairs_folds_single_pairs() -> None:
    pairs = made(100, cluster=100)
    assert sorted(np.bincount(folds_of(pairs)).tolist()) == [20] * 5


def test_one_pair_of_a_kind_is_too_few() -> None:
    same = np.zeros(40, dtype=np.bool_)
    same[3] = True
    pairs = LabeledPairs(np.linspace(0, 1, 40), same, np.arange(40), 40 + np.arange(40))
    with pytest.raises(InputError, match="too few to calibrate"):
        calibrate(pairs, Way.ISOTONIC)
