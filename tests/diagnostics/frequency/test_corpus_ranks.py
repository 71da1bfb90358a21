"""Frequency of neighbors: against loops, a planted power law, and chance."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import t as student

from blindspot.diagnostics.frequency import corpus_ranks
from blindspot.numerics.neighbors.exact import ExactIndex
from blindspot.numerics.similarity import Similarity
from tests.support.tables import each

N = 1_000


def test_corpus_ranks_by_hand() -> None:
    assert corpus_ranks.corpus_ranks(np.array([5.0, 90.0, 5.0, 1.0])).tolist() == [2.5, 1.0, 2.5, 4.0]


@pytest.mark.parametrize(("n", "last"), [(3, 0), (499, 4), (500, 5), (4_675, 46), (20_000, 200), (250_000, 1_000)])
def test_how_far_neighbors_are_looked_at(n: int, last: int) -> None:
    assert corpus_ranks.most_k(n) == last
    k = corpus_ranks.places(n).tolist()
    if last < corpus_ranks.LEAST_K:
        assert k == []
        return
    assert (k[0], k[-1]) == (1, last)
    assert k == sorted(set(k))


def test_a_curve_is_that_of_loops() -> None:
    rng = np.random.default_rng(4)
    vectors = rng.normal(size=(N, 6)).astype(np.float32)
    counts = np.exp(rng.normal(5, 2, N))
    ranks = corpus_ranks.corpus_ranks(counts)
    queries = np.array([3, 17, 400, 999])
    curve = corpus_ranks.neighbor_curve(ExactIndex(vectors, Similarity.COS), ranks, queries)
    units = vectors.astype(np.float64) / np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
    place = {item: rank for rank, item in enumerate(sorted(range(N), key=lambda i: -counts[i]), 1)}
    for at, k in enumerate(curve.k.tolist()):
        found = []
        for q in queries.tolist():
            others = sorted((i for i in range(N) if i != q), key=lambda i: -float(units[i] @ units[q]))
            found.append(place[others[k - 1]])
        mean = sum(found) / 4
        half = student.ppf(0.975, 3) * (sum((x - mean) ** 2 for x in found) / 3) ** 0.5 / 2
        assert curve.mean[at] == pytest.approx(mean)
        assert (curve.low[at], curve.high[at]) == pytest.approx((mean - half, mean + half))


@pytest.mark.parametrize(("a", "b"), [(50.0, 0.5), (900.0, -0.2), (1_000.0, 0.1)])
def test_a_planted_power_law_is_recovered_through_the_neighbors(a: float, b: float) -> None:
    """Items on an arc: the k-th neighbor of the first is the k-th after it, and there its rank is a k^b."""
    angle = np.arange(2_000) * 1e-3
    vectors = np.stack([np.cos(angle), np.sin(angle)], axis=1).astype(np.float32)
    ranks = np.concatenate([[1.0], a * np.arange(1, 2_000) ** b])
    curve = corpus_ranks.neighbor_curve(ExactIndex(vectors, Similarity.COS), ranks, np.array([0, 0]))
    fit = corpus_ranks.fit_power_law(curve)
    assert (fit.a, fit.b, fit.r2) == (pytest.approx(a), pytest.approx(b), pytest.approx(1.0))
    assert fit.holds


def test_a_planted_exponent_is_recovered_under_noise() -> None:
    k = corpus_ranks.places(20_000)
    mean = 700 * k**0.15 * np.exp(np.random.default_rng(5).normal(0, 0.03, len(k)))
    fit = corpus_ranks.fit_power_law(corpus_ranks.Curve(k, mean, mean, mean))
    assert fit.b == pytest.approx(0.15, abs=0.02)
    assert fit.holds
    slope, intercept = np.polyfit(np.log(k), np.log(mean), 1)
    assert (fit.b, np.log(fit.a)) == (pytest.approx(slope), pytest.approx(intercept))
    assert fit.r2 == pytest.approx(np.corrcoef(np.log(k), np.log(mean))[0, 1] ** 2)


@each("seed", range(8))
def test_random_neighbors_are_no_power_law(seed: int) -> None:
    ranks = np.random.default_rng(seed).permutation(3_000) + 1.0
    curve = corpus_ranks.null_curve(ranks, np.arange(0, 3_000, 10), seed)
    assert not corpus_ranks.fit_power_law(curve).holds
    assert curve.mean == pytest.approx(1_500, rel=0.15)


def test_random_neighbors_are_others_and_each_occurs_once() -> None:
    ranks = np.arange(600.0)  # so that a rank names the item
    queries = np.array([0, 599, 300])
    for query in queries:
        drawn = np.random.default_rng(corpus_ranks.SEED)
        curve = corpus_ranks.null_curve(ranks, np.array([query, query]))
        first, second = (drawn.choice(599, 6, replace=False) for _ in range(2))
        expected = [(x + (x >= query) + y + (y >= query)) / 2 for x, y in zip(first, second, strict=True)]
        assert curve.mean.tolist() == [expected[k - 1] for k in curve.k.tolist()]


def test_a_flat_curve_is_no_power_law() -> None:
    k = corpus_ranks.places(2_000)
    flat = np.full(len(k), 321.0)
    assert corpus_ranks.fit_power_law(corpus_ranks.Curve(k, flat, flat, flat)).r2 == 0.0


def test_named_words_are_taken_where_they_suffice() -> None:
    named = np.arange(corpus_ranks.FEW_QUERIES, dtype=np.int32)
    assert corpus_ranks.queries_among(named, 5_000).rows.tolist() == named.tolist()
    drawn = corpus_ranks.queries_among(named[1:], 5_000)
    assert not drawn.named
    assert len(set(drawn.rows.tolist())) == corpus_ranks.DRAWN_QUERIES
    assert corpus_ranks.queries_among(named[:0], 7).rows.tolist() == list(range(7))


def test_the_exponents_interval_is_that_of_a_jackknife() -> None:
    """Each query left out in turn gives nearly the same, and hand-made t intervals exactly the same."""
    rng = np.random.default_rng(6)
    k = corpus_ranks.places(20_000)
    ranks = 900 * k**0.15 * np.exp(0.3 * rng.normal(size=(60, 1)) + 0.4 * rng.normal(size=(60, len(k))))
    fit = corpus_ranks.fit_power_law(corpus_ranks.curve_of(k, ranks))
    assert fit.exponent is not None
    assert fit.exponent.interval is not None
    x = np.log(k) - np.log(k).mean()
    moved = [sum(x[p] / (x @ x) * row[p] / ranks[:, p].mean() for p in range(len(k))) for row in ranks]
    half = student.ppf(0.975, 59) * np.std(moved, ddof=1) / 60**0.5
    low, high = fit.exponent.interval.low, fit.exponent.interval.high
    assert (fit.exponent.value, fit.exponent.units) == (fit.b, 60)
    assert high - low == pytest.approx(2 * half, rel=0.02)
    assert (low + high) / 2 == pytest.approx(fit.b)
    without = [corpus_ranks.fit_power_law(corpus_ranks.curve_of(k, np.delete(ranks, q, 0))).b for q in range(60)]
    jackknife = (59 / 60 * ((np.array(without) - np.mean(without)) ** 2).sum()) ** 0.5
    assert half / student.ppf(0.975, 59) == pytest.approx(jackknife, rel=0.05)


def test_the_published_law_is_the_papers() -> None:
    assert corpus_ranks.published() == {"a": 1_000, "b": 0.17, "k": 1_000, "words": 103_647}
