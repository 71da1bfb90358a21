"""Overlap of lists and of spaces against their definitions, written out in loops."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from blindspot.numerics.neighbors import overlap
from blindspot.numerics.neighbors.overlap import (
    in_how_many,
    jaccard,
    linear_cka,
    rank_biased_overlap,
    shared_at_depths,
)


def agreement(a: list[int], b: list[int], depth: int) -> float:
    return len(set(a[:depth]) & set(b[:depth])) / depth


def rbo_by_definition(a: list[int], b: list[int], p: float) -> float:
    """The infinite sum of the paper, equation 4: below the lists' end they go on agreeing as they did."""
    k = len(a)
    return (1 - p) * math.fsum(p ** (d - 1) * agreement(a, b, min(d, k)) for d in range(1, 4_000))


lists = st.integers(1, 20).flatmap(
    lambda k: st.tuples(*(st.permutations(range(k + 5)).map(lambda items, k=k: items[:k]) for _ in range(2)))
)


@settings(max_examples=80, deadline=None)
@given(pair=lists, p=st.sampled_from([0.5, 0.9, 0.98]))
def test_overlaps_are_those_of_the_definitions(pair: tuple[list[int], list[int]], p: float) -> None:
    a, b = pair
    shared = shared_at_depths(np.array([a]), np.array([b]))
    assert shared.tolist() == [[len(set(a[:d]) & set(b[:d])) for d in range(1, len(a) + 1)]]
    assert jaccard(shared)[0] == pytest.approx(len(set(a) & set(b)) / len(set(a) | set(b)), abs=1e-15)
    assert rank_biased_overlap(shared, p)[0] == pytest.approx(rbo_by_definition(a, b, p), abs=1e-9)


def test_by_hand() -> None:
    """Lists 1 2 3 and 1 3 4: shared 1, 1, 2 at depths 1, 2, 3."""
    shared = shared_at_depths(np.array([[1, 2, 3]]), np.array([[1, 3, 4]]))
    assert shared.tolist() == [[1, 1, 2]]
    assert jaccard(shared)[0] == 0.5
    # 2/3 0.5^3 + 0.5/0.5 (1 0.5 + 1/2 0.25 + 2/3 0.125)
    assert rank_biased_overlap(shared, 0.5)[0] == pytest.approx(0.0833333333 + 0.5 + 0.125 + 0.0833333333)


def test_the_ends_of_the_scale_and_many_lists_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(overlap, "LISTS_AT_ONCE", 2)
    a = np.arange(40).reshape(5, 8)
    same, other = shared_at_depths(a, a), shared_at_depths(a, a + 100)
    np.testing.assert_allclose(rank_biased_overlap(same), 1.0)
    assert jaccard(same).tolist() == [1.0] * 5
    assert rank_biased_overlap(other).tolist() == jaccard(other).tolist() == [0.0] * 5


def test_the_top_counts_more_in_rbo_and_not_in_jaccard() -> None:
    first = shared_at_depths(np.array([[1, 2, 3, 4]]), np.array([[1, 2, 7, 8]]))
    last = shared_at_depths(np.array([[3, 4, 1, 2]]), np.array([[7, 8, 1, 2]]))
    assert jaccard(first) == jaccard(last)
    assert rank_biased_overlap(first) > rank_biased_overlap(last)


def test_the_weight_of_the_first_ten_ranks_is_what_is_said() -> None:
    """Webber et al., equation 21: what lists that agree to depth 10 and never again would make of it at most."""
    p, d = overlap.P, 10
    weight = 1 - p ** (d - 1) + (1 - p) / p * d * (math.log(1 / (1 - p)) - sum(p**i / i for i in range(1, d)))
    assert weight == pytest.approx(0.86, abs=0.005)


def test_wrong_shapes_and_p_are_refused() -> None:
    with pytest.raises(ValueError, match="cannot be compared"):
        shared_at_depths(np.zeros((1, 2), dtype=np.int64), np.zeros((1, 3), dtype=np.int64))
    with pytest.raises(ValueError, match="p is 1"):
        rank_biased_overlap(np.array([[1]]), 1)
    with pytest.raises(ValueError, match="3 and 4 rows"):
        linear_cka(np.zeros((3, 2)), np.zeros((4, 2)))


def test_who_else_has_a_neighbor() -> None:
    counts = in_how_many(np.array([[1, 2, 3], [1, 3, 5], [1, 9, 3]]))
    assert counts.tolist() == [[3, 1, 3], [3, 3, 1], [3, 1, 3]]


def test_the_order_of_disagreement() -> None:
    order = overlap.order_of_disagreement(np.array([0.5, 0.0, 0.0, 0.0]), np.array([0.1, 0.3, 0.2, 0.3]))
    assert order.tolist() == [2, 1, 3, 0]


# --- CKA


def hsic_by_gram_matrices(x: np.ndarray, y: np.ndarray) -> float:
    """Song et al. 2012: the unbiased estimator, with the Gram matrices written out and nothing centred."""
    n = len(x)
    x, y = x.astype(np.longdouble), y.astype(np.longdouble)  # far from 0 most digits cancel
    k, l = x @ x.T, y @ y.T  # noqa: E741 - the paper's names
    np.fill_diagonal(k, 0.0)
    np.fill_diagonal(l, 0.0)
    one = np.ones(n, dtype=np.longdouble)
    total = (
        np.trace(k @ l) + (one @ k @ one) * (one @ l @ one) / ((n - 1) * (n - 2)) - 2 / (n - 2) * (one @ k @ l @ one)
    )
    return float(total / (n * (n - 3)))


@settings(max_examples=40, deadline=None)
@example(seed=36, n=4, d=1, far=30.0)
@given(seed=st.integers(0, 10_000), n=st.integers(4, 40), d=st.integers(1, 12), far=st.sampled_from([0.0, 30.0]))
def test_cka_is_that_of_explicit_gram_matrices(seed: int, n: int, d: int, far: float) -> None:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, d)) + far
    y = np.hstack([x[:, :1], rng.normal(size=(n, 3))])
    own = hsic_by_gram_matrices(x, x) * hsic_by_gram_matrices(y, y)
    assume(abs(own) > 1e-6)  # else rounding decides whether there is a root
    expected = hsic_by_gram_matrices(x, y) / math.sqrt(own) if own > 0 else math.nan
    assert linear_cka(x, y) == pytest.approx(expected, abs=1e-6, nan_ok=True)


def test_cka_knows_rotations_and_scale_and_nothing_else() -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(size=(300, 20))
    rotation = np.linalg.qr(rng.normal(size=(20, 20)))[0]
    assert linear_cka(x, 7 * x @ rotation + 4) == pytest.approx(1.0)
    assert linear_cka(x, x * np.linspace(0.1, 3, 20)) < 0.95
    # The biased estimator would find them alike: few items, many dimensions.
    few = [rng.normal(size=(20, 500)) for _ in range(2)]
    assert abs(linear_cka(*few)) < 0.2
    kept = [m - m.mean(axis=0) for m in few]
    biased = np.linalg.norm(kept[0].T @ kept[1]) ** 2 / np.prod([np.linalg.norm(m.T @ m) for m in kept])
    assert biased > 0.9


def test_cka_of_what_does_not_vary_or_is_too_little_is_undefined() -> None:
    x = np.random.default_rng(0).normal(size=(10, 3)).astype(np.float32)
    assert math.isnan(linear_cka(x, np.full((10, 3), 0.1, dtype=np.float32)))
    assert math.isnan(linear_cka(np.zeros((10, 3)), x))
    assert math.isnan(linear_cka(x[:3], x[:3]))
