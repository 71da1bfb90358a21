"""Alignment, uniformity, anisotropy and the hubness of a sample, against loops in float64 and by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blindspot.datasets.kinds.pairs import PairSet
from blindspot.datasets.published import pairs as loaders
from blindspot.diagnostics.geometry import definition as geometry
from blindspot.diagnostics.geometry.definition import ENTRY, MOST, SEED
from blindspot.errors import BlindspotError
from blindspot.numerics.similarity import Similarity
from blindspot.types import CancelToken, Float32, Float64, no_progress
from tests.support.tables import each


def cosine(x: Float64, y: Float64) -> float:
    lengths = math.sqrt(sum(a * a for a in x)) * math.sqrt(sum(b * b for b in y))
    return sum(a * b for a, b in zip(x, y, strict=True)) / lengths if lengths else 0.0


def slow_uniformity(vectors: Float64) -> float:
    values = [
        math.exp(-2 * (2 - 2 * cosine(vectors[i], vectors[j])))
        for i in range(len(vectors))
        for j in range(len(vectors))
        if i != j
    ]
    return math.log(sum(values) / len(values))


def slow_anisotropy(vectors: Float64) -> float:
    n = len(vectors)
    values = [cosine(vectors[i], vectors[j]) for i in range(n) for j in range(n) if i != j]
    return sum(values) / len(values)


def slow_hubness(vectors: Float64, k: int, metric: Similarity) -> float:
    if metric is Similarity.COS:
        vectors = vectors[[bool(row.any()) for row in vectors]]
    counts = np.zeros(len(vectors))
    for i in range(len(vectors)):
        near = [
            cosine(vectors[i], vectors[j]) if metric is Similarity.COS else -math.dist(vectors[i], vectors[j])
            for j in range(len(vectors))
        ]
        near[i] = -math.inf
        for j in sorted(range(len(vectors)), key=lambda j: -near[j])[:k]:
            counts[j] += 1
    away = counts - counts.mean()
    return float(np.mean(away**3) / np.mean(away**2) ** 1.5)


def vectors_of(n: int, d: int, seed: int, zeros: int = 0) -> Float32:
    rng = np.random.default_rng(seed)
    out = rng.standard_normal((n, d)).astype(np.float32) * rng.uniform(0.2, 5.0, (n, 1)).astype(np.float32)
    out[:zeros] = 0
    return out


def pairs_of(items: int, pairs: list[tuple[int, int]]) -> PairSet:
    texts = [f"text {i}" for i in range(items)]
    return loaders.pair_set("some", pairs=[(texts[a], texts[b]) for a, b in pairs], background=texts)


def compute(vectors: Float32, dataset: PairSet) -> dict[str, float]:
    return dict(ENTRY.compute(vectors, dataset, {}, no_progress, CancelToken()).metrics)


@settings(max_examples=30, deadline=None)
@given(n=st.integers(2, 40), d=st.integers(1, 8), seed=st.integers(0, 999), zeros=st.integers(0, 2))
def test_like_the_loops(n: int, d: int, seed: int, zeros: int) -> None:
    vectors = vectors_of(n, d, seed, zeros)
    as_float64 = vectors.astype(np.float64)
    assert geometry.uniformity(vectors, np.arange(n)) == pytest.approx(slow_uniformity(as_float64), abs=1e-9)
    assert geometry.anisotropy(vectors) == pytest.approx(slow_anisotropy(as_float64), abs=1e-9)
    left, right = np.arange(n, dtype=np.int64), np.roll(np.arange(n, dtype=np.int64), 1)
    expected = [2 - 2 * cosine(as_float64[a], as_float64[b]) for a, b in zip(left, right, strict=True)]
    assert geometry.squared_distances(vectors, left, right) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("metric", list(Similarity))
@pytest.mark.parametrize("zeros", [0, 1])
def test_hubness_like_the_loops(metric: Similarity, zeros: int) -> None:
    vectors = vectors_of(60, 6, 5, zeros)
    found = geometry.hubness(vectors, np.arange(60), 10, metric)
    assert found == pytest.approx(slow_hubness(vectors.astype(np.float64), 10, metric), abs=1e-9)


def test_more_rows_than_a_block_holds() -> None:
    """Pairs within a block and across blocks, each once."""
    vectors = vectors_of(geometry.ROWS_AT_ONCE + 40, 4, 1)
    units = vectors.astype(np.float64) / np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
    potential = np.exp(4 * (units @ units.T) - 4)
    np.fill_diagonal(potential, 0)
    n = len(vectors)
    assert geometry.uniformity(vectors, np.arange(n)) == pytest.approx(math.log(potential.sum() / (n * (n - 1))))


def test_by_hand() -> None:
    """Three directions of the plane: east, north, west; the pairs east-north and east-west."""
    vectors = np.array([[2, 0], [0, 3], [-1, 0]], dtype=np.float32)
    metrics = compute(vectors, pairs_of(3, [(0, 1), (0, 2)]))
    assert metrics["align"] == pytest.approx((2 + 4) / 2)
    assert metrics["anisotropy"] == pytest.approx((0 - 1 + 0) / 3)
    assert metrics["uniform"] == pytest.approx(math.log((2 * math.exp(-4) + math.exp(-8)) / 3))
    assert "hubness_cos_sample" not in metrics, "ten neighbors of three items are all of them"
    assert metrics["sampled_items"] == 3
    assert metrics["zero_vectors"] == 0


def test_a_zero_vector_is_as_far_as_an_unrelated_one() -> None:
    vectors = np.array([[1, 0], [0, 0], [1, 0]], dtype=np.float32)
    dataset = pairs_of(3, [(0, 1), (0, 2)])
    result = ENTRY.compute(vectors, dataset, {}, no_progress, CancelToken())
    assert result.items["squared_distance"].to_pylist() == pytest.approx([2.0, 0.0])
    assert result.metrics["zero_vectors"] == 1
    assert result.metrics["anisotropy"] == pytest.approx(1 / 3)


def test_one_pair_of_a_text_with_itself() -> None:
    metrics = compute(np.ones((1, 2), dtype=np.float32), pairs_of(1, [(0, 0)]))
    assert metrics["align"] == 0.0
    assert {"uniform", "anisotropy", "hubness_cos_sample", "hubness_l2_sample"}.isdisjoint(metrics)


def test_all_alike_is_not_spread_at_all() -> None:
    metrics = compute(np.full((20, 3), 0.7, dtype=np.float32), pairs_of(20, [(0, 1)]))
    assert metrics["uniform"] == pytest.approx(0.0, abs=1e-9)
    assert metrics["anisotropy"] == pytest.approx(1.0)
    assert metrics["align"] == pytest.approx(0.0, abs=1e-12)


@each("bad", [float("nan"), float("inf"), 0.0])
def test_what_cannot_be_measured_is_refused(bad: float) -> None:
    vectors = np.zeros((3, 2), dtype=np.float32)
    vectors[0, 0] = bad
    with pytest.raises(BlindspotError, match="all zero"):
        compute(vectors, pairs_of(3, [(0, 1)]))


def test_the_sample_is_seeded_and_of_different_items() -> None:
    rows = geometry.sample(MOST + 500, MOST, SEED)
    assert len(np.unique(rows)) == MOST
    assert np.array_equal(rows, geometry.sample(MOST + 500, MOST, SEED))
    assert not np.array_equal(rows, geometry.sample(MOST + 500, MOST, SEED + 1))
    assert geometry.sample(7, MOST, SEED).tolist() == list(range(7))


def test_only_the_sample_is_looked_at() -> None:
    vectors = vectors_of(80, 5, 3)
    rows = geometry.sample(80, 30, SEED)
    outside = np.setdiff1d(np.arange(80), rows)
    before = geometry.uniformity(vectors, rows), geometry.hubness(vectors, rows, 10, Similarity.L2)
    vectors[outside] = 9.0
    assert before == (geometry.uniformity(vectors, rows), geometry.hubness(vectors, rows, 10, Similarity.L2))
    expected = slow_hubness(vectors[rows].astype(np.float64), 10, Similarity.L2)
    assert before[1] == pytest.approx(expected, abs=1e-9)


def test_scale_changes_nothing_but_what_l2_sees() -> None:
    vectors, dataset = vectors_of(40, 5, 8), pairs_of(40, [(0, 1), (2, 3)])
    longer = vectors * np.linspace(1, 9, 40, dtype=np.float32)[:, None]
    before, after = compute(vectors, dataset), compute(longer, dataset)
    for name in ("align", "uniform", "anisotropy", "hubness_cos_sample"):
        assert after[name] == pytest.approx(before[name], abs=1e-6)
    assert after["hubness_l2_sample"] != pytest.approx(before["hubness_l2_sample"], abs=0.01)
