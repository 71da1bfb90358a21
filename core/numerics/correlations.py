"""Correlations of predicted similarity with what people said: Pearson, Spearman, Kendall (Eger 2019, section 3)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.types import Float64

DECIMALS = 6  # to which similarities are rounded: nearer to each other they are equal (DESIGN 4.1)


@dataclass(frozen=True)
class Correlations:
    """Three correlations over n pairs; NaN where one is undefined.

    Attributes:
        kendall: tau-b, which takes ties into account.
    """

    pearson: float
    spearman: float
    kendall: float
    n: int


def correlations(predicted: Float64, gold: Float64) -> Correlations:
    """Of ``[n]`` predicted similarities and ``[n]`` scores, by scipy.

    All are NaN for fewer than two pairs, or where all predictions or all scores are the same.
    """
    from scipy import stats

    nan = float("nan")
    n = len(gold)
    if n < 2 or np.ptp(predicted) == 0 or np.ptp(gold) == 0:
        return Correlations(nan, nan, nan, n)
    return Correlations(
        float(stats.pearsonr(predicted, gold).statistic),
        float(stats.spearmanr(predicted, gold).statistic),
        float(stats.kendalltau(predicted, gold).statistic),
        n,
    )
