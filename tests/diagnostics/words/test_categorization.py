"""Purity: by hand, by loops, and what holds for any clustering."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blindspot.diagnostics.words.categorization import categorise, counts, order_clusters, purity, shares
from blindspot.types import Bool, CancelToken, Int32, no_progress


def member(classes: list[list[int]], k: int) -> Bool:
    """Whether word i is in a class, from the classes of every word."""
    out = np.zeros((len(classes), k), dtype=np.bool_)
    for word, its in enumerate(classes):
        out[word, its] = True
    return out


def reference(clusters: Int32, membership: Bool) -> float:
    """Cluster by cluster, class by class, word by word."""
    right = 0
    for cluster in set(clusters.tolist()):
        words = [i for i, c in enumerate(clusters.tolist()) if c == cluster]
        right += max(sum(bool(membership[i, c]) for i in words) for c in range(membership.shape[1]))
    return right / len(clusters)


def test_by_hand() -> None:
    clusters = np.array([0, 0, 0, 1, 1, 2], dtype=np.int32)
    membership = member([[0], [0], [1], [1], [2], [2]], 3)
    assert purity(clusters, membership) == pytest.approx((2 + 1 + 1) / 6)
    table = counts(clusters, membership)
    assert table.tolist() == [[2, 1, 0], [0, 1, 1], [0, 0, 1]]
    assert shares(table).tolist() == [[1.0, 0.5, 0.0], [0.0, 0.5, 0.5], [0.0, 0.0, 0.5]]
    assert order_clusters(table[[2, 1, 0]]).tolist() == [2, 1, 0]


def test_a_word_in_several_classes_counts_once() -> None:
    clusters = np.array([0, 0, 1, 1], dtype=np.int32)
    membership = member([[0], [0, 1], [1], [1]], 2)
    assert purity(clusters, membership) == 1.0
    assert purity(np.array([0, 1, 0, 1], dtype=np.int32), membership) == pytest.approx(3 / 4)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 30), st.integers(1, 5), st.integers(0, 2**32 - 1))
def test_it_is_that_of_the_loops_and_does_not_depend_on_names(n: int, k: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    clusters = rng.integers(0, k, n).astype(np.int32)
    membership = member([[int(rng.integers(k))] for _ in range(n)], k)
    found = purity(clusters, membership)
    assert found == pytest.approx(reference(clusters, membership))
    assert 1 / k <= found + 1e-12 <= 1 + 1e-9
    renamed = rng.permutation(k).astype(np.int32)[clusters]
    assert purity(renamed, membership[:, rng.permutation(k)]) == pytest.approx(found)


def test_clusters_that_lie_apart_are_found_whatever_their_length() -> None:
    rng = np.random.default_rng(0)
    classes = [[i % 3] for i in range(30)]
    vectors = np.eye(3)[[c[0] for c in classes]] + rng.normal(scale=0.02, size=(30, 3))
    vectors *= rng.uniform(0.1, 50, size=(30, 1))  # long and short ones: only directions count
    found = categorise(vectors, member(classes, 3), no_progress, CancelToken())
    assert found.purity == 1.0
    assert len(found.purities) == len(found.inertias) == 10
    assert found.named[found.clusters].tolist() == [c[0] for c in classes]
    assert 1 / 3 < found.chance < 0.6


def test_the_lowest_inertia_counts_not_the_highest_purity() -> None:
    rng = np.random.default_rng(1)
    vectors = rng.normal(size=(60, 5))
    membership = member([[int(c)] for c in rng.integers(0, 6, 60)], 6)
    found = categorise(vectors, membership, no_progress, CancelToken())
    assert found.purity == found.purities[int(np.argmin(found.inertias))]
    assert found.purity == pytest.approx(reference(found.clusters, membership))
    assert len(set(found.purities)) > 1, "starts that all end alike would not show it"
    again = categorise(vectors, membership, no_progress, CancelToken())
    assert again.clusters.tolist() == found.clusters.tolist()
    assert again.chance == found.chance
