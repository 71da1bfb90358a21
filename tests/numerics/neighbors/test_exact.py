"""Nearest neighbors against a sort of all similarities in float64."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blindspot.numerics import coarse
from blindspot.numerics.neighbors import exact as nearest
from blindspot.numerics.neighbors.exact import SLACK, ExactIndex
from blindspot.numerics.similarity import Similarity, similarity_to_all


def brute_force(matrix: np.ndarray, vector: np.ndarray, k: int, metric: Similarity, own: int | None) -> list[int]:
    """The query as one more row; every similarity in float64, then sorted: the lower number first among equals."""
    similarity = similarity_to_all(np.vstack([matrix, vector[None, :]]), len(matrix), metric)[:-1]
    return sorted((i for i in range(len(matrix)) if i != own), key=lambda i: (-similarity[i], i))[:k]


def take_loop(patch: pytest.MonkeyPatch, *, is_coded: bool) -> None:
    """Take the loop for many queries by this kind of product, whatever the size."""
    patch.setattr(nearest, "codes_pay", lambda *_: is_coded)
    patch.setattr(coarse, "pays", lambda: True)
    for name in ("COMPILED_FROM", "CODED_FROM", "FEWEST_DIMENSIONS_CODED"):
        patch.setattr(nearest, name, 0)


@pytest.mark.heavy
@settings(max_examples=120, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    n=st.integers(2, 120),
    d=st.integers(1, 9),
    metric=st.sampled_from(list(Similarity)),
    levels=st.sampled_from([0, 2, 5]),
    far=st.sampled_from([0.0, 1e3]),
    way=st.sampled_from([None, "whole", "codes"]),
    tile=st.sampled_from([3, 4_096]),
    sample=st.sampled_from([4, 30, 512]),
    spare=st.sampled_from([0, 16]),
    has_faiss=st.booleans(),
)
def test_neighbors_are_those_of_a_full_sort(
    seed: int,
    n: int,
    d: int,
    metric: Similarity,
    levels: int,
    far: float,
    way: str | None,
    tile: int,
    sample: int,
    spare: int,
    has_faiss: bool,
) -> None:
    """By the loop for many queries too, by every kind of product (``way``), in tiles of few items (``tile``) and of
    all, with floors guessed well and badly (``sample``); and by numpy where faiss is not installed."""
    rng = np.random.default_rng(seed)
    # Few levels: many equal vectors and zero ones. Far from the origin: distances are small differences of large.
    matrix = rng.integers(0, levels, (n, d)) if levels else rng.normal(size=(n, d)) + far
    matrix = np.asarray(matrix, dtype=np.float32)
    k = int(rng.integers(1, n))
    rows = rng.integers(0, n, int(rng.integers(1, 8)))
    index = ExactIndex(matrix, metric)
    with pytest.MonkeyPatch.context() as patch:
        if not has_faiss:
            patch.setitem(sys.modules, "faiss", None)
            patch.setattr(nearest, "VALUES_AT_ONCE", 2 * n)
        if way is not None:
            take_loop(patch, is_coded=way == "codes")
            patch.setattr(nearest, "ITEMS_PER_TILE", tile)
            patch.setattr(nearest, "QUERIES_PER_TILE", 2)
            patch.setattr(nearest, "ROWS_OF_SAMPLE", sample)
            patch.setattr(nearest, "SPARE", spare)
        own = index.of_rows(rows, k)
        new = index.of_vectors(matrix[rows], k)
    for i, row in enumerate(rows.tolist()):
        truth = similarity_to_all(matrix, row, metric)
        for found, without in ((own, row), (new, None)):
            expected = brute_force(matrix, matrix[row], k, metric, without)
            # What is tied to the last bit may be ordered by rounding, here as there.
            np.testing.assert_allclose(truth[found.rows[i]], truth[expected], rtol=0, atol=1e-12)
            np.testing.assert_allclose(found.similarity[i], truth[found.rows[i]], rtol=0, atol=1e-12)
            assert len(set(found.rows[i].tolist())) == k
            assert without not in found.rows[i]


@pytest.mark.parametrize("metric", Similarity)
def test_without_faiss_every_bit_is_the_same(metric: Similarity, monkeypatch: pytest.MonkeyPatch) -> None:
    matrix = np.random.default_rng(8).normal(size=(700, 48)).astype(np.float32)
    index, rows = ExactIndex(matrix, metric), np.arange(0, 700, 7)
    with_it = index.of_rows(rows, 10)
    monkeypatch.setitem(sys.modules, "faiss", None)
    without = index.of_rows(rows, 10)
    assert without.rows.tolist() == with_it.rows.tolist()
    assert without.similarity.tolist() == with_it.similarity.tolist()


def test_by_hand() -> None:
    matrix = np.array([[1, 0], [0.8, 0.6], [0, 1], [-1, 0]], dtype=np.float32)
    found = ExactIndex(matrix, Similarity.COS).of_rows(np.array([0]), 3)
    assert found.rows.tolist() == [[1, 2, 3]]
    np.testing.assert_allclose(found.similarity, [[0.8, 0.0, -1.0]], atol=1e-7)
    found = ExactIndex(matrix, Similarity.L2).of_vectors(np.array([[1, 1]], dtype=np.float32), 2)
    assert found.rows.tolist() == [[1, 0]]
    np.testing.assert_allclose(found.similarity, [[1 / (1 + np.sqrt(0.2)), 0.5]], atol=1e-7)


@pytest.mark.parametrize("compiled_from", [0, nearest.COMPILED_FROM])
def test_all_alike_are_in_order_of_their_numbers(compiled_from: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nearest, "COMPILED_FROM", compiled_from)
    index = ExactIndex(np.ones((500, 8), dtype=np.float32), Similarity.COS)
    assert index.of_rows(np.array([3]), 5).rows.tolist() == [[0, 1, 2, 4, 5]]
    # 80 points on axes, all at 1 from their middle, whose products with them are 0.
    index = ExactIndex(np.concatenate([-np.eye(40), np.eye(40)]).astype(np.float32), Similarity.L2)
    found = index.of_vectors(np.zeros((1, 40), dtype=np.float32), 3)
    assert (found.rows.tolist(), found.similarity.tolist()) == ([[0, 1, 2]], [[0.5] * 3])


@pytest.mark.parametrize("metric", Similarity)
def test_float32_stays_within_the_slack(metric: Similarity) -> None:
    """What decides whether candidates are enough: faiss's scores against float64, in 768 dimensions."""
    import faiss

    rng = np.random.default_rng(1)
    rows = rng.normal(size=(2_000, 768)) + 0.3
    rows = (rows / np.linalg.norm(rows, axis=1).max()).astype(np.float32)
    kind = faiss.METRIC_INNER_PRODUCT if metric is Similarity.COS else faiss.METRIC_L2
    scores, found = faiss.knn(rows[:200], rows, 50, metric=kind)
    wide = rows.astype(np.float64)
    for i in range(200):
        others = wide[found[i]]
        exact = others @ wide[i] if metric is Similarity.COS else ((others - wide[i]) ** 2).sum(axis=1)
        assert np.abs(scores[i] - exact).max() < SLACK / 4


