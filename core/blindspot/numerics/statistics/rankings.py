"""Rankings of a few competitors under many settings, and how much the settings agree (Eger 2019, section 3).

Values are rounded first, so that invisible differences are ties. A missing value is NaN, and so is its place; two
settings are compared over the competitors that have a value in both.
"""

from __future__ import annotations

import numpy as np

from blindspot.numerics.statistics.correlations import centered_ranks
from blindspot.types import Float64

DECIMALS = 4  # to which scores are rounded by default


def oriented(values: Float64, directions: Float64, decimals: int = DECIMALS) -> Float64:
    """Rounded scores of which more is better: ``[e, s]`` times ``[s]``, which is 1 (more is better) or -1 (less is)."""
    # Adding 0 turns -0.0 into 0.0.
    return np.asarray(np.round(values, decimals) * directions[np.newaxis, :] + 0.0)


def places(better: Float64) -> Float64:
    """Place of each of e competitors under each of s settings, from 1; ties share their mean place.

    Args:
        better: ``[e, s]``, more is better (``oriented``); NaN where missing.
    """
    out = np.full(better.shape, np.nan)
    for column in range(better.shape[1]):
        here = ~np.isnan(better[:, column])
        out[here, column] = centered_ranks(-better[here, column]) + (np.count_nonzero(here) + 1) / 2
    return out


def kendall(better: Float64) -> Float64:
    """Kendall's tau-b of every two settings, ``[s, s]``; NaN if one has fewer than two different values.

    Args:
        better: ``[e, s]``, NaN where missing.
    """
    first, second = np.triu_indices(len(better), 1)
    signs = np.sign(better[first] - better[second])  # [pairs of competitors, s]
    is_comparable = (~np.isnan(signs)).astype(np.float64)
    signs = np.nan_to_num(signs)
    untied = np.abs(signs).T @ is_comparable  # pairs not tied under the row's setting, among those that both have
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.clip((signs.T @ signs) / np.sqrt(untied * untied.T), -1.0, 1.0))


def spearman(better: Float64) -> Float64:
    """Spearman's rho of every two settings, ``[s, s]``; as ``kendall``."""
    s = better.shape[1]
    out = np.full((s, s), np.nan)
    for i in range(s):
        for j in range(i, s):
            both = ~np.isnan(better[:, i]) & ~np.isnan(better[:, j])
            ranks = places(better[both][:, [i, j]])
            if len(ranks) > 1 and (np.ptp(ranks, axis=0) > 0).all():
                away = ranks - ranks.mean(axis=0)
                products = away.T @ away
                out[i, j] = out[j, i] = products[0, 1] / np.sqrt(products[0, 0] * products[1, 1])
    return np.asarray(np.clip(out, -1.0, 1.0))
