"""Bag of words, against TF-IDF by hand."""

from __future__ import annotations

from dataclasses import replace
from math import log, sqrt

import numpy as np
import pytest

from blindspot.encoders.bag_of_words import BagOfWords
from blindspot.encoders.base import FittedEncoder
from blindspot.encoders.catalog import resolve_encoder
from blindspot.errors import BlindspotError, Cancelled
from blindspot.settings import Settings
from blindspot.types import CancelToken

TEXTS = ("A dog, a dog!", "a cat", "")


def encoder(dimension: int = 5) -> BagOfWords:
    found = resolve_encoder("bag-of-words", Settings.from_environment({}))
    assert isinstance(found, BagOfWords)
    assert isinstance(found, FittedEncoder)
    return replace(found, info=replace(found.info, dimension=dimension))


def test_vectors_are_tf_idf_by_hand() -> None:
    new = encoder()
    new.fit(TEXTS, CancelToken())
    vectors = new.encode(TEXTS, CancelToken())
    idf = {word: log((1 + 3) / (1 + texts)) + 1 for word, texts in (("a", 2), ("cat", 1), ("dog", 1))}
    twice = 1 + log(2)
    first = np.array([twice * idf["a"], 0, twice * idf["dog"], 0, 0])
    second = np.array([idf["a"], idf["cat"], 0, 0, 0])
    expected = [first / sqrt(first @ first), second / sqrt(second @ second), np.zeros(5)]
    np.testing.assert_allclose(vectors, expected, rtol=1e-6)
    assert vectors.dtype == np.float32
    np.testing.assert_array_equal(new.encode(["DOG dog a A"], CancelToken()), vectors[:1])  # no order, no case


def test_the_most_frequent_words_are_kept() -> None:
    new = encoder(1)
    new.fit(TEXTS, CancelToken())
    assert new.encode(["a", "dog"], CancelToken()).tolist() == [[1.0], [0.0]]


def test_it_refuses_texts_without_a_word_and_to_encode_before_it_was_fitted() -> None:
    with pytest.raises(BlindspotError, match="2 texts without a word"):
        encoder().fit(["", "!"], CancelToken())
    with pytest.raises(BlindspotError, match="was not fitted"):
        encoder().encode(["a"], CancelToken())
    cancelled = CancelToken()
    cancelled.cancel()
    with pytest.raises(Cancelled):
        encoder().fit(TEXTS, cancelled)
