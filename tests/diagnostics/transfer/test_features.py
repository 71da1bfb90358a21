"""Features and their scaling, against loops and scikit-learn in float64."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.preprocessing import StandardScaler

from blindspot.diagnostics.transfer.features import Scaling, compact, features
from blindspot.types import Float32

NONE = np.empty(0, dtype=np.int32)


def some(seed: int, rows: int = 40, columns: int = 6) -> Float32:
    rng = np.random.default_rng(seed)
    return (rng.normal(size=(rows, columns)) * rng.uniform(0.1, 9, columns) + rng.normal(size=columns)).astype("f4")


@given(st.integers(0, 999), st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1, max_size=8))
def test_features_are_those_of_a_loop(seed: int, pairs: list[tuple[int, int]]) -> None:
    embeddings = some(seed, 7, 3).astype(np.float64)
    found = features(embeddings, *np.array(pairs).T)
    for row, (i, j) in zip(found, pairs, strict=True):
        expected = [abs(np.float32(embeddings[i, c]) - np.float32(embeddings[j, c])) for c in range(3)]
        expected += [np.float32(embeddings[i, c]) * np.float32(embeddings[j, c]) for c in range(3)]
        assert row.tolist() == expected
    assert found.dtype == np.float32
    assert np.array_equal(
        features(embeddings, np.array(pairs)[:, 0], NONE), embeddings[[i for i, _ in pairs]].astype("f4")
    )


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_no_number_stays_none(bad: float) -> None:
    embeddings = np.array([[1, bad], [2, bad], [1, 1]], dtype=np.float32)
    found = features(embeddings, np.array([0, 2]), np.array([1, 2]))
    assert np.isfinite(found).all(axis=1).tolist() == [False, True]


@given(st.integers(0, 999))
def test_z_norm_is_scikit_learns_fitted_on_the_training_part(seed: int) -> None:
    rows = some(seed)
    rows[:, 2] = np.float32(0.1)  # constant
    training = np.arange(0, 40, 3)
    scaling = Scaling.fit(rows, training, each=True)
    expected = StandardScaler().fit(rows[training].astype(np.float64)).transform(rows.astype(np.float64))
    expected[:, 2] = 0
    np.testing.assert_allclose(scaling.apply(rows, np.arange(40)), expected, atol=2e-5)


def test_one_number_for_all_leaves_proportions_alone() -> None:
    rows_at_a_time = np.array([39, 3, 0])
    rows = some(2)
    scaling = Scaling.fit(rows, np.arange(40), each=False)
    variances = [
        float(np.mean((rows[:, c].astype(np.float64) - rows[:, c].mean(dtype=np.float64)) ** 2)) for c in range(6)
    ]
    assert scaling.variance == pytest.approx(np.mean(variances))
    scaled = scaling.apply(rows, rows_at_a_time)
    centred = rows[rows_at_a_time] - rows.mean(axis=0)
    np.testing.assert_allclose(scaled * np.sqrt(np.mean(variances)), centred, atol=1e-5)


def test_it_is_fitted_in_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    rows, training = some(3), np.arange(1, 40)
    whole = Scaling.fit(rows, training, each=True)
    monkeypatch.setattr("blindspot.diagnostics.transfer.features._ROWS", 7)
    sliced = Scaling.fit(rows, training, each=True)
    np.testing.assert_allclose(whole.mean, sliced.mean, rtol=1e-12)
    np.testing.assert_allclose(whole.spread, sliced.spread, rtol=1e-12)


@pytest.mark.parametrize("each", [True, False])
def test_features_that_never_vary_become_nothing(each: bool) -> None:
    rows = np.full((9, 4), 0.3, dtype=np.float32)
    scaling = Scaling.fit(rows, np.arange(9), each=each)
    assert scaling.variance == 1.0
    np.testing.assert_allclose(scaling.apply(rows, np.arange(9)), 0, atol=1e-6)


def test_rows_that_are_mostly_zeros_are_sparse_and_give_the_same_scaling() -> None:
    rng = np.random.default_rng(5)
    rows = np.where(rng.random((60, 40)) < 0.08, rng.random((60, 40)), 0).astype(np.float32)
    assert isinstance(compact(some(2)), np.ndarray)
    sparse, training, which = compact(rows), np.arange(1, 50), np.array([3, 55, 0])
    assert sparse.nnz == np.count_nonzero(rows)
    for each in (True, False):
        expected, found = (Scaling.fit(of, training, each=each) for of in (rows, sparse))
        np.testing.assert_array_equal(found.mean, expected.mean)
        np.testing.assert_array_equal(found.spread, expected.spread)
        np.testing.assert_array_equal(found.apply(sparse, which), expected.apply(rows, which))
        uncentered = found.apply(sparse, which, sparse=True).toarray()
        np.testing.assert_allclose(uncentered - (found.mean / found.spread), expected.apply(rows, which), atol=1e-5)