@pytest.mark.parametrize(
    ("metric", "is_coded"), [(Similarity.COS, False), (Similarity.COS, True), (Similarity.L2, False)]
)
def test_many_queries_find_what_few_find(metric: Similarity, is_coded: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways on the same rows: clusters of near copies, copies, a zero vector, more items than a tile holds."""
    made: list[int] = []
    multiply = coarse.flag_products
    monkeypatch.setattr(coarse, "flag_products", lambda *arguments: (made.append(1), multiply(*arguments))[1])
    rng = np.random.default_rng(4)
    matrix = rng.standard_normal((300, 24)).repeat(20, axis=0)
    matrix += rng.choice([0.0, 1e-7, 1e-3], (6_000, 1)) * rng.standard_normal((6_000, 24))
    matrix[7] = 0
    index, rows = ExactIndex(matrix.astype(np.float32), metric), np.arange(0, 6_000, 13)
    few = index.of_rows(rows, 40)
    take_loop(monkeypatch, is_coded=is_coded)
    monkeypatch.setattr(nearest, "QUERIES_PER_TILE", 64)
    many = index.of_rows(rows, 40)
    np.testing.assert_allclose(many.similarity, few.similarity, rtol=0, atol=1e-14)
    assert (many.rows != few.rows).mean() < 0.05, "but for what rounding decides"
    truth = np.stack([similarity_to_all(matrix.astype(np.float32), row, metric) for row in rows.tolist()])
    np.testing.assert_allclose(np.take_along_axis(truth, many.rows, axis=1), many.similarity, rtol=0, atol=1e-14)
    assert bool(made) == is_coded


@pytest.mark.parametrize("is_coded", [False, True])
def test_every_kind_of_product_gives_the_same_rows_and_bits(is_coded: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """And copies of one text are in the order of their numbers."""
    rng = np.random.default_rng(9)
    matrix = (rng.standard_normal((1_500, 40)) * np.arange(1, 41) ** -0.5 + 0.2).astype(np.float32)
    matrix[700:760], matrix[11] = matrix[5], 0
    index = ExactIndex(matrix, Similarity.COS)
    monkeypatch.setattr(nearest, "COMPILED_FROM", 0)
    expected = index.of_rows(np.arange(1_500), 12)
    take_loop(monkeypatch, is_coded=is_coded)
    found = index.of_rows(np.arange(1_500), 12)
    np.testing.assert_array_equal(found.rows, expected.rows)
    np.testing.assert_array_equal(found.similarity, expected.similarity)
    assert found.rows[5].tolist() == list(range(700, 712))
    assert found.rows[11].tolist() == [*range(11), 12]


def test_a_floor_that_was_guessed_too_high_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sample is full of copies of the query that are too few to fill a list."""
    matrix = np.random.default_rng(3).standard_normal((2_000, 30)).astype(np.float32)
    sample = np.sort(np.random.default_rng(nearest.SEED).permutation(2_000)[: nearest.ROWS_OF_SAMPLE])
    matrix[sample[:25]] = matrix[sample[0]]
    asked = sample[:1]
    expected = brute_force(matrix, matrix[asked[0]], 20, Similarity.COS, int(asked[0]))
    index = ExactIndex(matrix, Similarity.COS)
    floor = index._floors(index._rows[asked], 37, may_guess=True)
    assert 0.999 < floor[0] < 1.001
    tried = []
    again = ExactIndex._nearest_of_many
    monkeypatch.setattr(
        ExactIndex, "_nearest_of_many", lambda *args, **named: tried.append(named) or again(*args, **named)
    )
    monkeypatch.setattr(nearest, "COMPILED_FROM", 0)
    assert index.of_rows(asked, 20).rows.tolist() == [expected]
    assert tried == [{}, {"may_guess": False}]


@pytest.mark.parametrize("k", [0, 3])
def test_k_must_be_there(k: int) -> None:
    with pytest.raises(ValueError, match="must be 1 to 2"):
        ExactIndex(np.eye(3, dtype=np.float32), Similarity.COS).of_rows(np.arange(3), k)
