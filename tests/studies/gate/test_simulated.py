"""Re-trainings without a loss through the whole gate: vectors, ranks among shared candidates, groups of pairs, verdict.

Drops of single items are simulated in ``tests/numerics/statistics/test_tolerance.py``, the promised power as well.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import blindspot as bs

RETRAININGS, ALPHA = 500, 0.05
NOISE = 3 * math.sqrt(ALPHA * (1 - ALPHA) / RETRAININGS)


@pytest.mark.slow
def test_a_model_trained_anew_is_no_false_alarm(tmp_path: Path) -> None:
    """Old and new model are the same vectors, each with noise of its own: either is the better one by chance alone."""
    rng = np.random.default_rng(3)
    n, d = 150, 24
    pairs = [(f"question {number}", f"answer {number}") for number in range(n)]
    meant = rng.normal(size=(n, d))
    texts = bs.texts_of(pairs, store=tmp_path)
    of_text = np.array([meant[int(text.split()[1])] for text in texts])

    def trained() -> np.ndarray:
        return of_text + rng.normal(size=of_text.shape)

    found = [bs.gate(trained(), pairs, trained(), max_drop=0, alpha=ALPHA, store=tmp_path) for _ in range(RETRAININGS)]
    assert 0.2 < np.mean([one.old for one in found]) < 0.9
    assert np.mean([one.drop.value for one in found]) == pytest.approx(0, abs=0.01)
    alarms = [one.drop.low is not None and one.drop.low > 0 for one in found]
    assert [one.outcome == "failed" for one in found] == alarms
    assert np.mean(alarms) <= ALPHA + NOISE
    assert np.mean([one.drop.low is not None and one.drop.low > 0.02 for one in found]) <= ALPHA
