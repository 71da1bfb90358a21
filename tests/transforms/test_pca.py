"""The step ``pca:D``: the first principal axes, nothing scaled."""

from __future__ import annotations

import numpy as np
import pytest

from core.errors import InputError
from core.transforms.chain import TransformChain
from core.types import Float32


@pytest.fixture(scope="module")
def corpus() -> Float32:
    rng = np.random.default_rng(4)
    return (rng.standard_normal((60, 6)) @ rng.standard_normal((6, 6)) + 3.0).astype(np.float32)


def reduced(corpus: Float32, chain: str) -> Float32:
    return TransformChain.parse(chain).fit(corpus).apply(corpus)


def test_like_the_singular_vectors(corpus: Float32) -> None:
    """Coordinates along the right singular vectors of the centred corpus, but for their signs."""
    centred = corpus.astype(np.float64) - corpus.mean(axis=0, dtype=np.float64)
    _, _, directions = np.linalg.svd(centred, full_matrices=False)
    expected = centred @ directions[:3].T
    found = reduced(corpus, "pca:3")
    assert found.shape == (60, 3)
    assert found.dtype == np.float32
    np.testing.assert_allclose(np.abs(found), np.abs(expected), atol=1e-4)


def test_all_axes_turn_and_change_no_distance(corpus: Float32) -> None:
    found = reduced(corpus, "pca:6")
    before = np.linalg.norm(corpus[:, None] - corpus[None], axis=2)
    np.testing.assert_allclose(np.linalg.norm(found[:, None] - found[None], axis=2), before, rtol=1e-4, atol=1e-4)


def test_axes_are_uncorrelated_and_the_first_vary_most(corpus: Float32) -> None:
    covariance = np.cov(reduced(corpus, "pca:4").astype(np.float64).T)
    assert np.abs(covariance - np.diag(np.diag(covariance))).max() < 1e-4 * covariance.max()
    assert (np.diff(np.diag(covariance)) <= 0).all()


def test_what_it_kept_is_recorded(corpus: Float32) -> None:
    chain = TransformChain.parse("pca:2")
    assert chain.learns
    (step,) = chain.fit(corpus).record()["steps"]
    variances = np.sort(np.linalg.eigvalsh(np.cov(corpus.astype(np.float64).T)))[::-1]
    assert step["explained_variance_kept"] == pytest.approx(variances[:2].sum() / variances.sum())


def test_refusals_in_words(corpus: Float32) -> None:
    with pytest.raises(InputError, match=r"pca:7.*6 dimensions"):
        reduced(corpus, "pca:7")
    with pytest.raises(InputError, match=r"pca:4.*needs more than 4 items, there are 4"):
        reduced(corpus[:4], "pca:4")
    with pytest.raises(InputError, match="no variance"):
        reduced(np.ones((9, 6), dtype=np.float32), "pca:2")
