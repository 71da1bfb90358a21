"""Pictures in two dimensions and how far to believe them, against loops, scikit-learn and cases done by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.decomposition import PCA
from sklearn.manifold import trustworthiness

from blindspot.numerics.similarity import Similarity
from blindspot.space.maps.projection import are_constant, as_compared, clusters, principal_plane, quality
from blindspot.types import Float32, Float64


def vectors(n: int, d: int, seed: int = 0) -> Float32:
    rng = np.random.default_rng(seed)
    return (rng.normal(size=(n, d)) * np.linspace(3, 0.5, d)).astype(np.float32)


def order_of(points: Float64, i: int) -> list[int]:
    """The others from the nearest on; of equally near ones the lower number first."""
    others = [j for j in range(len(points)) if j != i]
    return sorted(others, key=lambda j: (float(((points[i] - points[j]) ** 2).sum()), j))


def slow_quality(space: Float64, picture: Float64, k: int, queries: list[int]) -> tuple[float, float]:
    """Venna and Kaski 2001, by the definition's sums; and the share of true neighbors kept."""
    n = len(space)
    false, kept = 0, 0
    for i in queries:
        true, drawn = order_of(space, i), order_of(picture, i)
        for j in drawn[:k]:
            rank = true.index(j) + 1
            if rank > k:
                false += rank - k
            else:
                kept += 1
    trust = 1 - 2 / (len(queries) * k * (2 * n - 3 * k - 1)) * false
    return trust, kept / (k * len(queries))


