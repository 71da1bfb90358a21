"""``bs.threshold``: the numbers of the run's pairs, calibrated probabilities, what is wrong with a request."""

from __future__ import annotations

import numpy as np
import pytest

import blindspot as bs


@pytest.fixture(scope="module")
def run() -> bs.Run:
    """Similarities 0.00 to 0.99; the more alike, the more often the same."""
    rng = np.random.default_rng(3)
    angles = np.arccos(np.arange(200) / 200)
    vectors = np.concatenate([np.tile([1.0, 0.0], (200, 1)), np.stack([np.cos(angles), np.sin(angles)], axis=1)])
    same = (rng.random(200) < np.arange(200) / 200).astype(int)
    rows = [(f"first {i}", f"second {i}", int(same[i])) for i in range(200)]
    texts = {text: vectors[i] for i, text in enumerate([*(r[0] for r in rows), *(r[1] for r in rows)])}
    data = {"text1": [r[0] for r in rows], "text2": [r[1] for r in rows], "score": [r[2] for r in rows]}
    return bs.similarity(lambda wanted: [texts.get(text, vectors[0]) for text in wanted], data)


def test_threshold_is_that_of_the_pairs(run: bs.Run) -> None:
    found = bs.threshold(run, precision=0.8)
    frame = run.pairs()
    assert found.value is not None
    assert found.precision is not None
    called = frame[frame["similarity"] >= found.value]
    assert found.precision.value == pytest.approx((called["gold"] == 1).mean())
    assert found.precision.value >= 0.8
    lower = frame["similarity"][frame["similarity"] < found.value]
    assert all((frame["gold"][frame["similarity"] >= t] == 1).mean() < 0.8 for t in lower)
    assert f"{found.value:.3f}" in found.said
    assert found.facts["threshold"] == found.value
    for way in ("isotonic", "logistic"):
        probability = found.probability([0.1, 0.5, 0.9], way)
        assert probability == pytest.approx([0.1, 0.5, 0.9], abs=0.17)


def test_what_is_wrong_is_one_line(run: bs.Run) -> None:
    with pytest.raises(bs.InputError, match=r"bs\.similarity"):
        bs.threshold(bs.evalrank("random-projection", "demo-pairs"))
    with pytest.raises(bs.InputError, match="are different"):
        bs.threshold(run, cut=7)
    with pytest.raises(bs.InputError, match="no calibration"):
        bs.threshold(run).probability(0.5, "magic")
