"""Isotonic regression: the closest ascending step function, by least squares."""

from __future__ import annotations

import numpy as np

from blindspot.types import Float64


def isotonic(x: Float64, y: Float64) -> Float64:
    """Fitted values ``[m]`` that ascend with ``x``; equal ``x`` have one value.

    The same as scikit-learn's, but its import would take longer than all else that the first finding needs.

    Args:
        x, y: finite, ``[m]``.
    """
    from scipy.optimize import isotonic_regression

    _, inverse, count = np.unique(x, return_inverse=True, return_counts=True)
    mean = np.bincount(inverse, weights=y) / count
    return np.asarray(isotonic_regression(mean, weights=count).x[inverse])
