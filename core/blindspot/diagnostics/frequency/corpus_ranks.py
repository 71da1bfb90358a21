"""Frequency of an item's neighbors by their place among them (Schnabel 2015, section 6, figure 4)."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from blindspot.files.reference import printed
from blindspot.numerics.neighbors.exact import ExactIndex
from blindspot.numerics.statistics.estimate import Estimate, Unit
from blindspot.numerics.statistics.pairs import Dependence, change
from blindspot.types import Float64, Int32, Int64

MOST_K = 1_000
SHARE = 0.01  # of the items: the highest k
POINTS = 25  # along k
FEW_QUERIES = 30  # with fewer named words, items are drawn
DRAWN_QUERIES = 400
POWER_LAW = 0.8  # the least R2 of a power law
LEAST_K = 5
FLAT = 1e-18  # a variance of log ranks that is rounding
SEED = 2015


@dataclass(frozen=True, eq=False)
class Curve:
    """Mean corpus rank of the k-th neighbor over query items, with its 95% t interval; rank 1 is the most frequent.

    Attributes:
        k: ``[p] int64``, ascending; ``mean, low, high`` are ``[p] float64``.
        influence: ``[q] float64``, how far each query moves the exponent of the power law; empty if not known.
    """

    k: Int64
    mean: Float64
    low: Float64
    high: Float64
    influence: Float64 = field(default_factory=lambda: np.empty(0))


@dataclass(frozen=True)
class PowerLaw:
    """``mean corpus rank = a k^b``; ``r2`` is the explained share of the variance of log rank, 0 for a flat curve."""

    a: float
    b: float
    r2: float
    exponent: Estimate | None = None  # b with its interval over the queries, where these are known

    @property
    def holds(self) -> bool:
        return self.r2 >= POWER_LAW


@dataclass(frozen=True, eq=False)
class Queries:
    """Query rows ``[q] int64``; ``named`` if they are the words of WordSim-353, else they are drawn."""

    rows: Int64
    named: bool


def corpus_ranks(counts: Float64) -> Float64:
    """Rank of every item by its count, ``[n] float64``: 1 for the most frequent; equal counts share their mean rank."""
    from scipy.stats import rankdata

    return np.asarray(rankdata(-counts, method="average"), dtype=np.float64)


def most_k(n: int) -> int:
    """The highest k among ``n`` items: 1% of them, at most 1,000."""
    return min(MOST_K, int(n * SHARE))


def places(n: int) -> Int64:
    """The k at which ranks are averaged, evenly spaced in log k, ``[p] int64``; none for few items."""
    last = most_k(n)
    if last < LEAST_K:
        return np.empty(0, dtype=np.int64)
    return np.unique(np.geomspace(1, last, POINTS).round().astype(np.int64))


def queries_among(named: Int32 | Int64, n: int, seed: int = SEED) -> Queries:
    """The named words, or, if those are too few, at most 400 of the ``n`` items drawn at random."""
    if len(named) >= FEW_QUERIES:
        return Queries(np.asarray(named, dtype=np.int64), named=True)
    rows = np.random.default_rng(seed).permutation(n)[:DRAWN_QUERIES]
    return Queries(np.sort(rows).astype(np.int64), named=False)


def neighbor_curve(index: ExactIndex, ranks: Float64, queries: Int64) -> Curve:
    """Mean corpus rank of the k-th nearest neighbor.

    Args:
        ranks: ``[n] float64`` of the indexed items; at least 500, see ``places``.
        queries: ``[q] int64``, two or more rows.
    """
    k = places(len(index))
    neighbors = index.of_rows(queries, int(k[-1])).rows
    return curve_of(k, ranks[neighbors[:, k - 1]])


def null_curve(ranks: Float64, queries: Int64, seed: int = SEED) -> Curve:
    """The same with random other items as neighbors, each at most once per query."""
    rng = np.random.default_rng(seed)
    n = len(ranks)
    k = places(n)
    drawn = np.stack([rng.choice(n - 1, int(k[-1]), replace=False) for _ in queries])
    drawn += drawn >= queries[:, None]  # past the query itself
    return curve_of(k, ranks[drawn[:, k - 1]])


def curve_of(k: Int64, ranks: Float64) -> Curve:
    """Means and intervals of ``[q, p]`` ranks."""
    from scipy.stats import t

    q = len(ranks)
    mean = ranks.mean(axis=0)
    half = t.ppf(0.975, q - 1) * ranks.std(axis=0, ddof=1) / np.sqrt(q)
    influence = (ranks / mean - 1) @ _slopes(k)  # of the exponent: to first order, since it is fitted to log means
    return Curve(k, mean, mean - half, mean + half, influence)


def _slopes(k: Int64) -> Float64:
    """The weight of each place's log mean in the least-squares exponent, ``[p]``."""
    x = np.log(k.astype(np.float64))
    return np.asarray((x - x.mean()) / ((x - x.mean()) ** 2).sum())


def fit_power_law(curve: Curve) -> PowerLaw:
    """Least squares of log mean rank on log k, with a t interval of the exponent over the queries."""
    x, y = np.log(curve.k.astype(np.float64)), np.log(curve.mean)
    y0 = y - y.mean()
    b = float(_slopes(curve.k) @ y0)
    a = float(np.exp(y.mean() - b * x.mean()))
    total = float(y0 @ y0)
    left = y0 - b * (x - x.mean())
    exponent = None
    if q := len(curve.influence):
        exponent = change(b, curve.influence, Dependence.of_groups(np.arange(q), Unit.QUERIES))
    return PowerLaw(a, b, 1.0 - float(left @ left) / total if total > FLAT else 0.0, exponent)


def published() -> dict[str, float]:
    """The law of figure 4 for the C&W embeddings: ``a``, ``b``, the highest ``k``, and the number of ``words``.

    The paper prints ``nn-rank ~ 1000 corpus-rank^0.17``. A rank among 1,000 neighbors cannot be over 1,000, so we read
    it the other way round: corpus rank ~ 1000 k^0.17, as it is fitted here.
    """
    return printed("Schnabel et al. 2015", "figure 4")["C&W"]
