"""Random projection against a slow loop: the same numbers in every process."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import reduce

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blindspot.encoders import random_projection
from blindspot.encoders.catalog import resolve_encoder
from blindspot.encoders.random_projection import SEED, RandomProjection
from blindspot.settings import ROOT, Settings
from blindspot.types import CancelToken, Float32
from tests.support.tables import each

IDS = ("random-projection-64", "random-projection", "random-projection-1024")
TEXTS = ("A dog runs.", "a DOG  runs.", "", " \n", "größe", "日本", "a", "the dog the dog", "\ud800 half")
TEXTS += ("x" * 3_000, "y" * 300)
MASK = 2**64 - 1


def encoder(name: str = "random-projection") -> RandomProjection:
    found = resolve_encoder(name, Settings.from_environment({}))
    assert isinstance(found, RandomProjection)
    return found


def encode(*texts: str, name: str = "random-projection") -> Float32:
    return encoder(name).encode(texts, CancelToken())


def mix(value: int) -> int:
    """SplitMix64 with Python's integers."""
    value = (value + 0x9E3779B97F4A7C15) & MASK
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & MASK
    return value ^ (value >> 31)


def slow_ngram(ngram: str, size: int, dimension: int) -> list[int]:
    hashed = reduce(lambda state, character: mix(state ^ ord(character)), ngram, SEED + size)
    blocks = [mix((hashed + (b + 1) * 0x9E3779B97F4A7C15) & MASK) for b in range(-(-dimension // 64))]
    return [1 if blocks[i // 64] >> (i % 64) & 1 else -1 for i in range(dimension)]


def slow_text(text: str, dimension: int) -> np.ndarray:
    words = []
    for word in text.lower().split() or [""]:
        marked = f"<{word}>"
        ngrams = [(marked[i : i + n], n) for n in (3, 4, 5) for i in range(len(marked) - n + 1)] or [(marked, 3)]
        words.append(np.mean([slow_ngram(ngram, n, dimension) for ngram, n in ngrams], axis=0))
    return np.mean(words, axis=0)


@settings(max_examples=60, deadline=None)
@given(texts=st.lists(st.text("aB ßéİ日\ud800.\n", max_size=14), max_size=5), dimension=st.sampled_from([64, 300]))
def test_vectors_are_those_of_a_slow_loop(texts: list[str], dimension: int) -> None:
    vectors = encode(*texts, name="random-projection" if dimension == 300 else f"random-projection-{dimension}")
    expected = np.array([slow_text(text, dimension) for text in texts]).reshape(len(texts), dimension)
    np.testing.assert_allclose(vectors, expected, rtol=0, atol=1e-6)


@pytest.mark.process
def test_a_process_with_another_hash_seed_gives_the_same_bits() -> None:
    program = (
        "from blindspot.encoders.catalog import resolve_encoder\nfrom blindspot.settings import Settings\n"
        "from blindspot.types import CancelToken\n"
        "encoder = resolve_encoder('random-projection', Settings.from_environment({}))\n"
        f"print(encoder.encode({TEXTS!r}, CancelToken()).tobytes().hex())"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", program],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for seed in ("1", "2")
    }
    assert said == {encode(*TEXTS).tobytes().hex()}


def test_the_numbers_stay_what_they_are() -> None:
    """Other numbers need another revision, since embeddings are stored under it."""
    assert encoder().identity.revision == "1"
    assert "".join("+" if v > 0 else "-" for v in encode("")[0, :32]) == "-+------+-------+--+--+-+-+++-+-"
    assert encode("dog")[0, :4].tolist() == pytest.approx([-1 / 3, -2 / 3, -1 / 3, -1 / 3])


@each("name", IDS)
def test_every_text_has_a_vector(name: str) -> None:
    vectors = encode(*TEXTS, name=name)
    assert vectors.shape == (len(TEXTS), encoder(name).info.dimension)
    assert np.isfinite(vectors).all()
    assert (np.abs(vectors).max(axis=1) > 0).all()
    np.testing.assert_array_equal(vectors[0], vectors[1])  # case and spaces do not count
    np.testing.assert_array_equal(vectors[2], vectors[3])  # no word at all
    assert (encoder(name).info.parameters, encoder(name).info.is_partial) == (0, False)


def test_fewer_dimensions_are_the_beginning_of_more() -> None:
    small, middle, large = (encode(*TEXTS, name=name) for name in IDS)
    np.testing.assert_array_equal(middle[:, :64], small)
    np.testing.assert_array_equal(large[:, :300], middle)


def test_a_text_has_the_same_vector_in_every_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = encode(*TEXTS)
    for text, vector in zip(TEXTS, whole, strict=True):
        np.testing.assert_array_equal(encode(text)[0], vector)
    monkeypatch.setattr(random_projection, "TEXTS_PER_BATCH", 3)
    monkeypatch.setattr(random_projection, "NGRAMS_PER_BATCH", 7)
    monkeypatch.setattr(random_projection, "MOST_KNOWN_VALUES", 2 * 300)  # words are forgotten all the time
    np.testing.assert_array_equal(encode(*TEXTS), whole)


def test_what_is_spelled_alike_is_close() -> None:
    dog, dogs, cat = encode("dogged", "dogging", "cat").astype(np.float64)
    cosine = [a @ dog / np.linalg.norm(a) / np.linalg.norm(dog) for a in (dogs, cat)]
    assert cosine[0] > 0.3
    assert abs(cosine[1]) < 0.2
