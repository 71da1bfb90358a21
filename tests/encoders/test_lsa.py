"""LSA against numpy's SVD: deterministic, for words and sentences, few texts and many."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array, random_array
from threadpoolctl import threadpool_limits

from blindspot.encoders import lsa
from blindspot.encoders.base import FittedEncoder
from blindspot.encoders.cache import EmbeddingCache
from blindspot.encoders.catalog import resolve_encoder
from blindspot.encoders.lsa import Lsa
from blindspot.errors import BlindspotError, Cancelled
from blindspot.settings import Settings
from blindspot.types import CancelToken, Float32, digest_of_strings, no_progress
from tests.support.tables import each

ANIMALS = ("dog", "cat", "horse", "cow", "goat", "hen", "duck", "pig")
ACTS = ("runs home", "sleeps here", "eats a lot", "drinks some milk", "waits for rain")
SENTENCES = tuple(f"A {animal} {act}." for animal in ANIMALS for act in ACTS)


def encoder() -> Lsa:
    found = resolve_encoder("lsa", Settings.from_environment({}))
    assert isinstance(found, Lsa)
    assert isinstance(found, FittedEncoder)
    return found


def fitted(*texts: str) -> Float32:
    new = encoder()
    new.fit(texts, CancelToken())
    return new.encode(texts, CancelToken())


def cosines(vectors: Float32) -> np.ndarray:
    rows = vectors.astype(np.float64)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows @ rows.T


@each("shape", [(400, 250), (60, 900), (900, 60), (5, 3)])
@each("count", [1, 20])
def test_the_axes_are_the_first_singular_vectors(shape: tuple[int, int], count: int) -> None:
    count = min(count, *shape)
    rng = np.random.default_rng(7)
    features = random_array(shape, density=0.6, rng=rng, dtype=np.float32, format="csr")
    features = features @ np.diag(np.logspace(0, -3, shape[1]).astype(np.float32))  # a spectrum that falls
    axes = lsa._singular_vectors(csr_array(features), count, CancelToken())
    np.testing.assert_allclose(axes.T @ axes, np.eye(count), atol=1e-4)
    _, sizes, right = np.linalg.svd(features.astype(np.float64), full_matrices=False)
    ours = np.linalg.norm(features @ axes, axis=0)
    np.testing.assert_allclose(ours, sizes[:count], rtol=1e-2)
    assert abs(axes[:, 0] @ right[0]) > 0.999


@pytest.mark.heavy
def test_axes_have_one_sign_on_one_thread_and_on_two() -> None:
    """Threads change the last digits only; left to these, the signs of 200 of the 300 axes are others."""
    rng = np.random.default_rng(7)
    features = random_array((900, 3_000), density=0.1, rng=rng, dtype=np.float32, format="csr")
    features = csr_array(features @ np.diag(np.logspace(0, -1, 3_000).astype(np.float32)))
    found = []
    for threads in (1, 2):
        with threadpool_limits(limits=threads):
            found.append(lsa._singular_vectors(features, 300, CancelToken()))
    np.testing.assert_allclose(*found, atol=1e-3)
    largest = np.abs(found[0]).argmax(axis=0)
    assert (np.take_along_axis(found[0], largest[np.newaxis], axis=0) > 0).mean() > 0.9


def test_all_dimensions_keep_the_products_of_tf_idf() -> None:
    """Where nothing is cut off, vectors have the products of the features that they are made of."""
    new = encoder()
    new.fit(SENTENCES, CancelToken())
    assert new._fitted is not None
    features = new._fitted.features(SENTENCES)
    vectors = new.encode(SENTENCES, CancelToken())
    np.testing.assert_allclose(vectors @ vectors.T, (features @ features.T).toarray(), atol=1e-4)
    assert not vectors[:, len(SENTENCES) :].any()  # fewer texts than dimensions


def test_it_is_the_same_every_time() -> None:
    np.testing.assert_array_equal(fitted(*SENTENCES), fitted(*SENTENCES))


def test_what_shares_words_is_close() -> None:
    similar = cosines(fitted(*SENTENCES))
    same_animal, same_act, neither = similar[0, 1], similar[0, len(ACTS)], similar[0, len(ACTS) + 1]
    assert min(same_animal, same_act) > neither + 0.1


def test_single_words_are_related_by_their_spelling() -> None:
    words = ("runner", "running", "run", "table", "tables", "green", "greenish", "日本", "日本語")
    similar = cosines(fitted(*words))
    assert similar[3, 4] > 0.1 > abs(similar[3, 0])
    assert similar[5, 6] > 0.1 > abs(similar[5, 7])
    assert similar[7, 8] > 0.1


def test_every_text_has_finite_numbers() -> None:
    texts = ("!!", "a", "A", "", " ", "?", "\ud800", "the same", "the same")
    vectors = fitted(*texts)
    assert np.isfinite(vectors).all()
    assert vectors.shape == (len(texts), 300)
    empty = np.abs(vectors).max(axis=1) == 0
    assert empty.tolist() == [text.strip() == "" for text in texts]
    np.testing.assert_allclose(vectors[1], vectors[2], atol=1e-6)
    np.testing.assert_allclose(vectors[-1], vectors[-2], atol=1e-6)


@each("texts", [("one",), ("a", "a"), ("one", "two")])
def test_few_texts(texts: tuple[str, ...]) -> None:
    vectors = fitted(*texts)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), np.sqrt(2), rtol=1e-4)  # two kinds, of length one each
    assert not vectors[:, len(set(texts)) :].any()


def test_the_cache_fits_it_on_all_texts(tmp_path: Path) -> None:
    cache = EmbeddingCache(tmp_path, 7)
    stages = []
    embedded = cache.encode(
        encoder(), SENTENCES, digest_of_strings(SENTENCES), lambda stage, *_: stages.append(stage), CancelToken()
    )
    np.testing.assert_allclose(embedded.matrix, fitted(*SENTENCES), atol=1e-6)
    assert "fitting the encoder" in stages
    fewer = SENTENCES[:20]
    other = cache.encode(encoder(), fewer, digest_of_strings(fewer), no_progress, CancelToken())
    assert np.abs(other.matrix - embedded.matrix[:20]).max() > 1e-3


def test_it_must_be_fitted_on_something() -> None:
    with pytest.raises(BlindspotError, match="'lsa' was not fitted"):
        encoder().encode(SENTENCES, CancelToken())
    with pytest.raises(BlindspotError, match="nothing to learn from"):
        encoder().fit(["", " "], CancelToken())


def test_it_can_be_cancelled() -> None:
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(Cancelled):
        encoder().fit(SENTENCES, cancel)
    new = encoder()
    new.fit(SENTENCES, CancelToken())
    with pytest.raises(Cancelled):
        new.encode(SENTENCES, cancel)
