"""Confidence intervals, and tests of two measurements on the same items.

Numbers in, numbers out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from blindspot.types import Float64, Int64

LEVEL = 0.95  # of every interval, unless stated otherwise
ALPHA = 0.05  # p-values below it, corrected for several tests, are significant
Z_95 = 1.959963984540054  # the normal distribution's 97.5th percentile


@dataclass(frozen=True)
class Interval:
    low: float
    high: float


def level_of_each(many: int) -> float:
    """Level of each of so many intervals that hold together in 95% of cases (Bonferroni).

    The results may then decide which of them is shown, such as the highest or the lowest.
    """
    return 1 - (1 - LEVEL) / max(many, 1)


def chosen_among(models: int) -> int:
    """The number of intervals to count in ``level_of_each`` for the interval of the best of so many models.

    The better of two keeps its own: the best errs upward whenever one of them does, but hardly ever downward. With
    five, the best one's own interval covers the truth in only 89% of cases (``docs/statistics.md``).
    """
    return models if models > 2 else 1


def wilson_interval(share: float, n: float, z: float = Z_95) -> Interval:
    """Wilson's score interval of a share among ``n`` (1927), at 95% by default.

    ``share * n`` need not be whole: ties may count half.
    """
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * float(np.sqrt(share * (1 - share) / n + z * z / (4 * n * n)))
    # It contains the share (as its end, at 0 and 1): rounding must not exclude it.
    return Interval(max(0.0, min(share, centre - half)), min(1.0, max(share, centre + half)))


def exact_interval(share: float, n: float, level: float = LEVEL) -> Interval:
    """Clopper and Pearson's interval of a share among ``n`` (1934), which need not be whole.

    It keeps its level for rare things, too; Wilson's interval of these ends too high at levels far beyond 95%.
    """
    from scipy.special import betaincinv

    hits, tail = share * n, (1 - level) / 2
    low = float(betaincinv(hits, n - hits + 1, tail)) if hits > 0 else 0.0
    return Interval(low, float(betaincinv(hits + 1, n - hits, 1 - tail)) if hits < n else 1.0)


def quantile(freedom: Float64 | float, level: float = LEVEL) -> Float64:
    """Half-width of an interval in standard errors: quantile of Student's t."""
    from scipy.special import stdtrit  # an eighth of all imports of a cold start

    return np.asarray(stdtrit(freedom, (1 + level) / 2))


def percentile_interval(resampled: Float64, value: float, level: float = LEVEL) -> Interval:
    """The middle 95% of a bootstrap's values ``[resamples]`` (the percentile method), extended to ``value``, that of
    the sample itself, which can be outside with few sentences."""
    low, high = np.quantile(resampled, [(1 - level) / 2, (1 + level) / 2])
    return Interval(min(value, float(low)), max(value, float(high)))


def mcnemar(first: Float64, second: Float64) -> float:
    """The p-value of McNemar's exact two-sided test on paired outcomes ``[n]``: 0, 1, or 0.5 for a tie.

    An item is *discordant* if its two outcomes differ; it counts for the higher one, whether by half a point or a whole
    one. Under the null hypothesis either is higher with probability 1/2: the p-value is that of the binomial test on
    the discordant items. With outcomes 0 and 1 alone this is McNemar's exact test (1947), with ties the sign test.
    Without discordant items p is 1.

    Raises:
        ValueError: the outcomes are not paired, or not 0, 0.5 or 1.
    """
    if first.shape != second.shape or not np.isin([first, second], (0.0, 0.5, 1.0)).all():
        raise ValueError("outcomes must come in pairs, each of them 0, 0.5 or 1")
    return sign_test(int(np.count_nonzero(first > second)), int(np.count_nonzero(first < second)))


def sign_test(better: int, worse: int) -> float:
    """The two-sided p-value of an exact sign test; 1 without any item that differs."""
    from scipy.special import bdtr

    return min(1.0, 2 * float(bdtr(min(better, worse), better + worse, 0.5)))


def hypergeometric_cdf(most: Int64, total: Int64, hits: Int64, drawn: Int64) -> Float64:
    """Probability of at most ``most`` hits among ``drawn`` items of ``total`` that have ``hits`` hits, ``[n]`` each.

    As scipy's ``hypergeom.cdf``, but its import would take half a second of a page that tests one table.
    """
    from scipy.special import betaln

    def log_choices(n: int, k: Int64) -> Float64:
        return np.asarray(-np.log(n + 1) - betaln(n - k + 1.0, k + 1.0), dtype=np.float64)

    out = np.empty(len(most))
    for index, (at, n, k, m) in enumerate(
        zip(most.tolist(), total.tolist(), hits.tolist(), drawn.tolist(), strict=True)
    ):
        count = np.arange(max(0, m - (n - k)), min(at, k, m) + 1, dtype=np.int64)
        logs = log_choices(k, count) + log_choices(n - k, m - count) - log_choices(n, np.full_like(count, m))
        out[index] = min(1.0, float(np.exp(logs).sum()))
    return out


def p_of_more(count: float, n: float, chance: float) -> float:
    """Exact binomial test of ``count`` of ``n`` against ``chance``: twice the upper tail, at most 1, so that each side
    has half of the error.

    Args:
        count: rounded down, toward chance, if not whole (ties count half).
        n: likewise; p is 1 for 0.
    """
    from scipy.special import bdtrc

    whole, all_of_them = int(np.floor(count)), int(np.floor(n))
    if whole <= chance * all_of_them:
        return 1.0
    return min(1.0, 2.0 * float(bdtrc(whole - 1.0, all_of_them, chance)))


def holm(p_values: Float64) -> Float64:
    """p-values ``[m]`` corrected for m tests (Holm 1979), in the same order.

    If those below alpha are called significant, the probability of any false call is at most alpha.
    """
    m = len(p_values)
    order = np.argsort(p_values, kind="stable")
    stepped = np.maximum.accumulate(p_values[order] * np.arange(m, 0, -1))
    corrected = np.empty(m)
    corrected[order] = np.minimum(stepped, 1.0)
    return corrected


def benjamini_hochberg(p_values: Float64) -> Float64:
    """p-values ``[m]`` adjusted for the false discovery rate (Benjamini and Hochberg 1995), in the same order.

    If those at or below alpha are called discoveries, the expected share of false ones among them is at most alpha, for
    independent and for positively dependent tests.
    """
    m = len(p_values)
    order = np.argsort(p_values, kind="stable")[::-1]
    stepped = np.minimum.accumulate(p_values[order] * m / np.arange(m, 0, -1))
    adjusted = np.empty(m)
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted
