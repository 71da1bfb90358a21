"""Isotonic regression, against scikit-learn's and a case computed by hand."""

from __future__ import annotations

import numpy as np
from sklearn.isotonic import IsotonicRegression

from blindspot.numerics.statistics.isotonic import isotonic


def test_by_hand():
    # 4 and 1 are out of order: their mean for both. The two at x = 3 have one value, their mean.
    x, y = np.array([1.0, 2.0, 3.0, 3.0, 0.0]), np.array([4.0, 1.0, 8.0, 6.0, 0.0])
    assert isotonic(x, y).tolist() == [2.5, 2.5, 7.0, 7.0, 0.0]


def test_as_scikit_learn():
    rng = np.random.default_rng(5)
    for m in (1, 2, 50, 2_000):
        for levels in (3, 40, 10**9):
            x = rng.integers(0, levels, m) / levels
            y = x + rng.normal(0, 0.5, m)
            np.testing.assert_allclose(
                isotonic(x, y), IsotonicRegression(increasing=True).fit_transform(x, y), rtol=0, atol=1e-12
            )
