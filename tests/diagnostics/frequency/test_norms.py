"""Lengths of vectors against frequency."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import spearmanr

from blindspot.diagnostics.frequency import norms
from blindspot.diagnostics.frequency.norms import against_frequency, sample


def test_lengths_and_their_correlation_are_those_of_a_loop() -> None:
    rng = np.random.default_rng(0)
    zipf = rng.uniform(1, 7, 400)
    vectors = (rng.normal(size=(400, 5)) * zipf[:, None]).astype(np.float32)
    zipf[::9] = np.nan
    vectors[3] = 0
    found = against_frequency(vectors, zipf)
    lengths = [sum(float(x) ** 2 for x in row) ** 0.5 for row in vectors]
    assert found.norms == pytest.approx(lengths)
    kept = [i for i in range(400) if lengths[i] > 0 and not np.isnan(zipf[i])]
    expected = spearmanr([lengths[i] for i in kept], zipf[kept]).statistic
    assert found.correlation.value == pytest.approx(float(expected))
    assert found.correlation.n == len(kept)
    assert (found.zeros, found.alike) == (1, False)
    assert found.shortest == pytest.approx(min(x for x in lengths if x > 0))
    assert found.longest == pytest.approx(max(lengths))
    for middle, median, items in zip(found.medians.middle, found.medians.median, found.medians.items, strict=True):
        inside = [lengths[i] for i in kept if middle - 0.25 <= zipf[i] < middle + 0.25]
        assert items == len(inside) >= norms.FEWEST
        assert median == pytest.approx(np.median(inside))
    assert found.medians.items.sum() > 100


def test_vectors_of_one_length_are_not_correlated_by_their_rounding() -> None:
    rng = np.random.default_rng(1)
    vectors = rng.normal(size=(100, 8))
    vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    vectors[7] = 0
    found = against_frequency(vectors, rng.uniform(1, 7, 100))
    assert found.alike
    assert found.zeros == 1
    assert np.isnan(found.correlation.value)
    assert len(found.medians.median) == 0
    vectors[0] *= 1.01
    assert not against_frequency(vectors, rng.uniform(1, 7, 100)).alike


def test_only_zero_vectors() -> None:
    found = against_frequency(np.zeros((3, 2), dtype=np.float32), np.array([1.0, 2.0, 3.0]))
    assert found.alike
    assert found.zeros == 3
    assert np.isnan(found.longest)


def test_charts_together_hold_no_more_dots_than_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    zipf = np.arange(1_000.0)
    zipf[::10] = np.nan
    assert sample(zipf, 3).tolist() == [i for i in range(1_000) if i % 10]
    monkeypatch.setattr(norms, "MOST_POINTS", 300)
    drawn = sample(zipf, 4)
    assert len(set(drawn.tolist())) == 75
    assert drawn.tolist() == sorted(drawn.tolist())
    assert not np.isnan(zipf[drawn]).any()
    np.testing.assert_array_equal(drawn, sample(zipf, 4))