@settings(max_examples=25, deadline=None)
@given(st.integers(8, 24), st.integers(1, 3), st.integers(0, 1_000), st.sampled_from(list(Similarity)))
def test_the_quality_is_the_definitions(n: int, k: int, seed: int, metric: Similarity) -> None:
    space = vectors(n, 5, seed)
    picture = np.random.default_rng(seed + 1).normal(size=(n, 2))
    queries = np.sort(np.random.default_rng(seed).choice(n, n // 2, replace=False))
    found = quality(space, metric, picture, k, queries)
    compared = as_compared(space, metric).astype(np.float64)
    trust, kept = slow_quality(compared, picture, k, queries.tolist())
    assert found.trustworthiness == pytest.approx(trust)
    assert found.kept == pytest.approx(kept)
    assert (found.k, found.queries, found.items) == (k, n // 2, n)


@pytest.mark.parametrize("metric", list(Similarity))
def test_over_all_items_the_trustworthiness_is_scikit_learns(metric: Similarity) -> None:
    space = vectors(300, 12)
    picture = principal_plane(space).coordinates
    found = quality(space, metric, picture, 10, np.arange(300))
    other = trustworthiness(
        space, picture, n_neighbors=10, metric="cosine" if metric is Similarity.COS else "euclidean"
    )
    assert found.trustworthiness == pytest.approx(other, abs=1e-6)


def test_by_hand() -> None:
    """Four items on a line, the picture swaps the last two with each other's surroundings: k = 1."""
    space = np.array([[0.0], [1.0], [3.0], [6.0]], dtype=np.float32)
    # nearest in the space: 0->1, 1->0, 2->1, 3->2. In the picture 0 and 3 change places: 0->2, 1->3, 2->1, 3->1.
    picture = np.array([[6.0, 0], [1, 0], [3, 0], [0, 0]])
    found = quality(space, Similarity.L2, picture, 1, np.arange(4))
    # Ranks in the space of what the picture shows: 2 for 0 is second; 3 for 1 is third; 1 for 2 first; 1 for 3 second.
    assert found.trustworthiness == pytest.approx(1 - 2 / (4 * 1 * (8 - 3 - 1)) * (1 + 2 + 0 + 1))
    assert found.kept == 0.25
    assert found.by_chance == pytest.approx(1 / 3)


def test_a_picture_that_is_the_space_is_perfect_and_a_random_one_is_as_chance() -> None:
    space = vectors(400, 2)
    whole = quality(space, Similarity.L2, space.astype(np.float64), 10, np.arange(400))
    assert (whole.trustworthiness, whole.kept) == (1.0, 1.0)
    strewn = np.random.default_rng(3).normal(size=(400, 2))
    random = quality(space, Similarity.L2, strewn, 10, np.arange(400))
    assert random.kept == pytest.approx(random.by_chance, abs=0.01)
    assert 0.45 < random.trustworthiness < 0.55


def test_items_on_one_spot_count_the_lower_number_as_nearer() -> None:
    space = vectors(6, 3)
    found = quality(space, Similarity.L2, np.zeros((6, 2)), 2, np.arange(6))
    trust, kept = slow_quality(space.astype(np.float64), np.zeros((6, 2)), 2, list(range(6)))
    assert (found.trustworthiness, found.kept) == (pytest.approx(trust), pytest.approx(kept))


def test_trustworthiness_is_not_defined_for_half_of_the_items() -> None:
    found = quality(vectors(4, 3), Similarity.COS, vectors(4, 2).astype(np.float64), 2, np.arange(4))
    assert np.isnan(found.trustworthiness)
    assert 0 <= found.kept <= 1
    with pytest.raises(ValueError, match="must be 1 to 3"):
        quality(vectors(4, 3), Similarity.COS, np.zeros((4, 2)), 4, np.arange(4))


def test_the_plane_is_scikit_learns_but_for_signs() -> None:
    space = vectors(120, 9)
    found, other = principal_plane(space), PCA(2).fit(space.astype(np.float64))
    theirs = other.transform(space.astype(np.float64))
    np.testing.assert_allclose(np.abs(found.coordinates), np.abs(theirs), atol=1e-6)
    np.testing.assert_allclose(found.explained, other.explained_variance_ratio_, rtol=1e-6)
    np.testing.assert_array_equal(found.coordinates, principal_plane(space).coordinates)


def test_the_plane_of_what_lies_on_a_line_and_of_constants() -> None:
    line = principal_plane(np.array([[0, 0], [3, 4], [6, 8]], dtype=np.float32))
    np.testing.assert_allclose(line.coordinates, [[-5, 0], [0, 0], [5, 0]], atol=1e-12)
    assert line.explained == (1.0, 0.0)
    single = principal_plane(np.array([[1], [2]], dtype=np.float32))
    np.testing.assert_allclose(single.coordinates, [[-0.5, 0], [0.5, 0]])
    constant = principal_plane(np.full((4, 3), 2.5, dtype=np.float32))
    assert (constant.coordinates == 0).all()
    assert constant.explained == (0.0, 0.0)


def test_constants_are_noticed_and_small_differences_are_none() -> None:
    assert are_constant(np.full((50, 7), 0.3, dtype=np.float32))
    assert are_constant(np.zeros((5, 3), dtype=np.float32))
    assert not are_constant(vectors(50, 7))
    assert not are_constant(vectors(50, 7) * 1e-2 + 1)
    same_direction = np.outer(np.arange(1, 9), [1.0, 2.0]).astype(np.float32)
    assert not are_constant(same_direction)
    assert are_constant(as_compared(same_direction, Similarity.COS))


def test_clusters_are_those_that_are_there_the_largest_first() -> None:
    sizes = (30, 12, 5)
    middles = ((0, 0, 9), (9, 0, 0), (0, 9, 0))
    rng = np.random.default_rng(1)
    space = np.concatenate(
        [rng.normal(middle, 0.1, (size, 3)) for size, middle in zip(sizes, middles, strict=True)]
    ).astype(np.float32)
    shuffle = rng.permutation(len(space))
    found = clusters(space[shuffle], 3, seed=0)
    np.testing.assert_array_equal(found, np.repeat([0, 1, 2], sizes)[shuffle])
    with pytest.raises(ValueError, match="must be 1 to 2"):
        clusters(space[:2], 3, seed=0)
